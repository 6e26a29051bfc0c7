"""The leaderboard of a round robin as a chart, drawn with matplotlib without a display."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from goboom_env.arena.report import UNITS
from goboom_env.arena.tournament import RoundRobin
from goboom_env.files import whole_file

INK, GREY, FAINT = "#1c2733", "#6b7785", "#e3e7ec"
COLOURS = ("#1f6f8b", "#c4572b")
"""Of the win shares and of the ratings."""


def need_matplotlib() -> None:
    """`ModuleNotFoundError` with what to install where matplotlib is not there."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("charts need the library matplotlib: pip install matplotlib") from None


def write_chart(result: RoundRobin, path: Path) -> None:
    """Win shares and ratings with their 95 % intervals, the best policy on top, as `.png` or `.svg`.

    The same result gives the same file with the same version of matplotlib.
    """
    need_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    count = len(result.results)
    height = 1.7 + 0.42 * count
    with matplotlib.rc_context({"font.family": "DejaVu Sans", "font.size": 10, "svg.hashsalt": "goboom", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9.6, height), facecolor="white")
        axes = figure.subplots(1, 2, sharey=True)
        shares = [(row.win_share, row.win_interval) for row in result.results]
        ratings = [(rating.rating, rating.interval) for rating in result.ratings]
        anchored = any(rating.policy == "random" for rating in result.ratings)
        panels = (
            ("win share", shares, 1 / result.num_players, f"an equal player: {1 / result.num_players:.3f}", "{:.3f}"),
            ("rating", ratings, 0.0, "random" if anchored else "mean", "{:.0f}"),
        )
        places = np.arange(count)[::-1]
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}  # labels stand clear of lines
        for ax, colour, (title, values, base, meaning, form) in zip(axes, COLOURS, panels, strict=True):
            middle = np.array([value for value, _ in values])
            low, high = np.array([interval for _, interval in values]).T
            ax.axvline(base, color=GREY, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            ax.hlines(places, low, high, color=colour, linewidth=2.4, alpha=0.55, zorder=2)
            ax.plot(middle, places, "o", color=colour, markersize=6, zorder=3)
            ax.margins(x=0.12)
            for place, value, end in zip(places, middle, high, strict=True):
                label = form.format(round(value, 3) + 0.0).replace("-", "\N{MINUS SIGN}")  # as on the axis
                ax.annotate(label, (end, place), (7, 0), textcoords="offset points", va="center", color=INK, fontsize=9, bbox=paper)
            ax.set_xlim(right=ax.get_xlim()[1] + 0.1 * (ax.get_xlim()[1] - ax.get_xlim()[0]))  # room for the labels
            ax.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
            ax.set_xlabel(f"dashed: {meaning}; bars: 95 % intervals", color=GREY, fontsize=8.5)
            ax.grid(axis="x", color=FAINT, linewidth=0.8)
            ax.set_axisbelow(True)
            ax.set_ylim(-0.6, count - 0.4)
            ax.tick_params(length=0, colors=INK)
            for side in ("top", "right", "left", "bottom"):
                ax.spines[side].set_visible(False)
        axes[0].set_yticks(places, [row.policy for row in result.results])
        units = UNITS[result.episode][1]
        figure.suptitle(
            f"{result.rules}, {result.num_players} seats: {result.hands:,} {units} on paired deals",
            x=0.015, y=1 - 0.18 / height, ha="left", va="top", color=INK, fontsize=12,
        )  # fmt: skip
        figure.tight_layout(w_pad=2.5)
        kind = path.suffix.lower()[1:]
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        with whole_file(path) as file:
            figure.savefig(file, format=kind, dpi=150, metadata=metadata)
