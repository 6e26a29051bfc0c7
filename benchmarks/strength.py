"""Strength of the policies, the tables of `docs/strength.md`: `python -m benchmarks.strength [--only ladder,ceiling]`.

Win share and points a hand on paired deals with 95 % intervals over deals. Writes `benchmarks/results/strength.json` and
`docs/strength.md`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import machine, pin, write_json  # isort: skip - sets the number of threads before NumPy is imported

from benchmarks.ceiling import ceiling
from goboom_env.arena import compare, round_robin
from goboom_env.rules import PRESETS

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "strength.json"
SEED = 2
BOTS = ("random", "shed", "flexible", "greedy", "lead", "void", "counter")
SEARCH = "search:128"

TEXT = """# Strength

Made by `python -m benchmarks.strength` (seed {seed}). One policy sits against the same other on all other seats; each deal is
played once with it on each seat, with the same cards and streams. An equal player wins 1 / seats; points are own less the mean
of the others', penalties counted negative. Intervals are 95 %, over deals (normal approximation of the mean over a deal's
rotations).

Win share and points are different measures: `shed` gives away hands to lose few points, and `flexible` wins more hands than
`greedy`, which keeps fewer points. So `greedy` does not beat `flexible`, its rung before, in win share. In the pile family
`lead` plays nearly as `greedy`, and `counter` as `void`.

## The ladder on classic

{ladder}

## `{search}` on classic

{search_classic}

A seat that sees every card, and plays each action out with `greedy` on all seats, marks the ceiling; it is no policy
(`benchmarks/ceiling.py`).

{ceiling}

## Every preset: `counter` and `{search}` against each bot

Win share, with half the width of its 95 % interval: 5,000 deals of `counter`, 1,000 of `{search}`, each on every seat. On
points `search` needs the objective `points`, which stands behind `search:128:greedy:points`; here it has the default, the win.
Points a hand stand in `benchmarks/results/strength.json`.
Presets of the same play have the same deals here, so where they also have the same scoring, the same figures.

{presets}

## Many seats: classic at 8 and 12

{many_seats}

## Round robin on classic

Every rule bot, `{search}`, and at two seats `trained`, in every line-up (see [arena.md](arena.md)). Win share and points are
those at mixed tables, where each seat is another policy; ratings are from all tables, on the scale of Elo, with `random` at 0.

