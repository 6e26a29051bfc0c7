"""Round robin: several policies in every line-up, on paired deals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations, islice, permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.arena.match import Z_95, Comparison, check_width, interval, narrow
from goboom_env.arena.pace import decisions_per_second, views_from_play
from goboom_env.arena.play import BATCH, TABLES, Job, Outcome, Plan, play_jobs, whole_number
from goboom_env.arena.rating import Rating, rate
from goboom_env.engine.rng import stream_words
from goboom_env.policies import Policy, make
from goboom_env.rules import Rules, get_rules, rules_name

MOST_MIXED = 200
"""Most mixed line-ups that are all played; of more, a balanced choice of about so many is."""

Lineup = tuple[int, ...]
"""Numbers of the policies on the places of a table."""


@dataclass(frozen=True)
class PolicyResult:
    """What a policy got at the mixed tables of a round robin.

    Attributes:
        policy: Its name.
        win_share: Mean share of wins of a seat of it; the mean of all policies is 1 / num_players.
        win_interval: 95 % interval of it.
        points: Mean points an episode: own less the mean of the others'; the mean of all policies is 0.
        points_interval: 95 % interval of it.
        decisions_per_second: Decisions a second of its `act` on one batch of views of one core, measured after the play; it is
            no part of a comparison of two results.
    """

    policy: str
    win_share: float
    win_interval: tuple[float, float]
    points: float
    points_interval: tuple[float, float]
    decisions_per_second: float = field(compare=False)


@dataclass(frozen=True)
class RoundRobin:
    """Results of a round robin.

    Attributes:
        rules: Preset name, or `house rules`.
        num_players: Seats.
        episode: `hand` or `match`.
        seed: Seed of deals, seating and policies.
        deals, hands: Deals, and episodes played, num_players times as many.
        results: Of each policy at the mixed tables, most wins first.
        pairwise: Each policy on one seat against each other on all the others, as `compare` has it.
        lineups: Names of the policies at the table of each line-up.
        wins: For each line-up the wins of each policy in each deal, shape (deals, policies), summed over the rotations; policies
            are in the order of `names`.
        names: Names of the policies, sorted.
    """

    rules: str
    num_players: int
    episode: str
    seed: int
    deals: int
    hands: int
    results: tuple[PolicyResult, ...]
    pairwise: tuple[Comparison, ...]
    names: tuple[str, ...]
    lineups: tuple[tuple[str, ...], ...]
    wins: tuple[NDArray[np.float64], ...] = field(repr=False, compare=False)

    @cached_property
    def ratings(self) -> tuple[Rating, ...]:
        """Ratings from all line-ups at once, in the order of `results`; computed when first asked for, with `choix`."""
        seats = np.array([[lineup.count(name) for name in self.names] for lineup in self.lineups], float)
        rated = {rating.policy: rating for rating in rate(self.names, seats, self.wins, self.seed)}
        return tuple(rated[result.policy] for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, the ratings among them."""
        return {
            **{key: getattr(self, key) for key in ("rules", "num_players", "episode", "seed", "deals", "hands")},
            "results": [
                asdict(result) | {"rating": rating.rating, "rating_interval": rating.interval}
                for result, rating in zip(self.results, self.ratings, strict=True)
            ],
            "pairwise": [comparison.to_dict() for comparison in self.pairwise],
            "lineups": [{"seats": lineup, "deals": len(wins)} for lineup, wins in zip(self.lineups, self.wins, strict=True)],
        }


def mixed_lineups(policies: int, seats: int, seed: int) -> list[Lineup]:
    """Line-ups that treat all policies alike: each sits in as many as any other, on as many seats.

    With at least as many policies as seats, every choice of `seats` of them; where these are more than `MOST_MIXED`, choices from
    the seed, each moved on around the circle of the policies. With fewer policies, tables at which each sits equally often, the
    seats that are over taken by every choice of policies.
    """
    often, over = divmod(seats, policies)
    base = tuple(range(policies)) * often
    if math.comb(policies, over) <= MOST_MIXED:
        return [tuple(sorted((*base, *extra))) for extra in combinations(range(policies), over)]
    rng = np.random.default_rng([seed, policies, seats])
    found: dict[Lineup, None] = {}
    while len(found) + policies <= MOST_MIXED or not found:
        chosen = rng.choice(policies, over, replace=False)
        for step in range(policies):
            found[tuple(sorted((*base, *(int(number) for number in (chosen + step) % policies))))] = None
    return list(found)


