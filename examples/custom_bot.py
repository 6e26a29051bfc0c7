"""A bot of your own in the arena: a `Policy` that decides for a whole batch at once. Needs the package only.

    python examples/custom_bot.py --steps 2000

`act` gets VIEW records, one a decision, and 64 random bits each; it answers with action ids.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from goboom_env import Policy, Rules
from goboom_env.arena import compare
from goboom_env.observation.features import encode


class LowestCard(Policy):
    """Plays its lowest legal card, ties by the order of the suits, and otherwise what it must."""

    name = "lowest-card"

    def bind(self, rules: Rules, num_players: int) -> LowestCard:
        """Keep the table, whose masks `act` needs."""
        bound = LowestCard()
        bound.table = (rules, num_players)
        return bound

    def act(self, views: np.ndarray, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The first legal action: cards are numbered by rank."""
        _, masks = encode(*self.table, views)
        return masks.argmax(axis=1)


def main(steps: int = 2_000) -> float:
    """Compare it with `random` on `steps` paired deals; returns its share of wins, 0.25 for an equal player."""
    result = compare(LowestCard(), "random", rules="classic", num_players=4, deals=steps, seed=1)
    low, high = result.win_interval
    print(f"{result.hands} hands: won {result.win_share:.3f} ({low:.3f} to {high:.3f}), {result.points:+.2f} points a hand")
    return result.win_share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2_000)
    main(parser.parse_args().steps)
