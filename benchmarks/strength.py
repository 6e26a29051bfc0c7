"""Strength of `search` against the rule bots: `python -m benchmarks.strength [--deals 2000] [--json F]`.

Win share and points a hand on paired deals with 95 % intervals, and seconds of the whole run a hand, on one core.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.common import machine, pin, write_json

from goboom_env.arena import compare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--policy", default="search:128")
    parser.add_argument("--against", default="random,shed,greedy,lead")
    parser.add_argument("--rules", default="classic")
    parser.add_argument("--players", default="2,4")
    parser.add_argument("--deals", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pin()
    results = []
    print("| rules | seats | against | win share | 95 % interval | points a hand | 95 % interval | hands | ms a hand |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rules in options.rules.split(","):
        for players in map(int, options.players.split(",")):
            compare(options.policy, "random", rules, players, 1)
            for bot in options.against.split(","):
                start = time.perf_counter()
                result = compare(options.policy, bot, rules, players, options.deals, options.seed)
                seconds = time.perf_counter() - start
                results.append({**result.to_dict(), "ms_a_hand": 1000 * seconds / result.hands})
                low, high = result.win_interval
                points_low, points_high = result.points_interval
                print(
                    f"| {rules} | {players} | `{bot}` | {result.win_share:.3f} | {low:.3f} to {high:.3f} | {result.points:+.2f} | "
                    f"{points_low:+.2f} to {points_high:+.2f} | {result.hands:,} | {results[-1]['ms_a_hand']:.1f} |",
                    flush=True,
                )
    write_json(options.json, {"machine": machine(["goboom_env", "numpy", "numba"]), "results": results})


if __name__ == "__main__":
    main()
