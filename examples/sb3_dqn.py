"""DQN of Stable-Baselines3, which knows no masks: it must learn from forfeits what is legal. Needs the extra `sb3`.

    python examples/sb3_dqn.py --steps 100000

`illegal_action="forfeit"`, the default, ends the episode at the worst payoff. Expect far less than from a masked algorithm: most of
the learning goes into the rules. The observation's section `legal` holds the mask as features, which helps.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
from stable_baselines3 import DQN

import goboom_env  # noqa: F401 - registers the ids


def main(steps: int = 100_000, hands: int = 200) -> float:
    """Train, then play some hands; returns the share of them that end in an illegal action."""
    env = gym.make("GoBoom/Classic-v0", num_players=2, opponents="random", illegal_action="forfeit")
    model = DQN("MlpPolicy", env, learning_starts=min(1_000, steps // 2), exploration_fraction=0.3, gamma=1.0, seed=1, device="cpu")
    model.learn(steps)
    forfeits = 0
    for hand in range(hands):
        observation, info = env.reset(seed=hand)
        terminated = False
        while not terminated:
            action, _ = model.predict(observation, deterministic=True)
            observation, _, terminated, _, info = env.step(int(action))
        forfeits += info["illegal_action"]
    print(f"{forfeits} of {hands} hands ended in an illegal action")
    return forfeits / hands


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    main(parser.parse_args().steps)
