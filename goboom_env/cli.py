"""The command `goboom`: records of play and their replay, tournaments. Exit code 0 for success, 1 for a fault in a record, 2 for
bad input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from goboom_env.arguments import Parser, add_arena_options
from goboom_env.rules import PRESETS, get_rules
from goboom_env.terminal.options import add_commands, add_page_options, check_page_options
from goboom_env.version import __version__


def _record(options: argparse.Namespace) -> int:
    from goboom_env.arena.recording import record_hands
    from goboom_env.engine.record import write_records
    from goboom_env.policies import make

    rules = get_rules(options.rules)
    names = options.seats.split(",")
    rules.pack_for(options.players)
    if len(names) == 1:
        names *= options.players
    if len(names) != options.players:
        raise ValueError(f"--seats names {len(names)} policies for {options.players} players: give one for each, or one for all")
    for option, value, low in (("--hands", options.hands, 1), ("--matches", options.matches, 1), ("--seed", options.seed, 0)):
        if value is not None and value < low:
            raise ValueError(f"{option} {value} must be {low} or more")
    hands = 1 if options.hands is None and options.matches is None else options.hands
    count = write_records(options.out, record_hands(rules, [make(name) for name in names], options.seed, hands, options.matches))
    print(f"{count} hands written to {options.out}")
    return 0


def _replay(options: argparse.Namespace) -> int:
    from goboom_env.engine.record import RecordError, replay_file

    check_page_options(options)
    try:
        count = replay_file(options.file)
    except RecordError as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2 if error.key == "format" and error.line == 1 else 1  # a first line of another format: no file of records
    print(f"hands {count}, faults 0")
    if options.html is not None:
        from goboom_env.terminal.page import write_page

        print(write_page(options))
    return 0


def _arena(options: argparse.Namespace) -> int:
    from goboom_env.arena.command import run

    return run(options)


def _bots(options: argparse.Namespace) -> int:
    from goboom_env.policies import names

    for name, line in names().items():
        print(f"{name:<10} {line}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="goboom", description="The card game Go Boom: records of play and their replay, tournaments.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)

    record = commands.add_parser("record", help="write hands of play as goboom-record/1")
    record.add_argument("--rules", default="classic", help=f"preset: {', '.join(PRESETS)} (default: %(default)s)")
    record.add_argument("--players", type=int, default=4, help="seats (default: %(default)s)")
    record.add_argument("--hands", type=int, help="hands to write, match after match (default: 1)")
    record.add_argument("--matches", type=int, help="whole matches to write; with --hands whichever is reached first")
    record.add_argument("--seed", type=int, default=0, help="match m is dealt from seed + m (default: %(default)s)")
    record.add_argument("--seats", default="random", help="policy of each seat, with commas, or one for all (default: %(default)s)")
    record.add_argument("--out", required=True, help="file to write")
    record.set_defaults(run=_record)

    replay = commands.add_parser("replay", help="play a record again and check every action and result")
    replay.add_argument("file", help="file of records")
    add_page_options(replay)
    replay.set_defaults(run=_replay)

    arena = commands.add_parser("arena", help="play policies against each other in every line-up and rate them")
    add_arena_options(arena)
    arena.set_defaults(run=_arena)
    add_commands(commands)

    bots = commands.add_parser("bots", help="list the policies that have a name")
    bots.set_defaults(run=_bots)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the console cannot show is no failure
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
