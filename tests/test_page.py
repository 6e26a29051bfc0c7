"""The page of `goboom replay --html`: what it holds, that nothing in a record can act in it, and that a browser shows it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS
from goboom_env.arena.recording import record_hands
from goboom_env.arena.review import MOST_MISTAKES, SMALLEST_MISTAKE, review
from goboom_env.cards import PACK_52
from goboom_env.cli import main
from goboom_env.engine.record import RecordError, write_records
from goboom_env.observation import features
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.render.html import replay_page, script_json

ATTACK = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;\u2028"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def records_of(preset: str = "classic", players: int = 3, hands: int = 2, seats: str = "random") -> list[dict[str, Any]]:
    return list(record_hands(PRESETS[preset], [make(seats)] * players, seed=5, hands=hands))


def data_of(page: str) -> Any:
    """The JSON in a page, found as a browser finds it: up to the first end of a script element."""
    return json.loads(re.findall(r'<script id="data" type="application/json">(.*?)</script', page, re.DOTALL)[0])


# Without a browser


@pytest.mark.parametrize("preset", ["classic", "jokers", "stakes"])
def test_review_shows_every_table_of_a_record(preset: str) -> None:
    records = records_of(preset)
    data = review(records)
    assert data["policy"] is None and data["search"] is None and data["mistakes"] == [[], [], []]
    for record, hand in zip(records, data["hands"], strict=True):
        assert [[step["turn"], step["action"]] for step in hand["steps"]] == record["actions"]
        # Cards are dealt one at a time from the dealer's left.
        left = record["dealer"] + 1
        dealt: dict[int, list[str]] = {seat: record["deck"][(seat - left) % 3 : 21 : 3] for seat in range(3)}
        assert [sorted(cards) for cards in hand["steps"][0]["hands"]] == [sorted(dealt[seat]) for seat in range(3)]
        assert all(step["action"] in step["legal"] for step in hand["steps"])
        assert hand["end"]["scores"] == record["scores_after"] and hand["end"]["left"] == record["left"]
        assert [len(cards) for cards in hand["end"]["hands"]].count(0) == (record["winner"] is not None)
        for step in hand["steps"]:
            cards = [card for held in step["hands"] for card in held]
            assert len(cards) + step["stock"] <= len(PACK_52.cards) + 2
            assert (step["top"] is None) == (preset != "jokers")


def test_estimates_losses_and_mistakes() -> None:
    records = records_of(hands=3)
    data = review(records, search=make("search:16"))
    assert data == review(records, search=make("search:16"))
    decisions = [step for hand in data["hands"] for step in hand["steps"]]
    assert all((len(step["legal"]) > 1) == bool(step["values"]) for step in decisions)
    lost = {}
    for number, hand in enumerate(data["hands"]):
        for k, step in enumerate(hand["steps"]):
            if step["values"]:
                assert set(step["values"]) <= set(step["legal"])
                assert step["loss"] == pytest.approx(max(step["values"].values()) - step["values"][step["action"]], abs=2e-4)
                lost[number, k] = (step["turn"], step["loss"])
            else:
                assert step["loss"] is None
    for seat, mistakes in enumerate(data["mistakes"]):
        losses = sorted((loss for turn, loss in lost.values() if turn == seat and loss >= SMALLEST_MISTAKE), reverse=True)
        assert [mistake["loss"] for mistake in mistakes] == losses[:MOST_MISTAKES] and len(losses) > 2
        for mistake in mistakes:
            step = data["hands"][mistake["hand"]]["steps"][mistake["step"]]
            assert lost[mistake["hand"], mistake["step"]] == (seat, mistake["loss"])
            assert mistake["action"] == step["action"] and step["values"][mistake["best"]] == max(step["values"].values())


def test_probabilities_of_a_network_and_the_choice_of_a_bot() -> None:
    rng = np.random.default_rng(0)
    rules = PRESETS["classic"]
    layer = (rng.normal(size=(54, features.size(rules, 3))).astype(np.float32), np.zeros(54, np.float32))
    metadata = {"rules": rules.to_dict(), "num_players": 3, "observation_version": features.VERSION, "activation": "relu"}
    network = NetworkPolicy([layer], metadata)
    records = records_of(hands=1)
    for step in review(records, network)["hands"][0]["steps"]:
        shown = step["probabilities"]
        assert bool(shown) == (len(step["legal"]) > 1)
        if shown:
            assert set(shown) == set(step["legal"]) and sum(shown.values()) == pytest.approx(1, abs=1e-3)
    for step in review(records, make("greedy"))["hands"][0]["steps"]:
        assert list(step["probabilities"].values()) == [1.0] * (len(step["legal"]) > 1)
    with pytest.raises(ValueError, match="was trained for"):
        review(records_of("hundred"), network)


def test_a_bad_record_is_not_reviewed() -> None:
    record = records_of(hands=1)[0]
    with pytest.raises(RecordError):
        review([record | {"actions": record["actions"][:-1]}])


def test_nothing_in_a_record_can_end_the_data_or_act() -> None:
    record = records_of(hands=1)[0] | {"seats": [ATTACK, "b", "c"]}
    data = review([record]) | {"total": 1}
    page = replay_page(data, ATTACK)
    assert data_of(page) == data and data_of(page)["hands"][0]["seats"][0] == ATTACK
    assert page.count("<script") == 2 and "<img" not in page and html.escape(ATTACK) in page
    assert not set("<>&") & set(script_json(ATTACK)) and script_json(ATTACK).isascii()
    template = files("goboom_env.render").joinpath("replay.html").read_text(encoding="utf-8")
    assert not any(
        word in template for word in ("innerHTML", "insertAdjacent", "document.write", "http:", "https:", "src=", "url(", "@import")
    )


def test_template_is_in_the_package() -> None:
    assert "@@DATA@@" in files("goboom_env.render").joinpath("replay.html").read_text(encoding="utf-8")
    project = Path(__file__).parent.parent / "pyproject.toml"
    assert '"render/*.html"' in project.read_text(encoding="utf-8")


@pytest.fixture
def games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_records("games.jsonl", records_of("jokers", hands=3))
    return tmp_path


def test_command_writes_a_page(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "games.jsonl", "--html", "out.html", "--search", "search:8", "--policy", "lead"]) == 0
    assert capsys.readouterr().out == "hands 3, faults 0\npage of 3 hands written to out.html\n"
    data = data_of(Path("out.html").read_text(encoding="utf-8"))
    assert (data["total"], len(data["hands"]), data["search"], data["policy"]) == (3, 3, "search:8", "lead")
    assert main(["replay", "games.jsonl", "--html", "out.html", "--search", "none", "--limit", "2"]) == 0
    assert capsys.readouterr().out.endswith("page of the first 2 of 3 hands written to out.html\n")
    data = data_of(Path("out.html").read_text(encoding="utf-8"))
    assert (data["total"], len(data["hands"]), data["search"], data["policy"]) == (3, 2, None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policy", "greedy"), "give --html FILE too"),
        (("--search", "search:8"), "give --html FILE too"),
        (("--html", "out.html", "--limit", "0"), "--limit 0 must be 1 or more"),
        (("--html", "out.html", "--search", "greedy"), "--search greedy is no search"),
        (("--html", "out.html", "--policy", "gredy"), "did you mean 'greedy'"),
        (("--html", "none/out.html", "--search", "none"), "none"),
    ],
)
def test_bad_options_write_no_page(games: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    assert main(["replay", "games.jsonl", *arguments]) == 2
    assert message in capsys.readouterr().err and [path.name for path in games.iterdir()] == ["games.jsonl"]


# In a browser


def rendered(page: str, folder: Path, fragment: str = "", script: str = "") -> str:
    """The document after its scripts have run, in a browser without network, and what `script` then does."""
    file = folder / "page.html"
    file.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    command = [str(CHROMIUM), *FLAGS, "--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    result = subprocess.run([*command, f"file://{file}{fragment}"], capture_output=True, text=True, timeout=240)
    return result.stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_a_browser_steps_through_a_page_on_a_phone_and_runs_nothing_of_a_record(tmp_path: Path) -> None:
    record = records_of("classic", hands=1)[0] | {"seats": [ATTACK, "b", "c"]}
    data = review([record], make("greedy"), make("search:8")) | {"total": 1}
    chosen = next(k for k, step in enumerate(data["hands"][0]["steps"]) if len(step["legal"]) > 2)
    # 360 CSS pixels are a small phone; then a step forward, as by a key.
    script = (
        "document.body.style.width = '360px'; const wide = document.body.scrollWidth; const before = get('count').textContent;"
        "const bars = document.querySelectorAll('#decision .meter').length;"
        "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));"
        "document.body.dataset.seen = [wide, before, bars, get('count').textContent].join('|');"
    )
    shown = rendered(replay_page(data, "games"), tmp_path, f"#1.{chosen + 1}", script)
    steps = len(data["hands"][0]["steps"])
    bars = 2 * len(data["hands"][0]["steps"][chosen]["legal"])  # an estimate and a probability for each legal action
    assert f'data-seen="360|{chosen + 1} of {steps}|{bars}|{chosen + 2} of {steps}"' in shown
    assert "<title>games</title>" in shown and "<img" not in shown
    assert "Seat 0 &lt;/script&gt;&lt;script&gt;" in shown


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_a_browser_shows_the_end_and_an_empty_file(tmp_path: Path) -> None:
    data = review(records_of("jokers", hands=1)) | {"total": 1}
    shown = rendered(replay_page(data, "games"), tmp_path, "#1.9999")
    assert f"end of {len(data['hands'][0]['steps'])}" in shown and "goes out" in shown
    assert "The file holds no hands." in rendered(replay_page(review([]) | {"total": 0}, "games"), tmp_path)
