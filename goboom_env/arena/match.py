"""Paired evaluation: each deal is played in every rotation of the seats with the same cards and streams, so luck cancels.

In matches the first hand is so paired; later ones follow from how it was played.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.arena.play import BATCH, TABLES, Job, Plan, play_jobs, whole_number
from goboom_env.engine.rng import stream_words
from goboom_env.policies import make, make_seats
from goboom_env.rules import Rules, get_rules, rules_name

Z_95 = 1.959964
"""Half the width of a 95 % interval in standard errors."""


@dataclass(frozen=True)
class Comparison:
    """One policy against a field.

    Attributes:
        policy, field: Names of the policy and of those on the other seats.
        rules: Preset name, or `house rules`.
        num_players: Seats.
        episode: `hand` or `match`.
        deals, hands: Deals, and episodes played: each deal once with the policy on each seat.
        win_share: Mean share of wins; an equal player has 1 / num_players. Co-winners share a win, a blocked hand counts as
            a win shared by all seats.
        win_interval: 95 % interval of it.
        points: Mean points an episode: own less the mean of the others', penalties counted negative; 0 for an equal player.
        points_interval: 95 % interval of it.
    """

    policy: str
    field: str
    rules: str
    num_players: int
    episode: str
    deals: int
    hands: int
    win_share: float
    win_interval: tuple[float, float]
    points: float
    points_interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % interval of the mean of independent values (normal approximation): mean -+ 1.96 standard errors."""
    mean = float(values.mean())
    half = Z_95 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return mean - half, mean + half


def narrow(interval: tuple[float, float], width: float | None) -> bool:
    """Whether an interval is at most so wide; never with a width of None."""
    return width is not None and interval[1] - interval[0] <= width


def check_width(width: float | None) -> None:
    """`ValueError` for a width that no interval can have."""
    if width is not None and not (isinstance(width, (int, float)) and math.isfinite(width) and width > 0):
        raise ValueError(f"width={width!r} must be a number above 0")


def compare(
    policy: Any,
    field: Any,
    rules: str | Rules = "classic",
    num_players: int = 4,
    deals: int = 5000,
    seed: int = 0,
    episode: str = "hand",
    progress: Callable[[int], None] | None = None,
    *,
    width: float | None = None,
    processes: int = 1,
    tables: int = TABLES,
) -> Comparison:
    """Play a policy against a field, each deal once with the policy on each seat.

    The values of a deal are averaged over its rotations before intervals are computed, so that an interval is over
    independent deals. The result depends on the seed alone: not on `processes` nor on `tables`.

    With `width` it looks at the interval of the win share after every 256 deals and stops as soon as that is at most so wide.
    Looking often does no harm as long as only the width decides: it follows from the spread of the deals, not from who is
    ahead, so stopping does not favour either side. A sample that happens to spread little stops a little early; the first look
    is late enough that this does not show: 94.8 to 95.2 % of simulated intervals cover the truth (`docs/arena.md`).
    To stop when an interval no longer holds 1 / seats would be another matter: that finds a difference between equal players
    far more often than in 5 % of runs.

    Args:
        policy: A policy, as `goboom_env.policies.make` takes it.
        field: The policy or mix on the other seats, or a list of one each, clockwise from the policy.
        rules: A preset's name or a `Rules` value.
        num_players: Seats.
        deals: Deals, or with `width` the most; `deals * num_players` episodes are played.
        seed: Seed of all deals and policies.
        episode: `hand` or `match`.
        progress: Called with the number of deals played since the last call.
        width: Stop once the 95 % interval of the win share is at most so wide, as in 0.01 for -+ 0.005.
        processes: Processes that share the deals, started anew for this call. Policies are sent to them, so with more than one a
            function must be defined at the top level of a module, and a script must guard with `if __name__ == "__main__":`.
        tables: Tables that a process plays at once.

    Raises:
        ValueError: An unknown policy, one that was trained for another table or that cannot be sent to another process, or an
            impossible number.
    """
    rules = get_rules(rules)
    rules.pack_for(num_players)
    deals = whole_number("deals", deals, 1)
    check_width(width)
    mine = make(policy)
    others = make_seats(field, num_players - 1)
    plan = Plan(rules, num_players, episode, ([[(mine, 1.0)], *others],), tables)
    plan.check()
    words = stream_words(whole_number("seed", seed, 0), deals)
    wins, points = np.empty(deals), np.empty(deals)
    played = 0
    jobs = (Job(0, words[start : start + BATCH]) for start in range(0, deals, BATCH))
    with play_jobs(plan, jobs, processes) as outcomes:
        for job, outcome in outcomes:
            part = slice(played, played + len(job.words))
            wins[part], points[part] = outcome.wins[:, 0], outcome.points[:, 0]
            played = part.stop
            if progress is not None:
                progress(len(job.words))
            if narrow(interval(wins[:played]), width):
                break
    wins, points = wins[:played], points[:played]
    return Comparison(
        policy=mine.name,
        field=", ".join(dict.fromkeys("/".join(other.name for other, _ in mix) for mix in others)),
        rules=rules_name(rules) or "house rules",
        num_players=num_players,
        episode=episode,
        deals=played,
        hands=played * num_players,
        win_share=float(wins.mean()),
        win_interval=interval(wins),
        points=float(points.mean()),
        points_interval=interval(points),
    )
