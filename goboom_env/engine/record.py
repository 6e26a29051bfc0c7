"""Game records, format `goboom-record/1`: JSON Lines, one object a hand, all that a referee needs to play it again.

`docs/records.md` lists the keys. Reading never executes anything from the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goboom_env.actions import IllegalActionError, action_number
from goboom_env.engine.game import Game
from goboom_env.files import whole_file
from goboom_env.rules import Rules, get_rules, rules_name

FORMAT = "goboom-record/1"

_TYPES: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "rules": (str, dict),
    "num_players": (int,),
    "match": (int,),
    "hand": (int,),
    "dealer": (int,),
    "leader": (int,),
    "deck": (list,),
    "scores_before": (list,),
    "seats": (list,),
    "actions": (list,),
    "tricks": (list,),
    "winner": (int, type(None)),
    "blocked": (bool,),
    "left": (list,),
    "delta": (list,),
    "scores_after": (list,),
    "match_over": (bool,),
    "match_winners": (list,),
}
_RESULTS = {"tricks": "tricks", "winner": "winner", "blocked": "blocked", "left": "left", "delta": "delta"} | {
    "scores_after": "scores",
    "match_over": "match_over",
    "match_winners": "match_winners",
}


class RecordError(ValueError):
    """A record that cannot be read or does not follow the rules; the message names the line, the key and the reason."""

    def __init__(self, key: str, reason: str, line: int | None = None) -> None:
        self.key, self.reason, self.line = key, reason, line
        super().__init__(f"{'' if line is None else f'line {line}, '}key {key!r}: {reason}")


def make_record(game: Game, match: int, seats: Sequence[str]) -> dict[str, Any]:
    """The record of a hand that is over.

    Args:
        game: The game, as dealt by itself.
        match: Number of the match in the file.
        seats: Policy name of each seat.
    """
    record: dict[str, Any] = {
        "format": FORMAT,
        "rules": rules_name(game.rules) or game.rules.to_dict(),
        "num_players": game.num_players,
        "match": match,
        "hand": game.hand_number,
        "dealer": game.dealer,
        "leader": game.first_leader,
        "deck": game.deck,
        "scores_before": game.scores_before,
        "seats": list(seats),
        "actions": [list(action) for action in game.actions],
    }
    record |= {key: getattr(game, name) for key, name in _RESULTS.items()}
    if game.reshuffles:
        record["reshuffles"] = game.reshuffles
    return record


def write_records(path: str | Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write a file whole or not at all; returns the number of hands."""
    count = 0
    with whole_file(path) as file:
        for record in records:
            file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
            count += 1
    return count