class _Tally:
    """What each policy got from each deal of each line-up so far."""

    def __init__(self, lineups: Sequence[Lineup], policies: int) -> None:
        self.seats = np.array([[lineup.count(policy) for policy in range(policies)] for lineup in lineups], float)
        self.sitting = [np.eye(policies)[list(lineup)] for lineup in lineups]
        self._wins: list[list[NDArray[np.float64]]] = [[] for _ in lineups]
        self._points: list[list[NDArray[np.float64]]] = [[] for _ in lineups]

    def add(self, job: Job, outcome: Outcome) -> None:
        """Take in what a job brought."""
        self._wins[job.lineup].append(outcome.wins @ self.sitting[job.lineup])
        self._points[job.lineup].append(outcome.points @ self.sitting[job.lineup])

    def wins(self, lineup: int) -> NDArray[np.float64]:
        """Wins of each policy in each deal, the mean over rotations, shape (deals, policies)."""
        return np.concatenate(self._wins[lineup])

    def points(self, lineup: int) -> NDArray[np.float64]:
        """Points likewise."""
        return np.concatenate(self._points[lineup])


def _a_seat(values: Sequence[NDArray[np.float64]], seats: NDArray[np.float64]) -> list[tuple[float, tuple[float, float]]]:
    """For each policy the mean for a seat of it over line-ups that count alike, and its 95 % interval.

    Args:
        values: For each line-up what each policy got from each deal, shape (deals, policies).
        seats: Its seats there, shape (line-ups, policies).
    """
    total = seats.sum(axis=0)
    means = np.sum([value.mean(axis=0) for value in values], axis=0) / total
    halves = Z_95 * np.sqrt(np.sum([value.var(axis=0, ddof=1) / len(value) for value in values], axis=0)) / total
    return [(float(mean), (float(mean - half), float(mean + half))) for mean, half in zip(means, halves, strict=True)]


def round_robin(
    policies: Sequence[Any],
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
) -> RoundRobin:
    """Play every line-up of some policies, each deal in all `num_players` rotations of the seats with the same cards.

    Half of the deals go to mixed tables, half to fields, shared out equally among the line-ups of each kind, at least two to each:

    - Mixed tables: every choice of `num_players` different policies, at most about `MOST_MIXED` (see `mixed_lineups`); with
      fewer policies than seats, tables where they sit equally often. `results` come from these.
    - Fields: for each ordered pair of policies, one on one seat and the other on all others. `pairwise` comes from these. At two
      seats they are the mixed tables, and all deals go there.

    Each deal draws the order in which the policies sit; its rotations keep it. Every line-up has deals of its own, so line-ups are
    independent of each other. `ratings` come from all of them. Nothing depends on the order of `policies`, on `processes` or on
    `tables`; only `decisions_per_second` is measured anew each time.

    Args:
        policies: Two policies or more, as `goboom_env.policies.make` takes them. Where names are equal, a path is called by the
            whole path, and anything else gets a number.
        rules: A preset's name or a `Rules` value.
        num_players: Seats.
        deals: Deals in all, rounded up to as many as all line-ups need, or with `width` the most.
        seed: Seed of all deals, seating, policies and of the bootstrap behind the ratings.
        episode: `hand` or `match`; in matches every result is of whole matches.
        progress: Called with the number of deals played since the last call; `planned_deals` tells how many there will be.
        width: Stop once the 95 % interval of every policy's win share is at most so wide; looked at after every 256 deals of a kind,
            or two of each line-up where that is more. See `compare` for what that does to the intervals.
        processes: As for `compare`.
        tables: As for `compare`.

    Raises:
        ValueError: As `compare`, or fewer than two policies.
    """
    rules = get_rules(rules)
    rules.pack_for(num_players)
    whole_number("seed", seed, 0)
    check_width(width)
    names, made = _by_name(policies)
    kinds = _kinds(len(made), num_players, seed)
    lineups = [lineup for kind in kinds for lineup in kind]
    plan = Plan(rules, num_players, episode, tuple([[(made[k], 1.0)] for k in lineup] for lineup in lineups), tables)
    plan.check()
    turns = _turns(kinds, num_players, whole_number("deals", deals, 1), seed, width is not None)
    tally, mixed = _Tally(lineups, len(made)), range(len(kinds[0]))
    with play_jobs(plan, (job for turn in turns for job in turn), processes) as outcomes:
        for turn in turns:
            for job, outcome in islice(outcomes, len(turn)):
                tally.add(job, outcome)
                if progress is not None:
                    progress(len(job.words))
            if width is not None and all(narrow(found, width) for _, found in _a_seat([tally.wins(k) for k in mixed], tally.seats[mixed])):
                break
    shares = _a_seat([tally.wins(k) for k in mixed], tally.seats[mixed])
    points = _a_seat([tally.points(k) for k in mixed], tally.seats[mixed])
    views = views_from_play(rules, num_players, seed)
    results = [
        PolicyResult(name, *shares[k], *points[k], decisions_per_second(made[k], rules, num_players, views)) for k, name in enumerate(names)
    ]
    fields = dict(enumerate(lineups)) if num_players == 2 else dict(list(enumerate(lineups))[len(mixed) :])
    wins = tuple(num_players * tally.wins(k) for k in range(len(lineups)))
    played = sum(len(values) for values in wins)
    return RoundRobin(
        rules=rules_name(rules) or "house rules",
        num_players=num_players,
        episode=episode,
        seed=seed,
        deals=played,
        hands=played * num_players,
        results=tuple(sorted(results, key=lambda result: (-result.win_share, result.policy))),
        pairwise=tuple(_pairwise(tally, fields, names, rules, num_players, episode)),
        names=tuple(names),
        lineups=tuple(tuple(names[k] for k in lineup) for lineup in lineups),
        wins=wins,
    )


