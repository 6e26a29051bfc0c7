"""Decisions labelled by search: positions of self-play with the worth of every legal action, as compressed array files.

A folder of labels holds `part_0000.npz`, ... and `manifest.json`, which names what made them. `observations` are packed
bits (`numpy.packbits`), uint8; `values` is the worth of each action, float16, NaN where illegal.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.rng import stream_words
from goboom_env.engine.state import Records
from goboom_env.files import whole_file
from goboom_env.observation import VERSION, features
from goboom_env.policies import Policy
from goboom_env.policies.search import SearchPolicy
from goboom_env.rules import Rules
from goboom_env.table import Table

FORMAT = "goboom-labels/1"
TABLES = 4096
"""Deals a part."""


class Labeller(Policy):
    """Plays as a search does, but a share of its moves at random, and keeps what the search thought of every decision."""

    name = "labeller"

    def __init__(self, teacher: SearchPolicy, rules: Rules, num_players: int, explore: float) -> None:
        self.teacher = teacher.bind(rules, num_players)
        self.rules, self.num_players, self.explore = rules, num_players, explore
        self.observations: list[NDArray[np.uint8]] = []
        self.values: list[NDArray[np.float16]] = []

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The search's choice, or with a chance of `explore` any legal action."""
        actions, values = self.teacher.evaluate(views, rng)
        observations, masks = features.encode(self.rules, self.num_players, views)
        self.observations.append(np.packbits(observations, axis=1))
        self.values.append(values.astype(np.float16))
        strays = (rng >> np.uint64(40)) < self.explore * 2**24
        picked = ((rng & np.uint64(0xFFFFFFFF)) % masks.sum(axis=1).astype(np.uint64)).astype(np.int64)
        anywhere = (np.cumsum(masks, axis=1) == (picked + 1)[:, None]).argmax(axis=1)
        return np.where(strays, anywhere, actions)

    def take(self) -> dict[str, NDArray[Any]]:
        """All labels since the last call."""
        arrays: dict[str, NDArray[Any]] = {"observations": np.concatenate(self.observations), "values": np.concatenate(self.values)}
        self.observations, self.values = [], []
        return arrays


def make_labels(
    folder: Path,
    teacher: SearchPolicy,
    rules: Rules,
    num_players: int,
    decisions: int,
    seed: int,
    explore: float,
    progress: Callable[[int], None] = lambda count: None,
) -> int:
    """Fill a folder with at least so many labelled decisions; whole parts that are there already are kept.

    Args:
        progress: Called with the number of decisions labelled since the last call.

    Returns:
        The number of decisions in the folder.

    Raises:
        ValueError: The folder holds labels that something else made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parameters = {
        "format": FORMAT,
        "rules": rules.to_dict(),
        "num_players": num_players,
        "observation_version": VERSION,
        "teacher": teacher.name,
        "seed": seed,
        "explore": explore,
    }
    made_by: dict[str, Any] = json.loads(json.dumps(parameters))  # as a manifest gives it back
    manifest = folder / "manifest.json"
    counts: list[int] = []
    if manifest.exists():
        found = json.loads(manifest.read_text(encoding="utf-8"))
        differ = [key for key, value in made_by.items() if found.get(key) != value]
        if differ:
            raise ValueError(f"{str(folder)!r} holds labels made with another {', '.join(differ)}: name another output folder")
        counts = found["parts"]
        progress(sum(counts))
    labeller = Labeller(teacher, rules, num_players, explore)
    table = Table(rules, [[(labeller, 1.0)]] * num_players, TABLES)
    while sum(counts) < decisions:
        table.reset(words=stream_words(seed + len(counts), TABLES))
        arrays = labeller.take()
        with whole_file(folder / f"part_{len(counts):04d}.npz") as file:
            np.savez_compressed(file, observations=arrays["observations"], values=arrays["values"])
        counts.append(len(arrays["values"]))
        with whole_file(manifest) as file:
            file.write((json.dumps({**made_by, "parts": counts, "written": time.strftime("%Y-%m-%d")}, indent=1) + "\n").encode())
        progress(counts[-1])
    return sum(counts)


def read_labels(folder: Path) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float16]]]:
    """Packed observations and values of each part that the manifest names."""
    parts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["parts"]
    for k in range(len(parts)):
        with np.load(folder / f"part_{k:04d}.npz", allow_pickle=False) as part:
            yield part["observations"], part["values"]
