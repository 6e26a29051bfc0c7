"""Cards, packs and action numbers, and `Rules`: what is refused, the presets as written, JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import Any

import pytest

from goboom_env.actions import IllegalActionError, action_number, action_text, num_actions
from goboom_env.cards import PACK_52, PACK_54, PACK_62, PACK_104, Pack, normal_card, split_card
from goboom_env.rules import PRESETS, Rules, get_rules, nearest, rules_name

RANKS_52 = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
RANKS_62 = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "11", "12", "13", "J", "Q", "K", "A"]
PACKS = {"52": PACK_52, "54": PACK_54, "62": PACK_62, "104": PACK_104, "mini": PRESETS["mini"].pack_for(2)}
ONE_LINE = r"\A.+\Z"

# Cards


@pytest.mark.parametrize("rank", RANKS_62)
@pytest.mark.parametrize("suit", ["C", "D", "H", "S"])
def test_card_is_read_in_any_case_and_split_into_rank_and_suit(rank: str, suit: str) -> None:
    card = rank + suit
    assert normal_card(card) == normal_card(card.lower()) == normal_card(f" {card} ") == card
    assert split_card(card) == (RANKS_62.index(rank), "CDHS".index(suit))


@pytest.mark.parametrize(("text", "card"), [("10C", "TC"), ("10h", "TH"), ("tc", "TC"), ("jk", "JK"), ("13d", "13D")])
def test_other_spellings_of_a_card(text: str, card: str) -> None:
    assert normal_card(text) == card


@pytest.mark.parametrize(
    "text", ["", "7", "T", "C", "D7", "1C", "14C", "77D", "7DD", "7 D", "7E", "JKK", "J K", "DRAW", "\u0667D", "7\u2666"]
)
def test_text_that_is_no_card_is_named_in_the_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card: write a rank of 2 3 4") as error:
        normal_card(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("text", ["10", "10X"])
def test_error_names_the_text_as_it_was_written(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'{text}' is not a card"):
        normal_card(text)


# Packs


@pytest.mark.parametrize(
    ("name", "size", "types", "jokers"), [("52", 52, 52, 0), ("54", 54, 53, 2), ("62", 62, 62, 0), ("104", 104, 52, 0), ("mini", 8, 8, 0)]
)
def test_sizes_of_the_packs(name: str, size: int, types: int, jokers: int) -> None:
    pack = PACKS[name]
    assert (pack.size, len(pack.types), pack.jokers) == (size, types, jokers)
    assert num_actions(pack) == types + 2


def test_types_are_numbered_by_rank_then_suit_and_the_joker_last() -> None:
    plain = tuple(rank + suit for rank in RANKS_52 for suit in "CDHS")
    assert PACK_52.types == PACK_104.types == plain
    assert PACK_54.types == (*plain, "JK")
    assert PACKS["mini"].types == ("2C", "2D", "3C", "3D", "4C", "4D", "AC", "AD")
    assert Pack(tuple(reversed(plain))) == PACK_52


def test_pack_of_62_has_two_thirteens() -> None:
    assert PACK_62.types == tuple(rank + suit for rank in RANKS_62 for suit in ("DH" if rank == "13" else "CDHS"))


@pytest.mark.parametrize("name", PACKS)
def test_number_and_text_of_every_action_agree(name: str) -> None:
    pack = PACKS[name]
    words = [*pack.types, "DRAW", "PASS"]
    assert [action_text(pack, number) for number in range(num_actions(pack))] == words
    assert [action_number(pack, word) for word in words] == list(range(num_actions(pack)))
    assert [action_number(pack, f" {word.lower()}") for word in words] == list(range(num_actions(pack)))
    assert [pack.number(card) for card in pack.types] == list(range(len(pack.types)))


@pytest.mark.parametrize("number", [-1, 54, 1000])
def test_action_out_of_range_is_named_with_the_range(number: int) -> None:
    with pytest.raises(ValueError, match=f"action {number} is out of range: this pack has actions 0 to 53"):
        action_text(PACK_52, number)


@pytest.mark.parametrize(
    ("pack", "card", "message"),
    [
        (PACK_52, "jk", "this pack has no JK: its 52 cards are 2C 2D"),
        (PACK_52, "13H", "this pack has no 13H"),
        (PACK_62, "13C", "this pack has no 13C"),
        (PACKS["mini"], "5c", "this pack has no 5C: its 8 cards are 2C 2D 3C 3D 4C 4D AC AD"),
        (PACK_52, "pas", "'PAS' is not a card"),
    ],
)
def test_card_that_the_pack_has_not_is_named(pack: Pack, card: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_number(pack, card)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((),), "at least one, got none"),
        ((("7D", "7d"),), "each of its types once .* got 7D 7D"),
        ((("7D", "7X"),), "'7X' is not a card"),
        ((("7D", "JK"),), "'JK' is not a card"),
        ((("7D",), 0), "1 or 2 copies .* copies=0"),
        ((("7D",), 3), "1 or 2 copies .* copies=3"),
        ((("7D",), 1, -1), "0 to 16 jokers, got jokers=-1"),
        ((("7D",), 1, 17), "0 to 16 jokers, got jokers=17"),
        ((("7D",), 1, 1.5), "0 to 16 jokers, got jokers=1.5"),
        ((PACK_62.cards, 2, 5), "at most 128 cards, this one would have 129"),
        ((("7D",), 1.0), "copies=1.0"),
        ((("7D",), True), "copies=True"),
        ((("7D",), 1, True), "jokers=True"),
        (((7,),), "7"),
    ],
)
def test_impossible_pack_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pack(*arguments)


def test_largest_pack() -> None:
    assert Pack(PACK_62.cards, 2, 4).size == 128


def test_illegal_action_is_a_value_error() -> None:
    assert issubclass(IllegalActionError, ValueError)


# Rules that are refused

PILE: dict[str, Any] = {"family": "pile"}


@pytest.mark.parametrize(
    ("fields", "named", "way_out"),
    [
        ({"family": "tricks"}, "family='tricks'", "did you mean 'trick'?"),
        ({"family": None}, "family=None", "trick, pile"),
        ({"match": "any"}, "match='any'", "lead, last"),
        ({"trick_winner": "suits"}, "trick_winner='suits'", "did you mean 'suit'?"),
        ({"draw": "untl"}, "draw='untl'", "did you mean 'until'?"),
        ({"renege": True}, "renege=True", "none, draw, pass"),
        ({**PILE, "aces": "bom"}, "aces='bom'", "did you mean 'boom'?"),
        ({**PILE, "after_boom": "over"}, "after_boom='over'", "under, any"),
        ({**PILE, "blocked": "owns"}, "blocked='owns'", "did you mean 'own'?"),
        ({"scoring": ["penalty"]}, "scoring=['penalty']", "collect, penalty, settle"),
        ({"match_end": 200}, "match_end=200", "target, round, hand"),
        ({"next_lead": "right"}, "next_lead='right'", "left, last_trick"),
        ({"finish_trick": 1}, "finish_trick=1", "True or False"),
        ({"finish_trick": "yes"}, "finish_trick='yes'", "True or False"),
        ({**PILE, "reshuffle": None}, "reshuffle=None", "True or False"),
        ({"hand_size": "7"}, "hand_size='7'", "whole number"),
        ({"hand_size": 7.0}, "hand_size=7.0", "whole number"),
        ({"target": True}, "target=True", "whole number"),
        ({"target": float("nan")}, "target=nan", "whole number"),
        ({"hand_size": 0}, "hand_size=0", "within 1 to 100"),
        ({"hand_size": 101}, "hand_size=101", "within 1 to 100"),
        ({"target": 0}, "target=0", "within 1 to 100000"),
        ({"target": 100_001}, "target=100001", "within 1 to 100000"),
        ({"draw_limit": -1}, "draw_limit=-1", "within 0 to 100"),
        ({"turn_limit": 0}, "turn_limit=0", "within 1 to 30000"),
        ({"turn_limit": 30_001}, "turn_limit=30001", "within 1 to 30000"),
        ({"ace_points": -1}, "ace_points=-1", "within 0 to 100"),
        ({"court_points": 101}, "court_points=101", "within 0 to 100"),
        ({"joker_points": 101}, "joker_points=101", "within 0 to 100"),
        ({"min_players": 1}, "min_players=1", "within 2 to 14"),
        ({"max_players": 15}, "max_players=15", "within 2 to 14"),
        ({"min_players": 5, "max_players": 4}, "min_players=5 and max_players=4", "in order"),
        ({"packs": ()}, "()", "(n, Pack) pairs"),
        ({"packs": ((3, PACK_52),)}, "[3]", "at or below min_players=2"),
        ({"packs": ((2, PACK_52), (2, PACK_104))}, "[2, 2]", "rising n"),
        ({"packs": ((7, PACK_104), (2, PACK_52))}, "[7, 2]", "rising n"),
        ({"draw": "one", "draw_limit": 2}, "draw_limit=2", 'needs draw="until"'),
        ({"packs": ((2, PACK_54),)}, "2 jokers", 'needs family="pile"'),
        ({**PILE, "packs": ((2, PACK_54),), "aces": "boom"}, 'aces="boom"', "without jokers"),
        ({**PILE, "ace_must_match": True}, "ace_must_match", 'needs aces="boom" or aces="wild"'),
        ({"aces": "wild"}, "aces='wild'", "no meaning in the trick family; leave it out"),
        ({"ace_must_match": True}, "ace_must_match=True", "no meaning in the trick family"),
        ({"after_boom": "any"}, "after_boom='any'", "no meaning in the trick family"),
        ({"boom_on_last": False}, "boom_on_last=False", "no meaning in the trick family"),
        ({"reshuffle": True}, "reshuffle=True", "no meaning in the trick family"),
        ({"blocked": "own"}, "blocked='own'", "no meaning in the trick family"),
        ({**PILE, "match": "last"}, "match='last'", "no meaning in the pile family; leave it out"),
        ({**PILE, "trick_winner": "any"}, "trick_winner='any'", "no meaning in the pile family"),
        ({**PILE, "renege": "draw"}, "renege='draw'", "no meaning in the pile family"),
        ({**PILE, "finish_trick": True}, "finish_trick=True", "no meaning in the pile family"),
        ({**PILE, "next_lead": "last_trick"}, "next_lead='last_trick'", "no meaning in the pile family"),
        ({"packs": PACK_52}, "packs", "(n, Pack) pairs"),
        ({"packs": (PACK_52,)}, "packs", "(n, Pack) pairs"),
        ({"packs": ((2, "52"),)}, "packs", "(n, Pack) pairs"),
        ({"packs": (("2", PACK_52),)}, "packs", "(n, Pack) pairs"),
        ({"packs": ((float("nan"), PACK_52),)}, "packs", "(n, Pack) pairs"),
    ],
)
def test_impossible_rules_name_the_value_and_the_way_out(fields: dict[str, Any], named: str, way_out: str) -> None:
    with pytest.raises(ValueError, match=ONE_LINE) as error:
        Rules(**fields)
    assert named in str(error.value)
    assert way_out in str(error.value)


def test_packs_in_a_list_are_refused_or_work() -> None:
    with contextlib.suppress(ValueError):
        hash(Rules(packs=[(2, PACK_52)]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rules", "num_players", "message"),
    [
        (Rules(), 1, "num_players=1 is not possible: these rules are for 2 to 12 players"),
        (Rules(), 13, "num_players=13 is not possible: these rules are for 2 to 12 players"),
        (PRESETS["jokers"], 5, "num_players=5 is not possible: these rules are for 3 to 4 players"),
        (Rules(), 4.0, "num_players=4.0 must be a whole number"),
        (Rules(), True, "num_players=True must be a whole number"),
        (Rules(packs=((2, PACK_52),)), 8, "8 hands of 7 need 56 cards and the pack has 52: choose fewer players"),
        (dataclasses.replace(PRESETS["jokers"], hand_size=18), 3, "3 hands of 18 and one card turned up need 55 cards and the pack has 54"),
    ],
)
def test_player_count_that_cannot_be_served_names_both_numbers(rules: Rules, num_players: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rules.pack_for(num_players)


def test_pack_may_be_dealt_to_its_last_card() -> None:
    assert Rules(hand_size=26).pack_for(2) is PACK_52
    house = dataclasses.replace(PRESETS["jokers-aces"], hand_size=17)
    assert house.pack_for(3).size == 3 * 17 + 1


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("clasic", "no preset 'clasic'; did you mean 'classic'?"),
        ("joker", "did you mean 'jokers'?"),
        ("stakes200", "did you mean 'stakes-200'?"),
        ("poker-night", "no preset 'poker-night'; known: classic, classic-reverse, dig, hundred"),
    ],
)
def test_unknown_preset_names_the_nearest_or_all(word: str, message: str) -> None:
    with pytest.raises(ValueError, match=ONE_LINE) as error:
        get_rules(word)
    assert message in str(error.value)


def test_nearest_word() -> None:
    assert nearest("untill", ["one", "until"]) == "; did you mean 'until'?"
    assert nearest(7, ["one", "until"]) == "; known: one, until"


# Presets, as the sources have them

FIELDS = ("family", "match", "trick_winner", "draw", "aces", "ace_points", "scoring", "match_end", "target", "next_lead")
TRICK = ("trick", "lead", "suit", "until", "plain", 1)
TABLE = {
    "classic": (*TRICK, "collect", "target", 200, "left"),
    "classic-reverse": (*TRICK, "penalty", "target", 100, "left"),
    "jokers": ("pile", None, None, "one", "plain", 15, "penalty", "round", None, None),
    "jokers-aces": ("pile", None, None, "one", "boom", 15, "penalty", "round", None, None),
    "hundred": (*TRICK, "penalty", "target", 100, "last_trick"),
    "stakes": (*TRICK, "settle", "hand", None, "left"),
    "stakes-200": (*TRICK, "collect", "target", 200, "left"),
    "stakes-minus": (*TRICK, "penalty", "target", 100, "left"),
    "dig": ("trick", "last", "any", "until", "plain", 1, None, None, None, None),
    "rockaway": ("pile", None, None, "until", "wild", 15, "penalty", None, None, None),
    "mini": (*TRICK, "settle", "hand", None, "left"),
}
PLAYERS = {
    "classic": {range(2, 7): 52, range(7, 13): 104},
    "classic-reverse": {range(2, 7): 52, range(7, 13): 104},
    "jokers": {range(3, 5): 54},
    "jokers-aces": {range(3, 5): 52},
    "hundred": {range(2, 8): 52},
    "stakes": {range(2, 7): 52, range(7, 9): 62, range(9, 15): 104},
    "stakes-200": {range(2, 7): 52, range(7, 9): 62, range(9, 15): 104},
    "stakes-minus": {range(2, 7): 52, range(7, 9): 62, range(9, 15): 104},
    "mini": {range(2, 3): 8},
}


def test_presets_are_those_of_the_table() -> None:
    assert set(PRESETS) == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_preset_is_as_written(name: str) -> None:
    # None where the source says nothing.
    found = {field: getattr(PRESETS[name], field) for field, value in zip(FIELDS, TABLE[name], strict=True) if value is not None}
    assert found == {field: value for field, value in zip(FIELDS, TABLE[name], strict=True) if value is not None}
    assert PRESETS[name].hand_size == (2 if name == "mini" else 7)
    assert PRESETS[name].court_points == 10


@pytest.mark.parametrize("name", PLAYERS)
def test_preset_has_the_pack_of_every_player_count(name: str) -> None:
    sizes = {count: size for counts, size in PLAYERS[name].items() for count in counts}
    assert {count: PRESETS[name].pack_for(count).size for count in PRESETS[name].player_counts} == sizes


@pytest.mark.parametrize("name", ["dig", "rockaway"])
def test_every_player_count_of_the_variants_can_be_dealt(name: str) -> None:
    for count in PRESETS[name].player_counts:
        assert PRESETS[name].pack_for(count).size > 7 * count


def test_defaults_where_the_sources_are_silent() -> None:
    jokers = PRESETS["jokers"]
    assert (jokers.joker_points, jokers.after_boom, jokers.boom_on_last, jokers.reshuffle, jokers.blocked) == (
        20,
        "under",
        True,
        False,
        None,
    )
    assert not PRESETS["jokers-aces"].ace_must_match
    assert all((rules.renege, rules.finish_trick, rules.draw_limit) == ("none", False, 0) for rules in PRESETS.values())


# Values


@pytest.mark.parametrize(
    "rules",
    [*PRESETS.values(), Rules(hand_size=3, renege="pass", draw_limit=2), dataclasses.replace(PRESETS["jokers"], blocked="void")],
    ids=lambda rules: rules_name(rules) or "house",
)
def test_rules_survive_json(rules: Rules) -> None:
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert set(rules.to_dict()) == {field.name for field in dataclasses.fields(Rules)}


def test_fields_left_out_keep_their_defaults() -> None:
    assert Rules.from_dict({"target": 300}) == Rules(target=300)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"targets": 300}, "no field 'targets'; did you mean 'target'?"),
        ({"zzz": 1}, "no field 'zzz'; known: ace_must_match"),
        ({"draw": "two"}, "draw='two'"),
        ({"packs": 52}, "packs must be a list of"),
        ({"packs": [[2, {"cards": ["7D"]}]]}, "packs must be a list of"),
        ({"packs": [[2, None]]}, "packs must be a list of"),
        ({"packs": [[2, {"cards": ["7X"], "copies": 1, "jokers": 0}]]}, "'7X' is not a card"),
        ({"packs": [[2, {"cards": ["7D"], "copies": 5, "jokers": 0}]]}, "copies=5"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=ONE_LINE) as error:
        Rules.from_dict(values)
    assert message in str(error.value)


def test_rules_and_packs_are_frozen_and_hashable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().target = 300  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        PACK_52.copies = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        PRESETS["classic"] = Rules()  # type: ignore[index]
    assert len({*PRESETS.values(), Rules()}) == len(PRESETS)


def test_preset_by_name_and_name_of_a_preset() -> None:
    house = dataclasses.replace(PRESETS["classic"], target=300)
    assert get_rules(house) is house
    assert rules_name(house) is None
    for name, rules in PRESETS.items():
        assert get_rules(name) is rules
        assert rules_name(dataclasses.replace(rules)) == name
