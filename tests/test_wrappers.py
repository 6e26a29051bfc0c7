"""Gymnasium's wrappers around the single and the vector env."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit
from gymnasium.wrappers.vector import FlattenObservation as VectorFlatten
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorStatistics

import goboom_env  # noqa: F401 - registers the ids
from goboom_env import GoBoomEnv, GoBoomVectorEnv


def first_legal(env: gym.Env) -> int:
    return int(env.get_wrapper_attr("action_masks")().argmax())


def test_time_limit_truncates_a_running_hand_and_reset_begins_another() -> None:
    env = TimeLimit(GoBoomEnv(num_players=2, episode="match"), 3)
    for _ in range(3):
        _, info = env.reset()
        for step in range(1, 4):
            assert info["action_mask"].any() and (info["action_mask"] == env.get_wrapper_attr("action_masks")()).all()
            _, _, terminated, truncated, info = env.step(first_legal(env))
            assert not terminated and truncated == (step == 3) and "payoffs" not in info


def test_time_limit_through_make() -> None:
    env = gym.make("GoBoom/Classic-v0", episode="match", max_episode_steps=2)
    env.reset(seed=1)
    assert [env.step(first_legal(env))[3] for _ in range(2)] == [False, True]


def test_statistics_flattening_and_a_limit_stack_up() -> None:
    env = RecordEpisodeStatistics(FlattenObservation(TimeLimit(GoBoomEnv(num_players=3, opponents="greedy"), 1_000)))
    plain = GoBoomEnv(num_players=3, opponents="greedy")
    assert env.observation_space == plain.observation_space
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        expected, _ = plain.reset(seed=seed)
        steps, total, ended = 0, 0.0, False
        while not ended:
            assert (observation == expected).all() and observation.dtype == expected.dtype
            action = first_legal(env)
            observation, _, ended, _, info = env.step(action)
            expected, reward, terminated, _, _ = plain.step(action)
            steps, total = steps + 1, total + reward
            assert ended == terminated
        assert info["episode"]["l"] == steps and np.isclose(info["episode"]["r"], total) and "payoffs" in info


def test_the_vector_forms_change_nothing_but_what_they_add() -> None:
    env = VectorFlatten(VectorStatistics(GoBoomVectorEnv(4, num_players=2)))
    plain = GoBoomVectorEnv(4, num_players=2)
    assert env.observation_space == plain.observation_space and env.single_observation_space == plain.single_observation_space
    observations, info = env.reset(seed=3)
    expected, _ = plain.reset(seed=3)
    ended = 0
    for _ in range(60):
        assert (observations == expected).all()
        actions = info["action_mask"].argmax(axis=1)
        observations, rewards, terminated, _, info = env.step(actions)
        expected, plain_rewards, plain_terminated, _, _ = plain.step(actions)
        assert (rewards == plain_rewards).all() and (terminated == plain_terminated).all()
        assert (info["_episode"] == terminated).all() if terminated.any() else "episode" not in info
        ended += int(terminated.sum())
    assert ended > 8


def test_sync_vectors_take_the_single_wrappers() -> None:
    env = gym.make_vec(
        "GoBoom/Classic-v0", num_envs=2, vectorization_mode="sync", wrappers=[lambda env: TimeLimit(env, 2)], episode="match"
    )
    _, info = env.reset(seed=1)
    truncated = np.zeros(2, bool)
    for _ in range(2):
        assert not truncated.any()
        _, _, _, truncated, info = env.step(info["action_mask"].argmax(axis=1))
    assert truncated.all()
