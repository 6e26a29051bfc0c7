"""Videos of play, of one table and of four at once. Needs the extra `render`: `pip install ".[render]"`.

python examples/record_video.py --steps 12
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import RecordVideo
from gymnasium.wrappers.vector import RecordVideo as RecordVectorVideo

import goboom_env


def record_one(folder: Path, seed: int = 1) -> None:
    """One hand at one table, every card face up."""
    env = gym.make("GoBoom/Classic-v0", opponents="greedy", render_mode="rgb_array", reveal=True)
    env = RecordVideo(env, str(folder), lambda episode: True, name_prefix="hand")
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step(goboom_env.sample_legal(info["action_mask"], rng))
    env.close()


def record_four(folder: Path, steps: int = 12, seed: int = 1) -> None:
    """Some steps of four tables side by side, with the cards that the learner sees."""
    envs = gym.make_vec("GoBoom/Jokers-v0", num_envs=4, opponents="greedy", render_mode="rgb_array")
    first = {"step_trigger": lambda step: step == 0, "video_length": steps}
    envs = RecordVectorVideo(envs, str(folder), video_aspect_ratio=(4, 3), name_prefix="four", **first)
    rng = np.random.default_rng(seed)
    _, infos = envs.reset(seed=seed)
    for _ in range(steps):
        _, _, _, _, infos = envs.step(goboom_env.sample_legal(infos["action_mask"], rng))
    envs.close()


def main() -> None:
    """Write the videos and print where they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("videos"))
    parser.add_argument("--steps", type=int, default=12, help="steps of the four tables")
    options = parser.parse_args()
    record_one(options.folder / "one")
    record_four(options.folder / "four", options.steps)
    print(*sorted(str(path) for path in options.folder.rglob("*.mp4")), sep="\n")


if __name__ == "__main__":
    main()
