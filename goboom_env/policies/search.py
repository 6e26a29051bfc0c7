"""`search`: determinised Monte Carlo.

For a decision the cards that the seat cannot see are dealt at random, as far as sizes of hands and public inference allow;
each legal action is then played out by a rule bot or a network on every seat. All actions meet the same deals and the same
random bits, so that luck cancels between them, and the budget goes where it matters: after a quarter and after a half of it
the worse half of the actions is dropped, but never below two.

With a network as guide, its logits count as so many deals more, and where it has a value head a hand is played only to the
seat's next choice, which the network then values: one evaluation says more than a hand played out.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import next_word
from goboom_env.engine.state import PLAYING, Records, compile_rules, new_states
from goboom_env.observation.features import BITS
from goboom_env.observation.view import cut_with, new_views
from goboom_env.policies.base import Policy, make
from goboom_env.policies.determinise import deal_unseen, rebuild
from goboom_env.policies.endgame import DEPTH, OBJECTIVES, is_open, outcome, solve_actions
from goboom_env.policies.forward import NO_NETWORK, Network, choose_by_network, forward, new_space
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.scripted import BOTS, choose
from goboom_env.policies.trained import TrainedPolicy
from goboom_env.rules import Rules, near_miss

MOST_DEALS = 1_000_000
MOST_MILLISECONDS = 600_000
BY_NETWORK = -1
"""In place of a bot's number: the network plays the hand out."""

BEGIN, DEAL, DROP, END = 0, 1, 2, 3
"""`stage` of `search_some`."""

_CHUNK = 8
"""Deals between two looks at the clock."""
_ONE = np.uint64(1)
_MOST_ACTIONS = 66

WORK = np.dtype(
    [
        ("actions", np.int64, _MOST_ACTIONS),  # those still asked come first
        ("legal", np.int64),  # number of actions
        ("count", np.int64),  # of those still asked
        ("dealt", np.int64),
        ("totals", np.float64, _MOST_ACTIONS),
        ("prior", np.float64, _MOST_ACTIONS),  # added to the totals where actions are compared
        ("drops", np.int64),  # times that actions were dropped
        ("dropped", np.int64, _MOST_ACTIONS),  # at which of these times an action was
        ("early", np.float64, (2, _MOST_ACTIONS)),  # mean worth of each action at these times
        ("stream", np.uint64, 2),
    ],
    align=True,
)
"""What a search knows of one decision so far."""

PLAN = np.dtype([("code", np.int64), ("points", np.int64), ("leaf", np.int64), ("prior_deals", np.float64), ("scale", np.float64)])
"""How hands are played out: by which bot, to what objective, to the next choice only, and what a guide's logits count:
so many deals, where a difference of `scale` in logits is one of 1 in worth."""


@kernel
def play_out(t: Any, s: Any, v: Any, b: Any, plan: Any, network: Network, space: Any) -> float:
    """Play the hand to its end, or to a value of seat 0's next choice; what it is worth to seat 0."""
    while s["status"] == PLAYING:
        cards, more = kernels.legal(t, s)
        action = kernels.only_action(t, cards, more)
        if action < 0:
            seat = int64(s["turn"])
            cut_with(t, s, seat, cards, more, v)
            if plan["leaf"] and seat == 0:
                return float(forward(t, v, b, network, space)[int64(t["types"]) + 2])
            if plan["code"] == BY_NETWORK:
                action = choose_by_network(t, v, b, network, space)
            else:
                action = choose(int64(plan["code"]), t, v, next_word(s["policy_stream"]))
        kernels.apply(t, s, action)
    return outcome(t, s, int64(plan["points"]))


@kernel
def begin(t: Any, v: Any, word: Any, plan: Any, w: Any, b: Any, network: Network, space: Any) -> None:
    """Start a search: every legal action is to be asked."""
    legal, more = v["legal"], int64(v["legal_more"])
    count = int64(0)
    for action in range(int64(t["types"]) + 2):
        if kernels.is_among(t, legal, more, action):
            w["actions"][count] = action
            w["totals"][action] = 0.0
            w["prior"][action] = 0.0
            count += 1
    w["legal"] = count
    w["count"] = count
    w["dealt"] = 0
    w["drops"] = 0
    if plan["prior_deals"] > 0.0 and count > 1:
        outputs = forward(t, v, b, network, space)
        for k in range(count):
            action = int64(w["actions"][k])
            w["prior"][action] = plan["prior_deals"] * outputs[action] / plan["scale"]
    w["stream"][0] = word | _ONE
    w["stream"][1] = ~word | _ONE
    for _ in range(4):
        next_word(w["stream"])


