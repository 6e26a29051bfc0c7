"""`trained`: the published agents, trained networks that ship with the package."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.state import Records
from goboom_env.policies.base import Policy
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import Rules, rules_name

FOLDER = Path(__file__).parent / "agents"

AGENTS = {
    "classic": "classic",
    "stakes-200": "classic",
    "hundred": "hundred",
    "classic-reverse": "hundred",
    "stakes-minus": "hundred",
    "stakes": "stakes",
    "jokers": "jokers",
    "jokers-aces": "jokers-aces",
}
"""The preset whose agent plays each preset: one of the same play and scoring."""


@lru_cache(maxsize=32)
def _load(path: Path) -> NetworkPolicy:
    return NetworkPolicy.load(path)


def published() -> list[tuple[str, int]]:
    """Preset and number of seats of every agent that ships with the package."""
    names = [path.stem.rsplit("-", 1) for path in sorted(FOLDER.glob("*.safetensors"))]
    return [(preset, int(seats)) for preset, seats in names]


class TrainedPolicy(Policy):
    """The published agent of whatever table it is bound to."""

    name = "trained"

    def bind(self, rules: Rules, num_players: int) -> NetworkPolicy:
        """The agent of this table.

        Raises:
            ValueError: No agent was trained for these rules at this number of seats; the message lists those there are.
        """
        preset = rules_name(rules)
        agent = AGENTS.get(preset or "")
        if agent is None or (agent, num_players) not in published():
            known = ", ".join(f"{name} at {seats}" for name, seats in published())
            raise ValueError(f"no published agent for {preset or 'house rules'} at {num_players} seats; there are {known}")
        policy = copy.copy(_load(FOLDER / f"{agent}-{num_players}.safetensors"))
        policy.name, policy.rules = self.name, rules
        return policy

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """An agent is chosen by the table: bind first."""
        raise RuntimeError("policy 'trained' is not bound to rules: use the result of .bind(rules, num_players)")
