"""Frozen copies of the learner as opponents: the newest, and others spread over the whole run, so that nothing is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.state import Records
from goboom_env.policies import Policy
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import Rules

KEY = "snapshots"
"""In the opponents of a configuration: frozen copies of the learner, as in `{greedy: 0.5, snapshots: 0.5}`."""


class Slot(Policy):
    """A place at the tables for a frozen copy, which is changed while they play. It sees its own seat, as any policy does."""

    def __init__(self, number: int, policy: NetworkPolicy | None = None) -> None:
        self.name = f"snapshot_{number}"
        self.policy = policy

    def bind(self, rules: Rules, num_players: int) -> Slot:
        """This slot itself, so that a later copy plays at the same tables."""
        return self

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The copy's choice."""
        if self.policy is None:
            raise RuntimeError(f"policy {self.name!r} is empty: the run has not begun")
        return self.policy.act(views, rng)


class Snapshots:
    """The slots of a run. Slot 0 holds the newest copy, the others a random sample of all there were.

    Args:
        slots: Number of slots.
        seed: Of the sample.
        folder: Where every copy that sits in a slot is kept as a policy file.
    """

    def __init__(self, slots: int, seed: int, folder: Path) -> None:
        self.slots = [Slot(number) for number in range(slots)]
        self.seed, self.folder = seed, folder
        self.count = 0
        self.sources = [-1] * slots

    def add(self, policy: NetworkPolicy) -> None:
        """Take in a frozen copy: as the newest, and by reservoir sampling in one of the other slots."""
        number = self.count
        self.count += 1
        policy.save(self._path(number))
        chosen = [0]
        others = len(self.slots) - 1
        if number < others:
            chosen.append(number + 1)
        elif others:
            place = int(np.random.default_rng([self.seed, number]).integers(number + 1))
            chosen += [place + 1] * (place < others)
        for place in range(len(self.slots)) if number == 0 else chosen:
            self.slots[place].policy, self.sources[place] = policy, number
        for path in self.folder.glob("snapshot_*.safetensors"):
            if int(path.stem.split("_")[1]) not in self.sources:
                path.unlink()

    def to_dict(self) -> dict[str, Any]:
        """What a state keeps; the copies themselves stand in the folder."""
        return {"count": self.count, "sources": self.sources}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Seat the copies that a state names."""
        self.count, self.sources = values["count"], list(values["sources"])
        loaded = {number: NetworkPolicy.load(self._path(number)) for number in set(self.sources)}
        for slot, number in zip(self.slots, self.sources, strict=True):
            slot.policy = loaded[number]

    def _path(self, number: int) -> Path:
        return self.folder / f"snapshot_{number:05d}.safetensors"


def with_slots(opponents: Any, snapshots: Snapshots) -> Any:
    """A configuration's opponents with the slots in place of the word `snapshots`."""
    if opponents == KEY:
        opponents = {KEY: 1.0}
    if not isinstance(opponents, Mapping) or KEY not in opponents:
        return opponents
    share = float(opponents[KEY]) / len(snapshots.slots)
    return {**{name: weight for name, weight in opponents.items() if name != KEY}, **dict.fromkeys(snapshots.slots, share)}


def uses_snapshots(opponents: Any) -> bool:
    """Whether a configuration seats frozen copies."""
    return bool(opponents == KEY or (isinstance(opponents, Mapping) and KEY in opponents))
