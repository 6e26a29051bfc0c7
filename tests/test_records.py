"""Records: written, read and replayed; every wrong field is found and named."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goboom_env.arena.recording import record_hands
from goboom_env.cards import Pack
from goboom_env.engine.game import Game
from goboom_env.engine.record import RecordError, make_record, read_records, replay, replay_file, write_records
from goboom_env.policies import make
from goboom_env.rules import PRESETS, Rules
from tests.rules import referee

Record = dict[str, Any]

KEYS = [
    *("format", "rules", "num_players", "match", "hand", "dealer", "leader", "deck", "scores_before", "seats", "actions"),
    *("tricks", "winner", "blocked", "left", "delta", "scores_after", "match_over", "match_winners"),
]
RESULTS = ["tricks", "winner", "blocked", "left", "delta", "scores_after", "match_over", "match_winners"]
TABLES = [("classic", 4), ("hundred", 3), ("stakes", 2), ("jokers", 3)]
RESHUFFLING = Rules(family="pile", packs=((2, Pack.of("234A", "CD")),), hand_size=2, reshuffle=True)


@cache
def recorded(name: str, num_players: int, hands: int | None = None, matches: int | None = None) -> list[Record]:
    """Records of random play as they come back from JSON."""
    policies = [make("random")] * num_players
    return [json.loads(json.dumps(record)) for record in record_hands(PRESETS[name], policies, 3, hands, matches)]


def good(name: str = "classic", num_players: int = 4) -> Record:
    return copy.deepcopy(recorded(name, num_players, hands=1)[0])


@cache
def _reshuffled() -> Record:
    for seed in range(100):
        game, rng = Game(RESHUFFLING, 2, seed), np.random.default_rng(seed)
        while not game.over:
            game.play(str(rng.choice(game.legal())))
        if len(game.reshuffles) == 1:
            return make_record(game, 0, ["random"] * 2)
    raise AssertionError("no hand was reshuffled")


def reshuffled() -> Record:
    """A record with a reshuffle."""
    return dict(json.loads(json.dumps(_reshuffled())))


def key_of_fault(record: Record) -> str:
    """Key that the replay of a wrong record names, with line 7 and in one line of text."""
    with pytest.raises(RecordError) as error:
        replay(record, 7)
    assert str(error.value).startswith(f"line 7, key {error.value.key!r}: ")
    assert "\n" not in str(error.value)
    return error.value.key


def write_lines(path: Path, records: list[Record]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


# Good records


def test_record_of_a_hand_worked_by_hand() -> None:
    rules = dataclasses.replace(PRESETS["mini"], match_end="target", target=100)
    # Seat 1 dealt: seat 0 gets 3C and 2C, seat 1 gets 4D and AD. Seat 1 takes each trick, the last one unfinished.
    deck = ["3C", "4D", "2C", "AD", "4C", "2D", "3D", "AC"]
    game = Game.from_deck(rules, 2, deck, dealer=1, leader=0, scores=[10, 20], hand_number=4)
    actions = [[0, "3C"], [1, "DRAW"], [1, "4C"], [1, "4D"], [0, "DRAW"], [0, "2D"], [1, "AD"]]
    for seat, action in actions:
        assert game.turn == seat
        game.play(str(action))
    assert make_record(game, 2, ["me", "you"]) == {
        "format": "goboom-record/1",
        "rules": rules.to_dict(),
        "num_players": 2,
        "match": 2,
        "hand": 4,
        "dealer": 1,
        "leader": 0,
        "deck": deck,
        "scores_before": [10, 20],
        "seats": ["me", "you"],
        "actions": actions,
        "tricks": [1, 1, 1],
        "winner": 1,
        "blocked": False,
        "left": [2, 0],
        "delta": [-2, 2],
        "scores_after": [8, 22],
        "match_over": False,
        "match_winners": [],
    }


@pytest.mark.parametrize(("name", "num_players"), [(name, rules.max_players) for name, rules in PRESETS.items()])
def test_records_are_complete_and_replay_to_the_same_hand(name: str, num_players: int) -> None:
    for record in recorded(name, num_players, hands=2):
        assert list(record) == KEYS
        assert record["rules"] == name
        referee.check_record(record, dataclasses.asdict(PRESETS[name]))
        game = replay(record)
        assert json.loads(json.dumps(make_record(game, record["match"], record["seats"]))) == record


def test_record_of_house_rules_holds_every_field() -> None:
    rules = dataclasses.replace(PRESETS["classic"], hand_size=3, target=50)
    (record,) = record_hands(rules, [make("random")] * 3, 1, hands=1)
    assert set(record["rules"]) == {field.name for field in dataclasses.fields(Rules)}
    assert replay(json.loads(json.dumps(record))).rules == rules


def test_reshuffles_are_replayed() -> None:
    record = reshuffled()
    assert replay(record).reshuffles == record["reshuffles"]


def test_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    records = recorded("jokers", 3, matches=2)
    assert len(records) == 6
    path = tmp_path / "hands.jsonl"
    assert write_records(path, iter(records)) == 6
    assert list(read_records(path)) == list(enumerate(records, 1))
    assert replay_file(path) == 6
    assert path.read_bytes().count(b"\n") == 6
    assert list(tmp_path.iterdir()) == [path]


def test_keys_that_nobody_knows_are_ignored(tmp_path: Path) -> None:
    record = good() | {"note": "a close one", "time": [1.5, None], "reshuffled": 3}
    assert replay(record).winner == record["winner"]
    assert replay_file(write_lines(tmp_path / "one", [record])) == 1


def test_order_of_keys_does_not_matter() -> None:
    record = dict(reversed(good().items()))
    assert replay(record).winner == record["winner"]


# Wrong records


@pytest.mark.parametrize("key", KEYS)
def test_missing_key_is_named(key: str) -> None:
    record = good()
    del record[key]
    assert key_of_fault(record) == key


@pytest.mark.parametrize("value", ["goboom-record/2", "", None, 1, ["goboom-record/1"]])
def test_unknown_format_is_named(value: object) -> None:
    assert key_of_fault(good() | {"format": value}) == "format"


NUMBERS, RESULT_LISTS = ("num_players", "match", "hand", "dealer", "leader"), ("left", "delta", "scores_after", "tricks", "match_winners")
WRONG_TYPES: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(NUMBERS, ("0", None, 1.0, True, [0])),
    **dict.fromkeys(("scores_before", *RESULT_LISTS), (None, 0, ["0"], [0.0], [True], [None])),
    **dict.fromkeys(("deck", "seats"), (None, "7D", [7], [None], {"0": "7D"})),
    **dict.fromkeys(("blocked", "match_over"), (None, 0, "false")),
    "winner": ("0", 1.0, False, [0]),
    "rules": (None, 1, ["classic"]),
    "actions": (None, "7D", ["7D"], [["7D", 0]], [[0]], [[0, "7D", 1]], [["0", "7D"]], [[True, "7D"]], [[0, None]]),
    "reshuffles": (None, "7D", ["7D"], {}),
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG_TYPES.items() for value in values])
def test_wrong_type_is_named(key: str, value: object) -> None:
    assert key_of_fault(good() | {key: value}) == key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rules", "clasic"),
        ("rules", {"targets": 5}),
        ("rules", {"draw": "two"}),
        ("rules", {"hand_size": 7.0}),
        ("rules", {"packs": 52}),
        ("rules", {"packs": {"2": 52}}),
        ("rules", {"packs": [["2", {"cards": ["7D"], "copies": 1, "jokers": 0}]]}),
        ("num_players", 1),
        ("num_players", 13),
        ("num_players", 10**30),
        ("dealer", 4),
        ("dealer", -1),
        ("leader", 4),
        ("leader", -1),
        ("scores_before", [0, 0, 0]),
        ("seats", ["random"]),
        ("deck", []),
        ("deck", ["XX"] * 52),
        ("deck", ["2C"] * 52),
        ("deck", ["JK"] * 52),
        ("reshuffles", [["7D"]]),
        ("hand", 10**10),
        ("scores_before", [10**12, 0, 0, 0]),
        ("hand", -1),
        ("match", -1),
        ("rules", {"packs": [[2, {"cards": [7], "copies": 1, "jokers": 0}]]}),
        ("rules", {"packs": [[float("nan"), {"cards": ["7D"], "copies": 1, "jokers": 0}]]}),
        ("rules", {"packs": [[2, {"cards": list(PRESETS["classic"].pack_for(4).cards), "copies": 1.0, "jokers": 0}]]}),
    ],
)
def test_impossible_value_is_named(key: str, value: object) -> None:
    assert key_of_fault(good() | {key: value}) == key


def test_no_other_key_is_named_when_a_card_text_looks_like_one() -> None:
    assert key_of_fault(good() | {"deck": ["dealer scores"] * 52}) == "deck"


@pytest.mark.parametrize(
    "change",
    [
        lambda actions: [],
        lambda actions: actions[:-1],
        lambda actions: [*actions, actions[0]],
        lambda actions: [[actions[0][0], "FOLD"], *actions[1:]],
    ],
)
def test_actions_that_do_not_fit_the_hand_are_named(change: Any) -> None:
    record = good()
    assert key_of_fault(record | {"actions": change(record["actions"])}) == "actions"


@pytest.mark.parametrize(
    "change",
    [
        lambda order: [],
        lambda order: [order[:-1]],
        lambda order: [[order[0]] * len(order)],
        lambda order: [list(range(len(order)))],
    ],
)
def test_wrong_reshuffle_is_named(change: Any) -> None:
    record = reshuffled()
    assert len(record["reshuffles"]) == 1
    assert key_of_fault(record | {"reshuffles": change(record["reshuffles"][0])}) == "reshuffles"


def is_fault(record: Record) -> bool:
    """Whether the independent referee finds a fault in a record."""
    rules = record["rules"]
    try:
        referee.check_record(record, dataclasses.asdict(PRESETS[rules] if isinstance(rules, str) else Rules.from_dict(rules)))
    except referee.RefereeError:
        return True
    return False


tables = st.sampled_from(TABLES)
fuzz = settings(deadline=None, database=None)


@given(table=tables, data=st.data())
@fuzz
def test_any_other_result_is_named(table: tuple[str, int], data: st.DataObject) -> None:
    record = good(*table)
    key = data.draw(st.sampled_from(RESULTS))
    value = record[key]
    if isinstance(value, bool):
        record[key] = not value
    elif isinstance(value, list):
        place = data.draw(st.integers(0, len(value)))
        number = data.draw(st.integers(-300, 300))
        record[key] = [*value[:place], number, *value[place + data.draw(st.integers(0, 1)) :]]
    else:
        record[key] = data.draw(st.none() | st.integers(-3, 15))
    if record[key] == value:
        assert replay(record).over
    else:
        assert key_of_fault(record) == key


@given(table=tables, data=st.data())
@fuzz
def test_action_of_another_seat_is_found(table: tuple[str, int], data: st.DataObject) -> None:
    record = good(*table)
    pair = data.draw(st.sampled_from(record["actions"]))
    pair[0] = data.draw(st.integers(-3, 15).filter(lambda seat: seat != pair[0]))
    assert key_of_fault(record) == "actions"


@given(table=tables, data=st.data())
@fuzz
def test_card_of_another_seat_is_found(table: tuple[str, int], data: st.DataObject) -> None:
    record = good(*table)
    n = record["num_players"]
    pair = data.draw(st.sampled_from(record["actions"]))
    # Cards 0 to 7n - 1 went round the table from the dealer's left; the pack has one of each, but for the jokers.
    dealt = record["deck"][: 7 * n]
    seat = data.draw(st.integers(0, n - 1).filter(lambda seat: seat != pair[0]))
    pair[1] = data.draw(st.sampled_from([card for card in dealt[(seat - record["dealer"] - 1) % n :: n] if card != "JK"]))
    assert key_of_fault(record) == "actions"


@given(table=tables, data=st.data())
@settings(fuzz, max_examples=200)
def test_any_change_of_deck_or_deal_is_judged_as_the_referee_does(table: tuple[str, int], data: st.DataObject) -> None:
    record = good(*table)
    key = data.draw(st.sampled_from(["deck", "deck", "dealer", "leader", "scores_before", "action"]))
    n = record["num_players"]
    if key == "deck":
        deck = record["deck"]
        a, b = (data.draw(st.integers(0, len(deck) - 1)) for _ in range(2))
        deck[a], deck[b] = deck[b], deck[a]
    elif key == "scores_before":
        record[key] = data.draw(st.lists(st.integers(-50, 250), min_size=n, max_size=n))
    elif key == "action":
        pair = data.draw(st.sampled_from(record["actions"]))
        pair[1] = data.draw(st.sampled_from([*record["deck"], "DRAW", "PASS"]))
    else:
        record[key] = data.draw(st.integers(0, n - 1))
    if is_fault(record):
        # The first thing that does not follow: an action, or a result where all actions are still legal.
        assert key_of_fault(record) in ["actions", *RESULTS]
    else:
        assert replay(record).winner == record["winner"]


def test_swap_in_the_stock_that_nobody_drew_from_is_harmless() -> None:
    record = good()
    draws = sum(action == "DRAW" for _, action in record["actions"])
    assert draws < 52 - 28 - 2
    record["deck"][-1], record["deck"][-2] = record["deck"][-2], record["deck"][-1]
    assert replay(record).winner == record["winner"]


# Files


def line_of_fault(path: Path) -> tuple[int | None, str]:
    with pytest.raises(RecordError) as error:
        replay_file(path)
    assert str(error.value).startswith(f"line {error.value.line}, key {error.value.key!r}: ")
    assert "\n" not in str(error.value)
    return error.value.line, error.value.key


def test_empty_file_has_no_hands(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    assert write_records(path, []) == 0
    assert path.read_bytes() == b""
    assert replay_file(path) == 0


def test_last_line_needs_no_newline(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_text(json.dumps(good()), encoding="utf-8")
    assert replay_file(path) == 1


@pytest.mark.parametrize(
    "junk",
    [
        *(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"\x00" * 64, bytes(range(256)), b"PK\x03\x04\x14\x00", b"\xff\xfe{\x00}\x00"),
        *(b"hello", b"{", b"[]", b"null", b"7", b'"goboom-record/1"', b"{}", b"\n", b"[" * 100_000, b'{"format": "goboom-record/1"}'),
    ],
    ids=lambda junk: repr(junk[:12]),
)
def test_foreign_file_is_refused_at_its_first_line(tmp_path: Path, junk: bytes) -> None:
    path = tmp_path / "junk"
    path.write_bytes(junk)
    line, key = line_of_fault(path)
    assert (line, key) == (1, "rules" if b": " in junk else "format")


@pytest.mark.parametrize(
    "junk",
    [
        b"{",
        b"\n",
        b"\x89PNG\r\n\x1a\n",
        b'{"format": ' + b"1" * 5000 + b"}",
    ],
    ids=lambda junk: repr(junk[:12]),
)
def test_line_of_junk_is_named(tmp_path: Path, junk: bytes) -> None:
    path = write_lines(tmp_path / "junk", recorded("jokers", 3, matches=1)[:2])
    path.write_bytes(path.read_bytes() + junk)
    assert line_of_fault(path) == (3, "format")


@given(cut=st.integers(1, 10_000), line=st.integers(0, 2))
@fuzz
def test_line_cut_short_is_named(tmp_path_factory: pytest.TempPathFactory, cut: int, line: int) -> None:
    lines = [json.dumps(record) for record in recorded("jokers", 3, matches=1)]
    lines[line] = lines[line][: cut % (len(lines[line]) - 1) + 1]
    path = tmp_path_factory.getbasetemp() / "cut"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert line_of_fault(path) == (line + 1, "format")


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replay_file(tmp_path / "none")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("hand", lambda record: record | {"hand": 2}),
        ("hand", lambda record: record | {"hand": 0}),
        ("scores_before", lambda record: record | {"scores_before": [0] * 4, "scores_after": record["delta"]}),
    ],
)
def test_hand_that_does_not_follow_on_the_one_before_is_named(tmp_path: Path, key: str, change: Any) -> None:
    first, second, third = copy.deepcopy(recorded("classic", 4, hands=3))
    assert [record["match"] for record in (first, second, third)] == [0, 0, 0]
    assert not second["match_over"]
    assert replay_file(write_lines(tmp_path / "good", [first, second, third])) == 3
    changed = change(second)
    assert replay(changed).over
    assert line_of_fault(write_lines(tmp_path / "wrong", [first, changed, third])) == (2, key)


def test_hands_out_of_order_or_left_out_are_named(tmp_path: Path) -> None:
    first, second, third = recorded("jokers", 3, matches=1)
    assert line_of_fault(write_lines(tmp_path / "swap", [first, third, second])) == (2, "hand")
    assert line_of_fault(write_lines(tmp_path / "twice", [first, first])) == (2, "hand")


@pytest.mark.parametrize("key", ["dealer", "leader", "num_players", "rules"])
def test_deal_lead_table_and_rules_stay_those_of_the_match(tmp_path: Path, key: str) -> None:
    first, rules, n = good(), PRESETS["classic"], 4
    dealer, leader, scores = (first["dealer"] + 1) % 4, (first["dealer"] + 2) % 4, first["scores_after"]
    if key == "dealer":
        dealer = (dealer + 1) % 4
    elif key == "leader":
        leader = (leader + 1) % 4
    elif key == "num_players":
        n, scores = 5, [*scores, 0]
    else:
        rules = dataclasses.replace(rules, target=201)
    # By the rules when taken alone.
    game = Game.from_deck(rules, n, rules.pack_for(n).cards, dealer, leader, scores, hand_number=1)
    while not game.over:
        game.play(game.legal()[0])
    changed = json.loads(json.dumps(make_record(game, 0, ["random"] * n)))
    assert replay(changed).over
    assert line_of_fault(write_lines(tmp_path / "wrong", [first, changed])) == (2, key)


def test_match_that_goes_on_after_its_end_is_named(tmp_path: Path) -> None:
    *_, last = recorded("jokers", 3, matches=1)
    assert last["match_over"]
    assert line_of_fault(write_lines(tmp_path / "on", [last, last])) == (2, "match")


@pytest.mark.parametrize("order", [[0, 3, 4, 5], [0, 3, 1], [0, 1, 2, 0]])
def test_match_that_breaks_off_or_begins_again_is_named(tmp_path: Path, order: list[int]) -> None:
    records = recorded("jokers", 3, matches=2)
    assert [records[place]["match"] for place in (2, 3)] == [0, 1]
    line, key = line_of_fault(write_lines(tmp_path / "wrong", [records[place] for place in order]))
    assert (line, key) == (4 if order[1] == 1 else 2, "match")


@pytest.mark.parametrize(("key", "leader", "scores"), [("leader", 0, [0, 0, 0]), ("scores_before", 1, [7, 0, 0])])
def test_match_begins_with_no_scores_and_the_seat_left_of_the_dealer(tmp_path: Path, key: str, leader: int, scores: list[int]) -> None:
    rules = PRESETS["classic"]
    game = Game.from_deck(rules, 3, rules.pack_for(3).cards, dealer=0, leader=leader, scores=scores)
    while not game.over:
        game.play(game.legal()[0])
    record = json.loads(json.dumps(make_record(game, 0, ["random"] * 3)))
    assert line_of_fault(write_lines(tmp_path / "wrong", [record])) == (1, key)


# Writing


def failing(records: list[Record]) -> Iterator[Record]:
    yield from records
    raise RuntimeError("the bot gave up")


def test_nothing_is_left_behind_when_play_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the bot gave up"):
        write_records(tmp_path / "hands", failing([good()]))
    assert list(tmp_path.iterdir()) == []


def test_old_file_stays_when_play_fails(tmp_path: Path) -> None:
    path = tmp_path / "hands"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="the bot gave up"):
        write_records(path, failing([good()]))
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_record_that_json_cannot_hold_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_records(tmp_path / "hands", [{"deck": {1, 2}}])
    assert list(tmp_path.iterdir()) == []


def test_old_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "hands"
    path.write_text("old " * 10_000, encoding="utf-8")
    assert write_records(path, [good()]) == 1
    assert replay_file(path) == 1
