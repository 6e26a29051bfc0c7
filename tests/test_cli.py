"""The command `goboom`: records of every preset, their replay, and one line for whatever goes wrong."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goboom_env.cli import main
from goboom_env.policies import names
from goboom_env.rules import PRESETS
from goboom_env.version import __version__

ROOT = Path(__file__).parent.parent


class Command:
    """Runs `goboom` in this process, in an empty folder."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capsys, self.folder = capsys, folder

    def __call__(self, *arguments: object) -> tuple[int, str, list[str]]:
        """Exit code, standard output and the lines of standard error but for the notice of a first compilation."""
        code = main([str(argument) for argument in arguments])
        out, err = self.capsys.readouterr()
        return code, out, [line for line in err.splitlines() if not line.startswith("goboom_env: compiling")]

    def record(self, *arguments: object) -> list[dict[str, Any]]:
        """Records that a good command writes."""
        path = self.folder / "hands.jsonl"
        code, out, err = self("record", "--out", path, *arguments)
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert (code, out, err) == (0, f"{len(records)} hands written to {path}\n", [])
        return records


@pytest.fixture
def goboom(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(capsys, tmp_path)


# What works


@pytest.mark.parametrize("preset", PRESETS)
def test_record_and_replay_of_every_preset(goboom: Command, preset: str) -> None:
    players = PRESETS[preset].min_players
    records = goboom.record("--rules", preset, "--players", players, "--hands", 5)
    assert [(record["rules"], record["num_players"]) for record in records] == [(preset, players)] * 5
    assert goboom("replay", goboom.folder / "hands.jsonl") == (0, "hands 5, faults 0\n", [])


def test_one_hand_of_classic_at_four_seats_by_default(goboom: Command) -> None:
    (record,) = goboom.record()
    assert (record["rules"], record["num_players"], record["match"], record["hand"]) == ("classic", 4, 0, 0)
    assert record["seats"] == ["random"] * 4


def test_whole_matches(goboom: Command) -> None:
    # A match of jokers is a hand a player.
    records = goboom.record("--rules", "jokers", "--players", 3, "--matches", 2)
    assert [(record["match"], record["hand"], record["match_over"]) for record in records] == [
        (match, hand, hand == 2) for match in range(2) for hand in range(3)
    ]
    assert goboom("replay", "hands.jsonl") == (0, "hands 6, faults 0\n", [])


def test_match_to_a_target_goes_on_until_it_is_reached(goboom: Command) -> None:
    records = goboom.record("--rules", "classic", "--matches", 1)
    assert [max(record["scores_after"]) >= 200 for record in records] == [False] * (len(records) - 1) + [True]
    assert [record["hand"] for record in records] == list(range(len(records)))


@pytest.mark.parametrize(
    ("limits", "count"), [(("--hands", 4, "--matches", 5), 4), (("--hands", 40, "--matches", 2), 6), (("--hands", 7), 7)]
)
def test_hands_or_matches_whichever_is_reached_first(goboom: Command, limits: tuple[object, ...], count: int) -> None:
    assert len(goboom.record("--rules", "jokers", "--players", 3, *limits)) == count


def test_seed_decides_the_deals_and_counts_up_match_by_match(goboom: Command) -> None:
    options = ("--rules", "jokers", "--players", 3, "--matches")
    first, again, next_match = (
        goboom.record(*options, 2, "--seed", 7),
        goboom.record(*options, 2, "--seed", 7),
        goboom.record(*options, 1, "--seed", 8),
    )
    assert first == again
    assert [record | {"match": 0} for record in first[3:]] == next_match
    assert first[0]["deck"] != next_match[0]["deck"]


def test_a_policy_for_each_seat_or_one_for_all(goboom: Command) -> None:
    seats = ["random", "shed", "greedy", "lead"]
    assert goboom.record("--seats", ",".join(seats))[0]["seats"] == seats
    assert goboom.record("--seats", "greedy", "--players", 3)[0]["seats"] == ["greedy"] * 3


def test_bots_are_listed_with_a_line_each(goboom: Command) -> None:
    code, out, err = goboom("bots")
    assert (code, err) == (0, [])
    assert [line.split(maxsplit=1) for line in out.splitlines()] == [[name, line] for name, line in names().items()]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["--version"])
    assert error.value.code == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_empty_file_replays_as_no_hands(goboom: Command) -> None:
    Path("empty").touch()
    assert goboom("replay", "empty") == (0, "hands 0, faults 0\n", [])


