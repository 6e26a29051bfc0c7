"""Which actions are legal (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine.bits import EMPTY, bit, lowest, popcount
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.state import MAY_PLAY, NONE, PLAYING, RENEGE_DRAW, RENEGE_PASS, UNTIL

JOKER_LEGAL, DRAW_LEGAL, PASS_LEGAL = 1, 2, 4
"""Bits of `legal`'s second result."""


@hot
def can_draw(t: Any, s: Any) -> bool:
    """Whether the stock, or a reshuffle, has a card."""
    if s["stock_at"] < s["stock_end"]:
        return True
    return bool(t["reshuffle"]) and pile_below(s) > 0


@kernel
def pile_below(s: Any) -> int:
    """Cards of the pile besides the one to match."""
    count = popcount(s["played"]) + popcount(s["played2"]) + int64(s["jokers_played"])
    return count - 1 if s["top"] != NONE else count


@hot
def legal(t: Any, s: Any) -> tuple[Any, int]:
    """Legal actions of the seat to act: the set of card types, and bits for joker, draw and pass. Nothing after a hand."""
    if s["status"] != PLAYING:
        return EMPTY, 0
    hand = s["hand"][int64(s["turn"])]
    if t["pile"]:
        return legal_pile(t, s, hand)
    if s["led"] == NONE:
        return hand, 0
    fit = hand & t["fits"][int64(s["match"])]
    draws = int64(s["draws"])
    if t["draw"] == MAY_PLAY and draws > 0:
        # One card drawn: it may be played, or the turn ends.
        return fit & bit(int64(s["drawn"])), PASS_LEGAL
    drawable = draw_allowed(t, s)
    if t["renege"] == RENEGE_DRAW:
        if drawable:
            return fit, DRAW_LEGAL
        return fit, 0 if fit else PASS_LEGAL
    if draws > 0:
        fit &= bit(int64(s["drawn"]))  # a drawn card that fits is the only legal card (decision 3)
    if fit:
        return fit, PASS_LEGAL if t["renege"] == RENEGE_PASS else 0
    return fit, DRAW_LEGAL if drawable else PASS_LEGAL


@hot
def draw_allowed(t: Any, s: Any) -> bool:
    """Whether the seat to act may draw as far as draw limits and the stock go."""
    draws = int64(s["draws"])
    if t["draw"] != UNTIL and draws > 0:
        return False
    if t["draw_limit"] > 0 and draws >= t["draw_limit"]:
        return False
    return can_draw(t, s)


@hot
def legal_pile(t: Any, s: Any, hand: Any) -> tuple[Any, int]:
    """`legal` in the pile family."""
    joker = JOKER_LEGAL if s["jokers"][int64(s["turn"])] > 0 else 0
    fit = hand if s["match"] == NONE else hand & t["fits"][int64(s["match"])]
    wild = hand & t["wild"]
    if s["draws"] > 0:
        drawn = int64(s["drawn"])
        natural = drawn < int64(t["cards"])
        if t["draw"] == MAY_PLAY:
            if natural:
                return (fit | wild) & bit(drawn), PASS_LEGAL
            return EMPTY, JOKER_LEGAL | PASS_LEGAL
        if natural and fit & bit(drawn):
            return bit(drawn), 0
    if fit:
        return fit | wild, joker
    drawable = draw_allowed(t, s)
    if wild or joker:
        # A boom card but no match: play it or draw; with nothing to draw it must be played (decision 9).
        return wild, joker | DRAW_LEGAL if drawable else joker
    return EMPTY, DRAW_LEGAL if drawable else PASS_LEGAL


@kernel
def is_legal(t: Any, s: Any, action: int) -> bool:
    """Whether the seat to act may take that action; False for any number that is no action."""
    cards, more = legal(t, s)
    return is_among(t, cards, more, action)


@hot
def is_among(t: Any, cards: Any, more: int, action: int) -> bool:
    """Whether an action is one of those that `legal` gave."""
    types = int64(t["types"])
    if action < 0 or action > types + 1:
        return False
    if action < int64(t["cards"]):
        return bool(cards & bit(action))
    if action < types:
        return more & JOKER_LEGAL != 0
    return more & (DRAW_LEGAL if action == types else PASS_LEGAL) != 0


@hot
def only_action(t: Any, cards: Any, more: int) -> int:
    """The action, if `legal` gave exactly one, else -1."""
    types = int64(t["types"])
    if more == 0:
        return lowest(cards) if cards and not cards & (cards - np.uint64(1)) else -1
    if cards:
        return -1
    if more == DRAW_LEGAL:
        return types
    if more == PASS_LEGAL:
        return types + 1
    return types - 1 if more == JOKER_LEGAL else -1
