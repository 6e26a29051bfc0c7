"""`search`: determinised Monte Carlo (compiled).

For a decision the cards that the seat cannot see are dealt at random, as far as sizes of hands and public inference allow;
each legal action is then played out by a rule bot on every seat. All actions meet the same deals and the same random bits,
so that luck cancels between them, and the budget goes where it matters: after a quarter and after a half of the deals the
worse half of the actions is dropped, but never below two.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine import kernels
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.rng import below, next_word, shuffle
from goboom_env.engine.state import NONE, PLAYING, Records, compile_rules, new_states
from goboom_env.observation.view import cut_with, new_views
from goboom_env.policies.base import Policy
from goboom_env.policies.scripted import BOTS, choose
from goboom_env.rules import Rules, near_miss

OBJECTIVES = ("win", "points")
TIE = 1e-3
"""Weight of the other objective, which decides between actions that are equal in the first."""

MOST_DEALS = 1_000_000
_TRIES = 64
_ONE = np.uint64(1)


@kernel
def rebuild(t: Any, v: Any, s: Any) -> None:
    """The table as a view shows it, with the viewing seat as seat 0; the unseen cards are still to be dealt."""
    n = int64(t["num_players"])
    kernels.clear_hand(t, s)
    s["hand"][0] = v["hand"]
    s["hand2"][0] = v["hand2"]
    s["jokers"][0] = v["jokers"]
    s["played"] = v["seen"]
    s["played2"] = v["seen2"]
    s["jokers_played"] = v["jokers_seen"]
    acted = int64(0)
    for seat in range(n):
        s["lack"][seat] = v["lack"][seat]
        s["fresh"][seat] = v["fresh"][seat]
        s["score"][seat] = v["score"][seat]
        s["trick"][seat] = v["trick"][seat]
        acted += (int64(v["acted"]) >> seat) & 1
    s["size"][0] = v["size"][0]
    s["hand_number"] = v["hand_number"]
    s["turn"] = 0
    s["dealer"] = v["dealer"]
    s["acted"] = acted
    s["tricks"] = v["tricks"]
    s["match"] = v["match"]
    s["led"] = v["led"]
    s["best"] = v["best"]
    s["best_seat"] = max(0, int64(v["best_seat"]))
    s["top"] = v["match"] if t["pile"] else NONE
    s["drawn"] = v["drawn"]
    s["draws"] = v["draws"]
    for seat in range(n):
        # finish_trick: seats without cards went out before this one in the trick, so the lowest number was the first.
        if v["size"][seat] == 0 and s["winner"] == NONE:
            s["winner"] = seat


@hot
def may_hold(t: Any, lack: Any, card: int) -> bool:
    """Whether public inference lets a hand hold a card; it says nothing of jokers."""
    return card >= int64(t["cards"]) or lack & t["traits"][card] == 0


@kernel
def deal_unseen(t: Any, v: Any, s: Any, cards: Any, owner: Any, stream: Any) -> None:
    """Deal the unseen cards to the other hands and the stock, at random among the deals that public inference allows.

    A random deal is mended by swaps; where `_TRIES` random partners do not serve, the card stays.
    """
    n, types = int64(t["num_players"]), int64(t["cards"])
    count = int64(0)
    for card in range(types):
        bit = _ONE << np.uint64(card)
        left = int64(t["copies"])
        for word in (v["hand"], v["hand2"], v["seen"], v["seen2"]):
            if word & bit:
                left -= 1
        for _ in range(left):
            cards[count] = card
            count += 1
    for _ in range(int64(t["jokers"]) - int64(v["jokers"]) - int64(v["jokers_seen"])):
        cards[count] = types
        count += 1
    shuffle(cards, int64(0), count, stream)
    position = int64(0)
    for seat in range(1, n):
        # The last `fresh` cards of a hand are those that inference says nothing of: they belong to seat 0, so to speak.
        for k in range(int64(v["size"][seat])):
            owner[position] = seat if k < int64(v["size"][seat]) - int64(v["fresh"][seat]) else 0
            position += 1
    known = position
    for k in range(known, count):
        owner[k] = 0
    for k in range(known):
        seat = int64(owner[k])
        if seat == 0 or may_hold(t, v["lack"][seat], int64(cards[k])):
            continue
        for _ in range(_TRIES):
            other = below(next_word(stream), count)
            holder = int64(owner[other])
            if not may_hold(t, v["lack"][seat], int64(cards[other])):
                continue
            if holder == 0 or may_hold(t, v["lack"][holder], int64(cards[k])):
                cards[k], cards[other] = cards[other], cards[k]
                break
    position = int64(0)
    for seat in range(1, n):
        for _ in range(int64(v["size"][seat])):
            kernels.take(t, s, seat, int64(cards[position]))
            position += 1
    for k in range(position, count):
        s["deck"][k - position] = cards[k]
    s["stock_at"] = 0
    s["stock_end"] = count - position


@kernel
def play_out(t: Any, s: Any, v: Any, code: int) -> None:
    """Play the hand to its end with a rule bot on every seat."""
    while s["status"] == PLAYING:
        cards, more = kernels.legal(t, s)
        action = kernels.only_action(t, cards, more)
        if action < 0:
            cut_with(t, s, int64(s["turn"]), cards, more, v)
            action = choose(code, t, v, next_word(s["policy_stream"]))
        kernels.apply(t, s, action)


@kernel
def outcome(t: Any, s: Any, points: int) -> float:
    """What a finished hand is worth to seat 0: a win is 1, a blocked hand an equal share; points as in `score_payoff`."""
    win = 1.0 if s["winner"] == 0 else 0.0
    if s["winner"] == NONE:
        win = 1.0 / int64(t["num_players"])
    score = kernels.score_payoff(t, s["delta"], int64(0))
    return score + TIE * win if points else win + TIE * score


@kernel
def search_one(t: Any, v: Any, word: Any, deals: int, code: int, points: int, states: Any, scratch: Any, values: Any) -> int:
    """The best action for a view. `values` gets the mean worth of each action, NaN for illegal ones."""
    types = int64(t["types"])
    actions = np.empty(types + 2, np.int64)
    count = int64(0)
    legal, more = v["legal"], int64(v["legal_more"])
    for action in range(types + 2):
        values[action] = np.nan
        if kernels.is_among(t, legal, more, action):
            actions[count] = action
            count += 1
    if count == 1:
        return int64(actions[0])
    totals = np.zeros(types + 2)
    played = np.zeros(types + 2)
    cards, owner = np.empty(128, np.int64), np.empty(128, np.int64)
    stream = np.empty(2, np.uint64)
    stream[0], stream[1] = word | _ONE, ~word | _ONE
    for _ in range(4):
        next_word(stream)
    base, table = states[0], states[1]
    rebuild(t, v, base)
    for deal in range(deals):
        if count > 2 and (deal == deals // 4 or deal == deals // 2):
            count = drop_worse_half(actions, count, totals)
        states[1] = base
        deal_unseen(t, v, table, cards, owner, stream)
        table["policy_stream"][0] = next_word(stream)
        table["policy_stream"][1] = next_word(stream)
        table["reshuffle_stream"][0] = next_word(stream)
        table["reshuffle_stream"][1] = next_word(stream)
        for k in range(count):
            states[2] = table
            kernels.apply(t, states[2], int64(actions[k]))
            play_out(t, states[2], scratch, code)
            totals[actions[k]] += outcome(t, states[2], points)
            played[actions[k]] += 1
    best = int64(actions[0])
    for k in range(count):
        if totals[actions[k]] > totals[best]:
            best = int64(actions[k])
    for action in range(types + 2):
        if played[action] > 0:
            values[action] = totals[action] / played[action]
    return best


@kernel
def drop_worse_half(actions: Any, count: int, totals: Any) -> int:
    """Keep the better half of the first `count` actions, at least two; returns how many are left."""
    keep = max(2, (count + 1) // 2)
    for k in range(keep):
        for other in range(k + 1, count):
            if totals[actions[other]] > totals[actions[k]]:
                actions[k], actions[other] = actions[other], actions[k]
    return keep


@kernel
def search_all(
    tables: Any,
    views: Any,
    words: Any,
    start: int,
    stop: int,
    deals: int,
    code: int,
    points: int,
    states: Any,
    scratch: Any,
    actions: Any,
    values: Any,
) -> None:
    """`search_one` for views[start:stop]."""
    for j in range(start, stop):
        actions[j] = search_one(tables[0], views[j], words[j], deals, code, points, states, scratch[0], values[j])


class SearchPolicy(Policy):
    """Determinised Monte Carlo from what a seat may know.

    Args:
        deals: Deals of the unseen cards that the best actions are played out on, 1 or more.
        rollout: Rule bot that plays every hand out.
        objective: `win` or `points`; the other decides between equals.
        num_threads: Threads that share a batch of decisions; None for one a core. Choices do not depend on it.
    """

    def __init__(self, deals: int = 128, rollout: str = "greedy", objective: str = "win", num_threads: int | None = 1) -> None:
        if not 1 <= deals <= MOST_DEALS:
            raise ValueError(f"search needs 1 to {MOST_DEALS:,} deals, got {deals}")
        if rollout not in BOTS:
            raise ValueError(f"rollout={rollout!r} is not one of {', '.join(BOTS)}{near_miss(rollout, BOTS)}")
        if objective not in OBJECTIVES:
            raise ValueError(f"objective={objective!r} is not one of {', '.join(OBJECTIVES)}{near_miss(objective, OBJECTIVES)}")
        self.deals, self.rollout, self.objective = deals, rollout, objective
        self.num_threads = num_threads or os.cpu_count() or 1
        self.name = f"search:{deals}" + (f":{rollout}" if (rollout, objective) != ("greedy", "win") else "")
        self.name += f":{objective}" if objective != "win" else ""
        self._tables: Records | None = None

    @classmethod
    def from_text(cls, text: str) -> SearchPolicy:
        """From `search`, `search:128`, `search:128:lead` or `search:128:lead:points`; `ValueError` for anything else."""
        words = text.split(":")
        if words[0] != "search" or len(words) > 4:
            raise ValueError(f"{text!r} is no search: write search:DEALS:BOT:OBJECTIVE, as in search:128 or search:64:lead:points")
        if len(words) > 1 and not (words[1].isascii() and words[1].isdecimal()):
            raise ValueError(f"{text!r}: {words[1]!r} is no number of deals")
        rollout, objective = (*words[2:], *("greedy", "win")[len(words[2:]) :])
        return cls(int(words[1]) if len(words) > 1 else 128, rollout, objective)

    def bind(self, rules: Rules, num_players: int) -> SearchPolicy:
        """The search at a table of these rules."""
        bound = SearchPolicy(self.deals, self.rollout, self.objective, self.num_threads)
        bound._tables = compile_rules(rules, num_players)
        return bound

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The action of most worth in each view."""
        return self.evaluate(views, rng)[0]

    def evaluate(self, views: Records, rng: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Actions, shape (k,), and the mean worth of each action, shape (k, actions), NaN where illegal or never asked."""
        if self._tables is None:
            raise RuntimeError(f"policy {self.name!r} is not bound to rules: use the result of .bind(rules, num_players)")
        count, tables = len(views), self._tables
        actions, values = np.empty(count, np.int64), np.empty((count, int(tables[0]["types"]) + 2))
        words = np.ascontiguousarray(rng)
        code, points = list(BOTS).index(self.rollout), int(self.objective == "points")

        def run(part: int, parts: int) -> None:
            start, stop = count * part // parts, count * (part + 1) // parts
            search_all(tables, views, words, start, stop, self.deals, code, points, new_states(3), new_views(1), actions, values)

        parts = min(self.num_threads, count)
        if parts <= 1:
            run(0, 1)
        else:
            with ThreadPoolExecutor(parts, "goboom_search") as pool:
                for job in [pool.submit(run, part, parts) for part in range(parts)]:
                    job.result()
        return actions, values
