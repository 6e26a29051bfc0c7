"""Ratings from all results of a tournament at once: the Plackett-Luce model of who wins, estimated with `choix`.

A policy has a strength s; of the seats of a table, policy i wins with probability exp(s_i) / sum of exp(s) over the seats, a
policy on several seats counted for each. A rating is 400 / ln 10 times the strength, as Elo counts: at a table of two, 400
points more mean ten wins to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCALE = 400 / np.log(10)
"""Rating points of one unit of strength."""

RESAMPLES = 500
"""Bootstrap samples behind an interval."""

ANCHOR = "random"
"""Policy whose rating is 0 where it plays."""

_MOST_STEPS, _TOLERANCE = 10_000, 1e-8


@dataclass(frozen=True)
class Rating:
    """The rating of a policy.

    Attributes:
        policy: Its name.
        rating: 400 / ln 10 times its strength; `random` has 0, or where it does not play the mean of all is 0.
        interval: 95 % interval of it, from bootstrap samples of the deals; that of `random` is 0 to 0.
    """

    policy: str
    rating: float
    interval: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def need_choix() -> None:
    """`ModuleNotFoundError` with what to install where `choix` is not there."""
    try:
        import choix  # noqa: F401
    except ModuleNotFoundError:
        raise ModuleNotFoundError("ratings need the library choix: pip install choix") from None


def strengths(wins: NDArray[np.float64], seats: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Strengths of most likelihood of the Plackett-Luce model of top choices, with mean 0.

    Iterative Luce spectral ranking. `choix.ilsr_top1` takes one choice at a time, each of weight 1; here a line-up is one row
    with its wins added up, which may be fractions. Each step weights the wins so that the chain of
    `choix.lsr_pairwise_dense` is that of the top choices. One shared win is added to each line-up, 1 / seats for each seat, so
    that a policy that won or lost everything has a strength too.

    Args:
        wins: Wins of each policy in each line-up, shape (line-ups, policies).
        seats: How many seats it has there, of the same shape.
        start: Strengths to begin with.

    Raises:
        RuntimeError: It did not converge.
    """
    import choix

    wins = wins + seats / seats.sum(axis=1, keepdims=True)
    params = np.zeros(wins.shape[1]) if start is None else start
    for _ in range(_MOST_STEPS):
        weights = np.exp(params)
        # The rate from a loser to a winner: a win over a seat counts 1 / the weight of all seats there.
        rates = (wins / (seats @ weights)[:, None]).T @ seats
        new = np.asarray(choix.lsr_pairwise_dense(rates * (weights[:, None] + weights), initial_params=params))
        new -= new.mean()
        if np.abs(new - params).max() < _TOLERANCE:
            return new
        params = new
    raise RuntimeError(f"the ratings did not converge in {_MOST_STEPS:,} steps")


def rate(names: Sequence[str], seats: NDArray[np.float64], deals: Sequence[NDArray[np.float64]], seed: int = 0) -> tuple[Rating, ...]:
    """Ratings of policies with bootstrap intervals.

    A bootstrap sample draws, in each line-up, as many of its deals as it has, with repetition, and rates anew; the interval goes
    from the 2.5th to the 97.5th of 100 parts of these ratings.

    Args:
        names: Names of the policies.
        seats: How many seats each policy has in each line-up, shape (line-ups, policies).
        deals: For each line-up the wins of each policy in each deal, shape (deals, policies), summed over rotations.
        seed: Seed of the bootstrap.

    Returns:
        The ratings in the order of the names.
    """
    need_choix()
    rng = np.random.default_rng(seed)
    best = strengths(np.stack([wins.sum(axis=0) for wins in deals]), seats)
    totals = np.stack([_resampled(wins, rng) for wins in deals], axis=1)
    samples = np.stack([strengths(wins, seats, best) for wins in totals])
    ratings, spread = SCALE * best, SCALE * samples
    if ANCHOR in names:
        anchor = list(names).index(ANCHOR)
        ratings, spread = ratings - ratings[anchor], spread - spread[:, [anchor]]
    low, high = np.quantile(spread, (0.025, 0.975), axis=0)
    return tuple(Rating(name, float(ratings[k]), (float(low[k]), float(high[k]))) for k, name in enumerate(names))


def _resampled(wins: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Summed wins of each bootstrap sample of deals, shape (samples, policies)."""
    # Few results differ, so what is drawn is how often each result occurs.
    results, counts = np.unique(wins, axis=0, return_counts=True)
    return np.asarray(rng.multinomial(len(wins), counts / len(wins), RESAMPLES) @ results)
