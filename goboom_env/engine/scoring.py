"""The end of a hand: blocked hands, scores, matches, payoffs (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine.bits import lowest
from goboom_env.engine.jit import kernel
from goboom_env.engine.legal import can_draw
from goboom_env.engine.state import DIFFERENCE, EACH_HAND, HAND_OVER, MATCH_OVER, NONE, OWN, PENALTY, SETTLE, TO_TARGET


@kernel
def is_blocked(t: Any, s: Any) -> bool:
    """Pile family: nothing to draw and no seat with a legal card (decision 4)."""
    if can_draw(t, s):
        return False
    playable = t["wild"]
    if s["match"] == NONE:
        return False
    playable |= t["fits"][int64(s["match"])]
    for seat in range(int64(t["num_players"])):
        if s["hand"][seat] & playable or s["jokers"][seat] > 0:
            return False
    return True


@kernel
def finish(t: Any, s: Any, winner: int) -> None:
    """Score a hand that `winner` (NONE when blocked) ended, add to the match, and settle who deals and leads next."""
    n = int64(t["num_players"])
    s["winner"] = winner
    if not t["pile"]:
        s["tricks"] += 1
    total = 0
    lowest_left, at_lowest = 1 << 20, 0
    for seat in range(n):
        left = int64(s["jokers"][seat]) * int64(t["points"][int64(t["cards"])])
        for word in (s["hand"][seat], s["hand2"][seat]):
            rest = word
            while rest:
                left += int64(t["points"][lowest(rest)])
                rest &= rest - np.uint64(1)
        s["left"][seat] = left
        total += left
        if left < lowest_left:
            lowest_left, at_lowest = left, 0
        if left == lowest_left:
            at_lowest += 1
    scoring = int64(t["scoring"])
    for seat in range(n):
        left = int64(s["left"][seat])
        delta = 0
        if winner != NONE:
            if scoring == PENALTY:
                delta = left
            elif seat == winner:
                delta = total - left
            elif scoring == SETTLE:
                delta = -left
        elif t["blocked"] == OWN:
            delta = left if scoring == PENALTY else -left
        elif t["blocked"] == DIFFERENCE and at_lowest == 1:
            if scoring == PENALTY:
                delta = left - lowest_left
            elif left == lowest_left:
                delta = total - n * lowest_left
            elif scoring == SETTLE:
                delta = lowest_left - left
        s["delta"][seat] = delta
        s["score"][seat] += delta
    end_match(t, s)


@kernel
def end_match(t: Any, s: Any) -> None:
    """Whether the match is over, tested after a hand only (decision 12), and who leads the next."""
    n = int64(t["num_players"])
    over = t["match_end"] == EACH_HAND
    if t["match_end"] == TO_TARGET:
        for seat in range(n):
            if s["score"][seat] >= t["target"]:
                over = True
    elif not over:
        over = int64(s["hand_number"]) + 1 >= n
    s["status"] = MATCH_OVER if over else HAND_OVER
    s["next_leader"] = int64(s["best_seat"]) if t["last_trick_leads"] else (int64(s["dealer"]) + 2) % n


@kernel
def is_match_winner(t: Any, s: Any, seat: int) -> bool:
    """Whether a seat has the best score, alone or with others: the lowest under penalty scoring, else the highest."""
    for other in range(int64(t["num_players"])):
        if t["scoring"] == PENALTY:
            if s["score"][other] < s["score"][seat]:
                return False
        elif s["score"][other] > s["score"][seat]:
            return False
    return True


@kernel
def score_payoff(t: Any, points: Any, seat: int) -> float:
    """Own points less the mean of the others', penalties counted negative, divided by 100."""
    n = int64(t["num_players"])
    others = 0
    for other in range(n):
        if other != seat:
            others += int64(points[other])
    value = (int64(points[seat]) - others / (n - 1)) / 100.0
    return -value if t["scoring"] == PENALTY else value
