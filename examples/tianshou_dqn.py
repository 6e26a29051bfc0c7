"""Masked DQN of Tianshou. Needs the package and tianshou 2.0; Tianshou asks for an older virtualenv, so give it an environment of its own.

    pip install torch . tianshou
    python examples/tianshou_dqn.py --steps 20000

Tianshou's DQN reads the mask from the observation: a dict with the keys `obs` and `mask` (bool). Of its algorithms only the
Q-learning ones do. `illegal_action="raise"` proves that no illegal action is taken.
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import goboom_env  # noqa: F401 - registers the ids


class MaskInObservation(gym.Wrapper):
    """`{"obs", "mask"}` as Tianshou looks for it."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.observation_space = spaces.Dict({"obs": env.observation_space, "mask": spaces.MultiBinary(int(env.action_space.n))})

    def reset(self, **kwargs: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The env's own, with the mask in the observation."""
        observation, _ = self.env.reset(**kwargs)
        return self._with_mask(observation), {}

    def step(self, action: int) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """The env's own, with the mask in the observation."""
        observation, reward, terminated, truncated, _ = self.env.step(int(action))
        return self._with_mask(observation), float(reward), terminated, truncated, {}

    def _with_mask(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        return {"obs": observation, "mask": self.env.get_wrapper_attr("action_masks")()}


def make_env() -> gym.Env:
    """Two seats against `greedy`."""
    return MaskInObservation(gym.make("GoBoom/Classic-v0", num_players=2, opponents="greedy", reward="win", illegal_action="raise"))


def main(steps: int = 20_000) -> float:
    """Train, then evaluate; returns the mean reward of the last evaluation (an equal player has 0)."""
    env = make_env()
    features = env.observation_space["obs"].shape
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=features, action_shape=int(env.action_space.n), hidden_sizes=[128, 128]),
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.1,
    )
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, target_update_freq=200)
    collector = Collector(algorithm, DummyVectorEnv([make_env] * 8), VectorReplayBuffer(50_000, 8), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=256, random=False)
    epochs = max(1, steps // 5_000)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=Collector(algorithm, DummyVectorEnv([make_env] * 8)),
            max_epochs=epochs,
            epoch_num_steps=max(256, steps // epochs),
            collection_step_num_env_steps=64,
            test_step_num_episodes=100,
            update_step_num_gradient_steps_per_sample=0.1,
            batch_size=64,
            show_progress=False,
        )
    )
    print(f"best mean reward in 100 hands: {result.best_reward:.3f}")
    return float(result.best_reward)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    main(parser.parse_args().steps)
