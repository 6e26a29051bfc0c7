"""What a policy would do for the seat to act, and what it thinks of each legal action."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from goboom_env.actions import action_text
from goboom_env.engine.game import Game, legal_numbers
from goboom_env.observation import features
from goboom_env.observation.view import cut, new_views
from goboom_env.policies import Policy
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.search import SearchPolicy


class Advice(NamedTuple):
    """Advice on a decision.

    Attributes:
        action: What the policy would do.
        values: Its estimate for each legal action it looked at: the mean worth of a search, the probability of a network;
            empty for other policies.
    """

    action: str
    values: dict[str, float]


def advise(game: Game, policy: Policy, seed: int) -> Advice:
    """Advice from a bound policy, which draws nothing from the game's own streams.

    Args:
        game: A game with a seat to act.
        policy: Bound to the game's table.
        seed: Decides what the policy draws, together with the place in the match.
    """
    t, s = game.records
    numbers = legal_numbers(t, s)
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    words = np.random.SeedSequence([seed, game.hand_number, len(game.actions)]).generate_state(1, np.uint64).astype(np.uint64)
    if isinstance(policy, SearchPolicy):
        actions, estimates = policy.evaluate(views, words)
        worth = estimates[0]
    elif isinstance(policy, NetworkPolicy):
        actions = policy.act(views, words)
        worth = probabilities(game, policy)
    else:
        actions, worth = policy.act(views, words), np.full(len(game.pack.types) + 2, np.nan)
    values = {action_text(game.pack, number): float(worth[number]) for number in numbers if np.isfinite(worth[number])}
    return Advice(action_text(game.pack, int(actions[0])), values)


def probabilities(game: Game, policy: NetworkPolicy) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """A network's probability of each action for the seat to act, shape (actions,); 0 for illegal ones."""
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    observations, masks = features.encode(game.rules, game.num_players, views)
    logits = np.where(masks.astype(bool), policy.logits(observations), -np.inf)[0].astype(np.float64)
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())
