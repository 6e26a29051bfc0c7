"""Deals played in every rotation of the seats, in this process or in several; what comes out does not depend on how many."""

from __future__ import annotations

import multiprocessing
import operator
import pickle
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.state import NONE
from goboom_env.policies import Policy
from goboom_env.rules import Rules
from goboom_env.table import Table, check_choice

Seats = Sequence[Sequence[tuple[Policy, float]]]
"""Who sits at a table: for each place, clockwise, the policies of its mix with their shares."""

BATCH = 256
"""Deals of one job, and between two looks at the width of an interval."""

TABLES = 1024
"""Tables played at once unless told otherwise."""


class Job(NamedTuple):
    """Deals to be played by one line-up."""

    lineup: int
    """Number of the line-up in the plan."""
    words: NDArray[np.uint64]
    """Streams of each deal, shape (deals, 4)."""
    order: NDArray[np.int64] | None = None
    """Places of the line-up in the order in which they sit clockwise, shape (deals, seats); None for the order given, as
    line-ups with mixes need it."""


class Outcome(NamedTuple):
    """What each place of a line-up got from each deal, the mean over all rotations: two arrays of shape (deals, seats)."""

    wins: NDArray[np.float64]
    """Share of the win."""
    points: NDArray[np.float64]
    """Own points less the mean of the others'."""


@dataclass(frozen=True)
class Plan:
    """What is played: the rules, the line-ups, and how many tables at once."""

    rules: Rules
    num_players: int
    episode: str
    lineups: tuple[Seats, ...]
    tables: int = TABLES

    def check(self) -> None:
        """`ValueError` for a policy that cannot play at this table, or an impossible number; nothing is played."""
        check_choice("episode", self.episode, ("hand", "match"))
        self.rules.pack_for(self.num_players)
        whole_number("tables", self.tables, 1)
        for policy in self.policies():
            policy.bind(self.rules, self.num_players)

    def policies(self) -> list[Policy]:
        """Every policy of every line-up, once."""
        return list({id(policy): policy for seats in self.lineups for mix in seats for policy, _ in mix}.values())

    def play(self, job: Job) -> Outcome:
        """Play each deal of a job in all rotations of the seats.

        In rotation r seat s is taken by the place that is number s - r in the order of the deal. All rotations of a deal begin
        with the same streams, so with the same cards and the same dealer.
        """
        n, seats, deals = self.num_players, self.lineups[job.lineup], len(job.words)
        order = np.broadcast_to(np.arange(n), (deals, n)) if job.order is None else job.order
        wins, points = np.empty((deals * n, n)), np.empty((deals * n, n))
        rows = np.arange(deals * n)  # a row for each rotation of each deal
        # A mix is drawn for a seat, so tables with mixes are seated alike; others may be seated as we like.
        groups = [rows[rotation::n] for rotation in range(n)] if any(len(mix) > 1 for mix in seats) else [rows]
        for group in groups:
            for start in range(0, len(group), self.tables):
                which = group[start : start + self.tables]
                places = np.take_along_axis(order[which // n], (np.arange(n) - which[:, None] % n) % n, axis=1)
                if len(groups) > 1:
                    table = Table(self.rules, [seats[place] for place in places[0]], len(which), episode=self.episode)
                else:
                    table = Table(self.rules, seats, len(which), episode=self.episode)
                    table.seat(table.rows["policy"][0, :n][places])
                table.reset(words=job.words[which // n])
                wins[which[:, None], places] = win_shares(table)
                points[which[:, None], places] = 100 * table.payoffs
        return Outcome(wins.reshape(deals, n, n).sum(axis=1) / n, points.reshape(deals, n, n).sum(axis=1) / n)


def whole_number(name: str, value: Any, least: int) -> int:
    """The value as an int, or `ValueError`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} must be a whole number") from None
    if number < least:
        raise ValueError(f"{name}={value!r} must be {least} or more")
    return number


def win_shares(table: Table) -> NDArray[np.float64]:
    """Share of the win of each seat, shape (tables, seats), in the episodes that ended."""
    scores = table.scores
    if table.episode == "hand":
        winners = table.winners[:, None] == np.arange(table.num_players)
        winners[table.winners == NONE] = True
    else:
        best = scores.min(axis=1) if table.rules.scoring == "penalty" else scores.max(axis=1)
        winners = scores == best[:, None]
    return np.asarray(winners / winners.sum(axis=1, keepdims=True))


def play_jobs(plan: Plan, jobs: Iterable[Job], processes: int = 1) -> closing[Generator[tuple[Job, Outcome], None, None]]:
    """Jobs with their outcomes, in the order of the jobs whatever the number of processes.

    Use it in a `with` block; leaving the block early drops the jobs that have not begun.

    Raises:
        ValueError: With several processes, a policy that cannot be sent to another one.
        RuntimeError: A process died.
    """
    whole_number("processes", processes, 1)
    packed = pack(plan) if processes > 1 else b""
    results = ((job, plan.play(job)) for job in jobs) if processes == 1 else _play_in_processes(packed, jobs, processes)
    return closing(results)


def pack(plan: Plan) -> bytes:
    """The plan as another process takes it, or `ValueError` that names the policy that cannot be sent."""
    for policy in plan.policies():
        try:
            pickle.dumps(policy)
        except Exception as error:  # noqa: BLE001 - whatever a user's object raises when it is pickled
            raise ValueError(
                f"policy {policy.name!r} cannot be sent to another process ({' '.join(str(error).split())}): "
                "use processes=1, or a policy that is defined at the top level of a module"
            ) from None
    return pickle.dumps(plan)


def _play_in_processes(packed: bytes, jobs: Iterable[Job], processes: int) -> Generator[tuple[Job, Outcome], None, None]:
    """`play_jobs` in several processes, which play at most two jobs each ahead of what was taken."""
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _keep, (packed,))
    waiting: deque[tuple[Job, Future[Outcome]]] = deque()
    try:
        for job in jobs:
            waiting.append((job, pool.submit(_play_kept, job)))
            if len(waiting) > 2 * processes:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    except BrokenProcessPool:
        raise RuntimeError(
            "a process that played died: use processes=1 to see why; a script that uses more must begin what it does "
            'with `if __name__ == "__main__":`'
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


_kept: list[bytes | Plan] = []
"""In a process of a pool: the plan, packed until the first job, so that what goes wrong is that job's error."""


def _keep(packed: bytes) -> None:
    _kept[:] = [packed]


def _play_kept(job: Job) -> Outcome:
    plan = _kept[0]
    if isinstance(plan, bytes):
        try:
            plan = pickle.loads(plan)  # what this program packed itself a moment ago
        except Exception as error:  # noqa: BLE001 - whatever a user's object raises
            raise ValueError(f"a policy cannot be made again in another process ({error}): use processes=1") from None
        assert isinstance(plan, Plan)
        _kept[0] = plan
    return plan.play(job)
