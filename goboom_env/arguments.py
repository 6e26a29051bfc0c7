"""Command lines: one line for whatever is wrong, and checks of what files are to be written before anything else is done."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from goboom_env.rules import PRESETS

CHARTS = (".png", ".svg")
"""Kinds of charts that can be written."""


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that says what is wrong in one line `error: ...`, without the usage, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        print(f"error: {' '.join(message.split())} (--help shows the options)", file=sys.stderr)
        sys.exit(2)


def check_output(option: str, path: Path | None) -> None:
    """`ValueError` where a file of this path cannot be written; None is no file."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {str(path)!r}: there is no folder {str(folder)!r}")
    if path.is_dir():
        raise ValueError(f"{option} {str(path)!r} is a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{option} {str(path)!r}: the folder {str(folder)!r} cannot be written to")


def add_arena_options(parser: argparse.ArgumentParser) -> None:
    """The options of `goboom arena`."""
    parser.add_argument("--policies", help="names or .safetensors files, with commas (default: every rule bot)")
    parser.add_argument("--csv", type=Path, help="write the leaderboard to this file, a line a policy")
    parser.add_argument("--chart", type=Path, help=f"draw the leaderboard into this file ({' or '.join(CHARTS)})")
    add_table_options(parser, "hands in all, or matches with --episode match")


def add_table_options(parser: argparse.ArgumentParser, hands: str) -> None:
    """Options of every command that measures policies."""
    parser.add_argument("--rules", help=f"preset: {', '.join(PRESETS)} (default: that of the first trained policy, else classic)")
    parser.add_argument("--players", type=int, help="seats (default: those of the first trained policy, else 4)")
    parser.add_argument("--hands", type=int, default=20_000, help=f"{hands}, rounded up (default: %(default)s)")
    parser.add_argument("--episode", choices=("hand", "match"), default="hand", help="what an episode is (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of deals and policies (default: %(default)s)")
    parser.add_argument("--width", type=float, help="stop once the 95 %% interval of each win share is at most so wide, as in 0.01")
    parser.add_argument("--processes", type=int, default=1, help="processes that play; results do not depend on it (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
