"""Arguments of the commands for people, light to import, and what they mean."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from goboom_env.rules import PRESETS, Rules, get_rules

if TYPE_CHECKING:
    from goboom_env.policies import Policy

STOPPED = 130
"""Exit code of a command that Ctrl-C ended."""


def add_commands(commands: Any) -> None:
    """`play` and `watch`, as commands of a parser."""
    play = commands.add_parser("play", help="play against policies in the terminal")
    _add_table(play)
    play.add_argument("--opponents", default="greedy", help="policy of each other seat, with commas, or one for all (default: %(default)s)")
    play.add_argument("--hints", default="search:128", help="policy that gives hints (default: %(default)s)")
    play.add_argument("--reveal", action="store_true", help="show every hand")
    play.set_defaults(run=_play)

    watch = commands.add_parser("watch", help="watch policies play in the terminal")
    _add_table(watch)
    watch.add_argument("--seats", default="greedy", help="policy of each seat, with commas, or one for all (default: %(default)s)")
    watch.add_argument("--delay", type=float, default=1.0, help="seconds between actions (default: %(default)s)")
    watch.add_argument("--hidden", action="store_true", help="show numbers of cards, not hands")
    watch.set_defaults(run=_watch)


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """What `replay` needs to write a page."""
    parser.add_argument("--html", help="also write a page to step through the file in a browser")
    parser.add_argument("--policy", help="with --html: policy whose probabilities the page shows, a name or a path")
    parser.add_argument("--search", help="with --html: search whose estimates the page shows, or none (default: search:64)")
    parser.add_argument("--limit", type=int, help="with --html: most hands on the page (default: 50)")


def check_page_options(options: argparse.Namespace) -> None:
    """`ValueError` for options of a page that cannot be."""
    for option in ("policy", "search", "limit"):
        if getattr(options, option) is not None and options.html is None:
            raise ValueError(f"--{option} says what is on the page: give --html FILE too")
    if options.limit is not None and options.limit < 1:
        raise ValueError(f"--limit {options.limit} must be 1 or more")


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rules", default="classic", help=f"preset: {', '.join(PRESETS)} (default: %(default)s)")
    parser.add_argument("--players", type=int, help="seats (default: 4, or the nearest number that the rules allow)")
    parser.add_argument("--match", action="store_true", help="a whole match rather than one hand")
    parser.add_argument("--seed", type=int, help="seed of deals and policies (default: another each time; it is shown)")


def _play(options: argparse.Namespace) -> int:
    from goboom_env.terminal.play import run

    return run(options)


def _watch(options: argparse.Namespace) -> int:
    from goboom_env.terminal.watch import run

    return run(options)


def read_table(options: argparse.Namespace) -> tuple[Rules, int, int]:
    """Rules, seats and seed; `ValueError` for what cannot be."""
    rules = get_rules(options.rules)
    players = rules.default_players if options.players is None else options.players
    rules.pack_for(players)
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"--seed {options.seed} must be 0 or more")
    if options.seed is not None:
        return rules, players, options.seed
    import numpy as np

    return rules, players, int(np.random.SeedSequence().generate_state(1)[0])


def read_policies(option: str, text: str, seats: int) -> list[Policy]:
    """Policies from names with commas, one for each of so many seats or one for all."""
    from goboom_env.policies import make

    names = text.split(",")
    if len(names) not in (1, seats):
        raise ValueError(f"{option} names {len(names)} policies for {seats} seats: give one for each, or one for all")
    made = {name: make(name) for name in names}
    return [made[name] for name in (names if len(names) == seats else names * seats)]
