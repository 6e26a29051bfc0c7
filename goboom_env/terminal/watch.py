"""`goboom watch`: policies at play in the terminal. Exit code 0 when finished or left, 130 after Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import time
from types import TracebackType
from typing import Any

from goboom_env.terminal.options import STOPPED, read_policies, read_table
from goboom_env.terminal.results import result_lines, result_text
from goboom_env.terminal.screen import CLEAR, Style, table_lines, wrap
from goboom_env.terminal.session import Session, tell

_SHORTEST, _LONGEST = 1 / 16, 16.0
"""Seconds between actions that + and - can reach."""


def run(options: argparse.Namespace) -> int:
    """Watch; returns the exit code, `ValueError` for options that cannot be."""
    rules, players, seed = read_table(options)
    if not 0 <= options.delay <= 3600:
        raise ValueError(f"--delay {options.delay} must be within 0 to 3600 seconds")
    session = Session(rules, read_policies("--seats", options.seats, players), seed)
    try:
        with Keys() as keys:
            _Watch(session, keys, options.delay, options.hidden, seed).run(options.match)
    except KeyboardInterrupt:
        print()
        return STOPPED
    return 0


class Keys:
    """Keys pressed while nothing asks for a line, on terminals that can tell; restores the terminal at the end."""

    def __init__(self) -> None:
        self._saved: list[Any] | None = None

    def __enter__(self) -> Keys:
        try:
            import termios
            import tty

            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        except (ImportError, OSError, ValueError, AttributeError):  # no terminal, or none of this kind
            self._saved = None
        except termios.error:
            self._saved = None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)

    @property
    def live(self) -> bool:
        """Whether keys are read."""
        return self._saved is not None

    def wait(self, seconds: float | None) -> str:
        """The key pressed within so many seconds, empty if none; None waits for one."""
        if not self.live:
            time.sleep(seconds or 0)
            return ""
        import os
        import select

        if select.select([sys.stdin], [], [], seconds)[0]:
            return os.read(sys.stdin.fileno(), 1).decode("ascii", "replace") or "q"
        return ""


class _Watch:
    def __init__(self, session: Session, keys: Keys, delay: float, hidden: bool, seed: int) -> None:
        self.session, self.keys, self.delay, self.hidden, self.seed = session, keys, delay, hidden, seed
        self.style = Style.of(sys.stdout)
        self.redraws = sys.stdout.isatty() and self.style.colour
        self.paused = False

    def run(self, match: bool) -> None:
        """Hands until the end or the key q."""
        print(f"Go Boom {self.session.scene().rules}, seats {', '.join(self.session.names)}, seed {self.seed}.")
        while True:
            while not self.session.game.over:
                self._show()
                if self._pause():
                    return
                self.session.step()
            self._show()
            print(self.style.strong(result_text(self.session)))
            print(*result_lines(self.session), sep="\n")
            if not match or self.session.game.match_over:
                return
            if self._pause():
                return
            self.session.next_hand()

    def _show(self) -> None:
        """The table anew, or where the screen cannot be cleared a line on what happened."""
        session, style = self.session, self.style
        scene = session.scene(reveal=not self.hidden)
        told = wrap(tell(session, style))
        if not self.redraws:
            session.log.clear()
            print(*told, sep="\n") if told else None
            return
        recent = told[-3:]
        match = "" if scene.match is None else f", to match: {style.card(scene.match, 0, True)}"
        head = style.strong(f"{scene.rules}, hand {scene.hand_number}, stock {scene.stock}") + match
        keys = f"{'paused' if self.paused else f'{self.delay:g} s'}   space pause, + faster, - slower, q quit" if self.keys.live else ""
        print(CLEAR + "\n".join([head, *table_lines(scene, style), "", *recent, style.faint(keys)]), flush=True)

    def _pause(self) -> bool:
        """Wait for the next action; whether to stop."""
        end = time.monotonic() + self.delay
        while self.paused or (left := end - time.monotonic()) > 0:
            key = self.keys.wait(None if self.paused else left)
            if key == "q":
                return True
            if key == " ":
                self.paused = not self.paused
                end = time.monotonic() + self.delay
            elif key in "+-" and key:
                self.delay = min(max(self.delay * (0.5 if key == "+" else 2), _SHORTEST), _LONGEST)
                end = time.monotonic() + self.delay
            if key and self.redraws:
                self._show()
        return False
