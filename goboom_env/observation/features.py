"""A VIEW as a feature vector: `Box(0, 1, (n,), uint8)`, one-hot and thermometer sections with names.

The kernel never sees STATE. A change of the sections raises `VERSION`, which every trained policy carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.bits import bit
from goboom_env.engine.jit import kernel
from goboom_env.engine.kernels import DRAW_LEGAL, JOKER_LEGAL, PASS_LEGAL
from goboom_env.engine.state import EACH_HAND, NONE, PASSED, ROUND, Records, compile_rules, pack_ranks
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
"""Pile family: features for 1, 2, and 3 or more cards of a hand that its `lack` says nothing of."""
DRAW_LEVELS = 3
"""The same for the cards drawn in this turn."""

_BYTES = np.array([sum((byte >> k & 1) << 8 * k for k in range(8)) for byte in range(256)], np.uint64)
_BYTES_LITTLE_ENDIAN = int(np.array([1, 0, 0, 0, 0, 0, 0, 0], np.uint8).view(np.uint64)[0]) == 1
if not _BYTES_LITTLE_ENDIAN:
    _BYTES = _BYTES.byteswap()
_SIZE_WORDS = np.array([(1 << sum(value >= low for low in SIZE_LEVELS)) - 1 for value in range(128)], np.uint64)
_STOCK_WORDS = np.array([(1 << sum(value >= low for low in STOCK_LEVELS)) - 1 for value in range(129)], np.uint64)
_EIGHT, _BYTE = np.uint64(8), np.uint64(255)
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
        "fresh": (num_players - 1) * FRESH_LEVELS if pile else 0,
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


@kernel
def put(b: Any, at: int, word: Any, width: int) -> int:
    """Write the `width` lowest bits, at most 64, of a word from bit `at` on; returns where the next begins."""
    k, shift = at >> 6, at & 63
    b["words"][k] |= word << np.uint64(shift)
    if shift + width > 64:
        b["words"][k + 1] = word >> np.uint64(64 - shift)
    return at + width


@kernel
def thermometer(value: int, levels: int) -> Any:
    """A word with its `value` lowest bits set, at most `levels` of them, none for a negative value."""
    return bit(max(0, min(value, levels))) - np.uint64(1)


@kernel
def pack_features(t: Any, v: Any, b: Any) -> int:
    """Write the features of a view as bits; returns their number, padding included."""
    n, cards, traits = int(t["num_players"]), int(t["cards"]), 4 + int(t["num_ranks"])
    jokers = int(t["jokers"])
    two = t["copies"] == 2
    for k in range(len(b["words"])):
        b["words"][k] = _ZERO
    at = np.int64(0)
    at = put(b, at, v["hand"], cards)
    if two:
        at = put(b, at, v["hand2"], cards)
    if jokers > 0:
        at = put(b, at, thermometer(int(v["jokers"]), jokers), jokers)
    at = put(b, at, v["legal"], cards)
    more = int(v["legal_more"])
    flags = (more & DRAW_LEGAL) // DRAW_LEGAL + 2 * ((more & PASS_LEGAL) // PASS_LEGAL)
    if jokers > 0:
        flags = 2 * flags + (more & JOKER_LEGAL)
        at = put(b, at, np.uint64(flags), np.int64(3))
    else:
        at = put(b, at, np.uint64(flags), np.int64(2))
    word = _ZERO if v["match"] == NONE else np.uint64(t["traits"][int(v["match"])])
    at = put(b, at, word, traits)
    if not t["pile"]:
        word = _ZERO if v["best"] == NONE else np.uint64(t["traits"][int(v["best"])])
        at = put(b, at, word, traits)
        word = _ZERO if v["best_seat"] == NONE else bit(int(v["best_seat"]))
        at = put(b, at, word, n)
        acted, passed = _ZERO, _ZERO
        for seat in range(n):
            if v["trick"][seat] != NONE:
                acted |= bit(seat)
                if v["trick"][seat] == PASSED:
                    passed |= bit(seat)
        at = put(b, at, acted | passed << np.uint64(n), 2 * n)
    at = put(b, at, v["seen"], cards)
    if two:
        at = put(b, at, v["seen2"], cards)
    if jokers > 0:
        at = put(b, at, thermometer(int(v["jokers_seen"]), jokers), jokers)
    for seat in range(n):
        at = put(b, at, _SIZE_WORDS[int(v["size"][seat])], np.int64(8))
    at = put(b, at, _STOCK_WORDS[int(v["stock"])], np.int64(8))
    for seat in range(1, n):
        at = put(b, at, np.uint64(v["lack"][seat]), traits)
    if t["pile"]:
        for seat in range(1, n):
            word = thermometer(int(v["fresh"][seat]), np.int64(FRESH_LEVELS))
            at = put(b, at, word, np.int64(FRESH_LEVELS))
    at = put(b, at, thermometer(int(v["draws"]), np.int64(DRAW_LEVELS)), np.int64(DRAW_LEVELS))
    if t["match_end"] != EACH_HAND:
        at = put(b, at, bit(int(v["dealer"])), n)
        whole = 200 if t["match_end"] == ROUND else int(t["target"])
        for seat in range(n):
            word = thermometer(int(v["score"][seat]) * SCORE_LEVELS // whole, np.int64(SCORE_LEVELS))
            at = put(b, at, word, np.int64(SCORE_LEVELS))
    if t["match_end"] == ROUND:
        at = put(b, at, bit(min(int(v["hand_number"]), n - 1)), n)
    return (at + 7) & ~7


@kernel
def write(t: Any, v: Any, b: Any, out: Any, row: int) -> None:
    """Write the features of a view into a row of `out`, the observations seen as 64-bit words, a word for eight features."""
    count = pack_features(t, v, b)
    k = 0
    while k * 8 < count:
        word = b["words"][k >> 3]
        for byte in range(min(8, (count >> 3) - k)):
            out[row, k + byte] = _BYTES[np.int64(word & _BYTE)]
            word >>= _EIGHT
        k += 8


@kernel
def write_mask(t: Any, v: Any, masks: Any, row: int) -> None:
    """Write the legal actions of a view as 0 and 1 into a row of int8 masks."""
    cards, types = int(t["cards"]), int(t["types"])
    legal, more = v["legal"], int(v["legal_more"])
    for card in range(cards):
        masks[row, card] = np.int64(legal >> np.uint64(card)) & 1
    if types > cards:
        masks[row, cards] = more & JOKER_LEGAL
    masks[row, types] = (more & DRAW_LEGAL) // DRAW_LEGAL
    masks[row, types + 1] = (more & PASS_LEGAL) // PASS_LEGAL


@kernel
def write_all(tables: Any, views: Any, bits: Any, out: Any, masks: Any) -> None:
    """Features and masks of every view."""
    for j in range(len(views)):
        write(tables[0], views[j], bits[0], out, j)
        write_mask(tables[0], views[j], masks, j)


def encode(rules: str | Rules, num_players: int, views: Records) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Observations, shape (k, size), uint8 of 0 and 1, and action masks, shape (k, actions), int8, of k views."""
    tables = compile_rules(get_rules(rules), num_players)
    observations = np.empty((len(views), size(rules, num_players)), np.uint8)
    masks = np.empty((len(views), int(tables[0]["types"]) + 2), np.int8)
    write_all(tables, views, np.zeros(1, BITS), observations.view(np.uint64), masks)
    return observations, masks
