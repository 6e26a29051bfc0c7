"""MaskablePPO of sb3-contrib on the native batch of tables. Needs the extra `sb3`.

python examples/sb3_maskable_ppo.py --steps 200000
"""

from __future__ import annotations

import argparse

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from goboom_env.integrations.sb3 import GoBoomVecEnv


def main(steps: int = 200_000) -> None:
    """Train against `random`, then evaluate with masks."""
    env = GoBoomVecEnv("GoBoom/Classic-v0", num_envs=64, opponents="random", reward="win")
    model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=1024, n_epochs=2, gamma=1.0, seed=1, device="cpu")
    model.learn(steps)
    test = GoBoomVecEnv("GoBoom/Classic-v0", num_envs=64, opponents="random", reward="win", illegal_action="raise")
    mean, deviation = evaluate_policy(model, test, n_eval_episodes=500)
    print(f"mean reward {mean:.3f}, standard deviation {deviation:.3f}; an equal player has 0")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000)
    main(parser.parse_args().steps)
