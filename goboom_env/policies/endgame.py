"""`endgame`: with two players and an empty stock every card is known, so the rest of the hand is solved exactly (compiled).

The cards that a seat has not seen are then just the other hand's. A minimax search with alpha-beta bounds finds the worth of
every action; where the tree is larger than a bound on its nodes, it gives up and a bot chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.state import NONE, PLAYING, Records, compile_rules, new_states
from goboom_env.policies.base import Policy
from goboom_env.policies.determinise import deal_unseen, rebuild
from goboom_env.policies.scripted import BOTS, choose
from goboom_env.rules import Rules, near_miss

MOST_NODES = 200_000
"""Positions looked at for one decision before the solver gives up."""
DEPTH = 128
"""Room for a line of play: no hand that is still open has more actions left."""

OBJECTIVES = ("win", "points")
TIE = 1e-3
"""Weight of the other objective, which decides between actions that are equal in the first."""

_NO_VALUE = 1e9


@kernel
def outcome(t: Any, s: Any, points: int) -> float:
    """What a finished hand is worth to seat 0: a win is 1, a blocked hand an equal share; points as in `score_payoff`."""
    win = 1.0 if s["winner"] == 0 else 0.0
    if s["winner"] == NONE:
        win = 1.0 / int64(t["num_players"])
    score = kernels.score_payoff(t, s["delta"], int64(0))
    return score + TIE * win if points else win + TIE * score


@kernel
def is_open(t: Any, v: Any) -> bool:
    """Whether a view shows every card: two players, and nothing left to draw or to shuffle."""
    return bool(t["num_players"] == 2 and v["stock"] == 0 and not t["reshuffle"])


@kernel
def solve(t: Any, line: Any, depth: int, low: float, high: float, points: int, nodes: Any) -> float:
    """Worth to seat 0 of line[depth] with best play of both, exact within (low, high); `nodes[0]` below 0 when it gave up."""
    s = line[depth]
    if s["status"] != PLAYING:
        return outcome(t, s, points)
    nodes[0] -= 1
    if nodes[0] < 0 or depth + 1 >= len(line):
        nodes[0] = -1
        return 0.0
    cards, more = kernels.legal(t, s)
    mine = s["turn"] == 0
    best = -_NO_VALUE if mine else _NO_VALUE
    for action in range(int64(t["types"]) + 2):
        if not kernels.is_among(t, cards, more, action):
            continue
        line[depth + 1] = s
        kernels.apply(t, line[depth + 1], action)
        value = solve(t, line, depth + 1, low, high, points, nodes)
        if nodes[0] < 0:
            return 0.0
        if mine:
            best = max(best, value)
            low = max(low, best)
        else:
            best = min(best, value)
            high = min(high, best)
        if low >= high:
            break
    return best


@kernel
def solve_actions(t: Any, v: Any, line: Any, points: int, values: Any) -> int:
    """The best action of an open view, and the exact worth of each in `values`; -1 where the tree is too large."""
    cards, owner = np.empty(128, np.int64), np.empty(128, np.int64)
    stream = np.ones(2, np.uint64)  # shuffles what is dealt to one hand, so nothing depends on it
    rebuild(t, v, line[0])
    deal_unseen(t, v, line[0], cards, owner, stream)
    nodes = np.full(1, MOST_NODES)
    best = int64(-1)
    for action in range(int64(t["types"]) + 2):
        values[action] = np.nan
        if kernels.is_among(t, v["legal"], int64(v["legal_more"]), action):
            line[1] = line[0]
            kernels.apply(t, line[1], action)
            values[action] = solve(t, line, int64(1), -_NO_VALUE, _NO_VALUE, points, nodes)
            if nodes[0] < 0:
                return -1
            if best < 0 or values[action] > values[best]:
                best = int64(action)
    return best


@kernel
def play_ends(tables: Any, views: Any, words: Any, code: int, points: int, line: Any, values: Any, actions: Any) -> None:
    """The exact choice in every open view, a bot's in the others."""
    t = tables[0]
    for j in range(len(views)):
        v = views[j]
        actions[j] = solve_actions(t, v, line, points, values) if is_open(t, v) else -1
        if actions[j] < 0:
            actions[j] = choose(code, t, v, words[j])


class EndgamePolicy(Policy):
    """Exact play where two players have emptied the stock, a rule bot's before.

    Args:
        bot: Rule bot.
        objective: `win` or `points`; the other decides between equals.
    """

    def __init__(self, bot: str = "counter", objective: str = "win") -> None:
        if bot not in BOTS:
            raise ValueError(f"bot={bot!r} is not one of {', '.join(BOTS)}{near_miss(bot, BOTS)}")
        if objective not in OBJECTIVES:
            raise ValueError(f"objective={objective!r} is neither win nor points")
        self.bot, self.objective = bot, objective
        self.name = "endgame" if (bot, objective) == ("counter", "win") else ":".join(["endgame", bot] + [objective] * (objective != "win"))
        self._tables: Records | None = None

    @classmethod
    def from_text(cls, text: str) -> EndgamePolicy:
        """From `endgame`, `endgame:BOT` or `endgame:BOT:OBJECTIVE`; `ValueError` for anything else."""
        words = text.split(":")
        if words[0] != "endgame" or len(words) > 3:
            raise ValueError(f"{text!r} is no endgame policy: write endgame:BOT:OBJECTIVE, as in endgame or endgame:void:points")
        return cls(*words[1:])

    def bind(self, rules: Rules, num_players: int) -> EndgamePolicy:
        """The policy at a table of these rules."""
        bound = EndgamePolicy(self.bot, self.objective)
        bound._tables = compile_rules(rules, num_players)
        return bound

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The best action where all is known, else the bot's."""
        if self._tables is None:
            raise RuntimeError(f"policy {self.name!r} is not bound to rules: use the result of .bind(rules, num_players)")
        actions, values = np.empty(len(views), np.int64), np.empty(int(self._tables[0]["types"]) + 2)
        code, points = list(BOTS).index(self.bot), int(self.objective == "points")
        play_ends(self._tables, views, np.ascontiguousarray(rng), code, points, new_states(DEPTH), values, actions)
        return actions
