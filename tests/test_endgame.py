"""`endgame`: exact play where all is known, against a brute force that shares nothing with it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS, Game
from goboom_env.actions import action_text
from goboom_env.cards import Pack
from goboom_env.engine.state import new_states
from goboom_env.observation.view import cut, new_views
from goboom_env.policies import make
from goboom_env.policies.endgame import DEPTH, is_open, solve_actions
from goboom_env.policies.search import SearchPolicy

ORDER = "23456789TJQKA"


def points(hand: tuple[str, ...], ace: int) -> int:
    return sum(ace if card[0] == "A" else 10 if card[0] in "TJQK" else int(card[0]) for card in hand)


def worth(hands: tuple[tuple[str, ...], ...], ace: int) -> float:
    """To seat 0: a share of the win, and a thousandth of the difference of the points left, in hundreds."""
    win = 1.0 if not hands[0] else 0.0 if not hands[1] else 0.5
    return win + 1e-3 * (points(hands[1], ace) - points(hands[0], ace)) / 100


def without(hands: tuple[tuple[str, ...], ...], seat: int, card: str) -> tuple[tuple[str, ...], ...]:
    left = list(hands[seat])
    left.remove(card)
    return (tuple(left), hands[1]) if seat == 0 else (hands[0], tuple(left))


def trick_value(hands: Any, led: str | None, seat: int, last: bool, any_suit: bool) -> float:
    """Best play of both from a trick's lead or answer, every line looked at. `led` is the card on the table."""
    if not hands[0] or not hands[1]:
        return worth(hands, 1)
    choices = [card for card in set(hands[seat]) if led is None or card[0] == led[0] or card[1] == led[1]]
    if not choices:
        return trick_value(hands, None, 1 - seat, last, any_suit)  # sits out: who led wins the trick and leads again
    values = []
    for card in choices:
        rest = without(hands, seat, card)
        if led is None:
            values.append(trick_value(rest, card, 1 - seat, last, any_suit))
        else:
            beats = ORDER.index(card[0]) > ORDER.index(led[0]) and (any_suit or card[1] == led[1])
            values.append(trick_value(rest, None, seat if beats else 1 - seat, last, any_suit))
    return max(values) if seat == 0 else min(values)


def pile_value(hands: Any, top: str, seat: int, passed: bool) -> float:
    if not hands[0] or not hands[1]:
        return worth(hands, 15)
    choices = [card for card in set(hands[seat]) if card[0] == top[0] or card[1] == top[1]]
    if not choices:
        return worth(hands, 15) if passed else pile_value(hands, top, 1 - seat, True)
    values = [pile_value(without(hands, seat, card), card, 1 - seat, False) for card in choices]
    return max(values) if seat == 0 else min(values)


def solved(game: Game) -> dict[str, float]:
    t, s = game.records
    views, values = new_views(1), np.empty(int(t["types"]) + 2)
    cut(t, s, int(s["turn"]), views[0])
    assert is_open(t, views[0])
    best = solve_actions(t, views[0], new_states(DEPTH), 0, values)
    assert values[best] == np.nanmax(values)
    return {action_text(game.pack, k): float(values[k]) for k in np.flatnonzero(~np.isnan(values))}


def deal(rng: random.Random, ranks: str, copies: int, most: int) -> list[list[str]]:
    cards = [rank + suit for rank in ranks for suit in "CDHS"] * copies
    rng.shuffle(cards)
    first, second = rng.randint(2, most), rng.randint(2, most)
    return [cards[:first], cards[first : first + second]]


@pytest.mark.parametrize(("preset", "most"), [("classic", 4), ("hundred", 4), ("dig", 4)])
def test_trick_endings_agree_with_brute_force(preset: str, most: int) -> None:
    rng = random.Random(1)
    any_suit = PRESETS[preset].trick_winner == "any"
    for _ in range(250):
        hands = deal(rng, "23456TQA", 1, most)
        found = solved(Game.from_position(preset, hands, stock=[]))
        frozen = tuple(map(tuple, hands))
        expected = {card: trick_value(without(frozen, 0, card), card, 1, False, any_suit) for card in hands[0]}
        assert found == pytest.approx(expected)


def test_pile_endings_agree_with_brute_force() -> None:
    rng = random.Random(2)
    checked = 0
    while checked < 250:
        hands = deal(rng, "2345689TQ", 2, 5)
        top = hands[0].pop() if len(hands[0]) > 1 else hands[1][0]
        game = Game.from_position("rockaway", hands, stock=[], top=top)
        if len(game.legal()) < 2:
            continue
        frozen = tuple(map(tuple, hands))
        legal = [card for card in set(hands[0]) if card[0] == top[0] or card[1] == top[1]]
        assert solved(game) == pytest.approx({card: pile_value(without(frozen, 0, card), card, 1, False) for card in legal})
        checked += 1


def choice(game: Game, policy: Any) -> str:
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    return action_text(game.pack, int(policy.bind(game.rules, game.num_players).act(views, np.array([77], np.uint64))[0]))


@pytest.mark.parametrize("name", ["endgame", "endgame:random", "search:1", "search:1ms"])
def test_policies_play_the_solved_end(name: str) -> None:
    # The ace would win the trick but leave a two that wins none; the four is beaten only by the ten, which the ace then beats.
    game = Game.from_position("classic", [["AC", "4D", "2H"], ["TD", "KC", "3S"]], stock=[])
    values = solved(game)
    assert max(values.values()) > min(values.values()) + 0.5
    assert values[choice(game, make(name))] == max(values.values())


def test_before_the_end_the_bot_plays() -> None:
    game = Game("classic", 2, seed=3)
    assert choice(game, make("endgame:greedy")) == choice(game, make("greedy"))


def test_too_large_a_tree_is_left_to_the_bot() -> None:
    pack: Pack = PRESETS["classic"].pack_for(2)
    cards = [card for card in pack.cards if card[0] in "23456789T"]
    game = Game.from_position("classic", [cards[::2], cards[1::2]], stock=[])
    t, s = game.records
    views, values = new_views(1), np.empty(int(t["types"]) + 2)
    cut(t, s, 0, views[0])
    assert solve_actions(t, views[0], new_states(DEPTH), 0, values) == -1
    assert choice(game, make("endgame:greedy")) == choice(game, make("greedy"))


def test_search_knows_the_exact_worth() -> None:
    game = Game.from_position("classic", [["AC", "4D", "2H"], ["TD", "KC", "3S"]], stock=[])
    t, s = game.records
    views = new_views(1)
    cut(t, s, 0, views[0])
    _, values = SearchPolicy(4).bind(game.rules, 2).evaluate(views, np.array([5], np.uint64))
    known = {action_text(game.pack, k): float(values[0, k]) for k in np.flatnonzero(~np.isnan(values[0]))}
    assert known == pytest.approx(solved(game))


@pytest.mark.parametrize("text", ["endgame:gredy", "endgame:void:fun", "endgame:void:win:more"])
def test_bad_names_say_what_is_wrong(text: str) -> None:
    with pytest.raises(ValueError, match=r"greedy|fun|endgame:BOT:OBJECTIVE"):
        make(text)
