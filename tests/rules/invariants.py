"""Checks of every decision of random play, compiled so that they can look at millions."""

from __future__ import annotations

from typing import Any

import numpy as np

from goboom_env.engine import kernels
from goboom_env.engine.bits import bit
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import next_word, shuffle
from goboom_env.engine.state import DIFFERENCE, PENALTY, PLAYING, SETTLE
from goboom_env.observation.features import pack_features, write_mask
from goboom_env.observation.view import cut
from goboom_env.policies.scripted import choose_random

FAULTS = ("none", "cards not conserved", "mask is not what the engine accepts", "empty mask", "view shows hidden cards", "endless hand")
CONSERVED, MASK, EMPTY_MASK, PEEK, ENDLESS = 1, 2, 3, 4, 5
MOST_ACTIONS = 1200


@kernel
def conserved(t: Any, s: Any) -> bool:
    """Whether hands, stock and played cards are the pack, and sizes those of the hands."""
    n, cards = int(t["num_players"]), int(t["cards"])
    jokers = int(s["jokers_played"])
    counts = np.zeros(64, np.int64)
    for k in range(int(s["stock_at"]), int(s["stock_end"])):
        card = int(s["deck"][k])
        if card < cards:
            counts[card] += 1
        else:
            jokers += 1
    for seat in range(n):
        size = int(s["jokers"][seat])
        jokers += size
        for card in range(cards):
            held = int((s["hand"][seat] & bit(card)) != 0) + int((s["hand2"][seat] & bit(card)) != 0)
            counts[card] += held
            size += held
        if size != int(s["size"][seat]):
            return False
    for card in range(cards):
        counts[card] += int((s["played"] & bit(card)) != 0) + int((s["played2"] & bit(card)) != 0)
        if counts[card] != t["copies"]:
            return False
    return jokers == int(t["jokers"])


@kernel
def deal_hidden(t: Any, s: Any, seat: int, stream: Any) -> None:
    """Shuffle all cards that `seat` cannot see, and deal them back to the other hands and the stock."""
    n, cards = int(t["num_players"]), int(t["cards"])
    hidden = np.zeros(128, np.int64)
    count = 0
    for k in range(int(s["stock_at"]), int(s["stock_end"])):
        hidden[count] = s["deck"][k]
        count += 1
    for other in range(n):
        if other != seat:
            for _ in range(int(s["jokers"][other])):
                hidden[count] = cards
                count += 1
            for card in range(cards):
                for word in (s["hand"][other], s["hand2"][other]):
                    if word & bit(card):
                        hidden[count] = card
                        count += 1
            s["hand"][other] = 0
            s["hand2"][other] = 0
            s["jokers"][other] = 0
    shuffle(hidden, np.int64(0), count, stream)
    for k in range(int(s["stock_at"]), int(s["stock_end"])):
        count -= 1
        s["deck"][k] = hidden[count]
    for other in range(n):
        if other != seat:
            size = int(s["size"][other])
            s["size"][other] = 0
            for _ in range(size):
                count -= 1
                kernels.take(t, s, other, hidden[count])


@kernel
def check_hands(tables: Any, states: Any, count: int, views: Any, bits: Any, masks: Any) -> int:
    """Play `count` hands with random actions on states[0]; the first fault found, or 0."""
    t, s = tables[0], states[0]
    actions = int(t["types"]) + 2
    stream = np.array([11, 12], np.uint64)
    for _ in range(count):
        kernels.start_match(t, s)
        kernels.shuffle_deck(t, s)
        kernels.deal(t, s)
        steps = 0
        while s["status"] == PLAYING:
            if not conserved(t, s):
                return CONSERVED
            seat = int(s["turn"])
            cut(t, s, seat, views[0])
            write_mask(t, views[0]["legal"], int(views[0]["legal_more"]), masks, 0)
            legal = 0
            for action in range(-2, actions + 2):
                expected = 0 <= action < actions and masks[0, max(0, min(action, actions - 1))] == 1
                if kernels.is_legal(t, s, action) != expected:
                    return MASK
                legal += expected
            if legal == 0:
                return EMPTY_MASK
            pack_features(t, views[0], bits[0])
            states[1] = states[0]
            deal_hidden(t, states[1], seat, stream)
            cut(t, states[1], seat, views[1])
            pack_features(t, views[1], bits[1])
            if not same_view(views[0], views[1]):
                return PEEK
            for k in range(len(bits[0]["words"])):
                if bits[0]["words"][k] != bits[1]["words"][k]:
                    return PEEK
            cards, more = kernels.legal(t, s)
            kernels.apply(t, s, choose_random(cards, more, int(t["types"]), next_word(s["policy_stream"])))
            steps += 1
            if steps > MOST_ACTIONS:
                return ENDLESS
        if not conserved(t, s):
            return CONSERVED
        total, left = 0, 0
        for seat in range(int(t["num_players"])):
            total += int(s["delta"][seat])
            left += int(s["left"][seat])
        if t["scoring"] == SETTLE and total != 0:
            return 10
        if t["scoring"] == PENALTY and t["blocked"] != DIFFERENCE and total != left:
            return 11
        if t["scoring"] != SETTLE and t["scoring"] != PENALTY and not t["pile"] and total != left:
            return 12
    return 0


@kernel
def same_view(a: Any, b: Any) -> bool:
    """Whether two views say the same in every field that hidden cards could change."""
    same = a["hand"] == b["hand"] and a["hand2"] == b["hand2"] and a["legal"] == b["legal"] and a["legal_more"] == b["legal_more"]
    same = same and a["seen"] == b["seen"] and a["seen2"] == b["seen2"] and a["jokers"] == b["jokers"] and a["stock"] == b["stock"]
    same = same and a["jokers_seen"] == b["jokers_seen"] and a["match"] == b["match"] and a["best"] == b["best"] and a["led"] == b["led"]
    same = same and a["drawn"] == b["drawn"] and a["draws"] == b["draws"] and a["turn"] == b["turn"] and a["best_seat"] == b["best_seat"]
    for seat in range(len(a["size"])):
        same = same and a["size"][seat] == b["size"][seat] and a["lack"][seat] == b["lack"][seat] and a["fresh"][seat] == b["fresh"][seat]
        same = same and a["trick"][seat] == b["trick"][seat] and a["acted"] == b["acted"] and a["passed"] == b["passed"]
        same = same and a["score"][seat] == b["score"][seat]
    return bool(same)
