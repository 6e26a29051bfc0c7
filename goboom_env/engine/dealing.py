"""Matches and hands from the shuffle to the first turn (compiled)."""

from __future__ import annotations

from typing import Any

from numpy import int64

from goboom_env.engine.bits import EMPTY, bit
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.rng import below, next_word, shuffle
from goboom_env.engine.scoring import finish, is_blocked
from goboom_env.engine.state import HAND_OVER, NONE, PLAYING


@kernel
def start_match(t: Any, s: Any) -> None:
    """Clear the scores and draw the first dealer, by lot as a low cut does (decision 14). Deal next."""
    n = int64(t["num_players"])
    for seat in range(n):
        s["score"][seat] = 0
    s["hand_number"] = 0
    dealer = below(next_word(s["deal_stream"]), n)
    s["dealer"] = dealer
    s["next_leader"] = (dealer + 1) % n
    s["status"] = HAND_OVER


@kernel
def next_hand(t: Any, s: Any) -> None:
    """Pass deal and lead on after a hand. Deal next."""
    s["hand_number"] += 1
    s["dealer"] = (int64(s["dealer"]) + 1) % int64(t["num_players"])


@kernel
def shuffle_deck(t: Any, s: Any) -> None:
    """A whole pack into the deck, shuffled; always the same number of words of the deal stream."""
    size = int64(t["pack_size"])
    s["deck"][:size] = t["deck"][:size]
    shuffle(s["deck"], int64(0), size, s["deal_stream"])
    s["reshuffle_stream"][0] = next_word(s["deal_stream"])
    s["reshuffle_stream"][1] = next_word(s["deal_stream"])


@kernel
def deal(t: Any, s: Any) -> None:
    """Deal from the deck as it lies: one card each round by round from the dealer's left; in the pile family turn one up."""
    n = int64(t["num_players"])
    clear_hand(t, s)
    position = 0
    seat = int64(s["dealer"])
    for _ in range(int64(t["hand_size"]) * n):
        seat = seat + 1 if seat + 1 < n else 0
        take(t, s, seat, int64(s["deck"][position]))
        position += 1
    s["stock_at"] = position
    s["stock_end"] = int64(t["pack_size"])
    s["leader"] = s["next_leader"]
    s["turn"] = s["next_leader"]
    if t["pile"]:
        turn_up(t, s)
        if is_blocked(t, s):
            finish(t, s, int64(NONE))


@kernel
def clear_hand(t: Any, s: Any) -> None:
    """Empty hands, stock, trick and pile; keeps streams, scores, dealer and leader."""
    for seat in range(int64(t["num_players"])):
        s["hand"][seat] = EMPTY
        s["hand2"][seat] = EMPTY
        s["lack"][seat] = 0
        s["jokers"][seat] = 0
        s["size"][seat] = 0
        s["fresh"][seat] = 0
        s["trick"][seat] = NONE
        s["delta"][seat] = 0
        s["left"][seat] = 0
    s["played"] = EMPTY
    s["played2"] = EMPTY
    s["jokers_played"] = 0
    s["stock_at"] = 0
    s["stock_end"] = 0
    s["actions"] = 0
    s["acted"] = 0
    s["tricks"] = 0
    s["match"] = NONE
    s["led"] = NONE
    s["best"] = NONE
    s["best_seat"] = 0
    s["top"] = NONE
    s["drawn"] = NONE
    s["draws"] = 0
    s["winner"] = NONE
    s["reshuffles"] = 0
    s["status"] = PLAYING


@kernel
def turn_up(t: Any, s: Any) -> None:
    """Turn the top of the stock for the pile; a joker goes to the bottom instead (decision 6)."""
    start, stop = int64(s["stock_at"]), int64(s["stock_end"])
    for _ in range(stop - start):
        card = int64(s["deck"][start])
        if card < int64(t["cards"]):
            s["stock_at"] = start + 1
            s["top"] = card
            s["match"] = card
            s["played"] = bit(card)
            return
        for k in range(start, stop - 1):
            s["deck"][k] = s["deck"][k + 1]
        s["deck"][stop - 1] = card


@hot
def take(t: Any, s: Any, seat: int, card: int) -> None:
    """Put a card into a hand."""
    s["size"][seat] += 1
    if card >= int64(t["cards"]):
        s["jokers"][seat] += 1
        return
    word = bit(card)
    if s["hand"][seat] & word:
        s["hand2"][seat] |= word
    else:
        s["hand"][seat] |= word
