"""Paired evaluation: each deal is played in every rotation of the seats with the same cards and streams, so luck cancels.

In matches the first hand is so paired; later ones follow from how it was played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.rng import stream_words
from goboom_env.engine.state import NONE
from goboom_env.policies import make, make_seats
from goboom_env.rules import Rules, get_rules, rules_name
from goboom_env.table import Table

Z_95 = 1.959964
_TABLES = 4096
"""Tables played at once."""


@dataclass(frozen=True)
class Comparison:
    """One policy against a field.

    Attributes:
        policy, field: Names of the policy and of those on the other seats.
        rules: Preset name, or `house rules`.
        num_players: Seats.
        episode: `hand` or `match`.
        deals, hands: Deals, and episodes played: each deal once with the policy on each seat.
        win_share: Mean share of wins; an equal player has 1 / num_players. Co-winners share a win, a blocked hand counts as
            a win shared by all seats.
        win_interval: 95 % interval of it.
        points: Mean points an episode: own less the mean of the others', penalties counted negative; 0 for an equal player.
        points_interval: 95 % interval of it.
    """

    policy: str
    field: str
    rules: str
    num_players: int
    episode: str
    deals: int
    hands: int
    win_share: float
    win_interval: tuple[float, float]
    points: float
    points_interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of the mean of independent values (normal approximation): mean -+ 1.96 standard errors."""
    mean = float(values.mean())
    half = Z_95 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return mean - half, mean + half


def win_shares(table: Table) -> NDArray[np.float64]:
    """Share of the win of each seat, shape (tables, seats), in the episodes that ended."""
    rows, n = table.rows, table.num_players
    if table.episode == "hand":
        winners = rows["winner"][:, None] == np.arange(n)
        winners[rows["winner"] == NONE] = True
    else:
        scores = rows["scores"][:, :n]
        best = scores.min(axis=1) if table.rules.scoring == "penalty" else scores.max(axis=1)
        winners = scores == best[:, None]
    return np.asarray(winners / winners.sum(axis=1, keepdims=True))


def compare(
    policy: Any,
    field: Any,
    rules: str | Rules = "classic",
    num_players: int = 4,
    deals: int = 5000,
    seed: int = 0,
    episode: str = "hand",
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Play a policy against a field, each deal once with the policy on each seat.

    The values of a deal are averaged over its rotations before intervals are computed, so that an interval is over
    independent deals. The result depends on the seed alone.

    Args:
        policy: A policy, as `goboom_env.policies.make` takes it.
        field: The policy or mix on the other seats, or a list of one each, clockwise from the policy.
        rules: A preset's name or a `Rules` value.
        num_players: Seats.
        deals: Deals; `deals * num_players` episodes are played.
        seed: Seed of all deals and policies.
        episode: `hand` or `match`.
        progress: Called with the number of deals played since the last call.

    Raises:
        ValueError: An unknown policy, one that was trained for another table, or an impossible number.
    """
    rules = get_rules(rules)
    rules.pack_for(num_players)
    if deals < 1:
        raise ValueError(f"deals={deals} must be 1 or more")
    mine = make(policy)
    others = make_seats(field, num_players - 1)
    words = stream_words(seed, deals)
    wins, points = np.empty(deals), np.empty(deals)
    chunk = max(1, _TABLES // num_players)
    for start in range(0, deals, chunk):
        part = words[start : start + chunk]
        shares, payoffs = np.zeros(len(part)), np.zeros(len(part))
        for rotation in range(num_players):
            seats = [others[(seat - rotation - 1) % num_players] if seat != rotation else [(mine, 1.0)] for seat in range(num_players)]
            table = Table(rules, seats, len(part), episode=episode)
            table.reset(words=part)
            shares += win_shares(table)[:, rotation]
            payoffs += table.rows["total"][:, rotation]
        wins[start : start + len(part)] = shares / num_players
        points[start : start + len(part)] = 100 * payoffs / num_players
        if progress is not None:
            progress(len(part))
    return Comparison(
        policy=mine.name,
        field=", ".join(dict.fromkeys("/".join(other.name for other, _ in mix) for mix in others)),
        rules=rules_name(rules) or "house rules",
        num_players=num_players,
        episode=episode,
        deals=deals,
        hands=deals * num_players,
        win_share=float(wins.mean()),
        win_interval=interval(wins),
        points=float(points.mean()),
        points_interval=interval(points),
    )
