"""Policies at a `Game`, hand by hand, for records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from goboom_env.engine.game import Game, legal_numbers
from goboom_env.engine.record import make_record
from goboom_env.engine.rng import next_word
from goboom_env.observation.view import cut, new_views
from goboom_env.policies import Policy
from goboom_env.rules import Rules


def decide(game: Game, policy: Policy) -> int:
    """What a bound policy does for the seat to act; a seat's only legal action is taken without asking."""
    t, s = game.records
    numbers = legal_numbers(t, s)
    if len(numbers) == 1:
        return numbers[0]
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    return int(policy.act(views, np.array([next_word(s["policy_stream"])], np.uint64))[0])


def play_hand(game: Game, policies: Sequence[Policy]) -> None:
    """Play a hand to its end with a bound policy on each seat."""
    while not game.over:
        game.play_number(decide(game, policies[game.turn or 0]))


def record_hands(
    rules: Rules, policies: Sequence[Policy], seed: int, hands: int | None = None, matches: int | None = None
) -> Iterator[dict[str, Any]]:
    """Records of match after match, match m dealt from seed + m, until there are so many hands or whole matches."""
    bound = [policy.bind(rules, len(policies)) for policy in policies]
    names = [policy.name for policy in policies]
    match = count = 0
    while (hands is None or count < hands) and (matches is None or match < matches):
        game = Game(rules, len(policies), seed + match)
        while True:
            play_hand(game, bound)
            yield make_record(game, match, names)
            count += 1
            if game.match_over or count == hands:
                break
            game.next_hand()
        match += 1
