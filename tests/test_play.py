"""`goboom play` and `goboom watch`: whole hands by keyboard, undo, hints, and whatever a person may type."""

from __future__ import annotations

import functools
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goboom_env import PRESETS, Game, Rules
from goboom_env.arena.advice import advise
from goboom_env.cli import main
from goboom_env.policies import make
from goboom_env.render.text import GLYPHS
from goboom_env.terminal.screen import Style, visible, wants_colour, wrap
from goboom_env.terminal.session import Event, Session, tell
from goboom_env.terminal.summary import rules_summary

ROOT = Path(__file__).parent.parent
LEGAL = re.compile(r"\[ ?(\d+) ")


class Person(io.TextIOBase):
    """A keyboard whose every line is decided from what the screen has shown since the last."""

    def __init__(self, screen: io.StringIO, decide: Callable[[str], str]) -> None:
        self.screen, self.decide, self.shown = screen, decide, 0
        self.blocks: list[str] = []

    def readline(self, size: int | None = -1, /) -> str:
        block = self.screen.getvalue()[self.shown :]
        self.shown = len(self.screen.getvalue())
        self.blocks.append(block)
        return self.decide(block) + "\n"


def first_legal(block: str) -> str:
    """The first card in brackets, else what else the screen offers."""
    numbers = LEGAL.findall(block)
    if numbers:
        return str(numbers[0])
    return "d" if "d draw" in block else "p" if "p pass" in block else ""


def sit_down(monkeypatch: pytest.MonkeyPatch, decide: Callable[[str], str], *arguments: object) -> tuple[int, str, list[str]]:
    """Exit code, the whole screen, and what was shown before each line typed."""
    screen = io.StringIO()
    person = Person(screen, decide)
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stdin", person)
    code = main(["play", *(str(argument) for argument in arguments)])
    return code, screen.getvalue(), person.blocks


def lines_of(*words: str) -> Callable[[str], str]:
    """Types the words one after the other."""
    rest = iter(words)
    return lambda block: next(rest)


# Whole hands and matches


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("most", [False, True])
def test_a_hand_of_every_preset_by_keyboard_on_80_by_24(monkeypatch: pytest.MonkeyPatch, preset: str, most: bool) -> None:
    players = PRESETS[preset].max_players if most else PRESETS[preset].min_players
    code, screen, blocks = sit_down(monkeypatch, first_legal, "--rules", preset, "--players", players, "--seed", 4)
    assert code == 0 and blocks and "left   hand  score" in screen and "Not possible" not in screen
    assert "\x1b" not in screen  # no colours where no terminal is
    for block in blocks:
        lines = block.splitlines()
        assert len(lines) <= 24 and max(map(len, lines)) <= 80, block


def test_one_seed_is_one_game_and_hints_do_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sit_down(monkeypatch, first_legal, "--seed", 7, "--opponents", "random")[1]
    assert sit_down(monkeypatch, first_legal, "--seed", 7, "--opponents", "random")[1] == plain
    asked: list[bool] = []

    def ask_first(block: str) -> str:
        asked.append(not (asked and asked[-1]))
        return "?" if asked[-1] else first_legal(tables[-1])

    tables: list[str] = []

    def remember(block: str) -> str:
        if "stock" in block:
            tables.append(block)
        return ask_first(block)

    hinted = sit_down(monkeypatch, remember, "--seed", 7, "--opponents", "random", "--hints", "search:8")[1]
    assert hinted.count("search:8 would") == len(tables)
    assert [line for line in hinted.splitlines() if "goes out" in line or "go out" in line] == [
        line for line in plain.splitlines() if "goes out" in line or "go out" in line
    ]
    assert hinted.splitlines()[-5:] == plain.splitlines()[-5:]


def test_a_match_goes_on_with_enter_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    code, screen, _ = sit_down(monkeypatch, first_legal, "--rules", "jokers", "--players", 3, "--match", "--seed", 1)
    # A match of jokers is a hand a player, and each ends with its table of points.
    assert code == 0 and screen.count("left   hand  score") == 3 and screen.count("The match is over. Best score:") == 1


def test_other_hands_are_hidden_unless_they_are_to_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = sit_down(monkeypatch, lines_of("q"), "--seed", 2)[1]
    shown = sit_down(monkeypatch, lines_of("q"), "--seed", 2, "--reveal")[1]
    game = Game("classic", 4, 2)
    for line in ("    1: ", "    2: ", "    3: "):
        assert line not in hidden and line in shown
    assert all(card in shown for card in game.hands[0] if card[0] != "T")


# What a person may type


