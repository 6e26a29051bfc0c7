"""`Game`: what it shows, what it refuses, and matches from the first deal to the last."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from goboom_env.actions import IllegalActionError
from goboom_env.cards import PACK_52
from goboom_env.engine.game import Game
from goboom_env.rules import PRESETS

COPIES: dict[str, Callable[[Game], Game]] = {
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "deepcopy": copy.deepcopy,
}


def trick_position() -> Game:
    """Seat 0 is to lead, seat 1 cannot follow a heart until it draws the third card."""
    return Game.from_position("classic", [["9H", "2C"], ["4S", "5D"], ["3H", "6C"]], ["7C", "8S", "2H", "KC"])


def pile_position(stock: str = "2H 3H") -> Game:
    return Game.from_position("jokers", [["JK", "9D"], ["KC", "2D"], ["3D", "6C"]], stock.split(), top="6S")


def play(game: Game, script: str) -> Game:
    for action in script.split():
        game.play(action)
    return game


def play_random(game: Game, rng: np.random.Generator) -> Game:
    while not game.over:
        game.play(str(rng.choice(game.legal())))
    return game


def face(game: Game) -> dict[str, Any]:
    """All that a game shows of itself."""
    names = [name for name, value in vars(Game).items() if isinstance(value, property) and name[0] != "_" and name != "records"]
    shown = {name: getattr(game, name) for name in names}
    return copy.deepcopy(shown | {"deck": game.deck, "actions": game.actions, "tricks": game.tricks, "legal": game.legal()})


# What it refuses


@pytest.mark.parametrize(
    ("start", "script", "action", "reason", "legal"),
    [
        (trick_position, "", "DRAW", "leader", "2C, 9H"),
        (trick_position, "", "PASS", "leader", "2C, 9H"),
        (trick_position, "", "KH", "does not hold", "2C, 9H"),
        (trick_position, "", "4S", "does not hold", "2C, 9H"),
        (trick_position, "9H", "4S", "neither suit nor rank of 9H", "DRAW"),
        (trick_position, "9H", "PASS", "can play or draw", "DRAW"),
        (trick_position, "9H DRAW DRAW DRAW", "4S", "only the card drawn, 2H", "2H"),
        (trick_position, "9H DRAW DRAW DRAW", "DRAW", "card to play", "2H"),
        (trick_position, "9H DRAW DRAW DRAW", "PASS", "can play", "2H"),
        (pile_position, "", "9D", "neither suit nor rank of 6S", "JK, DRAW"),
        (pile_position, "", "PASS", "can play or draw", "JK, DRAW"),
        (pile_position, "DRAW", "JK", "does not hold", "DRAW"),
        (partial(pile_position, ""), "", "DRAW", "stock is empty", "JK"),
        (trick_position, "9H DRAW", "4S", "neither suit nor rank of 9H", "DRAW"),
        (trick_position, "", "hello", "not a card", "2C, 9H"),
        (trick_position, "", "", "not a card", "2C, 9H"),
        (trick_position, "", "JK", "this pack has no JK", "2C, 9H"),
    ],
)
def test_refusal_names_action_reason_and_what_is_legal(
    start: Callable[[], Game], script: str, action: str, reason: str, legal: str
) -> None:
    game = play(start(), script)
    before, actions = game.records[1].tobytes(), list(game.actions)
    with pytest.raises(IllegalActionError) as error:
        game.play(action)
    assert game.records[1].tobytes() == before
    assert game.actions == actions
    message = str(error.value)
    assert (action.upper() or "''") in message.upper()
    assert reason in message
    assert message.endswith(f"legal: {legal}")
    assert "\n" not in message


@pytest.mark.parametrize("number", [-1, 54, 1000])
def test_number_that_is_no_action_is_refused(number: int) -> None:
    game = trick_position()
    before = game.records[1].tobytes()
    with pytest.raises(ValueError, match=f"{number} is out of range"):
        game.play_number(number)
    assert game.records[1].tobytes() == before


def test_nothing_is_legal_after_the_hand() -> None:
    game = play(Game.from_position("classic", [["9H"], ["4S", "5D"]]), "9H")
    assert game.legal() == []
    with pytest.raises(IllegalActionError, match="4S is not legal: the hand is over"):
        game.play("4S")


@pytest.mark.parametrize(("text", "card"), [("9h", "9H"), (" 9H ", "9H"), ("2c", "2C")])
def test_cards_are_read_in_lower_case(text: str, card: str) -> None:
    game = trick_position()
    game.play(text)
    assert game.actions == [(0, card)]


def test_draw_and_pass_are_read_in_lower_case() -> None:
    game = Game.from_position("classic", [["TH", "2C"], ["4S", "5D"]], ["7C"])
    assert play(game, "10h draw pass").actions == [(0, "TH"), (1, "DRAW"), (1, "PASS")]


TWO_HANDS = [["9H"], ["8H"]]
THREE_HANDS = [["9H"], ["8H"], ["7H"]]


@pytest.mark.parametrize(
    ("rules", "hands", "options", "message"),
    [
        ("classic", [["9H"], ["9H"]], {}, "9H stands 1 times more than the pack of 52"),
        ("classic", TWO_HANDS, {"stock": ["8H"]}, "8H stands 1 times more"),
        ("classic", [*([card] for card in ("2C", "3C", "4C", "5C", "6C", "7C")), ["9H", "9H", "9H"]], {}, "9H .*pack of 104"),
        ("jokers", THREE_HANDS, {"top": "7H"}, "7H stands 1 times more"),
        ("jokers", [["JK"], ["JK"], ["JK"]], {"top": "2C"}, "JK stands 1 times more"),
        ("classic", [["9H"], ["JK"]], {}, "this pack has no JK"),
        ("classic", [["9H"], ["13H"]], {}, "this pack has no 13H"),
        ("classic", [["9H"], ["XX"]], {}, "'XX' is not a card"),
        ("classic", [["9H"], []], {}, "seat 1 has no card"),
        ("classic", [["9H"]], {}, "num_players=1 .*2 to 12"),
        ("jokers", TWO_HANDS, {"top": "2C"}, "num_players=2 .*3 to 4"),
        ("classic", TWO_HANDS, {"top": "9D"}, "top='9D': the trick family has no"),
        ("jokers", THREE_HANDS, {}, "top=None: the pile family needs"),
        ("jokers", THREE_HANDS, {"top": "JK"}, "top=JK: name the card under the joker"),
        ("classic", TWO_HANDS, {"to_play": 2}, "to_play=2 is not a seat of this table of 2"),
        ("classic", TWO_HANDS, {"to_play": -1}, "to_play=-1 is not a seat"),
        ("classic", TWO_HANDS, {"dealer": 2}, "dealer=2 is not a seat"),
        ("classic", TWO_HANDS, {"scores": [5]}, "1 scores for 2 seats"),
        ("clasic", TWO_HANDS, {}, "no preset 'clasic'; did you mean 'classic'"),
    ],
)
def test_impossible_position_is_refused(rules: str, hands: list[list[str]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Game.from_position(rules, hands, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deck": list(PACK_52.cards)[:-1]}, "deck of 51 cards is not the pack of 52"),
        ({"deck": [*list(PACK_52.cards)[:-1], "2C"]}, "is not the pack of 52"),
        ({"deck": [*list(PACK_52.cards)[:-1], "JK"]}, "this pack has no JK"),
        ({"dealer": 2}, "dealer=2 is not a seat"),
        ({"leader": -1}, "leader=-1 is not a seat"),
        ({"scores": [0, 0, 0]}, "3 scores for 2 seats"),
    ],
)
def test_impossible_deal_is_refused(change: dict[str, Any], message: str) -> None:
    deal: dict[str, Any] = {"deck": list(PACK_52.cards), "dealer": 0, "leader": 1, "scores": [0, 0]} | change
    with pytest.raises(ValueError, match=message):
        Game.from_deck("classic", 2, **deal)


@pytest.mark.parametrize(("rules", "num_players"), [("classic", 13), ("classic", 1), ("jokers", 2), ("mini", 3)])
def test_impossible_table_is_refused(rules: str, num_players: int) -> None:
    with pytest.raises(ValueError, match=f"num_players={num_players} is not possible"):
        Game(rules, num_players)


def test_next_hand_waits_for_the_end_and_stops_after_the_match() -> None:
    game = Game.from_position("classic", [["9H"], ["KS"]], scores=[190, 0])
    with pytest.raises(RuntimeError, match="not over yet"):
        game.next_hand()
    assert play(game, "9H").scores == [200, 0]
    assert game.match_over
    with pytest.raises(RuntimeError, match="match is over"):
        game.next_hand()


# What it shows


def test_deal_goes_round_by_round_from_the_left_of_the_dealer() -> None:
    deck = list(PACK_52.cards)
    game = Game.from_deck("classic", 3, deck, dealer=1, leader=2, scores=[3, 4, 5])
    # Seat 2 gets cards 0, 3, .. 18, seat 0 cards 1, 4, .. 19 and seat 1 cards 2, 5, .. 20.
    assert game.hands == [deck[1:21:3], deck[2:21:3], deck[0:21:3]]
    assert game.stock == deck[21:]
    assert (game.dealer, game.leader, game.turn, game.scores, game.deck) == (1, 2, 2, [3, 4, 5], deck)


def test_pile_begins_with_the_first_card_of_the_stock() -> None:
    deck = list(PACK_52.cards)
    game = Game.from_deck("jokers-aces", 3, deck, dealer=1, leader=2, scores=[0, 0, 0])
    assert game.top == deck[21]
    assert game.stock == deck[22:]


def test_table_in_the_middle_of_a_trick() -> None:
    game = Game.from_position("classic", [["9H", "2C"], ["4S", "5D"], ["3H", "6C"], ["KH", "7C"]], to_play=2)
    assert (game.lead, game.trick, game.leader, game.top) == (None, [], 2, None)
    play(game, "3H KH 9H")
    assert (game.lead, game.leader, game.turn) == ("3H", 2, 1)
    assert game.trick == [(2, "3H"), (3, "KH"), (0, "9H")]
    assert (game.over, game.winner, game.blocked, game.left, game.delta) == (False, None, False, None, None)
    assert (game.next_dealer, game.next_leader, game.match_over, game.match_winners) == (None, None, False, [])
    play(game, "PASS")
    assert (game.lead, game.trick, game.leader, game.turn, game.tricks) == (None, [], 3, 3, [3])


def test_seat_that_sits_out_is_not_in_the_trick() -> None:
    game = play(Game.from_position("classic", [["9H", "2C"], ["4S", "5D"], ["3H", "6C"]]), "9H PASS")
    assert game.trick == [(0, "9H")]


def test_legal_is_in_the_order_of_the_numbering() -> None:
    game = Game.from_position("jokers", [["JK", "AS", "6C", "2S", "TS", "6H"], ["2D"], ["3D"]], ["4D"], top="6S")
    assert game.legal() == ["2S", "6C", "6H", "TS", "AS", "JK"]


# Seeds and copies


def test_seed_decides_the_deal_and_the_dealer() -> None:
    games = [Game("classic", 4, seed) for seed in (5, 5, 6)]
    assert face(games[0]) == face(games[1])
    assert games[0].deck != games[2].deck


def test_without_a_seed_deals_differ() -> None:
    assert Game("classic", 4, None).deck != Game("classic", 4, None).deck


def test_second_deal_does_not_depend_on_the_play_of_the_first() -> None:
    first, second = (play_random(Game("classic", 4, 7), np.random.default_rng(seed)) for seed in (1, 2))
    assert first.actions != second.actions
    first.next_hand()
    second.next_hand()
    assert first.deck == second.deck


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(("rules", "num_players", "actions"), [("classic", 4, 6), ("classic", 8, 13), ("jokers", 3, 5), ("rockaway", 3, 5)])
def test_copy_plays_on_alike_and_apart(name: str, rules: str, num_players: int, actions: int) -> None:
    game, rng = Game(rules, num_players, seed=9), np.random.default_rng(9)
    for _ in range(actions):
        game.play(str(rng.choice(game.legal())))
    twin, before = COPIES[name](game), face(game)
    assert face(twin) == before
    for table in (game, twin):
        play_random(table, np.random.default_rng(10))
        table.next_hand()
        if table is game:
            assert face(twin) == before
    assert game.records[1].tobytes() == twin.records[1].tobytes()
    assert face(game) == face(twin)


# Matches

# How a match ends, which score is best, and who leads the next hand.
MATCHES = {
    "classic": (200, max, "left"),
    "classic-reverse": (100, min, "left"),
    "jokers": ("round", min, "left"),
    "jokers-aces": ("round", min, "left"),
    "hundred": (100, min, "last trick"),
    "stakes": ("hand", max, "left"),
    "stakes-200": (200, max, "left"),
    "stakes-minus": (100, min, "left"),
    "dig": (200, max, "left"),
    "rockaway": ("round", min, "left"),
    "mini": ("hand", max, "left"),
}


def test_every_preset_has_its_match() -> None:
    assert set(MATCHES) == set(PRESETS)


@pytest.mark.parametrize(
    ("name", "num_players"), [(name, count) for name in MATCHES for count in (2, 3, 4, 7, 9) if count in PRESETS[name].player_counts]
)
def test_match_goes_on_to_its_end_and_names_the_best(name: str, num_players: int) -> None:
    end, best, lead = MATCHES[name]
    game, rng = Game(name, num_players, seed=num_players), np.random.default_rng(num_players)
    scores, dealer, hand = [0] * num_players, game.dealer, 0
    leader = (dealer + 1) % num_players
    while True:
        assert (game.dealer, game.leader, game.hand_number, game.scores) == (dealer, leader, hand, scores)
        play_random(game, rng)
        assert game.delta is not None
        assert [len(cards) == 0 for cards in game.hands] == [seat == game.winner for seat in range(num_players)]
        scores = [score + change for score, change in zip(scores, game.delta, strict=True)]
        assert game.scores == scores
        dealer = (dealer + 1) % num_players
        leader = game.tricks[-1] if lead == "last trick" else (dealer + 1) % num_players
        assert (game.next_dealer, game.next_leader) == (dealer, leader)
        hand += 1
        over = max(scores) >= end if isinstance(end, int) else hand == (num_players if end == "round" else 1)
        assert game.match_over == over
        if over:
            break
        assert game.match_winners == []
        game.next_hand()
    assert game.match_winners == [seat for seat in range(num_players) if scores[seat] == best(scores)]


def test_first_dealer_is_drawn_with_equal_chance() -> None:
    seeds, seats = 900, 3
    games = [Game("classic", seats, seed) for seed in range(seeds)]
    assert all(game.turn == (game.dealer + 1) % seats for game in games)
    counts = Counter(game.dealer for game in games)
    expected = seeds / seats
    statistic = sum((counts[seat] - expected) ** 2 / expected for seat in range(seats))
    # With two degrees of freedom the chance of more than x is exp(-x / 2): here one in 10,000.
    assert statistic < -2 * math.log(1e-4)