def read_records(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and records of a file, each with all keys of the right types; `RecordError` at the first that has not."""
    with open(path, "rb") as file:
        for line, text in enumerate(file, start=1):
            try:
                record = json.loads(text.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise RecordError("format", f"not JSON: {error}", line) from None
            if not isinstance(record, dict):
                raise RecordError("format", f"a record is a JSON object, this is {type(record).__name__}", line)
            _check_types(record, line)
            yield line, record


def _check_types(record: Mapping[str, Any], line: int | None = None) -> None:
    if record.get("format") != FORMAT:
        raise RecordError("format", f"{record.get('format')!r} is not {FORMAT!r}", line)
    for key, types in _TYPES.items():
        if key not in record:
            raise RecordError(key, "missing", line)
        value = record[key]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise RecordError(key, f"{value!r} is no {' or '.join(kind.__name__ for kind in types)}", line)
    for key in ("match", "hand"):
        if not 0 <= record[key] < 1 << 15:
            raise RecordError(key, f"{record[key]} is no number of a {key}", line)
    if any(abs(score) >= 1 << 30 for score in record["scores_before"] if type(score) is int):
        raise RecordError("scores_before", "a score is beyond every match", line)
    for key in ("scores_before", "left", "delta", "scores_after", "tricks", "match_winners"):
        if not all(type(value) is int for value in record[key]):
            raise RecordError(key, "not a list of whole numbers", line)
    for key in ("deck", "seats"):
        if not all(isinstance(value, str) for value in record[key]):
            raise RecordError(key, "not a list of strings", line)
    pairs = record["actions"]
    if not all(isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and isinstance(pair[1], str) for pair in pairs):
        raise RecordError("actions", "not a list of [seat, action]", line)
    reshuffles = record.get("reshuffles", [])
    if not isinstance(reshuffles, list) or not all(
        isinstance(cards, list) and all(isinstance(card, str) for card in cards) for cards in reshuffles
    ):
        raise RecordError("reshuffles", "not a list of lists of cards", line)


def replay(record: Mapping[str, Any], line: int | None = None, visit: Callable[[Game, str], None] | None = None) -> Game:
    """Play a record again from its deck and check every action and every result; returns the finished game.

    Args:
        record: The record.
        line: Its line in the file, for errors.
        visit: Called before each action with the game as it stands and the action; it must not play.

    Raises:
        RecordError: The first thing that does not follow the rules.
    """
    _check_types(record, line)

    def fault(key: str, reason: object) -> RecordError:
        return RecordError(key, str(reason), line)

    try:
        rules = get_rules(record["rules"]) if isinstance(record["rules"], str) else Rules.from_dict(record["rules"])
    except (ValueError, TypeError) as error:
        raise fault("rules", error) from None
    try:
        rules.pack_for(record["num_players"])
    except ValueError as error:
        raise fault("num_players", error) from None
    try:
        game = Game.from_deck(
            rules, record["num_players"], record["deck"], record["dealer"], record["leader"], record["scores_before"], record["hand"]
        )
    except (ValueError, OverflowError) as error:
        key = next((key for key in ("dealer", "leader", "scores") if str(error).startswith(key) or key in str(error)), "deck")
        raise fault("scores_before" if key == "scores" else key, error) from None
    if len(record["seats"]) != game.num_players:
        raise fault("seats", f"{len(record['seats'])} names for {game.num_players} seats")
    reshuffles = iter(record.get("reshuffles", []))
    for number, (seat, action) in enumerate(record["actions"]):
        if game.over:
            raise fault("actions", f"action {number}, {action} of seat {seat}: the hand is over")
        if seat != game.turn:
            raise fault("actions", f"action {number}, {action} of seat {seat}: it is seat {game.turn}'s turn")
        order = None
        if visit is not None:
            visit(game, action)
        try:
            played = action_number(game.pack, action)
            if game.needs_reshuffle(played):
                order = next(reshuffles, None)
                if order is None:
                    raise fault("reshuffles", f"action {number}, {action}: the order of the reshuffled pile is missing")
            game.play_number(played, order)
        except RecordError:
            raise
        except IllegalActionError as error:
            raise fault("actions", f"action {number}: {error}") from None
        except ValueError as error:
            raise fault("actions" if order is None else "reshuffles", f"action {number}: {error}") from None
    if not game.over:
        raise fault("actions", f"the hand is not over after {len(record['actions'])} actions")
    if next(reshuffles, None) is not None:
        raise fault("reshuffles", "more than the hand had")
    for key, name in _RESULTS.items():
        if record[key] != getattr(game, name):
            raise fault(key, f"{record[key]} should be {getattr(game, name)}")
    return game


def replay_file(path: str | Path) -> int:
    """Replay every hand of a file, and check that hands of a match follow on each other; returns the number of hands.

    Raises:
        RecordError: The first fault, with its line.
        OSError: The file cannot be read.
    """
    count = 0
    before: tuple[Mapping[str, Any], Game] | None = None
    for line, record in read_records(path):
        game = replay(record, line)
        _check_order(before, record, game, line)
        before = record, game
        count += 1
    return count


def _check_order(before: tuple[Mapping[str, Any], Game] | None, record: Mapping[str, Any], game: Game, line: int) -> None:
    """Whether a hand follows on the one before it in the file: the next of its match, or the first of another."""
    n = game.num_players
    expected: dict[str, Any]
    if before is not None and record["match"] == before[0]["match"]:
        last, previous = before
        if previous.match_over:
            raise RecordError("match", f"match {record['match']} was over", line)
        if game.rules != previous.rules:
            raise RecordError("rules", "other rules than in the hand before", line)
        expected = {"num_players": last["num_players"], "hand": last["hand"] + 1, "dealer": previous.next_dealer}
        expected |= {"leader": previous.next_leader, "scores_before": previous.scores}
    elif before is not None and not before[1].match_over:
        raise RecordError("match", f"match {record['match']} begins before match {before[0]['match']} is over", line)
    elif before is not None or record["hand"] == 0:
        expected = {"hand": 0, "leader": (record["dealer"] + 1) % n, "scores_before": [0] * n}
    else:
        expected = {}  # the file begins in the middle of a match
    for key, value in expected.items():
        if record[key] != value:
            raise RecordError(key, f"{record[key]} should be {value}", line)
