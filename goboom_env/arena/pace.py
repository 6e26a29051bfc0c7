"""How many decisions a second a policy takes, measured alike for all: by calling `act` on views from play."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.rng import stream_words
from goboom_env.engine.state import Records
from goboom_env.observation.view import new_views
from goboom_env.policies import Policy, make
from goboom_env.rules import Rules
from goboom_env.table import Table

VIEWS = 256
"""Views of the batch."""

SECONDS = 0.1
"""How long a measurement lasts at least."""


class _Watcher(Policy):
    """Plays at random and keeps the views it was asked about."""

    name = "watcher"

    def __init__(self, random: Policy) -> None:
        self.random = random
        self.views: list[Records] = []

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Random actions."""
        self.views.append(views.copy())
        return self.random.act(views, rng)


def views_from_play(rules: Rules, num_players: int, seed: int = 0) -> Records:
    """At most `VIEWS` views of seats with more than one legal action, spread over the course of hands played at random."""
    watcher = _Watcher(make("random").bind(rules, num_players))
    table = Table(rules, [[(watcher, 1.0)]] * num_players, VIEWS)
    table.reset(words=stream_words(seed, VIEWS))
    if not watcher.views:  # under a house rule, perhaps, in which nobody ever has a choice
        return new_views(0)
    views = np.concatenate(watcher.views)
    return np.asarray(views[np.linspace(0, len(views) - 1, min(VIEWS, len(views))).astype(int)])


def decisions_per_second(policy: Policy, rules: Rules, num_players: int, views: Records) -> float:
    """Decisions a second of a policy's `act` at these rules, on batches of views that grow until a call takes long enough.

    A rule bot is called like any other, though at a table it runs inside the compiled loop and is faster still. The
    first call, in which a policy may compile or load, is not timed. 0 without views.
    """
    if not len(views):
        return 0.0
    bound = policy.bind(rules, num_players)
    words = stream_words(0, len(views))[:, 0]
    bound.act(views[:1], words[:1])
    size = 1
    while True:
        count, start = 0, time.perf_counter()
        while True:
            bound.act(views[:size], words[:size])
            count += size
            spent = time.perf_counter() - start
            if spent >= SECONDS or size < len(views):
                break
        if spent >= SECONDS:
            return count / spent
        size = min(4 * size, len(views))
