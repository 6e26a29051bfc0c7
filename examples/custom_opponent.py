"""A function as opponent. Needs the package only.

    python examples/custom_opponent.py --steps 2000

It gets the observation of its own seat and the mask of its legal actions, and returns one of them.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from goboom_env import sample_legal


def highest_card(observation: NDArray[np.uint8], mask: NDArray[np.int8]) -> int:
    """The highest legal card; cards are numbered by rank, and DRAW and PASS come after them."""
    cards = np.flatnonzero(mask[:-2])
    return int(cards[-1]) if len(cards) else int(mask.argmax())


def main(steps: int = 2_000) -> float:
    """Play at random against three of them; returns the share of hands won."""
    env = gym.make("goboom_env:GoBoom/Classic-v0", num_players=4, opponents=highest_card)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    hands = won = 0
    for _ in range(steps):
        _, _, terminated, _, info = env.step(sample_legal(info["action_mask"], rng))
        if terminated:
            hands, won = hands + 1, won + (info["winner"] == 0)
            _, info = env.reset()
    print(f"won {won} of {hands} hands")
    return won / max(1, hands)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2_000)
    main(parser.parse_args().steps)
