"""Evaluate a policy on paired deals: `python -m training.evaluate POLICY --against random,greedy --hands 20000`.

POLICY is a `.safetensors` file or a bot's name. It plays one seat against the same opponent on all others; each deal is
played once with the policy on each seat. Needs neither torch nor Stable-Baselines3.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from goboom_env.arena import Comparison, compare
from goboom_env.files import whole_file
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import get_rules


def print_table(results: Sequence[Comparison]) -> None:
    """Win share and points of each comparison with 95 % intervals."""
    if not results:
        return
    first = results[0]
    unit, units = ("hand", "hands") if first.episode == "hand" else ("match", "matches")
    print(f"{first.policy} on {first.rules}, {first.num_players} seats; an equal player wins {1 / first.num_players:.3f} and scores 0")
    width = max(len("against"), *(len(result.field) for result in results))
    print(f"{'against':<{width}}  win share  95 % interval     points a {unit}  95 % interval       {units}")
    for result in results:
        low, high = result.win_interval
        points_low, points_high = result.points_interval
        print(
            f"{result.field:<{width}}  {result.win_share:9.3f}  [{low:.3f}, {high:.3f}]  "
            f"{result.points:+13.2f}  [{points_low:+.2f}, {points_high:+.2f}]  {result.hands:>8,}"
        )


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("policy", help=".safetensors file of a trained policy, or a bot's name")
    parser.add_argument("--against", default="random,shed,greedy,lead", help="opponents, with commas (default: %(default)s)")
    parser.add_argument("--hands", type=int, default=20_000, help="hands against each (default: %(default)s)")
    parser.add_argument("--rules", help="preset; default: that of the trained policy, else classic")
    parser.add_argument("--players", type=int, help="seats; default: those of the trained policy, else 4")
    parser.add_argument("--episode", choices=("hand", "match"), default="hand")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the results to this file as well")
    options = parser.parse_args(arguments)
    try:
        if not 1 <= options.hands <= 100_000_000:
            raise ValueError(f"--hands {options.hands} must be within 1 and 100,000,000")
        if options.json and not options.json.absolute().parent.is_dir():
            raise ValueError(f"--json {str(options.json)!r}: there is no such folder")
        policy = make(options.policy)
        trained = policy if isinstance(policy, NetworkPolicy) else None
        rules = get_rules(options.rules) if options.rules is not None else (trained.rules if trained else get_rules("classic"))
        players = options.players if options.players is not None else (trained.num_players if trained else 4)
        rules.pack_for(players)
        deals = max(2, -(-options.hands // players))  # an interval needs two
        opponents = [make(name) for name in options.against.split(",")]
        results = [compare(policy, opponent, rules, players, deals, options.seed, options.episode) for opponent in opponents]
        print_table(results)
        if options.json:
            with whole_file(options.json) as file:
                file.write((json.dumps([result.to_dict() for result in results], indent=1) + "\n").encode())
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
