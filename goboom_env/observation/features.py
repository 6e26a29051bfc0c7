"""A VIEW as a feature vector: `Box(0, 1, (n,), uint8)`, one-hot and thermometer sections with names.

The kernel never sees STATE. A change of the sections raises `VERSION`, which every trained policy carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine.bits import at, bit, spread64, spread_bits
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.kernels import DRAW_LEGAL, JOKER_LEGAL, PASS_LEGAL
from goboom_env.engine.state import EACH_HAND, NONE, ROUND, Records, compile_rules, pack_ranks
from goboom_env.rules import Rules, get_rules

VERSION = 1
"""Version of the observation."""

SIZE_LEVELS = (1, 2, 3, 4, 5, 7, 10, 15)
"""A hand's size as a thermometer: feature k is set when the hand has at least this many cards."""
STOCK_LEVELS = (1, 2, 4, 8, 12, 18, 26, 40)
"""The same for the stock."""
SCORE_LEVELS = 6
"""A score as a thermometer: feature k of 6 is set from k + 1 sixths of the target on (of 200 points without a target)."""
FRESH_LEVELS = 3
"""Where a hand may hold cards that its `lack` says nothing of: features for 1, 2, and 3 or more of them."""
DRAW_LEVELS = 3
"""The same for the cards drawn in this turn."""

_SIZE_WORDS = np.array([(1 << sum(value >= low for low in SIZE_LEVELS)) - 1 for value in range(128)], np.uint64)
_STOCK_WORDS = np.array([(1 << sum(value >= low for low in STOCK_LEVELS)) - 1 for value in range(129)], np.uint64)
_ZERO = np.uint64(0)


def layout(rules: str | Rules, num_players: int) -> dict[str, slice]:
    """Name and place of every section of the observation at a table, in order.

    `hand` and `seen` hold a feature a card type, in the numbering of actions, `legal` one an action. Sections of several
    seats begin with the acting seat's next neighbour (`lack`) or with the acting seat (all others). `pad` is always 0.

    Raises:
        ValueError: Unknown preset or impossible player count.
    """
    rules = get_rules(rules)
    pack = rules.pack_for(num_players)
    cards, traits, pile = len(pack.cards), 4 + len(pack_ranks(pack)), rules.family == "pile"
    widths = {
        "hand": cards,
        "hand_second": cards * (pack.copies - 1),
        "jokers": pack.jokers,
        "legal": len(pack.types) + 2,
        "match": traits,
        "best": 0 if pile else traits,
        "best_seat": 0 if pile else num_players,
        "acted": 0 if pile else num_players,
        "passed": 0 if pile else num_players,
        "seen": cards,
        "seen_second": cards * (pack.copies - 1),
        "jokers_seen": pack.jokers,
        "size": num_players * len(SIZE_LEVELS),
        "stock": len(STOCK_LEVELS),
        "lack": (num_players - 1) * traits,
        "fresh": (num_players - 1) * FRESH_LEVELS if compile_rules(rules, num_players)[0]["fresh_cards"] else 0,
        "draws": DRAW_LEVELS,
        "dealer": 0 if rules.match_end == "hand" else num_players,
        "score": 0 if rules.match_end == "hand" else num_players * SCORE_LEVELS,
        "hand_number": num_players if rules.match_end == "round" else 0,
    }
    widths["pad"] = -sum(widths.values()) % 8
    sections, start = {}, 0
    for name, width in widths.items():
        if width:
            sections[name] = slice(start, start + width)
            start += width
    return sections


def size(rules: str | Rules, num_players: int) -> int:
    """Length of the observation at a table, a multiple of 8."""
    return max(section.stop for section in layout(rules, num_players).values())


BITS = np.dtype([("words", np.uint64, 24)])
"""The features as bits, feature k in bit k % 64 of word k // 64."""


@hot
def put(b: Any, k: int, pending: Any, filled: int, word: Any, width: int) -> tuple[int, Any, int]:
    """Append the `width` lowest bits, at most 64, of a word; `pending` holds the first `filled` bits of word k to come."""
    pending |= word << np.uint64(filled)
    if filled + width < 64:
        return k, pending, filled + width
    b["words"][k] = pending
    # Two shifts, since one by 64 is undefined.
    return k + 1, (word >> np.uint64(1)) >> np.uint64(63 - filled), filled + width - 64


@hot
def thermometer(value: int, levels: int) -> Any:
    """A word with its `value` lowest bits set, at most `levels` of them, none for a negative value."""
    return bit(max(0, min(value, levels))) - np.uint64(1)


