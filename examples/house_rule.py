"""A house rule: one changed field of a preset, played by every part of the package. Needs the package only.

python examples/house_rule.py --steps 1000
"""

from __future__ import annotations

import argparse
import dataclasses

import gymnasium as gym
import numpy as np

from goboom_env import PRESETS, Game, sample_legal
from goboom_env.arena import compare

SHORT = dataclasses.replace(PRESETS["classic"], hand_size=5, draw_limit=3)
"""Five cards each, and who has drawn three that do not fit sits the trick out."""


def main(steps: int = 1_000) -> int:
    """Play it in three ways; returns the most cards that one seat drew in one turn."""
    game = Game(SHORT, num_players=3, seed=1)
    print("hands dealt:", game.hands)

    envs = gym.make_vec("goboom_env:GoBoom/Classic-v0", num_envs=8, rules=SHORT, num_players=3, opponents="greedy")
    rng = np.random.default_rng(1)
    _, infos = envs.reset(seed=1)
    for _ in range(max(1, steps // 8)):
        _, _, _, _, infos = envs.step(sample_legal(infos["action_mask"], rng))

    result = compare("greedy", "random", rules=SHORT, num_players=3, deals=max(1, steps // 3), seed=1)
    print(f"{result.rules}: greedy won {result.win_share:.3f} of {result.hands} hands")

    most = row = 0
    while not game.over:
        action = game.legal()[0]
        row = row + 1 if action == "DRAW" else 0
        most = max(most, row)
        game.play(action)
    return most


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000)
    main(parser.parse_args().steps)
