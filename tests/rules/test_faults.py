"""Faults that users of comparable games reported, each as positions worked by hand (R1 to R15), and rules that sources differ in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from goboom_env.cards import JOKER, PACK_62, PACK_104, Pack
from goboom_env.engine import kernels
from goboom_env.engine.game import Game
from goboom_env.rules import PRESETS, Rules

CLASSIC, JOKERS, ACES = PRESETS["classic"], PRESETS["jokers"], PRESETS["jokers-aces"]
TWO_PACKS = replace(CLASSIC, packs=((2, PACK_104),))
SMALL = Pack.of("234A", "CD")
PRESET_TABLES = [(name, PRESETS[name].min_players) for name in PRESETS]


def cards(text: str) -> list[str]:
    return text.split()


def position(rules: str | Rules, hands: str, stock: str = "", **options: Any) -> Game:
    """`Game.from_position` with hands as `"7D 4C / 7S KC"`."""
    return Game.from_position(rules, [cards(hand) for hand in hands.split("/")], cards(stock), **options)


def play(game: Game, script: str) -> Game:
    """Play `"0:7D 1:DRAW"`, seat and action, and return the game."""
    for word in cards(script):
        seat, action = word.split(":")
        assert game.turn == int(seat), word
        game.play(action)
    return game


def deck_of(pack: Pack, first: Sequence[str]) -> list[str]:
    """The pack with the given cards first."""
    whole = list(pack.cards) * pack.copies + [JOKER] * pack.jokers
    for card in first:
        whole.remove(card)
    return [*first, *whole]


def matches(card: str, other: str) -> bool:
    return card[:-1] == other[:-1] or card[-1] == other[-1]


# R1


@pytest.mark.parametrize("leader", range(4))
def test_trick_winner_is_counted_from_the_leader(leader: int) -> None:
    hands = [["5H", "2C"], ["KH", "3C"], ["9H", "4C"], ["5S", "6C"]]
    game = Game.from_position("classic", [hands[(seat - leader) % 4] for seat in range(4)], to_play=leader)
    for card in ("5H", "KH", "9H", "5S"):
        game.play(card)
    assert game.tricks == [(leader + 1) % 4]
    assert game.turn == game.leader == (leader + 1) % 4
    assert game.legal() == ["3C"]


# R2


def test_ace_takes_the_trick_and_court_cards_rank_in_order() -> None:
    game = play(position("classic", "TS 2C / JS 3C / QS 4C / AS 5C"), "0:TS 1:JS 2:QS 3:AS")
    assert game.tricks == [3]
    game = play(position("classic", "TS 2C / KS 3C / QS 4C / JS 5C"), "0:TS 1:KS 2:QS 3:JS")
    assert game.tricks == [1]


@pytest.mark.parametrize(
    ("rules", "card", "points"),
    [("classic", card, points) for card, points in [("AS", 1), ("KS", 10), ("QS", 10), ("JS", 10), ("TS", 10), ("9S", 9), ("2S", 2)]]
    + [
        ("hundred", "AS", 1),
        ("stakes", "AS", 1),
        ("jokers", "AS", 15),
        ("jokers", "JK", 20),
        ("jokers", "KS", 10),
        ("jokers-aces", "AS", 15),
    ],
)
def test_points_of_a_card_left_in_a_hand(rules: str, card: str, points: int) -> None:
    top = "3C" if PRESETS[rules].family == "pile" else None
    game = play(position(rules, f"2C / {card} / 9H", top=top), "0:2C")
    assert game.left == [0, points, 9]


# R3


@pytest.mark.parametrize("num_players", range(2, 8))
def test_trick_of_one_card_closes_when_nobody_can_follow(num_players: int) -> None:
    others = cards("2C 3C 4C 5C 6C 7C")[: num_players - 1]
    game = Game.from_position("classic", [["9H", "8H", "TD"], *([card] for card in others)])
    game.play("9H")
    for seat in range(1, num_players):
        assert game.turn == seat
        assert game.legal() == ["PASS"]
        game.play("PASS")
    assert game.tricks == [0]
    assert game.trick == []
    assert (game.turn, game.legal()) == (0, ["8H", "TD"])


def test_trick_closes_when_only_the_last_seat_passes() -> None:
    game = play(position("classic", "9H 2C / TH 3C / 4C 5C"), "0:9H 1:TH 2:PASS")
    assert game.tricks == [1]
    assert (game.turn, game.legal()) == (1, ["3C"])


# R4


def test_last_stock_card_that_does_not_fit_leaves_only_the_pass() -> None:
    game = play(position("classic", "KH 2C / 4S 5D / 3H 6C", "9C"), "0:KH 1:DRAW")
    assert game.stock == []
    assert (game.turn, game.legal()) == (1, ["PASS"])
    assert play(game, "1:PASS").turn == 2


def test_drawing_ends_at_the_first_card_that_fits() -> None:
    game = play(position("classic", "KH 2C / 4S 5D / 3H 6C", "9C 2H 7H"), "0:KH 1:DRAW 1:DRAW")
    assert (game.turn, game.legal()) == (1, ["2H"])
    assert game.stock == ["7H"]


# R5


@pytest.mark.parametrize(("name", "num_players"), [*PRESET_TABLES, ("classic", 12), ("hundred", 7), ("stakes", 14), ("jokers", 4)])
def test_draw_is_legal_exactly_when_the_stock_has_cards_and_nothing_matches(name: str, num_players: int) -> None:
    rng = np.random.default_rng(3)
    for seed in range(3):
        game = Game(name, num_players, seed)
        while not game.over:
            assert game.turn is not None
            hand, to_match = game.hands[game.turn], game.top or game.lead
            if name == "dig" and game.trick:
                to_match = game.trick[-1][1]
            fits = to_match is None or any(card != JOKER and matches(card, to_match) for card in hand)
            assert ("DRAW" in game.legal()) == (bool(game.stock) and not fits)
            game.play(str(rng.choice(game.legal())))


# R6


def test_nothing_of_the_last_trick_counts_in_the_next_hand() -> None:
    rules = replace(CLASSIC, hand_size=2)
    game = play(position(rules, "AS / 3S 9C / 2S 8C", dealer=2), "0:AS")
    game.next_hand()
    # The deal is now seat 0's: cards go to seats 1, 2, 0 in turn, and seat 1 leads.
    t, s = game.records
    s["deck"][: game.pack.size] = [game.pack.number(card) for card in deck_of(game.pack, cards("2H 5H 4H KC QC JC"))]
    kernels.deal(t, s)
    assert game.hands == [["4H", "JC"], ["2H", "KC"], ["5H", "QC"]]
    assert play(game, "1:2H 2:5H 0:4H").tricks == [2]


@pytest.mark.parametrize(("name", "num_players"), PRESET_TABLES)
def test_next_hand_is_as_fresh_as_a_new_table(name: str, num_players: int) -> None:
    rng = np.random.default_rng(4)
    rules = replace(PRESETS[name], match_end="target", target=100_000)
    game = Game(rules, num_players, seed=4)
    for _ in range(3):
        while not game.over:
            game.play(str(rng.choice(game.legal())))
        game.next_hand()
    fresh = Game.from_deck(rules, num_players, game.deck, game.dealer, game.leader, game.scores, game.hand_number)
    used_state, fresh_state = game.records[1], fresh.records[1]
    # Streams differ, and the last hand's result stays readable as `delta` and `left`.
    skipped = {"deal_stream", "policy_stream", "reshuffle_stream", "delta", "left"}
    for field in set(used_state.dtype.names) - skipped:
        assert np.array_equal(used_state[field], fresh_state[field]), field


# R7


@pytest.mark.parametrize(("match", "legal"), [("lead", ["DRAW"]), ("last", ["3S", "KS"])])
def test_third_seat_matches_the_card_that_the_rules_name(match: Any, legal: list[str]) -> None:
    game = play(position(replace(CLASSIC, match=match), "7D 4C / 7S KC / KS 3S", "2C"), "0:7D 1:7S")
    assert game.legal() == legal


# R8


def test_of_two_identical_cards_the_first_played_wins() -> None:
    assert play(position(TWO_PACKS, "3C 2H / 5C 4H / KC 6H / KC 8H"), "0:3C 1:5C 2:KC 3:KC").tricks == [2]


def test_rank_match_of_another_suit_never_wins() -> None:
    assert play(position("classic", "5H 2C / 5S 3C"), "0:5H 1:5S").tricks == [0]
    assert play(position("classic", "2H 2C / 2S 3C / 2D 4C / 3H 5C"), "0:2H 1:2S 2:2D 3:3H").tricks == [3]


def test_dig_takes_the_highest_card_of_any_suit_and_the_first_of_equals() -> None:
    assert play(position("dig", "5H 2C / 5S 3C / KS 4C / KD 6C"), "0:5H 1:5S 2:KS 3:KD").tricks == [2]


# R9


@pytest.mark.parametrize(
    ("rules", "delta"),
    [
        ("classic", [40, 0, 0, 0]),
        ("stakes-200", [40, 0, 0, 0]),
        ("stakes", [40, -18, -20, -2]),
        ("classic-reverse", [0, 18, 20, 2]),
        ("hundred", [0, 18, 20, 2]),
        ("stakes-minus", [0, 18, 20, 2]),
    ],
)
def test_scoring_schemes(rules: str, delta: list[int]) -> None:
    game = play(position(rules, "9C / AH KD 7S / TC TD / 2S"), "0:9C")
    assert game.left == [0, 18, 20, 2]
    assert game.delta == delta


@pytest.mark.parametrize(("target", "match_over"), [(139, True), (140, True), (141, False)])
def test_match_ends_with_the_hand_that_reaches_the_target(target: int, match_over: bool) -> None:
    game = position(replace(CLASSIC, target=target), "9C / AH KD 7S / TC TD / 2S", scores=[100, 0, 0, 0])
    assert play(game, "0:9C").scores == [140, 0, 0, 0]
    assert game.match_over == match_over


# R10


def test_lowest_scores_share_the_match_under_penalty_scoring() -> None:
    # 18, 20 and 2 points: 187 + 18, 20 + 20, 88 + 2.
    game = position("classic-reverse", "AH KD 7S / 9C / TC TD / 2S", to_play=1, scores=[187, 40, 20, 88])
    assert play(game, "1:9C").scores == [205, 40, 40, 90]
    assert game.match_over
    assert game.match_winners == [1, 2]


def test_highest_scores_share_the_match_under_collect_scoring() -> None:
    game = position("classic", "9C / AH KD 7S", scores=[182, 200])
    assert play(game, "0:9C").scores == [200, 200]
    assert game.match_winners == [0, 1]


# R11


@pytest.mark.parametrize(
    ("rules", "script", "trick_winner", "next_leader"),
    [
        # Seat 1 goes out with the higher card of the suit led, or with a rank match that cannot win. Seat 3 dealt.
        ("hundred", "0:5H 1:KH", 1, 1),
        ("hundred", "0:5H 1:5S", 0, 0),
        ("classic", "0:5H 1:KH", 1, 1),
        ("classic", "0:5H 1:5S", 0, 1),
    ],
)
def test_hand_ends_at_once_and_the_next_leader_is_known(rules: str, script: str, trick_winner: int, next_leader: int) -> None:
    game = play(position(rules, f"5H 2C / {script[-2:]} / AH 3C / 5C 4C"), script)
    assert game.over
    assert game.winner == 1
    assert game.turn is None
    assert game.legal() == []
    assert game.tricks == [trick_winner]
    # classic: seat 0 deals next and the seat to its left leads.
    assert (game.next_dealer, game.next_leader) == (0, next_leader)
    assert game.left == [2, 0, 4, 9]


def test_finish_trick_lets_the_others_play_and_score_nothing_for_an_empty_hand() -> None:
    rules = replace(PRESETS["hundred"], finish_trick=True)
    game = play(position(rules, "5H 2C / 9H / KH / 5C 4C"), "0:5H 1:9H")
    assert not game.over
    assert play(game, "2:KH").turn == 3
    play(game, "3:5C")
    assert game.over
    assert game.winner == 1
    assert game.delta == [2, 0, 0, 4]
    # The trick itself is the highest heart's.
    assert game.tricks == [2]
    assert game.next_leader == 2


def test_finish_trick_ends_after_the_others_draw_or_pass() -> None:
    rules = replace(CLASSIC, finish_trick=True)
    game = play(position(rules, "5H / 9C / KS", "2D"), "0:5H 1:DRAW 1:PASS 2:PASS")
    assert game.winner == 0
    assert game.delta == [9 + 2 + 10, 0, 0]


# R12


@pytest.mark.parametrize(
    ("turned", "top", "bottom"),
    [("6S 7S", "6S", []), ("JK 6S", "6S", ["JK"]), ("JK JK 6S", "6S", ["JK", "JK"])],
)
def test_joker_turned_up_goes_to_the_bottom_and_nobody_draws(turned: str, top: str, bottom: list[str]) -> None:
    # Hands take the first 21 cards: clubs, and diamonds up to the 9.
    dealt = [card for card in JOKERS.pack_for(3).cards if card[-1] in "CD"][:21]
    deck = deck_of(JOKERS.pack_for(3), dealt + cards(turned))
    game = Game.from_deck("jokers", 3, deck, dealer=2, leader=0, scores=[0, 0, 0])
    assert game.top == top
    assert [len(hand) for hand in game.hands] == [7, 7, 7]
    assert game.stock == deck[21 + turned.count("JK") + 1 :] + bottom


def test_joker_on_a_joker_booms_again_and_the_card_under_both_is_to_match() -> None:
    game = play(position(JOKERS, "JK 9D / JK KC / 6D 3D", "2H 3H 4H 5H 7H", top="6S"), "0:JK")
    assert game.hands == [["9D"], ["2H", "KC", "JK"], ["3D", "3H", "6D"]]
    assert game.legal() == ["JK", "DRAW"]
    play(game, "1:JK")
    assert game.top == "6S"
    assert game.hands == [["5H", "9D"], ["2H", "KC"], ["3D", "3H", "4H", "6D"]]
    assert (game.turn, game.legal()) == (2, ["6D"])


def test_joker_must_be_played_when_nothing_matches_and_the_stock_is_empty() -> None:
    game = position(JOKERS, "JK 9D / KC / 3D", top="6S")
    assert game.legal() == ["JK"]


def test_joker_may_be_played_beside_a_match() -> None:
    assert position(JOKERS, "JK 9D 6D / KC / 3D", "2H", top="6S").legal() == ["6D", "JK"]


# R13


def test_boom_card_as_the_last_ends_the_hand_after_the_others_drew() -> None:
    game = play(position(ACES, "AD / KC / QC", "2H 3H 4H", top="6S"), "0:AD")
    assert game.over
    assert game.winner == 0
    assert game.delta == [0, 12, 13]
    assert game.stock == ["4H"]


@pytest.mark.parametrize("aces", ["boom", "wild"])
def test_last_ace_that_must_match_leaves_its_holder_an_action(aces: Any) -> None:
    rules = replace(ACES, aces=aces, ace_must_match=True)
    game = position(rules, "AD / KC / 6C", "2H", top="6S")
    assert game.legal() == ["DRAW"]
    play(game, "0:DRAW 1:PASS 2:6C")
    assert game.winner == 2
    assert position(rules, "AD / 6C / QC", top="6S").legal() == ["PASS"]
    assert position(rules, "AD / 6C / QC", top="6D").legal() == ["AD"]


# R15


@pytest.mark.parametrize(("name", "num_players"), PRESET_TABLES)
def test_no_card_appears_or_vanishes(name: str, num_players: int) -> None:
    rng = np.random.default_rng(6)
    game = Game(name, num_players, seed=6)
    played = Counter([game.top] if game.top else [])
    whole = Counter(game.deck)
    while True:
        assert played + Counter(game.stock) + Counter(card for hand in game.hands for card in hand) == whole
        if game.over:
            break
        action = str(rng.choice(game.legal()))
        played.update({action} - {"DRAW", "PASS"})
        game.play(action)


@pytest.mark.parametrize(
    ("copies", "jokers", "hands", "played"),
    [
        # What stands nowhere was played before; the card to match stays, a second copy of it goes.
        (1, 0, "2C / 3C / 4C", "2D 3D 4D AC"),
        (1, 1, "2C / 3C / 4C", "2D 3D 4D AC JK"),
        (2, 0, "2C / 3C 3C / 4C AC", "2C 2D 2D 3D 3D 4C 4D 4D AC AD"),
    ],
)
def test_reshuffle_turns_the_pile_below_its_top_into_the_stock(copies: int, jokers: int, hands: str, played: str) -> None:
    rules = Rules(family="pile", packs=((2, replace(SMALL, copies=copies, jokers=jokers)),), hand_size=1, reshuffle=True)
    game = position(rules, hands, top="AD")
    before = [len(hand) for hand in game.hands]
    play(game, "0:DRAW")
    assert len(game.reshuffles) == 1
    assert sorted(game.reshuffles[0]) == sorted(cards(played))
    assert game.hands[0] == sorted(["2C", game.reshuffles[0][0]], key=game.pack.number)
    assert game.stock == game.reshuffles[0][1:]
    assert [len(hand) for hand in game.hands[1:]] == before[1:]
    assert game.top == "AD"


def test_without_reshuffle_an_empty_stock_stays_empty() -> None:
    game = position(JOKERS, "2H / 6C / 3C", top="6S")
    assert game.legal() == ["PASS"]


# Aces that boom (S3 without jokers)


def test_booming_ace_keeps_suit_and_rank_and_each_other_seat_draws_one() -> None:
    game = play(position(ACES, "AD 9H / 6D 6C / 5C 8C / TC TH", "2C 3C 4C KC", top="6S"), "0:AD")
    assert game.hands == [["9H"], ["2C", "6C", "6D"], ["3C", "5C", "8C"], ["4C", "TC", "TH"]]
    assert game.stock == ["KC"]
    assert game.top == "AD"
    # The six matched the card under the ace, not the ace: only the diamond may be played.
    assert (game.turn, game.legal()) == (1, ["6D"])


def test_any_ace_goes_on_a_booming_ace() -> None:
    game = play(position(ACES, "AD 9H / AC 6S / 5C 8C", "2C 3C 4C 5S 7S", top="6H"), "0:AD")
    assert game.legal() == ["AC"]
    play(game, "1:AC")
    # The boomer's left, seat 2, draws first.
    assert game.hands == [["5S", "9H"], ["2C", "6S"], ["3C", "4C", "5C", "8C"]]
    # A club now, the ace of clubs being on top.
    assert game.legal() == ["3C", "4C", "5C", "8C"]


def test_anything_goes_after_a_booming_ace_where_the_rules_say_so() -> None:
    game = play(position(replace(ACES, after_boom="any"), "AD 9H / 6S KC / 5C", "2C 3C", top="6H"), "0:AD")
    assert game.legal() == ["2C", "6S", "KC"]


def test_ace_that_does_not_match_may_be_kept_while_the_stock_lasts() -> None:
    assert position(ACES, "AD 9H / 6S / 5C", "2C", top="6C").legal() == ["AD", "DRAW"]
    assert position(ACES, "AD 9H / 6S / 5C", top="6C").legal() == ["AD"]


def test_ace_that_must_match_booms_when_it_does() -> None:
    rules = replace(ACES, ace_must_match=True)
    assert position(rules, "AD 9H / KC / 5C", "2C 3C", top="6S").legal() == ["DRAW"]
    game = play(position(rules, "AD 9H / KC / 5C", "2C 3C", top="6D"), "0:AD")
    assert game.hands == [["9H"], ["2C", "KC"], ["3C", "5C"]]


def test_turned_up_ace_stays_and_does_not_boom() -> None:
    pack = ACES.pack_for(3)
    dealt = [card for card in pack.cards if card[-1] in "CD"][:21]
    game = Game.from_deck("jokers-aces", 3, deck_of(pack, [*dealt, "AH"]), dealer=2, leader=0, scores=[0, 0, 0])
    assert game.top == "AH"
    assert [len(hand) for hand in game.hands] == [7, 7, 7]
    assert len(game.stock) == 52 - 22


def test_wild_ace_goes_on_anything_and_nobody_draws() -> None:
    game = play(position("rockaway", "AD 9H / 6D 6C", "2C 3C", top="6S"), "0:AD")
    assert game.hands == [["9H"], ["6C", "6D"]]
    assert game.legal() == ["6D"]


# Drawing


@pytest.mark.parametrize(("drawn", "legal"), [("5H", ["5H", "PASS"]), ("5S", ["PASS"])])
def test_one_card_drawn_may_be_played_to_a_trick(drawn: str, legal: list[str]) -> None:
    rules = replace(CLASSIC, draw="one_may_play")
    game = play(position(rules, "9H 2C / 3C 4S / 7D 8D", f"{drawn} 6H"), "0:9H 1:DRAW")
    assert (game.turn, game.legal()) == (1, legal)
    assert play(game, "1:PASS").turn == 2


@pytest.mark.parametrize(("drawn", "legal"), [("6D", ["6D", "PASS"]), ("9D", ["PASS"]), ("JK", ["JK", "PASS"])])
def test_one_card_drawn_may_be_played_on_a_pile(drawn: str, legal: list[str]) -> None:
    rules = replace(JOKERS, draw="one_may_play")
    game = play(position(rules, "2H 3H / 8C / 9C", f"{drawn} 4H", top="6S"), "0:DRAW")
    assert (game.turn, game.legal()) == (0, legal)
    assert play(game, "0:PASS").turn == 1


@pytest.mark.parametrize(("drawn", "legal"), [("AD", ["AD", "PASS"]), ("9D", ["PASS"])])
def test_ace_drawn_as_the_one_card_may_be_played_and_an_ace_held_before_may_not(drawn: str, legal: list[str]) -> None:
    rules = replace(ACES, draw="one_may_play")
    assert play(position(rules, "AC 3H / 8C / 9C", f"{drawn} 4H", top="6S"), "0:DRAW").legal() == legal


def test_joker_held_may_be_played_between_draws_but_a_match_drawn_must_be() -> None:
    game = play(position(replace(JOKERS, draw="until"), "JK 9D / 8C / 9C", "2H 6C 4H", top="6S"), "0:DRAW")
    assert game.legal() == ["JK", "DRAW"]
    assert play(game, "0:DRAW").legal() == ["6C"]


def test_draw_one_ends_the_turn_in_a_trick_too() -> None:
    game = play(position(replace(CLASSIC, draw="one"), "9H 2C / 3C 4S / 7H 8D", "5H 6H"), "0:9H 1:DRAW")
    assert (game.turn, game.legal()) == (2, ["7H"])


def test_draw_limit_ends_the_drawing() -> None:
    game = play(position(replace(CLASSIC, draw_limit=2), "9H 2C / 3C 4S / 7H 8D", "5C 6C 2H"), "0:9H 1:DRAW 1:DRAW")
    assert (game.turn, game.legal()) == (1, ["PASS"])
    assert game.stock == ["2H"]
    assert play(game, "1:PASS").legal() == ["7H"]


def test_last_card_within_the_draw_limit_is_played_if_it_fits() -> None:
    game = play(position(replace(CLASSIC, draw_limit=2), "9H 2C / 3C 4S / 7H 8D", "5C 2H 6C"), "0:9H 1:DRAW 1:DRAW")
    assert game.legal() == ["2H"]


# Renege (S5)


def test_renege_draw_lets_a_follower_draw_although_it_could_play() -> None:
    rules = replace(PRESETS["stakes"], renege="draw")
    game = play(position(rules, "9H 2C / 3H 4S / 7D 8D", "5C 6H"), "0:9H")
    assert game.legal() == ["3H", "DRAW"]
    play(game, "1:DRAW")
    assert game.legal() == ["3H", "DRAW"]
    play(game, "1:DRAW")
    # The stock is empty and it can play, so it must.
    assert game.legal() == ["3H", "6H"]
    assert play(game, "1:6H 2:PASS").turn == 0


def test_renege_draw_gives_no_pass_to_a_seat_that_can_play() -> None:
    rules = replace(PRESETS["stakes"], renege="draw")
    assert play(position(rules, "9H 2C / 3H 4S"), "0:9H").legal() == ["3H"]
    assert play(position(rules, "9H 2C / 3C 4S"), "0:9H").legal() == ["PASS"]


def test_renege_pass_lets_a_follower_sit_out_although_it_could_play() -> None:
    rules = replace(PRESETS["stakes"], renege="pass")
    game = play(position(rules, "9H 2C / KH 4S / 7D 8H", "5C"), "0:9H")
    assert game.legal() == ["KH", "PASS"]
    game = play(game, "1:PASS 2:8H")
    assert game.tricks == [0]


def test_renege_pass_does_not_spare_the_drawing() -> None:
    rules = replace(PRESETS["stakes"], renege="pass")
    assert play(position(rules, "9H 2C / 3C 4S", "5C"), "0:9H").legal() == ["DRAW"]


@pytest.mark.parametrize("renege", ["none", "draw", "pass"])
def test_leader_must_play_a_card_whatever_the_renege(renege: Any) -> None:
    assert position(replace(CLASSIC, renege=renege), "9H 2C / 3C 4S", "5C").legal() == ["2C", "9H"]


# Blocked hands: 21, 4 and 13 points are left, of which 4 is the lowest.

BLOCKED = [
    ("penalty", "own", [21, 4, 13]),
    ("penalty", "difference", [17, 0, 9]),
    ("penalty", None, [21, 4, 13]),
    ("collect", "own", [-21, -4, -13]),
    ("collect", "difference", [0, 26, 0]),
    ("collect", None, [0, 26, 0]),
    ("settle", "own", [-21, -4, -13]),
    ("settle", "difference", [-17, 26, -9]),
    ("settle", None, [-17, 26, -9]),
    *((scoring, "void", [0, 0, 0]) for scoring in ("penalty", "collect", "settle")),
]


@pytest.mark.parametrize(("scoring", "blocked", "delta"), BLOCKED)
def test_scores_of_a_blocked_hand(scoring: Any, blocked: Any, delta: list[int]) -> None:
    game = position(replace(JOKERS, scoring=scoring, blocked=blocked), "2H KC / 4H / QD 3C", "9C", top="6S")
    assert not game.over
    play(game, "0:DRAW")
    assert game.over
    assert game.blocked
    assert game.winner is None
    assert game.left == [21, 4, 13]
    assert game.delta == delta


@pytest.mark.parametrize("scoring", ["penalty", "collect", "settle"])
def test_tied_lowest_hands_collect_no_difference(scoring: Any) -> None:
    game = position(replace(JOKERS, scoring=scoring, blocked="difference"), "2H KC / 4H / 4D", "9C", top="6S")
    assert play(game, "0:DRAW").delta == [0, 0, 0]
    assert game.left == [21, 4, 4]


def test_play_that_leaves_nobody_a_card_to_play_blocks_the_hand() -> None:
    game = play(position(JOKERS, "6D 2H / 4H / 3C 4C", top="6S"), "0:6D")
    assert game.blocked
    assert game.delta == [2, 4, 7]


def test_position_in_which_nobody_can_go_on_is_over() -> None:
    assert position(JOKERS, "2H / 4H / 3C", top="6S").over


@pytest.mark.parametrize("last", ["JK", "6D"])
def test_hand_with_a_card_to_play_is_not_blocked(last: str) -> None:
    game = position(JOKERS, f"2H / 4H / {last} 5C", top="6S")
    assert play(game, "0:PASS 1:PASS").legal() == [last]


# The pack of 62 (S5)


def test_points_of_elevens_twelves_and_thirteens_are_their_face_value() -> None:
    rules = replace(PRESETS["stakes"], packs=((2, PACK_62),))
    game = play(position(rules, "2C / 11S / 12D / 13H / 11C 12C JC"), "0:2C")
    assert game.left == [0, 11, 12, 13, 33]
    assert game.delta == [69, -11, -12, -13, -33]


def test_pack_of_62_ranks_from_the_ace_down_to_the_ten() -> None:
    order = cards("AH KH QH JH 13H 12H 11H TH 9H")
    rules = replace(PRESETS["stakes"], packs=((2, PACK_62),))
    for high, low in pairwise(order):
        assert play(position(rules, f"{low} 2C / {high} 3C"), f"0:{low} 1:{high}").tricks == [1]
        assert play(position(rules, f"{high} 2C / {low} 3C"), f"0:{high} 1:{low}").tricks == [0]
