"""Stable-Baselines3 and sb3-contrib: the batch of tables as a `VecEnv`, for MaskablePPO and others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from goboom_env.envs.vector import GoBoomVectorEnv


class GoBoomVecEnv(VecEnv):
    """Many tables of Go Boom as one SB3 vectorised environment.

    Args:
        env: A registered id such as `"GoBoom/Classic-v0"`, or the keyword arguments of `GoBoomVectorEnv`.
        num_envs: Number of tables.
        **kwargs: Further keyword arguments of `GoBoomVectorEnv`.

    Attributes:
        seconds: Time spent in `step_wait`; set it to 0 to count anew.

    Example:
        >>> model = MaskablePPO("MlpPolicy", GoBoomVecEnv("GoBoom/Classic-v0", 256, opponents="greedy"))
    """

    def __init__(self, env: str | Mapping[str, Any] = "GoBoom/Classic-v0", num_envs: int = 1, **kwargs: Any) -> None:
        options = {**(gym.spec(env).kwargs if isinstance(env, str) else env), **kwargs}
        self.vector_env = GoBoomVectorEnv(num_envs, **options, autoreset_mode=AutoresetMode.SAME_STEP)
        self.render_mode = self.vector_env.render_mode
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        self._masks = np.ones((num_envs, self.vector_env.num_actions), np.bool_)
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._start = time.time()
        self.seconds = 0.0
        super().__init__(num_envs, self.vector_env.single_observation_space, self.vector_env.single_action_space)

    def reset(self) -> NDArray[np.uint8]:
        """Deal at every table, with the seeds of `seed` if it was called."""
        seeds = list(self._seeds)
        observations, info = self.vector_env.reset(seed=None if all(seed is None for seed in seeds) else seeds)
        self._masks = info["action_mask"].astype(np.bool_)
        self._returns[:] = 0
        self._lengths[:] = 0
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions).reshape(self.num_envs)

    def step_wait(self) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step every table; a table whose episode ended has begun the next, and its info tells of the end."""
        start = time.perf_counter()
        observations, rewards, ended, _, info = self.vector_env.step(self._actions)
        self._masks = info["action_mask"].astype(np.bool_)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [_NO_INFO] * self.num_envs
        if ended.any():
            seconds = round(time.time() - self._start, 6)
            final = info["final_info"]
            for i in np.flatnonzero(ended).tolist():
                infos[i] = {
                    "terminal_observation": info["final_obs"][i],
                    "TimeLimit.truncated": False,
                    "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i]), "t": seconds},
                    "payoffs": final["payoffs"][i],
                    "illegal_action": bool(final["illegal_action"][i]),
                }
            self._returns[ended] = 0
            self._lengths[ended] = 0
        self.seconds += time.perf_counter() - start
        return observations, rewards.astype(np.float32), ended, infos

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Everything that `set_state` needs to go on from here, opponents that keep a state of their own excepted."""
        return {**self.vector_env.get_state(), "returns": self._returns.copy(), "lengths": self._lengths.copy()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that `get_state` of an env made with the same arguments gave; `ValueError` for any other."""
        self.vector_env.set_state(state)
        self._masks = self.vector_env.action_masks()
        self._returns[:], self._lengths[:] = state["returns"], state["lengths"]

    def close(self) -> None:
        """Nothing is held open."""
        self.vector_env.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions of every table, shape (num_envs, actions), bool."""
        masks: NDArray[np.bool_] = self._masks
        return masks

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """An attribute of the vector env, for each table; `AttributeError` where it has none."""
        if attr_name == "action_masks":
            return [self.action_masks for _ in self._get_indices(indices)]
        return [getattr(self.vector_env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set an attribute of the vector env; tables have none of their own."""
        setattr(self.vector_env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any) -> list[Any]:
        """`action_masks` of each table; any other method is called on the vector env, once."""
        if method_name == "action_masks":
            return [self._masks[i] for i in self._get_indices(indices)]
        result = getattr(self.vector_env, method_name)(*args, **kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """True for `Monitor`: the infos hold what it reports, the return and length of each episode. No table is wrapped."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """No pictures yet."""
        return [None] * self.num_envs


_NO_INFO: dict[str, Any] = {}
