"""Many steps of all tables in one compiled call, a rule bot in the learner's place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine.jit import kernel
from goboom_env.observation.view import cut_with
from goboom_env.policies.scripted import RANDOM, choose
from goboom_env.sampling import choose_legal
from goboom_env.stepping import LEARNER_ACTS, step_rows


@dataclass(frozen=True)
class Rollout:
    """What happened in T steps of n tables, the step first.

    Attributes:
        observations: Before each action, and last where the tables stand now; shape (T + 1, n, features), uint8.
        action_masks: Legal actions there, shape (T + 1, n, actions), int8.
        seats: Seats that these belong to, shape (T + 1, n), int64.
        actions: Shape (T, n), int64. After a step in which an episode ended, NEXT_STEP takes no notice of the next action.
        rewards: Shape (T, n), float64.
        terminated: Whether the episode ended, shape (T, n), bool.
        payoffs: Of each seat in an episode that ended, 0 elsewhere, shape (T, n, seats), float64.
    """

    observations: NDArray[np.uint8]
    action_masks: NDArray[np.int8]
    seats: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    payoffs: NDArray[np.float64]


def new_rollout(num_steps: int, num_tables: int, num_features: int, num_actions: int, num_players: int) -> Rollout:
    """A rollout that is still to be played; all payoffs are 0."""
    return Rollout(
        np.empty((num_steps + 1, num_tables, num_features), np.uint8),
        np.empty((num_steps + 1, num_tables, num_actions), np.int8),
        np.empty((num_steps + 1, num_tables), np.int64),
        np.empty((num_steps, num_tables), np.int64),
        np.empty((num_steps, num_tables)),
        np.empty((num_steps, num_tables), np.bool_),
        np.zeros((num_steps, num_tables, num_players)),
    )


@kernel
def choose_rows(
    tables: Any, states: Any, rows: Any, views: Any, masks: Any, words: Any, actions: Any, code: int, start: int, stop: int
) -> None:
    """The rule bot's action at the tables start to stop. One that waits for its next episode gets any."""
    if code == RANDOM:
        choose_legal(masks[start:stop], words[start:stop], actions[start:stop])
        return
    t, v = tables[0], views[0]
    for i in range(start, stop):
        s, row = states[i], rows[i]
        if row["needs_reset"]:
            actions[i] = 0
            continue
        cut_with(t, s, int64(s["turn"]), row["cards"], int64(row["more"]), v)
        actions[i] = choose(code, t, v, words[i])


@kernel
def rollout_rows(
    tables: Any,
    options: Any,
    states: Any,
    rows: Any,
    views: Any,
    bits: Any,
    last_bits: Any,
    observations: Any,
    masks: Any,
    seats: Any,
    actions: Any,
    rewards: Any,
    ended: Any,
    payoffs: Any,
    scores: Any,
    winners: Any,
    forfeits: Any,
    indices: Any,
    words: Any,
    code: int,
    start: int,
    stop: int,
    scratch: int,
) -> int:
    """Play the tables start to stop for as many steps as there are actions; stops early, with their number, where some are STUCK."""
    for k in range(len(actions)):
        choose_rows(tables, states, rows, views[scratch:], masks[k], words[k], actions[k], code, start, stop)
        waiting, _ = step_rows(
            tables, options, states, rows, views, bits, last_bits, observations[k + 1], masks[k + 1], rewards[k], ended[k], seats[k + 1],
            payoffs[k], scores, winners, forfeits, indices, actions[k], LEARNER_ACTS, start, stop, scratch,
        )  # fmt: skip
        if waiting > 0:
            return waiting
    return 0
