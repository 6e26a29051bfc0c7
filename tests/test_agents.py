"""The published agents: every file plays at its table, and a table without one says so."""

from __future__ import annotations

import json

import numpy as np
import pytest

from goboom_env import PRESETS, GoBoomEnv, GoBoomVectorEnv, Rules
from goboom_env.arena import compare
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.trained import AGENTS, FOLDER, published


@pytest.mark.parametrize(("preset", "seats"), published())
def test_every_agent_is_of_its_table_and_says_how_it_was_made(preset: str, seats: int) -> None:
    path = FOLDER / f"{preset}-{seats}.safetensors"
    policy = NetworkPolicy.load(path)
    assert (policy.rules, policy.num_players) == (PRESETS[preset], seats)
    assert path.stat().st_size < 1_500_000
    assert policy.metadata["objective"] in ("win", "points") and policy.value is not None
    assert policy.metadata["summary"]["rounds"] and policy.metadata["config"]["rules"] == preset
    assert "/" not in json.dumps(policy.metadata["config"]).replace("b/c", "")
    # Far above an equal player in what it aims at: 1,000 hands leave a standard error below 0.02, or 1 point.
    result = compare(policy, "random", preset, seats, 1000 // seats, seed=3)
    assert result.win_interval[0] > 1 / seats and result.points_interval[0] > 0


def test_trained_is_the_agent_of_the_table() -> None:
    for preset, agent in AGENTS.items():
        for seats in (2, 3, 4):
            if (agent, seats) in published():
                bound = make("trained").bind(PRESETS[preset], seats)
                assert isinstance(bound, NetworkPolicy) and bound.name == "trained" and bound.rules == PRESETS[preset]


def test_a_table_without_an_agent_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no published agent for classic at 7 seats; there are .*classic at 2"):
        GoBoomEnv("classic", 7, "trained")
    with pytest.raises(ValueError, match="no published agent for house rules at 2 seats"):
        make("search+trained").bind(Rules(hand_size=5), 2)
    with pytest.raises(RuntimeError, match="not bound"):
        make("trained").act(np.zeros(0), np.zeros(0, np.uint64))


@pytest.mark.parametrize("opponents", ["trained", "search+trained:4", {"trained": 0.5, "greedy": 0.5}])
def test_agents_as_opponents(opponents: object) -> None:
    envs = GoBoomVectorEnv(8, "classic", 2, opponents)
    _, info = envs.reset(seed=1)
    for _ in range(30):
        _, _, _, _, info = envs.step(info["action_mask"].argmax(axis=1))
    assert not info.get("illegal_action", np.zeros(1)).any()
