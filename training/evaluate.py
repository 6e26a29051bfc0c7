"""Evaluate a policy on paired deals: `python -m training.evaluate POLICY --against random,greedy --hands 20000`.

POLICY is a `.safetensors` file or a bot's name. It plays one seat against the same opponent on all others; each deal is
played once with the policy on each seat. Needs neither torch nor Stable-Baselines3.
"""

from __future__ import annotations

import json
import sys

from goboom_env.arena import compare
from goboom_env.arena.command import checked_table, measuring
from goboom_env.arena.progress import progress_bar
from goboom_env.arena.report import comparison_table
from goboom_env.arguments import Parser, add_table_options
from goboom_env.files import whole_file
from goboom_env.policies import make


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.evaluate", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("policy", help=".safetensors file of a trained policy, or a bot's name")
    parser.add_argument("--against", default="random,shed,greedy,lead", help="opponents, with commas (default: %(default)s)")
    add_table_options(parser, "hands against each")
    options = parser.parse_args(arguments)
    try:
        policy = make(options.policy)
        opponents = [make(name) for name in options.against.split(",")]
        rules, players, deals = checked_table(options, [policy, *opponents])
        with progress_bar(deals * len(opponents), "deals") as progress:
            asked = measuring(options, progress)
            results = [compare(policy, opponent, rules, players, deals, **asked) for opponent in opponents]
        print(comparison_table(results))
        if options.json:
            with whole_file(options.json) as file:
                file.write((json.dumps([result.to_dict() for result in results], indent=1) + "\n").encode())
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