@kernel
def run_deals(t: Any, v: Any, w: Any, deals: int, plan: Any, states: Any, scratch: Any, b: Any, network: Network, space: Any) -> None:
    """Play every action still asked out on so many more deals."""
    cards, owner = np.empty(128, np.int64), np.empty(128, np.int64)
    base, table, stream = states[0], states[1], w["stream"]
    rebuild(t, v, base)
    for _ in range(deals):
        states[1] = base
        deal_unseen(t, v, table, cards, owner, stream)
        table["policy_stream"][0] = next_word(stream)
        table["policy_stream"][1] = next_word(stream)
        table["reshuffle_stream"][0] = next_word(stream)
        table["reshuffle_stream"][1] = next_word(stream)
        for k in range(int64(w["count"])):
            action = int64(w["actions"][k])
            states[2] = table
            kernels.apply(t, states[2], action)
            w["totals"][action] += play_out(t, states[2], scratch, b, plan, network, space)
    w["dealt"] += deals


@kernel
def drop_worse_half(w: Any) -> None:
    """Ask only the better half of the actions from here on, at least two."""
    count = int64(w["count"])
    keep = max(2, (count + 1) // 2)
    if keep >= count or w["dealt"] == 0:
        return
    for k in range(keep):
        for other in range(k + 1, count):
            if worth(w, int64(w["actions"][other])) > worth(w, int64(w["actions"][k])):
                w["actions"][k], w["actions"][other] = w["actions"][other], w["actions"][k]
    for k in range(count):
        action = int64(w["actions"][k])
        w["early"][int64(w["drops"])][action] = w["totals"][action] / w["dealt"]
        if k >= keep:
            w["dropped"][action] = w["drops"]
    w["drops"] += 1
    w["count"] = keep


@kernel
def worth(w: Any, action: int) -> float:
    """What actions that met the same deals are compared by."""
    return w["totals"][action] + w["prior"][action]


@kernel
def conclude(t: Any, w: Any, prior_deals: float, values: Any) -> int:
    """The best action. `values` gets the mean worth of each action, NaN for illegal ones.

    An action that was dropped met other deals than the rest: its mean is moved by what those deals were worth to the others.
    Where a guide has a say, it has it in the differences between the values too; their mean stays that of the deals.
    """
    for action in range(int64(t["types"]) + 2):
        values[action] = np.nan
    count, dealt = int64(w["count"]), int64(w["dealt"])
    best = int64(w["actions"][0])
    for k in range(count):
        action = int64(w["actions"][k])
        if dealt > 0:
            values[action] = w["totals"][action] / dealt
        if worth(w, action) > worth(w, best):
            best = action
    for k in range(count, int64(w["legal"])):
        action = int64(w["actions"][k])
        drop = int64(w["dropped"][action])
        moved = 0.0
        for other in w["actions"][:count]:
            moved += values[other] - w["early"][drop][other]
        values[action] = w["early"][drop][action] + moved / count
    if prior_deals > 0.0 and dealt > 0:
        shift = 0.0
        for k in range(int64(w["legal"])):
            action = int64(w["actions"][k])
            blended = (values[action] * dealt + w["prior"][action]) / (dealt + prior_deals)
            shift += values[action] - blended
            values[action] = blended
        for k in range(int64(w["legal"])):
            values[int64(w["actions"][k])] += shift / int64(w["legal"])
    return best


@kernel
def search_all(
    tables: Any, views: Any, words: Any, start: int, stop: int, deals: int, plans: Any, work: Any, states: Any, scratch: Any, bits: Any,
    network: Network, space: Any, line: Any, actions: Any, values: Any
) -> None:  # fmt: skip
    """Search every view of views[start:stop] with so many deals."""
    t, w, plan, b = tables[0], work[0], plans[0], bits[0]
    for j in range(start, stop):
        v = views[j]
        if not open_search(t, v, words[j], w, plan, b, network, space, line, actions, values, j):
            continue
        for stage in range(3):
            if stage > 0:
                drop_worse_half(w)
            until = deals // 4 if stage == 0 else (deals // 2 if stage == 1 else deals)
            run_deals(t, v, w, until - int64(w["dealt"]), plan, states, scratch[0], b, network, space)
        actions[j] = conclude(t, w, plan["prior_deals"], values[j])


@kernel
def open_search(
    t: Any, v: Any, word: Any, w: Any, plan: Any, b: Any, network: Network, space: Any, line: Any, actions: Any, values: Any, j: int
) -> bool:  # fmt: skip
    """Start the search of view j; False where there is nothing to search: one legal action, or an end that is solved."""
    begin(t, v, word, plan, w, b, network, space)
    if w["count"] == 1:
        actions[j] = conclude(t, w, plan["prior_deals"], values[j])
        return False
    if is_open(t, v):
        actions[j] = solve_actions(t, v, line, int64(plan["points"]), values[j])
        return bool(actions[j] < 0)
    return True


@kernel
def search_some(
    tables: Any, views: Any, words: Any, j: int, stage: int, plans: Any, work: Any, states: Any, scratch: Any, bits: Any,
    network: Network, space: Any, line: Any, actions: Any, values: Any
) -> bool:  # fmt: skip
    """A stage of the search of views[j], for a budget of time; BEGIN returns whether there is anything to search."""
    t, w, plan, b = tables[0], work[0], plans[0], bits[0]
    if stage == BEGIN:
        return open_search(t, views[j], words[j], w, plan, b, network, space, line, actions, values, j)
    if stage == DEAL:
        run_deals(t, views[j], w, _CHUNK, plan, states, scratch[0], b, network, space)
    elif stage == DROP:
        drop_worse_half(w)
    else:
        actions[j] = conclude(t, w, plan["prior_deals"], values[j])
    return True


class SearchPolicy(Policy):
    """Determinised Monte Carlo from what a seat may know.

    Args:
        deals: Deals of the unseen cards that the best actions are played out on, 1 or more.
        rollout: Rule bot, or trained policy by name or path, that plays every hand out.
        objective: `win` or `points`; the other decides between equals.
        num_threads: Threads that share a batch of decisions; None for one a core. Choices do not depend on it.
        milliseconds: Time for each decision, in place of `deals`; choices then depend on the machine.
        guide: Trained policy that proposes and values: its logits count as `prior_deals` deals more, and where it has a value
            head of the same objective, hands are played only to the seat's next choice.
        prior_deals: What the guide's logits count.
        leaf: Whether the guide's value, where it has one of this objective, ends a hand at the seat's next choice; else hands
            are played out, at a fraction of the cost.

    Raises:
        ValueError: A number out of range, an unknown name, or a guide that cannot be one.
    """

    def __init__(
        self,
        deals: int = 128,
        rollout: Any = "greedy",
        objective: str = "win",
        num_threads: int | None = None,
        milliseconds: float | None = None,
        guide: Any = None,
        prior_deals: float = 128.0,
        leaf: bool = True,
    ) -> None:
        if not 1 <= deals <= MOST_DEALS:
            raise ValueError(f"search needs 1 to {MOST_DEALS:,} deals, got {deals}")
        if milliseconds is not None and not 0 < milliseconds <= MOST_MILLISECONDS:
            raise ValueError(f"search needs more than 0 and at most {MOST_MILLISECONDS:,} milliseconds, got {milliseconds}")
        if objective not in OBJECTIVES:
            raise ValueError(f"objective={objective!r} is not one of {', '.join(OBJECTIVES)}{near_miss(objective, OBJECTIVES)}")
        if not 0 <= prior_deals < MOST_DEALS:
            raise ValueError(f"prior_deals={prior_deals} must be 0 or more")
        if guide is not None and rollout not in BOTS:
            raise ValueError(f"rollout={rollout!r}: a search with a guide plays hands out by a rule bot: {', '.join(BOTS)}")
        self.deals, self.rollout, self.objective, self.milliseconds = deals, rollout, objective, milliseconds
        self.prior_deals = prior_deals if guide is not None else 0.0
        self.leaf = leaf
        self.num_threads = num_threads or len(os.sched_getaffinity(0))
        self.guide = guide
        self.network: Policy | None = None
        if guide is not None or rollout not in BOTS:
            self.network = _load_network(guide if guide is not None else rollout)
        self.name = self._describe()
        self._tables: Records | None = None

    def _describe(self) -> str:
        network = "" if self.network is None else self.network.name
        words = [f"search+{network}" if self.guide is not None else "search"]
        words.append(str(self.deals) if self.milliseconds is None else f"{self.milliseconds:g}ms")
        words += [self.rollout if self.rollout in BOTS else network, self.objective]
        while len(words) > 2 and words[-1] == ("greedy", "win")[len(words) - 3]:
            words.pop()
        return ":".join(words)

    @classmethod
    def from_text(cls, text: str) -> SearchPolicy:
        """From `search:BUDGET:ROLLOUT:OBJECTIVE` or `search+NETWORK:BUDGET:ROLLOUT:OBJECTIVE`, where all but the first word
        may be left out and the budget is a number of deals or, as in `50ms`, of milliseconds; `ValueError` for anything else.
        """
        words = text.split(":")
        head, plus, guide = words[0].partition("+")
        if head != "search" or len(words) > 4 or (plus and not guide):
            raise ValueError(
                f"{text!r} is no search: write search:BUDGET:ROLLOUT:OBJECTIVE, as in search:128, search:50ms or search:64:lead:points"
            )
        budget, rollout, objective = (*words[1:], *("128", "greedy", "win")[len(words) - 1 :])
        timed = budget.endswith("ms")
        number = budget[:-2] if timed else budget
        if not (number.isascii() and number.isdecimal()):
            raise ValueError(f"{text!r}: {budget!r} is no number of deals, and no time such as 50ms")
        if timed:
            return cls(rollout=rollout, objective=objective, milliseconds=int(number), guide=guide or None)
        return cls(int(number), rollout, objective, guide=guide or None)

    def bind(self, rules: Rules, num_players: int) -> SearchPolicy:
        """The search at a table of these rules; `ValueError` where its network was trained for another table."""
        bound = copy.copy(self)
        bound._tables = compile_rules(rules, num_players)
        bound.network = None if self.network is None else self.network.bind(rules, num_players)
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
        network = self.network.compiled() if isinstance(self.network, NetworkPolicy) else NO_NETWORK
        plan = self._plan(network)

        def run(part: int, parts: int) -> None:
            start, stop = count * part // parts, count * (part + 1) // parts
            rest = (
                plan,
                np.zeros(1, WORK),
                new_states(3),
                new_views(1),
                np.zeros(1, BITS),
                network,
                new_space(network),
                new_states(DEPTH),
                actions,
                values,
            )
            if self.milliseconds is None:
                search_all(tables, views, words, start, stop, self.deals, *rest)
                return
            for j in range(start, stop):
                _search_in_time(partial(search_some, tables, views, words, j), rest, self.milliseconds / 1000)

        parts = min(self.num_threads, count)
        if parts <= 1:
            run(0, 1)
        else:
            with ThreadPoolExecutor(parts, "goboom_search") as pool:
                for job in [pool.submit(run, part, parts) for part in range(parts)]:
                    job.result()
        return actions, values

    def _plan(self, network: Network) -> Records:
        plan = np.zeros(1, PLAN)
        plan["code"] = list(BOTS).index(self.rollout) if self.rollout in BOTS else BY_NETWORK
        plan["points"] = self.objective == "points"
        if self.guide is not None and isinstance(self.network, NetworkPolicy):
            plan["leaf"] = self.leaf and network.has_value and self.network.objective == self.objective
            plan["prior_deals"], plan["scale"] = self.prior_deals, self.network.logit_scale
        return plan


def _load_network(policy: Any) -> Policy:
    made = make(policy)
    if not isinstance(made, (NetworkPolicy, TrainedPolicy)):
        raise ValueError(f"{made.name!r} is no trained policy: search takes one as guide, and one or a rule bot for rollouts")
    return made


def _search_in_time(search: Callable[..., bool], rest: tuple[Any, ...], seconds: float) -> None:
    """Search a view for so long: at a quarter and at a half of the time the worse half of the actions is dropped."""
    start = time.perf_counter()
    if not search(BEGIN, *rest):
        return
    for share in (0.25, 0.5, 1.0):
        search(DEAL, *rest)
        while time.perf_counter() - start < share * seconds:
            search(DEAL, *rest)
        if share < 1.0:
            search(DROP, *rest)
    search(END, *rest)
