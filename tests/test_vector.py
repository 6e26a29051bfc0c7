"""The vector environment against single ones, in every autoreset mode."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorStatistics

from goboom_env import PRESETS, GoBoomEnv, GoBoomVectorEnv, IllegalActionError, sample_legal

MODES = list(AutoresetMode)


def act(mask: np.ndarray, step: int) -> int:
    """A legal action that depends on the mask and the step alone."""
    legal = np.flatnonzero(mask)
    return int(legal[(step * 7919 + len(legal)) % len(legal)])


def single_trail(env: GoBoomEnv, seed: int, episodes: int) -> list[dict[str, Any]]:
    """Every decision of a number of episodes; `first` marks the observation after a reset."""
    trail = []
    observation, info = env.reset(seed=seed)
    step = 0
    for _ in range(episodes):
        trail.append({"first": True, "obs": observation, "mask": info["action_mask"]})
        terminated = False
        while not terminated:
            observation, reward, terminated, _, info = env.step(act(info["action_mask"], step))
            step += 1
            trail.append(
                {"first": False, "obs": observation, "mask": info["action_mask"], "reward": reward, "end": terminated, "info": info}
            )
        observation, info = env.reset()
    return trail


def compare_with_singles(mode: AutoresetMode, episodes: int, num_envs: int, **kwargs: Any) -> None:
    vector = GoBoomVectorEnv(num_envs, autoreset_mode=mode, **kwargs)
    kwargs.pop("num_threads", None)
    trails = [single_trail(GoBoomEnv(**kwargs), 11 + i, episodes) for i in range(num_envs)]
    observations, info = vector.reset(seed=11)
    place, steps = [0] * num_envs, [0] * num_envs
    done = [False] * num_envs
    for i, trail in enumerate(trails):
        assert (observations[i] == trail[0]["obs"]).all() and (info["action_mask"][i] == trail[0]["mask"]).all()
    while not all(done):
        before = info["action_mask"]
        actions = np.array([act(before[i], steps[i]) for i in range(num_envs)])
        observations, rewards, terminated, truncated, info = vector.step(actions)
        assert not truncated.any()
        for i, trail in enumerate(trails):
            if done[i]:
                continue
            place[i] += 1
            expected = trail[place[i]]
            if expected["first"]:  # NEXT_STEP: the action was ignored
                assert rewards[i] == 0 and not terminated[i]
                assert (observations[i] == expected["obs"]).all() and (info["action_mask"][i] == expected["mask"]).all()
                continue
            steps[i] += 1
            assert rewards[i] == expected["reward"] and terminated[i] == expected["end"]
            if not expected["end"]:
                assert (observations[i] == expected["obs"]).all() and (info["action_mask"][i] == expected["mask"]).all()
                continue
            done[i] = place[i] + 1 == len(trail)
            ends = info["final_info"] if mode == AutoresetMode.SAME_STEP else info
            for key in ("payoffs", "scores", "winner", "illegal_action"):
                assert ends["_" + key][i] and np.array_equal(ends[key][i], expected["info"][key])
            if mode == AutoresetMode.SAME_STEP:
                assert (info["final_obs"][i] == expected["obs"]).all() and info["_final_obs"][i]
                assert (ends["action_mask"][i] == expected["mask"]).all()
                if not done[i]:
                    place[i] += 1
                    assert (observations[i] == trail[place[i]]["obs"]).all()
                    assert (info["action_mask"][i] == trail[place[i]]["mask"]).all()
            else:
                assert (observations[i] == expected["obs"]).all() and (info["action_mask"][i] == expected["mask"]).all()
        if mode == AutoresetMode.DISABLED and terminated.any():
            untouched = observations[~terminated].copy()
            fresh, reset_info = vector.reset(options={"reset_mask": terminated})
            assert (fresh[~terminated] == untouched).all() and (reset_info["_action_mask"] == terminated).all()
            info = reset_info
            for i in np.flatnonzero(terminated):
                if not done[i]:
                    place[i] += 1
                    assert (fresh[i] == trails[i][place[i]]["obs"]).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PRESETS)
def test_rows_equal_single_envs(name: str, mode: AutoresetMode) -> None:
    compare_with_singles(mode, 6, 4, rules=name, opponents="greedy")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kwargs", [{"episode": "match"}, {"reward": "win"}, {"forced": "ask"}, {"opponents": "self"}, {"num_players": 2}])
def test_rows_equal_single_envs_for_other_arguments(kwargs: dict[str, Any], mode: AutoresetMode) -> None:
    compare_with_singles(mode, 4, 3, **{"opponents": {"greedy": 0.5, "random": 0.5}, **kwargs})


@pytest.mark.parametrize("mode", MODES)
def test_rows_equal_single_envs_with_policies_outside_compiled_code(mode: AutoresetMode) -> None:
    def lowest(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(np.flatnonzero(mask)[0])

    compare_with_singles(mode, 5, 4, opponents=["greedy", lowest, {lowest: 0.5, "random": 0.5}])


@pytest.mark.parametrize("mode", MODES)
def test_rows_equal_single_envs_after_illegal_actions(mode: AutoresetMode, monkeypatch: pytest.MonkeyPatch) -> None:
    """A forfeited hand leaves nothing behind in the next."""

    def sometimes_illegal(mask: np.ndarray, step: int) -> int:
        choices = np.flatnonzero(mask == 0) if step % 3 == 0 and not mask.all() else np.flatnonzero(mask)
        return int(choices[(step * 7919 + len(choices)) % len(choices)])

    monkeypatch.setitem(globals(), "act", sometimes_illegal)
    for opponents in ("greedy", "self"):
        compare_with_singles(mode, 20, 4, opponents=opponents)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reward", ["score", "win"])
@pytest.mark.parametrize("name", PRESETS)
def test_rows_equal_single_envs_over_200_episodes(name: str, mode: AutoresetMode, reward: str) -> None:
    compare_with_singles(mode, 200, 2, rules=name, reward=reward, opponents="random")


@pytest.mark.parametrize("num_threads", [2, 3])
def test_results_do_not_depend_on_threads(num_threads: int) -> None:
    trails = []
    for threads in (1, num_threads):
        env = GoBoomVectorEnv(1024, opponents="lead", autoreset_mode="SameStep", num_threads=threads)
        _, info = env.reset(seed=0)
        trail = []
        for step in range(30):
            legal = info["action_mask"].astype(bool)
            actions = np.where(step % 2, legal.argmax(axis=1), legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1))
            observations, rewards, terminated, _, info = env.step(actions)
            trail.append((observations.tobytes(), rewards.tobytes(), terminated.tobytes()))
        trails.append(trail)
    assert trails[0] == trails[1]


@pytest.mark.parametrize("mode", MODES)
def test_arrays_handed_out_never_change(mode: AutoresetMode) -> None:
    env = GoBoomVectorEnv(8, autoreset_mode=mode)
    observations, info = env.reset(seed=1)
    kept: list[tuple[Any, Any]] = []
    for _ in range(40):
        values = [observations, *(value for value in info.values() if isinstance(value, np.ndarray) and value.dtype != object)]
        kept += [(value, value.copy()) for value in values]
        observations, rewards, terminated, truncated, info = env.step(info["action_mask"].argmax(axis=1))
        kept += [(value, value.copy()) for value in (rewards, terminated, truncated)]
        if mode == AutoresetMode.DISABLED and terminated.any():
            kept.append((observations, observations.copy()))
            observations, info = env.reset(options={"reset_mask": terminated})
    assert all((value == copy).all() for value, copy in kept)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_episode_statistics_equal_those_of_single_envs(mode: AutoresetMode) -> None:
    kwargs = {"num_players": 2, "opponents": "greedy"}
    vector = VectorStatistics(GoBoomVectorEnv(3, autoreset_mode=mode, **kwargs))
    _, info = vector.reset(seed=21)
    steps, found = [0] * 3, [[] for _ in range(3)]  # type: ignore[var-annotated]
    previous = np.zeros(3, bool)
    while min(len(row) for row in found) < 20:
        actions = np.array([act(info["action_mask"][i], steps[i]) for i in range(3)])
        _, _, terminated, _, info = vector.step(actions)
        for i in range(3):
            steps[i] += not (mode == AutoresetMode.NEXT_STEP and previous[i])
            if terminated[i]:
                statistics = (info["final_info"] if mode == AutoresetMode.SAME_STEP and "episode" not in info else info)["episode"]
                found[i].append((statistics["l"][i], round(float(statistics["r"][i]), 6)))
        previous = terminated
    for i in range(3):
        env = RecordEpisodeStatistics(GoBoomEnv(**kwargs))
        _, info = env.reset(seed=21 + i)
        step, expected = 0, []
        while len(expected) < 20:
            _, _, terminated, _, info = env.step(act(info["action_mask"], step))
            step += 1
            if terminated:
                expected.append((info["episode"]["l"], round(float(info["episode"]["r"]), 6)))
                _, info = env.reset()
        assert found[i][:20] == expected


def test_make_vec_takes_every_argument_and_sets_the_spec() -> None:
    kwargs = {
        "num_players": 3,
        "opponents": ["greedy", "lead"],
        "episode": "match",
        "reward": "win",
        "forced": "ask",
        "illegal_action": "raise",
        "render_mode": "ansi",
        "autoreset_mode": "SameStep",
        "num_threads": 2,
    }
    given = dict(kwargs)
    env = gym.make_vec("GoBoom/Hundred-v0", num_envs=5, **kwargs)
    assert isinstance(env, GoBoomVectorEnv) and env.num_envs == 5 and env.num_players == 3 and kwargs == given
    assert env.spec is not None and env.spec.id == "GoBoom/Hundred-v0" and env.render_mode == "ansi"
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and env.rules == PRESETS["hundred"]
    env.reset(seed=0)
    frames = env.render()
    assert frames is not None and len(frames) == 5 and all("hundred" in frame for frame in frames)
    sync = gym.make_vec("GoBoom/Hundred-v0", num_envs=5, vectorization_mode="sync", num_players=3)
    assert sync.single_observation_space == env.single_observation_space and sync.action_space == env.action_space


def test_illegal_actions_forfeit_one_row_or_raise_for_all() -> None:
    env = GoBoomVectorEnv(4, reward="win", autoreset_mode="Disabled")
    _, info = env.reset(seed=0)
    actions = info["action_mask"].argmax(axis=1)
    actions[2] = info["action_mask"][2].argmin()
    _, rewards, terminated, _, info = env.step(actions)
    assert terminated[2] and info["illegal_action"].tolist() == [False, False, True, False] and rewards[2] == pytest.approx(-1 / 3)
    strict = GoBoomVectorEnv(4, illegal_action="raise")
    strict.reset(seed=0)
    before = strict._table.states.tobytes()
    with pytest.raises(IllegalActionError, match="cannot take"):
        strict.step(actions)
    assert strict._table.states.tobytes() == before


def test_writing_into_what_was_handed_out_changes_nothing() -> None:
    envs = [GoBoomVectorEnv(6, opponents="self", illegal_action="raise") for _ in range(2)]
    rngs = [np.random.default_rng(4) for _ in envs]
    results = [env.reset(seed=2) for env in envs]
    for _ in range(150):
        actions = [sample_legal(info["action_mask"], rng) for (*_, info), rng in zip(results, rngs, strict=True)]
        np.testing.assert_array_equal(*actions)
        for array in (*results[0][:-1], *results[0][-1].values()):
            array[...] = 0  # the caller's own from here on
        results = [env.step(action) for env, action in zip(envs, actions, strict=True)]
        for one, other in zip(results[0][:-1], results[1][:-1], strict=True):
            np.testing.assert_array_equal(one, other)
        assert results[0][-1].keys() == results[1][-1].keys()
        for key, value in results[1][-1].items():
            np.testing.assert_array_equal(results[0][-1][key], value, err_msg=key)


def test_disabled_refuses_a_step_on_a_finished_table_and_bad_masks() -> None:
    env = GoBoomVectorEnv(2, autoreset_mode="Disabled", num_players=2)
    _, info = env.reset(seed=0)
    terminated = np.zeros(2, bool)
    while not terminated.any():
        _, _, terminated, _, info = env.step(info["action_mask"].argmax(axis=1))
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(np.zeros(2, int))
    for mask in (np.zeros(2, bool), np.ones(3, bool), [True, False]):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("actions", [np.zeros(3, int), np.zeros(4), [0, 1, 2, 999], [0, 0, 0, -1], np.zeros((4, 1), int)])
def test_actions_of_a_wrong_shape_kind_or_range_change_nothing(actions: Any) -> None:
    env = GoBoomVectorEnv(4)
    env.reset(seed=0)
    before = env._table.states.tobytes()
    with pytest.raises(ValueError, match="action"):
        env.step(actions)
    assert env._table.states.tobytes() == before


def test_a_bad_seed_among_good_ones_changes_nothing() -> None:
    env = GoBoomVectorEnv(3)
    env.reset(seed=0)
    before = env._table.states.tobytes()
    for seeds in ([1, -2, 3], [1, 2]):
        with pytest.raises(ValueError, match=r"non-negative|seeds for 3"):
            env.reset(seed=seeds)
        assert env._table.states.tobytes() == before


def test_next_step_masks_can_always_be_sampled() -> None:
    env = GoBoomVectorEnv(16, num_players=2)
    _, info = env.reset(seed=3)
    rng, ended = np.random.default_rng(3), 0
    while ended < 1000:
        assert info["action_mask"].any(axis=1).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]])
        _, _, terminated, _, info = env.step(actions)
        ended += int(terminated.sum())


def test_async_vector_env_with_spawn() -> None:
    env = gym.make_vec(
        "goboom_env:GoBoom/Classic-v0", num_envs=2, vectorization_mode="async", vector_kwargs={"context": "spawn", "shared_memory": False}
    )
    observations, info = env.reset(seed=0)
    expected = [GoBoomEnv().reset(seed=i)[0] for i in range(2)]
    assert (observations == np.stack(expected)).all() and info["action_mask"].shape[0] == 2
    env.close()