@hot
def pack_features(t: Any, v: Any, b: Any) -> None:
    """Write the features of a view as bits. Sections that fit a word together are put together: every `put` costs a branch."""
    n, cards, traits = int64(t["num_players"]), int64(t["cards"]), 4 + int64(t["num_ranks"])
    jokers = int64(t["jokers"])
    two = t["copies"] == 2
    k, pending, filled = int64(0), _ZERO, int64(0)
    k, pending, filled = put(b, k, pending, filled, v["hand"], cards)
    if two:
        k, pending, filled = put(b, k, pending, filled, v["hand2"], cards)
    if jokers > 0:
        k, pending, filled = put(b, k, pending, filled, thermometer(int64(v["jokers"]), jokers), jokers)
    k, pending, filled = put(b, k, pending, filled, action_bits(t, v["legal"], int64(v["legal_more"])), int64(t["types"]) + 2)
    word = _ZERO if v["match"] == NONE else np.uint64(t["traits"][at(v["match"])])
    if t["pile"]:
        k, pending, filled = put(b, k, pending, filled, word, traits)
    else:
        if v["best"] != NONE:
            word |= np.uint64(t["traits"][at(v["best"])]) << np.uint64(traits)
        k, pending, filled = put(b, k, pending, filled, word, 2 * traits)
        word = _ZERO if v["best_seat"] == NONE else bit(int64(v["best_seat"]))
        word |= (np.uint64(v["acted"]) | np.uint64(v["passed"]) << np.uint64(n)) << np.uint64(n)
        k, pending, filled = put(b, k, pending, filled, word, 3 * n)
    k, pending, filled = put(b, k, pending, filled, v["seen"], cards)
    if two:
        k, pending, filled = put(b, k, pending, filled, v["seen2"], cards)
    if jokers > 0:
        k, pending, filled = put(b, k, pending, filled, thermometer(int64(v["jokers_seen"]), jokers), jokers)
    word, width = _ZERO, int64(0)
    for seat in range(n):
        word |= _SIZE_WORDS[at(v["size"][seat])] << np.uint64(width)
        width += 8
        if width == 56:
            k, pending, filled = put(b, k, pending, filled, word, width)
            word, width = _ZERO, int64(0)
    word |= _STOCK_WORDS[at(v["stock"])] << np.uint64(width)
    k, pending, filled = put(b, k, pending, filled, word, width + 8)
    word, width = _ZERO, int64(0)
    for seat in range(1, n):
        word |= np.uint64(v["lack"][seat]) << np.uint64(width)
        width += traits
        if width + traits > 64:
            k, pending, filled = put(b, k, pending, filled, word, width)
            word, width = _ZERO, int64(0)
    k, pending, filled = put(b, k, pending, filled, word, width)
    word, width = _ZERO, int64(0)
    if t["fresh_cards"]:
        for seat in range(1, n):
            word |= thermometer(int64(v["fresh"][seat]), int64(FRESH_LEVELS)) << np.uint64(width)
            width += FRESH_LEVELS
    word |= thermometer(int64(v["draws"]), int64(DRAW_LEVELS)) << np.uint64(width)
    width += DRAW_LEVELS
    if t["match_end"] != EACH_HAND:
        word |= bit(int64(v["dealer"])) << np.uint64(width)
        k, pending, filled = put(b, k, pending, filled, word, width + n)
        whole = 200 if t["match_end"] == ROUND else int64(t["target"])
        word, width = _ZERO, int64(0)
        for seat in range(n):
            score = int64(v["score"][seat])
            if score > 0:
                word |= thermometer(score * SCORE_LEVELS // whole, int64(SCORE_LEVELS)) << np.uint64(width)
            width += SCORE_LEVELS
            if width == 10 * SCORE_LEVELS:
                k, pending, filled = put(b, k, pending, filled, word, width)
                word, width = _ZERO, int64(0)
        if t["match_end"] == ROUND:
            k, pending, filled = put(b, k, pending, filled, word, width)
            word, width = bit(min(int64(v["hand_number"]), n - 1)), n
    k, pending, filled = put(b, k, pending, filled, word, width)
    b["words"][k] = pending


@hot
def action_bits(t: Any, legal: Any, more: int) -> Any:
    """Legal actions, as `kernels.legal` gives them, with action k as bit k."""
    others = (more & DRAW_LEGAL) // DRAW_LEGAL + 2 * ((more & PASS_LEGAL) // PASS_LEGAL)
    if t["jokers"] > 0:
        others = 2 * others + (more & JOKER_LEGAL)
    return legal | np.uint64(others) << np.uint64(int64(t["cards"]))


@hot
def expand(b: Any, out: Any, row: int) -> None:
    """Write packed features as bytes into a row of `out`, observations of shape (k, features)."""
    width = out.shape[1]
    whole = width >> 6
    for k in range(whole):
        spread64(out, row * width + 64 * k, b["words"][k])
    spread_bits(out, row * width + 64 * whole, b["words"][whole], width & 63)


@hot
def write_mask(t: Any, legal: Any, more: int, masks: Any, row: int) -> None:
    """Write legal actions, as `kernels.legal` gives them, as 0 and 1 into a row of contiguous int8 masks."""
    width = masks.shape[1]
    spread_bits(masks, row * width, action_bits(t, legal, more), width)


@kernel
def write_all(tables: Any, views: Any, bits: Any, out: Any, masks: Any) -> None:
    """Features and masks of every view."""
    t, b = tables[0], bits[0]
    for j in range(len(views)):
        v = views[j]
        pack_features(t, v, b)
        expand(b, out, j)
        write_mask(t, v["legal"], int64(v["legal_more"]), masks, j)


def encode(rules: str | Rules, num_players: int, views: Records) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Observations, shape (k, size), uint8 of 0 and 1, and action masks, shape (k, actions), int8, of k views."""
    tables = compile_rules(get_rules(rules), num_players)
    observations = np.empty((len(views), size(rules, num_players)), np.uint8)
    masks = np.empty((len(views), int(tables[0]["types"]) + 2), np.int8)
    write_all(tables, views, np.zeros(1, BITS), observations, masks)
    return observations, masks