def planned_deals(policies: int, num_players: int, deals: int, seed: int = 0) -> int:
    """How many deals `round_robin` plays with so many policies when asked for `deals`, or with `width` the most."""
    kinds = _kinds(policies, num_players, seed)
    return sum(len(kind) * _share(kind, len(kinds), deals) for kind in kinds)


def _by_name(specs: Sequence[Any]) -> tuple[list[str], list[Policy]]:
    """Policies with a name of their own each, sorted by it."""
    if isinstance(specs, (str, bytes)) or not isinstance(specs, Sequence) or len(specs) < 2:
        raise ValueError(f"a round robin needs a list of two policies or more, got {specs!r}")
    policies = [make(spec) for spec in specs]
    names = [policy.name for policy in policies]
    labels = [
        str(spec) if names.count(name) > 1 and isinstance(spec, (str, Path)) else name for spec, name in zip(specs, names, strict=True)
    ]
    labels = [f"{label} ({labels[:k].count(label) + 1})" if label in labels[:k] else label for k, label in enumerate(labels)]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    return [labels[k] for k in order], [policies[k] for k in order]


def _kinds(policies: int, seats: int, seed: int) -> list[list[Lineup]]:
    """Line-ups of mixed tables and of fields; at two seats of the first alone, which are both."""
    mixed = mixed_lineups(policies, seats, seed)
    return [mixed] if seats == 2 else [mixed, [(a, *[b] * (seats - 1)) for a, b in permutations(range(policies), 2)]]


def _share(kind: list[Lineup], kinds: int, deals: int) -> int:
    """Deals of each line-up of a kind, of so many in all: an interval needs two."""
    return max(2, math.ceil(deals / kinds / len(kind)))


def _turns(kinds: list[list[Lineup]], seats: int, deals: int, seed: int, looking: bool) -> list[list[Job]]:
    """Jobs, in the turns between which is looked at intervals; each line-up has its own deals and order of places."""
    turns: list[list[Job]] = []
    k = 0
    for kind in kinds:
        count = _share(kind, len(kinds), deals)
        step = max(2, math.ceil(BATCH / len(kind))) if looking else BATCH
        for _ in kind:
            words = stream_words(int(np.random.SeedSequence([seed, k]).generate_state(1, np.uint64)[0]), count)
            order = np.random.default_rng([seed, k, 1]).permuted(np.tile(np.arange(seats), (count, 1)), axis=1)
            for turn, start in enumerate(range(0, count, step)):
                if len(turns) == turn:
                    turns.append([])
                turns[turn].append(Job(k, words[start : start + step], order[start : start + step]))
            k += 1
    return turns


def _pairwise(
    tally: _Tally, fields: dict[int, Lineup], names: Sequence[str], rules: Rules, seats: int, episode: str
) -> Iterator[Comparison]:
    """Every policy against a field of every other, from line-ups by number; at two seats each is seen from both sides."""
    for k, lineup in fields.items():
        wins, points = tally.wins(k), tally.points(k)
        for mine, other in [(lineup[0], lineup[1]), (lineup[1], lineup[0])][: 2 if seats == 2 else 1]:
            yield Comparison(
                policy=names[mine],
                field=names[other],
                rules=rules_name(rules) or "house rules",
                num_players=seats,
                episode=episode,
                deals=len(wins),
                hands=len(wins) * seats,
                win_share=float(wins[:, mine].mean()),
                win_interval=interval(wins[:, mine]),
                points=float(points[:, mine].mean()),
                points_interval=interval(points[:, mine]),
            )
