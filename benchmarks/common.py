"""Measuring side by side: one core, warm-up, alternating rounds, medians with ranges, versions and machine in the JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

Case = Callable[[], int]
"""Does some work once and returns how many player actions it was."""


def pin() -> None:
    """Stay on one core where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measure(cases: dict[str, Case], rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Actions a second of each case: the median over rounds that alternate between the cases, with the range."""
    for case in cases.values():
        case()
    rates: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            count, start = 0, time.perf_counter()
            while (spent := time.perf_counter() - start) < seconds:
                count += case()
            rates[name].append(count / spent)
    return {name: {"median": statistics.median(values), "low": min(values), "high": max(values)} for name, values in rates.items()}


def machine(packages: Iterable[str]) -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = next((line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")), model)
    versions = {}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": model, "python": platform.python_version(), "system": platform.system(), "versions": versions}


def report(results: dict[str, dict[str, float]], unit: str, base: str | None = None) -> None:
    """Print medians, ranges, and ratios to a base case."""
    width = max(len(name) for name in results)
    for name, result in results.items():
        ratio = f"  {result['median'] / results[base]['median']:8.3g} x" if base else ""
        print(f"{name:<{width}}  {result['median']:>14,.0f} {unit}  [{result['low']:,.0f} to {result['high']:,.0f}]{ratio}")


def write_json(path: Path | None, data: dict[str, Any]) -> None:
    """Write the results where the caller wants them."""
    if path is not None:
        command = " ".join(["python -m benchmarks." + Path(sys.argv[0]).stem, *sys.argv[1:]])
        path.write_text(json.dumps({"command": command, **data}, indent=1) + "\n", encoding="utf-8")
