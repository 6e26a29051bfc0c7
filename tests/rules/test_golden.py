"""Positions worked by hand from the written rules, through `Game` and through the referee."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goboom_env.engine.game import Game
from goboom_env.rules import PRESETS, Rules
from tests.rules.referee import Referee

CASES = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
CASE_KEYS = {"id", "note", "rules", "overrides", "hands", "stock", "to_play", "top", "script", "expect"}

# What a key of `expect` names, once all actions are taken. `legal` and `then` come before, `scores_before` is given.
Readers = dict[str, Callable[[Any], Any]]
GAME: Readers = {
    "trick_winner": lambda game: game.tricks[-1],
    "to_play": lambda game: game.turn,
    "hands": lambda game: game.hands,
    "stock": lambda game: game.stock,
    "over": lambda game: game.over,
    "winner": lambda game: game.winner,
    "blocked": lambda game: game.blocked,
    "left": lambda game: game.left,
    "delta": lambda game: game.delta,
    "next_leader": lambda game: game.next_leader,
    "scores_after": lambda game: game.scores,
    "match_over": lambda game: game.match_over,
    "match_winners": lambda game: game.match_winners,
}
REFEREE: Readers = GAME | {"scores_after": lambda referee: referee.scores_after}


def case_rules(case: dict[str, Any]) -> Rules:
    return dataclasses.replace(PRESETS[case["rules"]], **case.get("overrides", {}))


def check_case(case: dict[str, Any], table: Any, readers: Readers) -> None:
    """Play a case's script on `table` and compare all that it expects; a key that nothing reads is an error."""
    assert set(case) <= CASE_KEYS, set(case) - CASE_KEYS
    expect = dict(case["expect"])
    expect.pop("scores_before", None)
    play(table, case["script"])
    if "legal" in expect:
        legal = expect.pop("legal")
        assert table.turn == legal["seat"]
        assert sorted(table.legal()) == sorted(legal["actions"])
    play(table, expect.pop("then", []))
    for key, value in expect.items():
        found = readers[key](table)
        if key == "hands":
            assert {seat: sorted(found[int(seat)]) for seat in value} == {seat: sorted(cards) for seat, cards in value.items()}
        else:
            assert found == value, key


def play(table: Any, actions: list[list[Any]]) -> None:
    for seat, action in actions:
        assert table.turn == seat
        table.play(action)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_game_plays_the_case(case: dict[str, Any]) -> None:
    scores = case["expect"].get("scores_before")
    game = Game.from_position(case_rules(case), case["hands"], case["stock"], case["to_play"], case.get("top"), scores=scores)
    check_case(case, game, GAME)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_referee_plays_the_case(case: dict[str, Any]) -> None:
    fields, scores = dataclasses.asdict(case_rules(case)), case["expect"].get("scores_before")
    referee = Referee.from_position(fields, case["hands"], case["stock"], case["to_play"], case.get("top"), scores=scores)
    check_case(case, referee, REFEREE)


def test_unknown_key_fails() -> None:
    case = {**CASES[0], "expect": {"legl": {"seat": 2, "actions": ["3D"]}}}
    with pytest.raises(KeyError, match="legl"):
        check_case(case, Game.from_position("classic", case["hands"], case["stock"], case["to_play"]), GAME)