def test_nonsense_unheld_and_illegal_cards_are_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    # Seed 3: seat 3 leads QS, and the person holds 3C 7C TC 2D 5D QD 2H.
    words = ("0", "8", "99999999999999999999", "2C", "AS", "JK", "xyzzy", "\x00\x07", "\u00e9\u2663", "d", "p", "7d", "?", "qd", "q")
    code, screen, blocks = sit_down(monkeypatch, lines_of(*words), "--seed", 3)
    said = dict(zip(words, blocks[1:], strict=False))
    assert code == 0 and screen.endswith("You leave the game.\n")
    assert "[ 6 Q" in blocks[0]
    assert "numbered 1 to 7" in said["0"] and "numbered 1 to 7" in said["8"] and "numbered 1 to 7" in said["99999999999999999999"]
    assert "it does not hold 2C" in said["2C"] and "it does not hold AS" in said["AS"]
    assert "is not a card" in said["xyzzy"] and "is not a card" in said["\x00\x07"] and "is not a card" in said["\u00e9\u2663"]
    assert "this pack has no JK" in said["JK"].replace("\n", " ")
    assert "seat 0 cannot take DRAW" in said["d"] and "seat 0 cannot take PASS" in said["p"]
    assert "it does not hold 7D" in said["7d"]
    assert "would play Q" in said["?"] and "You play Q" in said["qd"]


def test_enter_takes_the_only_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _, screen, _ = sit_down(monkeypatch, lines_of("", "q"), "--seed", 3, "--hints", "greedy")
    # One legal card, QD, stands in brackets; Enter asks for nothing else.
    assert "Enter for the only one" in screen and "You play Q" in screen


def test_enter_takes_nothing_where_there_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    _, screen, blocks = sit_down(monkeypatch, lines_of("", "q"), "--rules", "mini", "--seed", 4)
    assert len(LEGAL.findall(blocks[0])) == 2 and "Type the number of a card" in blocks[1] and "You play" not in screen


def test_rules_are_told_in_a_screen_for_every_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset, rules in PRESETS.items():
        _, _, blocks = sit_down(monkeypatch, lines_of("r", "q"), "--rules", preset, "--seed", 1)
        lines = blocks[1].splitlines()
        assert len(lines) <= 24 and max(map(len, lines)) <= 80
        text = " ".join(rules_summary(rules, rules.default_players))
        assert ("trick" in text) == (rules.family == "trick") and ("Boom" in text) == (preset in ("jokers", "jokers-aces"))
        assert (f"reaches {rules.target}" in text) == (rules.match_end == "target")


@pytest.mark.parametrize("field", [{"renege": "draw"}, {"renege": "pass"}, {"draw_limit": 3}, {"draw": "one_may_play"}])
def test_house_rules_change_what_is_told(field: dict[str, Any]) -> None:
    assert rules_summary(Rules(**field), 4) != rules_summary(Rules(), 4)


