"""Rule bots, compiled: one function that scores the legal cards of a VIEW for each bot.

Every bot plays a card when it can, draws when it cannot, and passes last. Ties go to the higher card number, and from a joker to the card.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine.bits import bit, lowest, nth, popcount
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.kernels import DRAW_LEGAL, JOKER_LEGAL, PASS_LEGAL
from goboom_env.engine.rng import below
from goboom_env.engine.state import NONE, Records, compile_rules
from goboom_env.policies.base import Policy
from goboom_env.rules import Rules

BOTS = {
    "random": "any legal action with equal chance",
    "shed": "the most card points first",
    "greedy": "leads the highest card of its longest suit, wins tricks with its highest card; pile: longest suit, boom cards last",
    "lead": "keeps aces for the end, wins tricks cheaply and with one of its last two cards; pile: booms at short hands",
}
"""Name and description of each rule bot; its position is its code in compiled loops."""

RANDOM, SHED, GREEDY, LEAD = range(4)


@kernel
def choose(code: int, t: Any, v: Any, word: Any) -> int:
    """The action of a rule bot from a view; `word` is 64 random bits of the table's policy stream."""
    legal, more = v["legal"], int64(v["legal_more"])
    types = int64(t["types"])
    if code == RANDOM:
        return choose_random(legal, more, types, word)
    best, action = int64(-1 << 40), -1
    while legal:
        card = lowest(legal)
        legal &= legal - np.uint64(1)
        value = card_value(code, t, v, card)
        if value >= best:
            best, action = value, card
    if more & JOKER_LEGAL and boom_value(code, t, v) > best:
        return types - 1
    if action >= 0:
        return action
    return types if more & DRAW_LEGAL else types + 1


@hot
def choose_random(legal: Any, more: int, types: int, word: Any) -> int:
    """A legal action, each with equal chance."""
    cards = popcount(legal)
    others = (more & JOKER_LEGAL) + (more & DRAW_LEGAL) // DRAW_LEGAL + (more & PASS_LEGAL) // PASS_LEGAL
    index = below(word, cards + others)
    if index < cards:
        return nth(legal, index)
    index -= cards
    if more & JOKER_LEGAL:
        if index == 0:
            return types - 1
        index -= 1
    return types if more & DRAW_LEGAL and index == 0 else types + 1


@kernel
def card_value(code: int, t: Any, v: Any, card: int) -> int:
    """What a bot thinks of playing a card; the highest wins."""
    points = int64(t["points"][card])
    if code == SHED:
        return points
    suit = int64(t["suit"][card])
    length = popcount(v["hand"] & t["suits"][suit]) + popcount(v["hand2"] & t["suits"][suit])
    rank = int64(t["rank"][card])
    if t["pile"]:
        wild = bool((t["wild"] | t["boom"]) & bit(card))
        if wild:
            return boom_value(code, t, v)
        return length * 1000 + (points if code == LEAD else rank)
    if code == GREEDY:
        if v["led"] == NONE:
            return length * 100 + rank
        return 100_000 + rank if wins(t, v, card) else length * 100 - rank
    return lead_value(t, v, card, length, rank)


@kernel
def lead_value(t: Any, v: Any, card: int, length: int, rank: int) -> int:
    """`card_value` of the bot `lead` in the trick family."""
    ace = bool(t["aces"] & bit(card))
    size = int64(v["size"][0])
    if v["led"] == NONE:
        if size <= 2:
            return rank  # the surest card to win with; the other goes out on the next lead
        return length * 100 + rank - (10_000 if ace else 0)
    if wins(t, v, card):
        if size <= 2:
            return 200_000 + rank
        return (1_000 if ace else 100_000) - rank
    return length * 100 - rank - (10_000 if ace else 0)


@hot
def wins(t: Any, v: Any, card: int) -> bool:
    """Whether a card would outrank all played to the trick so far."""
    best = int64(v["best"])
    return bool(t["rank"][card] > t["rank"][best] and (t["winner_any"] or t["suit"][card] == t["suit"][best]))


@kernel
def boom_value(code: int, t: Any, v: Any) -> int:
    """What a bot thinks of playing a joker, or an ace that is wild or booms."""
    if code == SHED:
        return int64(t["points"][int64(t["cards"])])
    if code == LEAD:
        for seat in range(1, int64(t["num_players"])):
            if v["size"][seat] <= 2:
                return 1_000_000
    return -1_000_000


@kernel
def choose_all(code: int, tables: Any, views: Any, words: Any, actions: Any) -> None:
    """`choose` for every view."""
    for j in range(len(views)):
        actions[j] = choose(code, tables[0], views[j], words[j])


class ScriptedPolicy(Policy):
    """A rule bot by name; at a table it runs inside the compiled loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.code = list(BOTS).index(name)
        self._tables: Records | None = None

    def bind(self, rules: Rules, num_players: int) -> ScriptedPolicy:
        """The bot with the rules as kernels take them."""
        bound = ScriptedPolicy(self.name)
        bound._tables = compile_rules(rules, num_players)
        return bound

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The bot's choice in each view."""
        if self._tables is None:
            raise RuntimeError(f"policy {self.name!r} is not bound to rules: use the result of .bind(rules, num_players)")
        actions = np.empty(len(views), np.int64)
        choose_all(self.code, self._tables, views, np.ascontiguousarray(rng), actions)
        return actions
