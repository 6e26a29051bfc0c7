"""Results as text, JSON, CSV and a chart."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from goboom_env.arena.match import Comparison
from goboom_env.arena.tournament import RoundRobin
from goboom_env.files import whole_file
from goboom_env.version import __version__

UNITS = {"hand": ("hand", "hands"), "match": ("match", "matches")}


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines of columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        lines.append("  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]))
    return "\n".join(line.rstrip() for line in lines)


def _share(value: float, interval: tuple[float, float]) -> list[str]:
    return [f"{value:.3f}", f"[{interval[0]:.3f}, {interval[1]:.3f}]"]


def _points(value: float, interval: tuple[float, float]) -> list[str]:
    # Adding 0 to what was rounded makes a 0 of a -0.
    value, low, high = (round(number, 2) + 0.0 for number in (value, *interval))
    return [f"{value:+.2f}", f"[{low:+.2f}, {high:+.2f}]"]


def comparison_table(results: Sequence[Comparison]) -> str:
    """Win share and points of one policy in comparisons that differ in the field, with 95 % intervals; empty without any."""
    if not results:
        return ""
    first = results[0]
    unit, units = UNITS[first.episode]
    title = f"{first.policy} on {first.rules}, {first.num_players} seats; an equal player wins {1 / first.num_players:.3f} and scores 0"
    head = ["against", "win share", "95 % interval", f"points a {unit}", "95 % interval", units]
    rows = [
        [result.field, *_share(result.win_share, result.win_interval), *_points(result.points, result.points_interval), f"{result.hands:,}"]
        for result in results
    ]
    return f"{title}\n{aligned([head, *rows])}"


def leaderboard(result: RoundRobin) -> str:
    """The table of a round robin: win share and points at mixed tables, rating, decisions a second."""
    unit, units = UNITS[result.episode]
    title = (
        f"{result.rules}, {result.num_players} seats, {result.hands:,} {units} in {len(result.lineups)} line-ups, seed {result.seed}; "
        f"an equal player wins {1 / result.num_players:.3f} and scores 0"
    )
    head = ["policy", "win share", "95 % interval", f"points a {unit}", "95 % interval", "rating", "95 % interval", "decisions/s"]
    rows = [
        [
            row.policy,
            *_share(row.win_share, row.win_interval),
            *_points(row.points, row.points_interval),
            *(f"{round(rating.rating)}", f"[{round(rating.interval[0])}, {round(rating.interval[1])}]"),
            f"{row.decisions_per_second:,.0f}",
        ]
        for row, rating in zip(result.results, result.ratings, strict=True)
    ]
    return f"{title}\n{aligned([head, *rows])}"


def pairwise_table(result: RoundRobin) -> str:
    """Win share of the policy of each row on one seat against that of each column on all others."""
    names = [row.policy for row in result.results]
    shares = {(pair.policy, pair.field): f"{pair.win_share:.3f}" for pair in result.pairwise}
    others = "the other seat" if result.num_players == 2 else "all other seats"
    rows = [[name, *(shares.get((name, other), "-") for other in names)] for name in names]
    return f"win share of a row's policy with the column's on {others}\n{aligned([['', *names], *rows])}"


def write_json(result: RoundRobin, path: Path) -> None:
    """Everything but the single deals."""
    with whole_file(path) as file:
        file.write((json.dumps({"version": __version__, **result.to_dict()}, indent=1) + "\n").encode())


def write_csv(result: RoundRobin, path: Path) -> None:
    """The leaderboard, a line a policy."""
    text = io.StringIO()
    names = ("win_share", "points", "rating")
    head = ["policy", *(f"{name}{end}" for name in names for end in ("", "_low", "_high")), "decisions_per_second"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    for row, rating in zip(result.results, result.ratings, strict=True):
        shares, points = (row.win_share, *row.win_interval), (row.points, *row.points_interval)
        writer.writerow([row.policy, *shares, *points, rating.rating, *rating.interval, row.decisions_per_second])
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
