"""The Stable-Baselines3 face: the VecEnv contract, and MaskablePPO on it."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

import goboom_env  # noqa: F401 - registers the ids
from goboom_env import GoBoomEnv
from goboom_env.integrations.sb3 import GoBoomVecEnv

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "device": "cpu", "policy_kwargs": {"net_arch": [16]}}


def test_step_follows_the_vec_env_contract() -> None:
    env = GoBoomVecEnv("GoBoom/Classic-v0", 8, num_players=2, reward="win")
    assert is_masking_supported(env)
    observations = env.reset()
    totals, lengths, ended = np.zeros(8), np.zeros(8, int), 0
    for _ in range(60):
        masks = get_action_masks(env)
        assert masks.shape == (8, 54) and masks.dtype == np.bool_ and masks.any(axis=1).all()
        previous = observations.copy()
        result = env.step(masks.argmax(axis=1))
        assert (observations == previous).all()
        observations, rewards, dones, infos = result
        assert observations.dtype == np.uint8 and rewards.dtype == np.float32 and rewards.flags.writeable and dones.dtype == np.bool_
        totals += rewards
        lengths += 1
        for i, info in enumerate(infos):
            assert ("episode" in info) == dones[i] == ("terminal_observation" in info)
            if dones[i]:
                ended += 1
                assert info["TimeLimit.truncated"] is False
                assert info["episode"]["l"] == lengths[i] and info["episode"]["r"] == pytest.approx(totals[i])
                assert env.observation_space.contains(info["terminal_observation"]) and not info["illegal_action"]
                totals[i], lengths[i] = 0, 0
    assert ended > 20


def test_attributes_methods_and_wrappers() -> None:
    env = GoBoomVecEnv({"rules": "jokers", "num_players": 3}, 4, opponents="greedy")
    env.reset()
    masks = env.action_masks()
    assert (np.stack(env.env_method("action_masks")) == masks).all()
    assert (env.env_method("action_masks", indices=2)[0] == masks[2]).all()
    assert env.get_attr("num_players") == [3] * 4 and env.get_attr("num_players", indices=[0, 1]) == [3, 3]
    with pytest.raises(AttributeError):
        env.get_attr("no_such_attribute")
    assert env.env_is_wrapped(gym.Wrapper) == [False] * 4 and env.env_is_wrapped(Monitor, indices=[0, 1]) == [True] * 2
    env.set_attr("illegal_action", "raise")
    assert env.get_attr("illegal_action") == ["raise"] * 4


def test_seed_gives_row_i_the_seed_plus_i() -> None:
    env = GoBoomVecEnv("GoBoom/Classic-v0", 3)
    env.seed(5)
    observations = env.reset()
    assert (observations == np.stack([GoBoomEnv().reset(seed=5 + i)[0] for i in range(3)])).all()
    assert (env.reset() != observations).any()


def test_maskable_ppo_learns_and_predicts_legal_actions_only() -> None:
    env = GoBoomVecEnv("GoBoom/Classic-v0", 8, num_players=2)
    model = MaskablePPO("MlpPolicy", env, seed=0, **SMALL).learn(512)
    mean, _ = evaluate_policy(model, GoBoomVecEnv("GoBoom/Classic-v0", 2, num_players=2, reward="win"), n_eval_episodes=20)
    assert -1 <= mean <= 1


def test_the_episodes_reported_are_those_that_monitor_reports() -> None:
    """`env_is_wrapped(Monitor)` says so, and evaluation then believes them."""
    native = GoBoomVecEnv("GoBoom/Classic-v0", 1, num_players=2, reward="win")
    env = Monitor(GoBoomEnv(num_players=2, reward="win"))
    native.seed(7)
    native.reset()
    env.reset(seed=7)
    reported = 0
    while reported < 10:
        action = int(native.action_masks()[0].argmax())
        _, _, (ended,), (info,) = native.step(np.array([action]))
        _, _, terminated, _, expected = env.step(action)
        assert ended == terminated
        if terminated:
            assert {key: info["episode"][key] for key in "rl"} == {key: expected["episode"][key] for key in "rl"}
            assert set(info["episode"]) == set(expected["episode"])
            reported += 1
            env.reset()


def test_maskable_ppo_takes_the_single_env_through_make() -> None:
    env = gym.make("GoBoom/Classic-v0", illegal_action="raise")
    MaskablePPO("MlpPolicy", env, seed=0, **SMALL).learn(256)


@pytest.mark.slow
def test_subproc_vec_env_with_spawn() -> None:
    env = SubprocVecEnv([_make_env] * 4, start_method="spawn")
    try:
        MaskablePPO("MlpPolicy", env, seed=0, **SMALL).learn(2048)
    finally:
        env.close()


def _make_env() -> gym.Env[Any, Any]:
    return gym.make("goboom_env:GoBoom/Classic-v0", illegal_action="raise")


@pytest.mark.slow
def test_long_training_on_the_largest_action_space_keeps_torch_validation_happy() -> None:
    env = GoBoomVecEnv("GoBoom/Stakes-v0", 256, num_players=8, illegal_action="raise")
    options = {**SMALL, "n_steps": 32, "batch_size": 2048}
    MaskablePPO("MlpPolicy", env, seed=0, **options).learn(300_000)


def test_dummy_vec_env_gives_the_same_episodes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        dummy = DummyVecEnv([lambda: GoBoomEnv(num_players=2)] * 2)
    native = GoBoomVecEnv("GoBoom/Classic-v0", 2, num_players=2)
    dummy.seed(3)
    native.seed(3)
    assert (dummy.reset() == native.reset()).all()
    for _ in range(40):
        masks = np.stack(dummy.env_method("action_masks"))
        assert (masks == native.action_masks()).all()
        first, second = dummy.step(masks.argmax(axis=1)), native.step(masks.argmax(axis=1))
        assert (first[0] == second[0]).all() and (first[1] == second[1]).all() and (first[2] == second[2]).all()
        for a, b in zip(first[3], second[3], strict=True):
            if "terminal_observation" in a:
                assert (a["terminal_observation"] == b["terminal_observation"]).all()
