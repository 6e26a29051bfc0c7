"""Tables that a view may be of (compiled): what it shows, and the unseen cards dealt at random as far as it allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine import kernels
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.rng import below, next_word, shuffle
from goboom_env.engine.state import NONE

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
