"""A PettingZoo loop: all agents learn one table of action values by playing each other. Needs the extra `pettingzoo`.

    python examples/pettingzoo_selfplay.py --steps 20000

It shows what an AEC loop has to do: read `last()`, take a legal action of the mask, step None for an agent that is done, and credit
each agent with its own rewards, whoever moved last.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np

from goboom_env.integrations import pettingzoo as goboom_v0


def main(steps: int = 20_000, epsilon: float = 0.2) -> float:
    """Play and learn; returns the sum of all rewards, 0 in this zero-sum scheme."""
    env = goboom_v0.env(rules="mini", reward="score")
    rng = np.random.default_rng(1)
    values: dict[tuple[bytes, int], float] = defaultdict(float)
    counts: dict[tuple[bytes, int], int] = defaultdict(int)
    played = hands = 0
    total = 0.0
    env.reset(seed=1)
    while played < steps:
        returns = dict.fromkeys(env.possible_agents, 0.0)
        moves: dict[str, list[tuple[bytes, int]]] = {agent: [] for agent in env.possible_agents}
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            returns[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            key = observation["observation"].tobytes()
            legal = np.flatnonzero(observation["action_mask"])
            explore = rng.random() < epsilon
            action = int(rng.choice(legal)) if explore else max(legal.tolist(), key=lambda a, key=key: values[key, a])
            moves[agent].append((key, action))
            env.step(action)
        for agent, keys in moves.items():
            for pair in keys:
                counts[pair] += 1
                values[pair] += (returns[agent] - values[pair]) / counts[pair]
            played += len(keys)
        total, hands = total + sum(returns.values()), hands + 1
        env.reset()
    print(f"{played} moves in {hands} hands, {len(values)} positions and moves met")
    return total


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    main(parser.parse_args().steps)
