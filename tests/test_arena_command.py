"""The command `goboom arena`, and the files it writes."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from goboom_env.arena import command, progress
from goboom_env.cli import main
from goboom_env.observation import features
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import get_rules


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def network(folder: Path) -> Path:
    """A policy file for classic at two seats."""
    rules = get_rules("classic")
    weight = np.random.default_rng(0).normal(size=(54, features.size(rules, 2))).astype(np.float32)
    metadata = {"rules": rules.to_dict(), "num_players": 2, "observation_version": features.VERSION, "activation": "relu"}
    path = folder / "net.safetensors"
    NetworkPolicy([(weight, np.zeros(54, np.float32))], metadata).save(path)
    return path


def test_table_and_files_tell_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--policies", "void,random,greedy", "--players", "3", "--hands", "300", "--seed", "5"]
    assert main(["arena", *options, "--json", "a.json", "--csv", "a.csv", "--chart", "a.png"]) == 0
    lines = capsys.readouterr().out.splitlines()
    data: dict[str, Any] = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert (data["rules"], data["num_players"], data["episode"], data["seed"]) == ("classic", 3, "hand", 5)
    assert data["hands"] == 3 * data["deals"] == 3 * sum(lineup["deals"] for lineup in data["lineups"]) >= 300
    assert lines[0].startswith(f"classic, 3 seats, {data['hands']} hands in 7 line-ups, seed 5; an equal player wins 0.333")
    with Path("a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["policy"] for row in rows] == [result["policy"] for result in data["results"]]
    for line, row, result in zip(lines[2:5], rows, data["results"], strict=True):
        assert line.split()[:2] == [result["policy"], f"{result['win_share']:.3f}"]
        assert float(row["win_share"]) == result["win_share"]
        assert [float(row["points_low"]), float(row["points_high"])] == result["points_interval"]
        assert float(row["rating"]) == result["rating"]
        assert f"[{round(float(row['rating_low']))}, {round(float(row['rating_high']))}]" in line
    shares = {(pair["policy"], pair["field"]): f"{pair['win_share']:.3f}" for pair in data["pairwise"]}
    names = lines[7].split()
    for line in lines[8:]:
        name, *cells = line.split()
        assert cells == [shares.get((name, other), "-") for other in names]
    assert len(lines) == 11 and Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "a.json", "a.png"]


def test_chart_names_every_policy_and_is_the_same_each_time(folder: Path) -> None:
    for name in ("a.svg", "b.svg"):
        assert main(["arena", "--policies", "void,greedy", "--hands", "80", "--episode", "match", "--chart", name]) == 0
    text = "".join(ElementTree.fromstring(Path("a.svg").read_bytes()).itertext())
    assert all(word in text for word in ("void", "greedy", "win share", "rating", "matches on paired deals", "mean"))
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()


def test_a_trained_policy_brings_its_table(network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "--policies", f"random,{network}", "--hands", "40"]) == 0
    assert capsys.readouterr().out.startswith("classic, 2 seats, 40 hands in 1 line-ups")


def test_every_rule_bot_plays_by_default_and_width_stops(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "--players", "2", "--hands", "20000", "--width", "0.2", "--json", "a.json"]) == 0
    data = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert len(data["results"]) == 7 and data["hands"] < 20_000
    assert all(row["win_interval"][1] - row["win_interval"][0] <= 0.2 for row in data["results"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policies", "random"), "--policies 'random' names one policy"),
        (("--policies", "random,gredy"), "did you mean 'greedy'"),
        (("--policies", "random,none.safetensors"), "none.safetensors"),
        (("--policies", "random,net.safetensors", "--players", "4"), "trained for classic at 2 seats"),
        (("--policies", "random,net.safetensors", "--rules", "hundred"), "this table is hundred at 2 seats"),
        (("--rules", "clasic"), "did you mean 'classic'"),
        (("--players", "13"), "num_players=13"),
        (("--hands", "0"), "--hands 0 must be 1 or more"),
        (("--hands", "100000001"), "--hands 100000001 must be 100,000,000 or less"),
        (("--seed", "-1"), "--seed -1"),
        (("--processes", "0"), "--processes 0"),
        (("--width", "0"), "width=0"),
        (("--width", "nan"), "width=nan"),
        (("--json", "none/a.json"), "--json 'none/a.json': there is no folder"),
        (("--csv", "none/a.csv"), "--csv 'none/a.csv': there is no folder"),
        (("--chart", "none/a.png"), "--chart 'none/a.png': there is no folder"),
        (("--csv", "."), "--csv '.' is a folder"),
        (("--chart", "a.jpg"), "must end in .png or .svg"),
        (("--json", "a", "--csv", "./a"), "must be different files"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_played(
    network: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*_: object, **options: Any) -> None:
        if options["width"] is None or options["width"] > 0:  # round_robin judges a width itself, before it plays
            raise AssertionError
        round_robin(*_, **options)

    round_robin = command.round_robin
    monkeypatch.setattr(command, "round_robin", played)
    assert main(["arena", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ") and message in err
    assert [path.name for path in network.parent.iterdir()] == ["net.safetensors"]


@pytest.mark.parametrize(("library", "what"), [("choix", "ratings"), ("matplotlib", "charts")])
def test_a_missing_library_is_one_line_that_says_what_to_install(
    folder: Path, library: str, what: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["arena", "--chart", "a.png"]) == 2
    assert capsys.readouterr().err == f"error: {what} need the library {library}: pip install {library}\n"


def test_the_bar_is_on_a_terminal_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with progress.progress_bar(10, "deals") as advance:
        assert advance is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.progress_bar(10, "deals") as advance:
        assert advance is not None
        advance(4)
    assert "deals" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["training.evaluate", "goboom_env.cli"])
def test_wrong_usage_of_a_program_is_one_line(module: str) -> None:
    result = subprocess.run([sys.executable, "-m", module, "--players", "four"], cwd=Path(__file__).parent.parent, capture_output=True)
    assert (result.returncode, result.stdout, result.stderr.count(b"\n")) == (2, b"", 1)
    assert result.stderr.startswith(b"error: ")
