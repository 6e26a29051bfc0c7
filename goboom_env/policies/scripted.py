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
    "flexible": "keeps suits and ranks varied, to be able to follow the cards still unseen",
    "greedy": "leads the highest card of its longest suit, wins tricks with its highest card; pile: longest suit, boom cards last",
    "lead": "keeps aces for the end, wins tricks cheaply and with one of its last two cards; pile: booms at a last card",
    "void": "as lead, and leads what others have shown they lack, above all where few cards are left; pile: also stays flexible",
    "counter": "counts the unseen cards: leads to win and to make others draw, stays flexible; pile: boom cards last",
}
"""Name and description of each rule bot; its position is its code in compiled loops."""

RANDOM, SHED, FLEXIBLE, GREEDY, LEAD, VOID, COUNTER = range(7)


@hot
def looks_at_seats(code: int) -> bool:
    """Whether a bot reads fields of the view with a number a seat; those of the others need not be cut for it."""
    return code >= LEAD


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


@hot
def card_value(code: int, t: Any, v: Any, card: int) -> int:
    """What a bot thinks of playing a card; the highest wins."""
    points = int64(t["points"][card])
    if code == SHED:
        return points
    suit = int64(t["suit"][card])
    length = popcount(v["hand"] & t["suits"][suit]) + popcount(v["hand2"] & t["suits"][suit])
    rank = int64(t["rank"][card])
    if t["pile"]:
        return pile_value(code, t, v, card, length, rank, points)
    if code == FLEXIBLE:
        return flexible_value(t, v, card, rank)
    if code == COUNTER:
        return counter_value(t, v, card, length, rank)
    if code == GREEDY:
        if v["led"] == NONE:
            return length * 100 + rank
        return 100_000 + rank if wins(t, v, card) else length * 100 - rank
    value = lead_value(t, v, card, length, rank)
    if code == VOID and v["led"] == NONE:
        value += 400 * void_bonus(t, v, suit)
    return value


@kernel
def void_bonus(t: Any, v: Any, suit: int) -> int:
    """How many other seats are known to hold nothing of a suit; seats with one or two cards count three times."""
    bonus = int64(0)
    for seat in range(1, int64(t["num_players"])):
        if v["fresh"][seat] == 0 and (int64(v["lack"][seat]) >> suit) & 1:
            bonus += 3 if v["size"][seat] <= 2 else 1
    return bonus


@kernel
def unseen_count(t: Any, v: Any, types: Any) -> int:
    """Cards of a set of types that are neither in the own hand nor played."""
    known = v["hand"] | v["seen"]
    count = popcount(types & ~known)
    if t["copies"] == 2:
        both = v["hand2"] | v["seen2"] | (v["hand"] & v["seen"])
        count += popcount(types & ~both)
    return count


@kernel
def cover(t: Any, v: Any, card: int) -> Any:
    """Types that the hand could follow once a card of it is played."""
    rest = v["hand"]
    if not v["hand2"] & bit(card):
        rest ^= bit(card)
    types = np.uint64(0)
    while rest:
        types |= t["fits"][lowest(rest)]
        rest &= rest - np.uint64(1)
    return types


@kernel
def pile_value(code: int, t: Any, v: Any, card: int, length: int, rank: int, points: int) -> int:
    """`card_value` in the pile family."""
    if (t["wild"] | t["boom"]) & bit(card):
        return boom_value(code, t, v)
    if code == GREEDY:
        return length * 1000 + rank
    if code == LEAD:
        return length * 1000 + points
    value = 100 * unseen_count(t, v, cover(t, v, card)) + 100 * length + points
    if code != FLEXIBLE and v["fresh"][1] <= 1:
        # What the next seat lacked when it drew last, it most likely still lacks.
        lack = int64(v["lack"][1])
        value += 2_000 * (((lack >> int64(t["suit"][card])) & 1) + ((lack >> (4 + rank)) & 1))
    return value


@kernel
def flexible_value(t: Any, v: Any, card: int, rank: int) -> int:
    """`card_value` of the bot `flexible` in the trick family."""
    return unseen_count(t, v, cover(t, v, card)) * 100 - rank


@kernel
def counter_value(t: Any, v: Any, card: int, length: int, rank: int) -> int:
    """`card_value` of the bot `counter` in the trick family, from the cards still unseen.

    A lead is worth the chance that it wins the trick, four times the mean number of cards that it makes another seat
    draw, and eight times the share of unseen cards that the rest of the hand can follow.
    """
    suit = int64(t["suit"][card])
    size = int64(v["size"][0])
    ace = bool(t["aces"] & bit(card))
    unseen = max(1, unseen_count(t, v, ~np.uint64(0) >> np.uint64(64 - int64(t["cards"]))))
    flexible = unseen_count(t, v, cover(t, v, card)) / unseen
    if v["led"] != NONE:
        if wins(t, v, card):
            return 200_000 + rank if size <= 2 else (1_000 if ace else 100_000) - rank
        return int64(10_000 * flexible) + length - rank - (10_000 if ace else 0)
    higher = t["suits"][suit] & ~((bit(card) << np.uint64(1)) - np.uint64(1))
    above = unseen_count(t, v, higher) / unseen
    fit = unseen_count(t, v, t["fits"][card])
    same_rank = unseen_count(t, v, t["fits"][card] & ~t["suits"][suit])
    holds, draws = 1.0, 0.0
    for seat in range(1, int64(t["num_players"])):
        void = v["fresh"][seat] == 0 and (int64(v["lack"][seat]) >> suit) & 1
        cannot = (1.0 - (same_rank if void else fit) / unseen) ** int64(v["size"][seat])
        # A seat that has to draw until it can follow may still draw a higher card.
        holds *= 1.0 - above / 2 if void else (1.0 - above) ** int64(v["size"][seat])
        draws += cannot * min(unseen / (fit + 1.0), 6.0)
    keep = 2.0 if ace and size > 2 else 0.0
    return int64(1000 * (holds + 4.0 * draws / (int64(t["num_players"]) - 1) + 8.0 * flexible - keep))


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
    if code in (LEAD, VOID):
        for seat in range(1, int64(t["num_players"])):
            if v["size"][seat] == 1:
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
