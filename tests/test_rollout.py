"""Rollouts: many steps in one compiled call are what a loop over `step` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from goboom_env import GoBoomVectorEnv, sample_legal
from goboom_env.policies import make
from goboom_env.rollout import Rollout
from goboom_env.rules import PRESETS
from goboom_env.table import Table

STEPS = 150


def loop(env: GoBoomVectorEnv, mask: np.ndarray[Any, Any], steps: int, seed: int) -> list[tuple[Any, ...]]:
    """Random play by `step`: observation, mask and seat before each action, action, reward, end and payoffs."""
    rng, rows = np.random.default_rng(seed), []
    observation, seat = env._table.observations, env._table.acting
    for _ in range(steps):
        action = sample_legal(mask, rng)
        before = observation, mask, seat, action
        observation, reward, terminated, _, info = env.step(action)
        end = info.get("final_info", info).get("payoffs", np.zeros((env.num_envs, env.num_players)))
        rows.append((*before, reward, terminated, end))
        mask, seat = info["action_mask"], info["seat"]
    return rows


def check_equal(rollout: Rollout, rows: list[tuple[Any, ...]]) -> None:
    names = ("observations", "action_masks", "seats", "actions", "rewards", "terminated", "payoffs")
    for k, row in enumerate(rows):
        for name, value in zip(names, row, strict=True):
            np.testing.assert_array_equal(getattr(rollout, name)[k], value, err_msg=f"{name} of step {k}")


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("opponents", ["self", "greedy"])
@pytest.mark.parametrize("rules", PRESETS)
def test_random_rollout_is_a_loop_of_sample_legal_and_step(rules: str, opponents: str, mode: AutoresetMode) -> None:
    envs = [GoBoomVectorEnv(5, rules, opponents=opponents, autoreset_mode=mode) for _ in range(2)]
    mask, _ = (env.reset(seed=3)[1]["action_mask"] for env in envs)
    rollout = envs[0].rollout(STEPS, seed=9)
    assert rollout.terminated.any()
    check_equal(rollout, loop(envs[1], mask, STEPS, 9))
    # Both go on from the same place.
    again = envs[0].rollout(20, seed=10)
    np.testing.assert_array_equal(again.observations[0], rollout.observations[-1])
    check_equal(again, loop(envs[1], envs[1]._table.masks, 20, 10))
    action = sample_legal(again.action_masks[-1], np.random.default_rng(0))
    for one, other in zip(envs[0].step(action)[:4], envs[1].step(action)[:4], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bot", ["shed", "flexible", "greedy", "lead", "void", "counter"])
@pytest.mark.parametrize("rules", ["classic", "jokers"])
def test_a_bot_in_the_learners_place_plays_as_it_does_on_a_seat_of_its_own(rules: str, bot: str) -> None:
    env = GoBoomVectorEnv(40, rules, 3, opponents="self")
    env.reset(seed=5)
    rollout = env.rollout(400, bot)
    first = rollout.terminated.argmax(axis=0)
    assert rollout.terminated.any(axis=0).all()
    table = Table(rules, [[(make(bot), 1.0)]] * 3, 40)
    table.reset([5 + i for i in range(40)])
    np.testing.assert_array_equal(rollout.payoffs[first, np.arange(40)], table.payoffs)
    legal = np.take_along_axis(rollout.action_masks[:-1], rollout.actions[..., None], axis=2)
    begins = np.concatenate([np.zeros((1, 40), bool), rollout.terminated[:-1]])
    assert (legal[..., 0] | begins).all()


def test_threads_change_nothing() -> None:
    rollouts = []
    for threads in (1, 2, 3):
        env = GoBoomVectorEnv(800, "jokers", 3, opponents="lead", num_threads=threads)
        env.reset(seed=1)
        rollouts.append(env.rollout(30, "greedy", seed=2))
    for other in rollouts[1:]:
        for name in Rollout.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(rollouts[0], name), getattr(other, name))


def test_arrays_handed_out_never_change() -> None:
    env = GoBoomVectorEnv(8)
    observations, info = env.reset(seed=0)
    kept = observations.copy(), info["action_mask"].copy()
    rollout = env.rollout(40)
    copies = {name: getattr(rollout, name).copy() for name in Rollout.__dataclass_fields__}
    env.rollout(40)
    env.step(sample_legal(env.action_masks(), np.random.default_rng(0)))
    env.reset()
    for name, copy in copies.items():
        np.testing.assert_array_equal(getattr(rollout, name), copy)
    np.testing.assert_array_equal(observations, kept[0])
    np.testing.assert_array_equal(info["action_mask"], kept[1])


def test_a_mask_that_the_caller_wrote_into_is_not_chosen_from() -> None:
    env, other = GoBoomVectorEnv(4), GoBoomVectorEnv(4)
    env.reset(seed=0)[1]["action_mask"][:] = 0
    other.reset(seed=0)
    for name in ("action_masks", "actions", "rewards"):
        np.testing.assert_array_equal(getattr(env.rollout(30, seed=1), name), getattr(other.rollout(30, seed=1), name))


@pytest.mark.parametrize(
    ("arguments", "words"), [((0,), "num_steps=0 must be 1 or more"), ((-3,), "1 or more"), ((5, "gredy"), "did you mean 'greedy'")]
)
def test_what_cannot_be_is_refused_and_changes_nothing(arguments: tuple[Any, ...], words: str) -> None:
    env, other = GoBoomVectorEnv(4), GoBoomVectorEnv(4)
    env.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(ValueError, match=words):
        env.rollout(*arguments)
    np.testing.assert_array_equal(env.rollout(30, seed=1).observations, other.rollout(30, seed=1).observations)


def test_needs_compiled_opponents_a_reset_and_episodes_that_follow_by_themselves() -> None:
    env = GoBoomVectorEnv(2, opponents="search:2")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"rule bots alone \(random, .*'search:2' is an opponent: call step"):
        env.rollout(3)
    with pytest.raises(RuntimeError, match="call reset before"):
        GoBoomVectorEnv(2).rollout(3)
    env = GoBoomVectorEnv(2, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="DISABLED"):
        env.rollout(3)