# What does not


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "clasic"), "no preset 'clasic'; did you mean 'classic'?"),
        (("--rules", ""), "no preset ''; known: classic, classic-reverse"),
        (("--players", 13), "num_players=13 is not possible: these rules are for 2 to 12 players"),
        (("--players", 0), "num_players=0 is not possible"),
        (("--rules", "jokers", "--players", 5), "num_players=5 is not possible: these rules are for 3 to 4 players"),
        (("--seats", "gredy"), "no policy 'gredy'; did you mean 'greedy'?"),
        (
            ("--seats", ""),
            "no policy ''; known: counter, endgame, flexible, greedy, lead, random, search, search+trained, shed, trained, void",
        ),
        (("--seats", "random,,random,random"), "no policy ''"),
        (("--seats", "random,greedy"), "--seats names 2 policies for 4 players: give one for each, or one for all"),
        (("--seats", "random,greedy,shed,lead,random"), "--seats names 5 policies for 4 players"),
        (("--seats", "none.safetensors"), "none.safetensors"),
        (("--hands", 0), "--hands 0 must be 1 or more"),
        (("--hands", -3), "--hands -3 must be 1 or more"),
        (("--matches", 0), "--matches 0 must be 1 or more"),
        (("--hands", 2, "--matches", 0), "--matches 0 must be 1 or more"),
        (("--seed", -1), "--seed -1 must be 0 or more"),
        (("--out", "none/hands.jsonl"), "none"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(goboom: Command, arguments: tuple[object, ...], message: str) -> None:
    code, out, err = goboom("record", "--out", "hands.jsonl", *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert err[0].startswith("error: ")
    assert message in err[0]
    assert list(goboom.folder.iterdir()) == []


def test_file_that_cannot_be_written_or_read_is_one_line(goboom: Command) -> None:
    Path("folder").mkdir()
    for arguments in (("record", "--out", "folder"), ("replay", "folder"), ("replay", "none.jsonl")):
        code, out, err = goboom(*arguments)
        assert (code, out, len(err)) == (2, "", 1)
        assert arguments[-1] in err[0]
    assert [path.name for path in goboom.folder.rglob("*")] == ["folder"]


@pytest.mark.parametrize(
    "junk", [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", b"\x00" * 64, b"hello\n", b"{}\n", b"[]\n", b"\n"], ids=lambda junk: repr(junk[:8])
)
def test_foreign_file_is_one_line(goboom: Command, junk: bytes) -> None:
    Path("junk").write_bytes(junk)
    code, out, err = goboom("replay", "junk")
    assert (code, out, len(err)) == (2, "", 1)
    assert err[0].startswith("junk: line 1, key 'format': ")


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("actions", lambda record: {"actions": record["actions"][:-1]}),
        ("winner", lambda record: {"winner": (record["winner"] + 1) % 3}),
        ("delta", lambda record: {"delta": [1, 1, 1]}),
        ("rules", lambda record: {"rules": "clasic"}),
        ("deck", lambda record: {"deck": record["deck"][1:]}),
        ("format", lambda record: {"format": "goboom-record/2"}),
        ("rules", lambda record: {"rules": {"packs": [[2, {"cards": [7], "copies": 1, "jokers": 0}]]}}),
    ],
)
def test_fault_in_a_record_is_one_line_that_names_file_line_and_key(goboom: Command, key: str, change: Any) -> None:
    records = goboom.record("--rules", "hundred", "--players", 3, "--hands", 3)
    records[1] |= change(records[1])
    Path("wrong.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    code, out, err = goboom("replay", "wrong.jsonl")
    assert (code, out, len(err)) == (1, "", 1)
    assert err[0].startswith(f"wrong.jsonl: line 2, key {key!r}: ")


@pytest.mark.parametrize(
    "arguments", [[], ["recrod"], ["record"], ["record", "--out", "hands", "--players", "four"], ["replay"], ["bots", "1"]]
)
def test_wrong_usage_exits_with_two(goboom: Command, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 2
    out, err = goboom.capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
    assert list(goboom.folder.iterdir()) == []


# As a program


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "goboom_env.cli", *arguments], cwd=folder, env=environment, capture_output=True, timeout=300
    )


def test_program_writes_and_replays_on_an_ascii_terminal(tmp_path: Path) -> None:
    written = run(tmp_path, "record", "--rules", "jokers", "--players", "3", "--matches", "1", "--out", "hands.jsonl")
    assert (written.returncode, written.stdout.split()) == (0, b"3 hands written to hands.jsonl".split())
    replayed = run(tmp_path, "replay", "hands.jsonl")
    assert (replayed.returncode, replayed.stdout.split(), replayed.stderr) == (0, b"hands 3, faults 0".split(), b"")


def test_program_exits_with_the_code_of_bad_input(tmp_path: Path) -> None:
    result = run(tmp_path, "record", "--rules", "clasic", "--out", "hands.jsonl")
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, b"", 1)
    assert list(tmp_path.iterdir()) == []


def test_file_name_that_the_terminal_cannot_show_is_no_error(goboom: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert main(["record", "--out", "h\u00e4nde.jsonl"]) == 0
    assert main(["replay", "h\u00e4nde.jsonl"]) == 0