def test_end_of_input_and_ctrl_c_end_the_game_cleanly(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["play", "--seed", "3"]) == 0 and screen.getvalue().endswith("No more input: the game stops here.\n")

    def stop(block: str) -> str:
        raise KeyboardInterrupt

    assert sit_down(monkeypatch, stop, "--seed", 3)[0] == 130


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "clasic"), "did you mean 'classic'"),
        (("--players", 13), "num_players=13 is not possible"),
        (("--opponents", "gredy"), "did you mean 'greedy'"),
        (("--opponents", "greedy,lead"), "--opponents names 2 policies for 3 seats"),
        (("--hints", "search:0"), "search needs 1 to"),
        (("--hints", "none.safetensors"), "there is no policy file"),
        (("--seed", -1), "--seed -1 must be 0 or more"),
    ],
)
def test_bad_options_are_one_line_and_two(capsys: pytest.CaptureFixture[str], arguments: tuple[object, ...], message: str) -> None:
    assert main(["play", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and err.count("\n") == 1


# Undo


def test_undo_goes_back_decision_by_decision_and_policies_play_on_as_before() -> None:
    for seed in range(4):
        session = Session(PRESETS["classic"], [None, make("random"), make("random"), make("random")], seed)
        states, logs, actions = [], [], []
        session.advance()
        while not session.game.over:
            states.append(session.game.records[1].tobytes())
            logs.append(list(session.log))
            actions.append(session.game.legal()[-1])
            session.play(actions[-1])
            session.advance()
        end = session.game.records[1].tobytes()
        for state, log in zip(reversed(states), reversed(logs), strict=True):
            assert session.undo() and session.game.records[1].tobytes() == state and session.log == log
        assert not session.undo()
        for action in actions:
            session.play(action)
            session.advance()
        assert session.game.records[1].tobytes() == end


def test_undo_by_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, blocks = sit_down(monkeypatch, lines_of("u", "6", "u", "q"), "--seed", 3)
    assert "There is nothing to take back." in blocks[1] and "Taken back." in blocks[3]
    table = blocks[0][blocks[0].index("classic, hand 1") :]
    assert blocks[3].endswith(table)


def test_undo_reaches_back_over_the_end_of_a_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[str] = []

    def decide(block: str) -> str:
        if "Enter for the next hand" in block:
            undone.append(block)
            return "u" if len(undone) == 1 else "q"
        return first_legal(block)

    _, screen, _ = sit_down(monkeypatch, decide, "--rules", "jokers", "--players", 3, "--match", "--seed", 1)
    assert len(undone) == 2 and "Taken back." in screen and undone[0].splitlines()[-5:] == undone[1].splitlines()[-5:]


def test_a_copy_of_a_game_goes_its_own_way() -> None:
    game = Game("rockaway", 3, seed=5)
    copy = game.copy()
    before = game.records[1].tobytes()
    while not copy.over:
        copy.play(copy.legal()[0])
    assert game.records[1].tobytes() == before and game.actions == [] and copy.actions
    while not game.over:
        game.play(game.legal()[0])
    assert game.actions == copy.actions and game.records[1].tobytes() == copy.records[1].tobytes()
    copy.next_hand()
    game.next_hand()
    assert game.deck == copy.deck


def test_refused_action_changes_nothing_and_is_no_step_to_undo() -> None:
    session = Session(PRESETS["classic"], [None, make("greedy")], 0)
    session.advance()
    before = session.game.records[1].tobytes(), list(session.log)
    with pytest.raises(ValueError, match="cannot take PASS"):
        session.play("PASS")
    assert (session.game.records[1].tobytes(), session.log) == before and not session.undo()


# What is told


def test_draws_and_plays_in_words() -> None:
    session = Session(PRESETS["classic"], [None, make("greedy"), make("greedy")], 0)
    session.log = [Event(0, "draws", "7S"), Event(0, "draws", "TS"), Event(0, "plays", "TS"), Event(1, "draws"), Event(1, "passes")]
    session.log += [Event(2, "plays", "AS"), Event(2, "wins"), Event(2, "plays", "3C"), Event(0, "draws", "5D")]
    assert tell(session, Style()) == (
        "You draw 7S, 10S and play 10S. Seat 1 draws 1 and passes. Seat 2 plays AS. Seat 2 wins the trick. Seat 2 plays 3C. You draw 5D."
    )


def test_a_boom_and_the_card_it_brings_are_told() -> None:
    session = Session(PRESETS["jokers"], [None, make("greedy"), make("greedy")], 0)
    session.game = Game.from_position("jokers", [["2C", "3C"], ["JK", "9D"], ["4C", "5C"]], ["8S", "9S", "TS"], to_play=1, top="KH")
    session._act("JK")
    # Seat 1's boom makes seat 2 draw first, clockwise, then seat 0.
    assert tell(session, Style()) == "Seat 1 plays JK. Boom: every other seat draws. You get 9S."
    session.log = []
    session.game = Game.from_position("jokers", [["2C", "3C"], ["8D", "9D"], ["4C", "5C"]], ["8S", "9S"], to_play=0, top="KH")
    session._act("DRAW")
    assert tell(session, Style()) == "You draw 8S."


def test_advice_is_the_policys_own_and_draws_from_no_stream_of_the_game() -> None:
    game = Game.from_position("classic", [["5H", "KH"], ["2H", "3C"]], stock=["9S"])
    before = game.records[1].tobytes()
    advice = advise(game, make("search:32").bind(game.rules, 2), seed=1)
    # KH wins the trick and the lead, then 5H goes out; 5H also wins, as 2H is the only heart against it.
    assert set(advice.values) == {"5H", "KH"} and all(0 <= value <= 1.01 for value in advice.values.values())
    assert advice.values[advice.action] == max(advice.values.values()) and game.records[1].tobytes() == before
    assert advise(game, make("search:32").bind(game.rules, 2), seed=1) == advice
    assert advise(game, make("greedy").bind(game.rules, 2), seed=1).values == {}


def test_lines_fit_and_colours_take_no_room() -> None:
    text = " ".join(Style(colour=True).card("7D") for _ in range(60))
    lines = wrap(text)
    assert max(len(visible(line)) for line in lines) <= 78 and sum(visible(line).count("7D") for line in lines) == 60
    assert len(lines) == 3  # 60 cards of two letters and a blank


def test_colours_only_on_a_terminal_and_not_against_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("WT_SESSION", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colour(Terminal()) and not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


# As a program


def program(encoding: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "goboom_env.cli", *arguments]
    return subprocess.run(command, env=environment, input=text.encode(), capture_output=True, timeout=300)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_letters_on_a_terminal_without_the_suits(encoding: str) -> None:
    every_key = "".join(f"{word}\n" for word in ["d", "p", *range(1, 20)])
    result = program(encoding, "play", "--seed", "3", "--hints", "greedy", text=every_key * 40)
    assert result.returncode == 0 and b"left   hand  score" in result.stdout and b"10C" in result.stdout
    assert not any(glyph.encode() in result.stdout for glyph in GLYPHS.values()) and b"\\u" not in result.stdout


@pytest.fixture
def terminal() -> Iterator[Callable[..., Any]]:
    """Starts the command on a real pseudo-terminal of 80 by 24."""
    pty = pytest.importorskip("pty")
    started: list[subprocess.Popen[bytes]] = []
    masters: list[int] = []

    def start(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
        master, slave = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-m", "goboom_env.cli", *arguments]
        # A job in the background ignores Ctrl-C, and what it starts would too; a terminal's does not.
        heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
        process = subprocess.Popen(command, **streams, env=environment, start_new_session=True, preexec_fn=heed)
        os.close(slave)
        started.append(process)
        masters.append(master)
        return process, master

    yield start
    for process in started:
        process.kill()
        process.wait()
    for master in masters:
        os.close(master)


def read_until(master: int, word: str, seconds: float = 120) -> str:
    """What the terminal shows up to a word."""
    shown = ""
    end = time.monotonic() + seconds
    while word not in shown and time.monotonic() < end:
        try:
            shown += os.read(master, 4096).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            break
    assert word in shown, shown
    return shown


@pytest.mark.slow
def test_a_hand_on_a_real_terminal_in_colour(terminal: Callable[..., Any]) -> None:
    process, master = terminal("play", "--rules", "mini", "--seed", "2", "--hints", "search:8")
    shown = read_until(master, "q quit\r\n> ")
    assert "\x1b[31m" in shown and "\x1b[1m" in shown
    while "left   hand  score" not in shown:
        os.write(master, (first_legal(visible(shown)) + "\n").encode())
        shown = os.read(master, 65536).decode("utf-8", "replace")
        while "quit\r\n> " not in shown and "left   hand  score" not in shown:
            shown += os.read(master, 65536).decode("utf-8", "replace")
    assert process.wait(60) == 0


@pytest.mark.slow
def test_ctrl_c_on_a_real_terminal(terminal: Callable[..., Any]) -> None:
    process, master = terminal("play", "--seed", "2", "--hints", "greedy")
    read_until(master, "q quit\r\n> ")
    # Python loses a Ctrl-C that falls between its prompt and its read, as one pressed this soon can: press again, as people do.
    for _ in range(12):
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
        break
    assert process.returncode == 130


# Watching


@pytest.mark.parametrize("preset", PRESETS)
def test_watch_a_hand_of_every_preset(capsys: pytest.CaptureFixture[str], preset: str) -> None:
    assert main(["watch", "--rules", preset, "--delay", "0", "--seed", "1", "--seats", "random"]) == 0
    out = capsys.readouterr().out
    assert "left   hand  score" in out and "\x1b" not in out and max(map(len, out.splitlines())) <= 80


def test_watch_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "--rules", "jokers", "--players", "4", "--match", "--delay", "0", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert out.count("left   hand  score") == 4 and out.count("The match is over.") == 1


@pytest.mark.parametrize(("option", "value"), [("--delay", "-1"), ("--delay", "nan"), ("--seats", "greedy,lead"), ("--seed", "-2")])
def test_watch_refuses_what_cannot_be(capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    assert main(["watch", option, value]) == 2
    out, err = capsys.readouterr()
    assert out == "" and option in err


@pytest.mark.slow
def test_keys_pause_speed_up_and_leave_a_watch_on_a_real_terminal(terminal: Callable[..., Any]) -> None:
    process, master = terminal("watch", "--seed", "1", "--delay", "2")
    read_until(master, "2 s")
    os.write(master, b"+")
    read_until(master, "1 s")
    os.write(master, b" ")
    read_until(master, "paused")
    os.write(master, b"-")
    os.write(master, b" ")
    shown = read_until(master, "2 s")
    assert "\x1b[H\x1b[2J" in shown
    os.write(master, b"q")
    assert process.wait(60) == 0
