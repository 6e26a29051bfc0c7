"""Table and chart of the docs from the JSON of the benchmarks: `python -m benchmarks.report`.

Reads `benchmarks/results/speed.json` and `peers.json`, writes `docs/speed.md` and `docs/speed.svg`. Needs matplotlib (extra `arena`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"

TEXT = """# Speed

Made by `python -m benchmarks.report` from the JSON that these commands wrote, one core each:

```sh
python -m benchmarks.speed --json benchmarks/results/speed.json
python -m benchmarks.peers --json benchmarks/results/peers.json
```

Machines differ and this one is noisy: carry ratios away, not absolute figures. Rounds alternate between the cases; given are
medians with the range of {rounds} rounds. Measured on {cpu}, Python {python},
{versions}.

## Beside its peers

Random legal play, player actions a second. Ours are stepped from Python with observation, mask, reward, automatic reset and
fresh arrays at every action of every seat; "ours over it" is the first row's median over the row's.

{peers}

![Player actions a second](speed.svg)
{skipped}
## This project

"vector" asks for every action, as above; "vector, auto" plays forced moves itself (`forced="auto"`, the default), so that a
step is more than an action; "agent" counts the learner's actions only, against three compiled bots; "rollout" makes the random
choice in the compiled loop too, many steps a call, with all outputs kept; "bare" is a compiled loop of legal actions, random choice
and play without observation.

{speed}

| what | figure |
|---|---|
| bytes a table (state and row) | {bytes_a_table} |
| first observation after the interpreter's start, nothing compiled before | {cold} s |
| the same from the cache | {warm} s |
| MaskablePPO on `configs/quick.yaml`: decisions a second | {ppo_rate} |
| part of its time in the environment | {ppo_share} |
"""


def rows(results: dict[str, dict[str, float]], head: list[str], extra: dict[str, str] | None = None) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, result in results.items():
        cells = [name, f"{result['median']:,.0f}", f"{result['low']:,.0f} to {result['high']:,.0f}"]
        lines.append("| " + " | ".join(cells + ([extra[name]] if extra else [])) + " |")
    return "\n".join(lines)


def chart(results: dict[str, dict[str, float]], path: Path) -> None:
    """A bar for each case, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "goboom_env"  # the same picture from the same figures
    from matplotlib import pyplot as plt

    names = sorted(results, key=lambda name: results[name]["median"])
    figure, axes = plt.subplots(figsize=(9, 0.42 * len(names) + 1))
    colours = ["#c8553d" if name.startswith("goboom_env") else "#8d99ae" for name in names]
    bars = axes.barh(names, [results[name]["median"] for name in names], color=colours)
    axes.bar_label(bars, [f"{results[name]['median']:,.0f}" for name in names], padding=3, fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("player actions a second, one core")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(right=6 * max(result["median"] for result in results.values()))  # room for the last label
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    speed: dict[str, Any] = json.loads((RESULTS / "speed.json").read_text())
    peers: dict[str, Any] = json.loads((RESULTS / "peers.json").read_text())
    versions = {**speed["machine"]["versions"], **peers["machine"]["versions"]}
    ratios = {name: f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.3g}" for name, ratio in peers["ours_over"].items()}
    skipped = "".join(f"\nSkipped, not installed: {name}.\n" for name in peers["skipped"])
    ppo = speed["maskable_ppo"]
    text = TEXT.format(
        rounds=speed["rounds"],
        cpu=speed["machine"]["cpu"],
        python=speed["machine"]["python"],
        versions=", ".join(f"{name} {number}" for name, number in versions.items() if number != "not installed"),
        peers=rows(peers["actions_a_second"], ["case", "median", "range", "ours over it"], ratios),
        skipped=skipped,
        speed=rows(speed["actions_a_second"], ["case", "median", "range"]),
        bytes_a_table=f"{speed['bytes_a_table']['both']:,}",
        cold=speed["start_seconds"]["cold"],
        warm=speed["start_seconds"]["warm"],
        ppo_rate=f"{ppo['decisions_a_second']:,.0f}",
        ppo_share=f"{ppo['environment_share']:.1%}",
    )
    (ROOT / "docs" / "speed.md").write_text(text, encoding="utf-8")
    chart(peers["actions_a_second"], ROOT / "docs" / "speed.svg")


if __name__ == "__main__":
    main()
