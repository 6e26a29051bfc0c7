"""The command `goboom arena`: a round robin as a table, JSON, CSV and a chart."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from goboom_env.arena.chart import need_matplotlib, write_chart
from goboom_env.arena.progress import progress_bar
from goboom_env.arena.rating import need_choix
from goboom_env.arena.report import leaderboard, pairwise_table, write_csv, write_json
from goboom_env.arena.tournament import planned_deals, round_robin
from goboom_env.arguments import CHARTS, check_output
from goboom_env.policies import Policy, make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.scripted import BOTS
from goboom_env.rules import Rules, get_rules

MOST_HANDS = 100_000_000


def checked_table(options: argparse.Namespace, policies: Sequence[Policy]) -> tuple[Rules, int, int]:
    """Rules, seats and deals that the options ask for; `ValueError` for what cannot be, before anything is played."""
    for name, least, most in (("hands", 1, MOST_HANDS), ("seed", 0, math.inf), ("processes", 1, math.inf)):
        value = getattr(options, name)
        if value < least:
            raise ValueError(f"--{name} {value} must be {least} or more")
        if value > most:
            raise ValueError(f"--{name} {value} must be {most:,} or less")
    check_output("--json", options.json)
    trained = next((policy for policy in policies if isinstance(policy, NetworkPolicy)), None)
    rules = get_rules(options.rules) if options.rules is not None else (trained.rules if trained else get_rules("classic"))
    players: int = options.players if options.players is not None else (trained.num_players if trained else 4)
    rules.pack_for(players)
    for policy in policies:
        policy.bind(rules, players)
    return rules, players, max(2, math.ceil(options.hands / players))  # an interval needs two


def measuring(options: argparse.Namespace, progress: Any) -> dict[str, Any]:
    """Arguments of `compare` and `round_robin` that are the options themselves."""
    return {**{name: getattr(options, name) for name in ("seed", "episode", "width", "processes")}, "progress": progress}


def run(options: argparse.Namespace) -> int:
    """The command; returns its exit code."""
    specs = list(BOTS) if options.policies is None else options.policies.split(",")
    if len(specs) < 2:
        raise ValueError(f"--policies {options.policies!r} names one policy: give two or more, with commas")
    policies = [make(spec) for spec in specs]
    rules, players, deals = checked_table(options, policies)
    check_output("--csv", options.csv)
    check_output("--chart", options.chart)
    if options.chart and options.chart.suffix.lower() not in CHARTS:
        raise ValueError(f"--chart {str(options.chart)!r}: the name must end in {' or '.join(CHARTS)}")
    outputs = [path.absolute() for path in (options.json, options.csv, options.chart) if path]
    if len(set(outputs)) < len(outputs):
        raise ValueError("--json, --csv and --chart must be different files")
    try:
        need_choix()
        if options.chart:
            need_matplotlib()
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    with progress_bar(planned_deals(len(specs), players, deals, options.seed), "deals") as progress:
        result = round_robin(specs, rules, players, deals, **measuring(options, progress))
    print(leaderboard(result), pairwise_table(result), sep="\n\n")
    for path, write in ((options.json, write_json), (options.csv, write_csv), (options.chart, write_chart)):
        if path:
            write(result, path)
    return 0
