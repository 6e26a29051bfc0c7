"""How strong a seat could be that saw every card: `ceiling(field, rules, num_players, deals, seed)`.

At each decision it plays every legal action out on the true table, with `greedy` on all seats, and takes the best. It reads
hidden cards, so it is no policy: it lives here, for the tables only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.arena.match import interval
from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import next_word, stream_words
from goboom_env.engine.state import NONE, PLAYING, compile_rules, new_states
from goboom_env.observation.view import cut_with, new_views
from goboom_env.policies import make_seats
from goboom_env.policies.scripted import BOTS, choose
from goboom_env.stepping import SAME_STEP
from goboom_env.table import Table

ROLLOUT = list(BOTS).index("greedy")


@kernel
def choose_seeing(tables: Any, states: Any, scratch: Any, views: Any, code: int, masks: Any, seat: int, actions: Any) -> None:
    """The action at every table that ends best for the seat when a bot plays on from it on every seat."""
    t = tables[0]
    for i in range(len(states)):
        best = -1.0
        for action in range(masks.shape[1]):
            if not masks[i, action]:
                continue
            scratch[0] = states[i]
            s = scratch[0]
            kernels.apply(t, s, action)
            while s["status"] == PLAYING:
                cards, more = kernels.legal(t, s)
                reply = kernels.only_action(t, cards, more)
                if reply < 0:
                    cut_with(t, s, int64(s["turn"]), cards, more, views[0])
                    reply = choose(code, t, views[0], next_word(s["policy_stream"]))
                kernels.apply(t, s, reply)
            won = 1.0 if s["winner"] == seat else (1.0 / int64(t["num_players"]) if s["winner"] == NONE else 0.0)
            value = 10.0 + won + 1e-3 * kernels.score_payoff(t, s["delta"], seat)
            if value > best:
                best = value
                actions[i] = action


def ceiling(field: str, rules: str, num_players: int, deals: int, seed: int) -> dict[str, Any]:
    """Win share and points a hand of the seat that sees, on paired deals as `goboom_env.arena.compare` plays them."""
    others = make_seats(field, num_players - 1)
    words = stream_words(seed, deals)
    wins, points = np.zeros(deals), np.zeros(deals)
    for rotation in range(num_players):
        seats = [others[(seat - rotation - 1) % num_players] if seat != rotation else None for seat in range(num_players)]
        table = Table(rules, seats, deals, autoreset=SAME_STEP)
        compiled = compile_rules(table.rules, num_players)
        table.reset(words=words)
        open_tables, actions = np.ones(deals, np.bool_), np.zeros(deals, np.int64)
        while open_tables.any():
            choose_seeing(compiled, table.states, new_states(1), new_views(1), ROLLOUT, table.masks, rotation, actions)
            table.step(actions)
            over = table.ended & open_tables
            if over.any():
                winner = table.winners[over]
                wins[over] += np.where(winner == NONE, 1 / num_players, winner == rotation)
                points[over] += 100 * table.payoffs[over, rotation]
                open_tables &= ~over
    wins, points = wins / num_players, points / num_players
    return {
        "win_share": float(wins.mean()),
        "win_interval": interval(wins),
        "points": float(points.mean()),
        "points_interval": interval(points),
        "hands": deals * num_players,
    }
