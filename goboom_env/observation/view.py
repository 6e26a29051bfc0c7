"""VIEW: what one seat may know, and the cut from STATE to it: the only place that takes hidden information away.

Seats in a VIEW are relative: 0 is the seat itself, 1 the next clockwise, and so on. A reshuffle of the other hands and
the stock leaves a VIEW unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine.bits import EMPTY, at
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.kernels import legal
from goboom_env.engine.state import NONE, PASSED, Records
from goboom_env.rules import MAX_PLAYERS

VIEW = np.dtype(
    [
        ("hand", np.uint64),  # types held at least once, as a set
        ("hand2", np.uint64),  # types held twice
        ("legal", np.uint64),  # types that may be played now; empty when another seat is to act
        ("seen", np.uint64),  # types played since the deal or the last reshuffle
        ("seen2", np.uint64),  # types of which both copies were
        ("lack", np.uint32, MAX_PLAYERS),  # suits (bit 0-3) and ranks (bit 4-19) absent from all but `fresh` cards of a hand
        ("score", np.int32, MAX_PLAYERS),
        ("stock", np.int16),  # cards in the stock
        ("hand_number", np.int16),  # in the match, from 0
        ("legal_more", np.int8),  # kernels.JOKER_LEGAL, DRAW_LEGAL, PASS_LEGAL
        ("jokers", np.int8),  # own jokers
        ("jokers_seen", np.int8),  # jokers played
        ("match", np.int8),  # type to match; NONE for a leader or when anything goes
        ("led", np.int8),  # trick family: type led, NONE before
        ("best", np.int8),  # trick family: type winning the trick, NONE before a lead
        ("best_seat", np.int8),  # trick family: seat winning the trick, NONE before a lead
        ("draws", np.int8),  # cards the seat to act drew in this turn
        ("drawn", np.int8),  # type drawn last in this turn, NONE if none or not one's own turn
        ("turn", np.int8),  # seat to act
        ("dealer", np.int8),
        ("seat", np.int8),  # absolute number of the viewing seat
        ("tricks", np.int8),  # tricks finished in this hand
        ("acted", np.int16),  # seats that played or sat out in this trick, seat k as bit k
        ("passed", np.int16),  # those of them that sat out
        ("size", np.int8, MAX_PLAYERS),  # cards in each hand
        ("fresh", np.int8, MAX_PLAYERS),  # cards of a hand that `lack` says nothing of
        ("trick", np.int8, MAX_PLAYERS),  # type played to this trick, PASSED, or NONE before the seat's turn
    ],
    align=True,
)


@kernel
def cut(t: Any, s: Any, seat: int, v: Any) -> None:
    """Write what `seat` may know of the table into the view."""
    cards, more = EMPTY, int64(0)
    if seat == int64(s["turn"]):
        cards, more = legal(t, s)
    cut_with(t, s, seat, cards, more, v)


@hot
def cut_with(t: Any, s: Any, seat: int, cards: Any, more: int, v: Any) -> None:
    """`cut` where the seat's legal actions are known already."""
    cut_own(t, s, seat, cards, more, v)
    cut_seats(t, s, seat, v)


@hot
def cut_own(t: Any, s: Any, seat: int, cards: Any, more: int, v: Any) -> None:
    """The fields of the view that are one number, not one a seat: all that many bots look at."""
    n = int64(t["num_players"])
    v["hand"] = s["hand"][at(seat)]
    v["hand2"] = s["hand2"][at(seat)]
    v["jokers"] = s["jokers"][at(seat)]
    v["legal"] = cards
    v["legal_more"] = more
    v["seen"] = s["played"]
    v["seen2"] = s["played2"]
    v["jokers_seen"] = s["jokers_played"]
    v["stock"] = s["stock_end"] - s["stock_at"]
    v["hand_number"] = s["hand_number"]
    v["match"] = s["match"]
    v["led"] = s["led"]
    v["best"] = s["best"]
    v["best_seat"] = relative(int64(s["best_seat"]), seat, n) if s["led"] != NONE else NONE
    v["draws"] = s["draws"]
    v["drawn"] = s["drawn"] if s["turn"] == seat else NONE
    v["turn"] = relative(int64(s["turn"]), seat, n)
    v["dealer"] = relative(int64(s["dealer"]), seat, n)
    v["seat"] = seat
    v["tricks"] = s["tricks"]


@hot
def cut_seats(t: Any, s: Any, seat: int, v: Any) -> None:
    """The fields of the view that have a number a seat, and those made of them."""
    n = int64(t["num_players"])
    other = seat
    acted, passed = int64(0), int64(0)
    for k in range(n):
        i = at(other)
        played = int64(s["trick"][i])
        # Without branches: who has played is as good as random.
        acted |= int64(played != NONE) << k
        passed |= int64(played == PASSED) << k
        v["trick"][k] = played
        v["lack"][k] = s["lack"][i]
        v["score"][k] = s["score"][i]
        v["size"][k] = s["size"][i]
        v["fresh"][k] = s["fresh"][i]
        other = other + 1 if other + 1 < n else 0
    v["acted"] = acted
    v["passed"] = passed


@hot
def relative(other: int, seat: int, n: int) -> int:
    """A seat's number as `seat` counts."""
    return other - seat if other >= seat else other - seat + n


def new_views(count: int) -> Records:
    """`count` empty VIEW records."""
    return np.zeros(count, VIEW)
