"""Charts of a run."""

from __future__ import annotations

import csv
from pathlib import Path


def learning_curve(output: Path, equal_share: float) -> Path | None:
    """Draw win share over decisions from every `progress*.csv` in a run's folder; None where no evaluation was logged."""
    from matplotlib.figure import Figure

    points: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(output.glob("progress*.csv")):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                for key, value in row.items():
                    if key.startswith("eval/win_share_") and value:
                        points.setdefault(key.removeprefix("eval/win_share_"), []).append((int(row["time/total_timesteps"]), float(value)))
    if not points:
        return None
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for name, curve in points.items():
        axes.plot(*zip(*sorted(curve), strict=True), marker="o", markersize=3, label=f"against {name}")
    axes.axhline(equal_share, color="gray", linestyle=":", linewidth=1, label="an equal player")
    axes.set(xlabel="decisions", ylabel="win share", title=output.name)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(output / "learning_curve.png", dpi=120)
    return output / "learning_curve.png"