{round_robin}
"""

HEAD = (
    "| rules | seats | policy | against | win share | 95 % interval | points a hand | 95 % interval | hands | ms a hand |\n|" + "---|" * 10
)

PRESETS_HEAD = "| rules | seats | policy | " + " | ".join(f"`{bot}`" for bot in BOTS) + " |\n|" + "---|" * (3 + len(BOTS))

ROBIN_HEAD = (
    "| seats | policy | win share | 95 % interval | points a hand | 95 % interval | rating | 95 % interval | hands |\n|" + "---|" * 9
)


def measure(policy: str, against: str, rules: str, players: int, deals: int, results: list[dict[str, Any]]) -> str:
    """A row of a table, and its figures into `results`."""
    start = time.perf_counter()
    result = compare(policy, against, rules, players, deals, SEED)
    milliseconds = 1000 * (time.perf_counter() - start) / result.hands
    results.append({**result.to_dict(), "ms_a_hand": milliseconds})
    low, high = result.win_interval
    points_low, points_high = result.points_interval
    row = (
        f"| {rules} | {players} | `{policy}` | `{against}` | {result.win_share:.3f} | {low:.3f} to {high:.3f} | {result.points:+.2f} | "
        f"{points_low:+.2f} to {points_high:+.2f} | {result.hands:,} | {milliseconds:.2g} |"
    )
    print(row, flush=True)
    return row


def measure_ceiling(players: int, deals: int, results: list[dict[str, Any]]) -> list[str]:
    """Rows of the seat that sees every card, on classic."""
    rows = []
    for against in ("greedy", "counter"):
        found = ceiling(against, "classic", players, deals, SEED)
        results.append({"policy": "sees all cards", "field": against, "rules": "classic", "num_players": players, **found})
        (low, high), (points_low, points_high) = found["win_interval"], found["points_interval"]
        rows.append(
            f"| classic | {players} | sees all cards | `{against}` | {found['win_share']:.3f} | {low:.3f} to {high:.3f} | "
            f"{found['points']:+.2f} | {points_low:+.2f} to {points_high:+.2f} | {found['hands']:,} | |"
        )
        print(rows[-1], flush=True)
    return rows


def measure_all(policies: Sequence[str], players: int, deals: int, results: list[dict[str, Any]]) -> list[str]:
    """The rows of a round robin, and its figures into `results`."""
    result = round_robin(policies, "classic", players, deals, SEED)
    results.append(result.to_dict())
    rows = []
    for row, rating in zip(result.results, result.ratings, strict=True):
        low, high = row.win_interval
        points_low, points_high = row.points_interval
        rows.append(
            f"| {players} | `{row.policy}` | {row.win_share:.3f} | {low:.3f} to {high:.3f} | {row.points:+.2f} | {points_low:+.2f} to "
            f"{points_high:+.2f} | {round(rating.rating)} | {round(rating.interval[0])} to {round(rating.interval[1])} | {result.hands:,} |"
        )
    print("\n".join(rows), flush=True)
    return rows


def measure_presets(results: list[dict[str, Any]]) -> list[str]:
    """Win shares of `counter` and the search against each bot, in a row for each preset, number of seats and policy."""
    rows = []
    for rules, values in PRESETS.items():
        for players in (2, 4):
            for policy, deals in (("counter", 5000), (SEARCH, 1000)) if players in values.player_counts else ():
                cells = []
                for against in BOTS:
                    result = compare(policy, against, rules, players, deals, SEED)
                    results.append(result.to_dict())
                    cells.append(f"{result.win_share:.3f} ± {(result.win_interval[1] - result.win_interval[0]) / 2:.3f}")
                rows.append(f"| {rules} | {players} | `{policy}` | {' | '.join(cells)} |")
                print(rows[-1], flush=True)
    return rows


def measure_many_seats(deals: int, results: list[dict[str, Any]]) -> list[str]:
    """The ladder on classic at 8 and at 12 seats, each bot against the one before it and against `random`."""
    return [
        measure(policy, against, "classic", players, deals, results)
        for players in (8, 12)
        for place, policy in enumerate(BOTS)
        for against in dict.fromkeys((BOTS[0], BOTS[max(place - 1, 0)]))
        if against != policy
    ]


def sections(results: list[dict[str, Any]]) -> dict[str, Callable[[], list[str]]]:
    """What makes the rows of each table of the page."""
    return {
        "ladder": lambda: [
            measure(policy, against, "classic", players, 10_000, results)
            for players in (2, 4)
            for place, policy in enumerate(BOTS)
            for against in BOTS[:place]
        ],
        "search_classic": lambda: [measure(SEARCH, against, "classic", players, 2500, results) for players in (2, 4) for against in BOTS],
        "ceiling": lambda: [row for players in (2, 4) for row in measure_ceiling(players, 2500, results)],
        "presets": lambda: measure_presets(results),
        "many_seats": lambda: measure_many_seats(2500, results),
        "round_robin": lambda: (
            measure_all((*BOTS, SEARCH, "trained"), 2, 10_000, results) + measure_all((*BOTS, SEARCH), 4, 10_000, results)
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", help="sections to measure anew, with commas; the others stay as the last run left them")
    only = parser.parse_args().only
    pin()
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["sections"] if only else {}
    for policy in ("random", SEARCH):
        compare(policy, "random", deals=1)  # compiled before any time is taken
    for name in only.split(",") if only else list(sections([])):
        results: list[dict[str, Any]] = []
        rows = sections(results)[name]()
        kept[name] = {"rows": rows, "results": results, "machine": machine(["goboom_env", "numpy", "numba", "choix"])}
    heads = dict.fromkeys(kept, HEAD) | {"presets": PRESETS_HEAD, "round_robin": ROBIN_HEAD}
    tables = {name: "\n".join([heads[name], *kept[name]["rows"]]) for name in kept}
    (ROOT / "docs" / "strength.md").write_text(TEXT.format(seed=SEED, search=SEARCH, **tables), encoding="utf-8")
    write_json(RESULTS, {"sections": kept})


if __name__ == "__main__":
    main()
