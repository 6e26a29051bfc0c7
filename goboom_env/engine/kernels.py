"""The rules, compiled: playing an action here, and by name what others need of `dealing`, `legal` and `scoring`.

There is no other implementation of the rules in the package. Kernels take two records: `t` of `TABLES`, the rules, and `s` of
`STATE`, the table. They are unchecked: an action must be one of `legal`'s. Records rather than arrays pass between kernels,
since passing an array counts references. Numbers of decisions in comments refer to `docs/rules.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine.bits import EMPTY, bit, lowest
from goboom_env.engine.dealing import clear_hand, deal, next_hand, shuffle_deck, start_match, take
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.legal import DRAW_LEGAL, JOKER_LEGAL, PASS_LEGAL, is_among, is_legal, legal, only_action, pile_below
from goboom_env.engine.rng import shuffle
from goboom_env.engine.scoring import finish, is_blocked, is_match_winner, score_payoff
from goboom_env.engine.state import MAY_PLAY, NONE, ONE_DRAW, PASSED, PLAYING, RENEGE_DRAW, RENEGE_PASS, UNTIL

__all__ = [
    "DRAW_LEGAL",
    "JOKER_LEGAL",
    "PASS_LEGAL",
    "apply",
    "clear_hand",
    "deal",
    "finish",
    "is_among",
    "is_blocked",
    "is_legal",
    "is_match_winner",
    "legal",
    "must_reshuffle",
    "next_hand",
    "only_action",
    "reshuffle",
    "score_payoff",
    "shuffle_deck",
    "start_match",
    "take",
]


@hot
def apply(t: Any, s: Any, action: int) -> None:
    """Take a legal action for the seat to act, and score the hand if it ends there."""
    if t["reshuffle"] and must_reshuffle(t, s, action):
        reshuffle(t, s)
    s["actions"] += 1
    types = int64(t["types"])
    if action < types:
        if t["pile"]:
            play_pile(t, s, action)
        else:
            play_trick(t, s, action)
    elif action == types:
        draw_card(t, s)
    else:
        infer_from_pass(t, s)
        end_turn(t, s)
    if t["pile"] and s["status"] == PLAYING:
        if is_blocked(t, s) or (t["reshuffle"] and s["actions"] >= t["turn_limit"]):
            finish(t, s, int64(NONE))


@hot
def remove(t: Any, s: Any, seat: int, card: int) -> None:
    """Move a card from a hand to those played."""
    s["size"][seat] -= 1
    if s["fresh"][seat] > s["size"][seat]:
        s["fresh"][seat] = s["size"][seat]
    if card >= int64(t["cards"]):
        s["jokers"][seat] -= 1
        s["jokers_played"] += 1
        return
    word = bit(card)
    if s["hand2"][seat] & word:
        s["hand2"][seat] ^= word
    else:
        s["hand"][seat] ^= word
    if s["played"] & word:
        s["played2"] |= word
    else:
        s["played"] |= word


@hot
def play_trick(t: Any, s: Any, card: int) -> None:
    """Play a card in the trick family."""
    seat = int64(s["turn"])
    settle_draws(t, s, seat, card)
    remove(t, s, seat, card)
    s["trick"][seat] = card
    if s["led"] == NONE:
        s["led"] = card
        s["match"] = card
        s["best"] = card
        s["best_seat"] = seat
    else:
        best = int64(s["best"])
        # A card of equal rank never outranks: of equal cards the first played wins.
        if t["rank"][card] > t["rank"][best] and (t["winner_any"] or t["suit"][card] == t["suit"][best]):
            s["best"] = card
            s["best_seat"] = seat
        if t["match_last"]:
            s["match"] = card
    if s["size"][seat] == 0 and s["winner"] == NONE:
        s["winner"] = seat
        if not t["finish_trick"]:
            finish(t, s, seat)
            return
    end_turn(t, s)


@kernel
def play_pile(t: Any, s: Any, card: int) -> None:
    """Play a card in the pile family."""
    n = int64(t["num_players"])
    seat = int64(s["turn"])
    settle_draws(t, s, seat, card)
    remove(t, s, seat, card)
    joker = card >= int64(t["cards"])
    if not joker:
        s["top"] = card
    s["match"] = s["top"]
    if joker or t["boom"] & bit(card):
        if s["size"][seat] > 0 or t["boom_on_last"]:
            other = seat
            for _ in range(n - 1):
                other = other + 1 if other + 1 < n else 0
                if s["stock_at"] < s["stock_end"]:
                    take(t, s, other, int64(s["deck"][int64(s["stock_at"])]))
                    s["stock_at"] += 1
                    s["fresh"][other] += 1
        if t["after_boom_any"]:
            s["match"] = NONE
    if s["size"][seat] == 0:
        finish(t, s, seat)
        return
    end_turn(t, s)


@hot
def match_traits(t: Any, s: Any) -> Any:
    """Suit and rank of the card to match; none where a hand of jokers draws although anything goes."""
    return np.uint32(0) if s["match"] == NONE else t["traits"][int64(s["match"])]


@hot
def settle_draws(t: Any, s: Any, seat: int, card: int) -> None:
    """Public inference when a seat plays after drawing: the cards it drew and kept do not fit either."""
    if s["draws"] == 0:
        return
    if t["renege"] == RENEGE_DRAW:
        return
    if int64(s["drawn"]) == card and s["fresh"][seat] > 0:
        s["fresh"][seat] -= 1
    if s["fresh"][seat] > 0 and t["draw"] == UNTIL:
        s["lack"][seat] = match_traits(t, s)
        s["fresh"][seat] = 0


@hot
def draw_card(t: Any, s: Any) -> None:
    """Draw one card from the stock."""
    seat = int64(s["turn"])
    if s["draws"] == 0 and t["renege"] != RENEGE_DRAW:
        # Whoever draws had nothing that fits; cards drawn before that are known for it now as well.
        traits = match_traits(t, s)
        s["lack"][seat] = s["lack"][seat] | traits if s["fresh"][seat] == 0 else traits
        s["fresh"][seat] = 0
    card = int64(s["deck"][int64(s["stock_at"])])
    s["stock_at"] += 1
    take(t, s, seat, card)
    s["fresh"][seat] += 1
    s["drawn"] = card
    s["draws"] += 1
    if t["draw"] == ONE_DRAW:
        end_turn(t, s)


@hot
def end_turn(t: Any, s: Any) -> None:
    """Pass the turn on; in the trick family close the trick after the last seat."""
    n = int64(t["num_players"])
    seat = int64(s["turn"])
    if not t["pile"]:
        if s["trick"][seat] == NONE:
            s["trick"][seat] = PASSED
        s["acted"] += 1
    s["drawn"] = NONE
    s["draws"] = 0
    if t["pile"] or s["acted"] < n:
        s["turn"] = seat + 1 if seat + 1 < n else 0
        return
    if s["winner"] != NONE:
        finish(t, s, int64(s["winner"]))  # finish_trick: the trick in which a hand became empty is over
        return
    for other in range(n):
        s["trick"][other] = NONE
    s["tricks"] += 1
    s["acted"] = 0
    s["led"] = NONE
    s["match"] = NONE
    s["best"] = NONE
    s["leader"] = s["best_seat"]
    s["turn"] = s["best_seat"]


@kernel
def infer_from_pass(t: Any, s: Any) -> None:
    """Public inference when a seat passes: it holds nothing that fits, unless it may have been its choice."""
    seat = int64(s["turn"])
    if t["renege"] == RENEGE_PASS or (t["draw"] == MAY_PLAY and s["draws"] > 0):
        return
    traits = match_traits(t, s)
    s["lack"][seat] = s["lack"][seat] | traits if s["fresh"][seat] == 0 else traits
    s["fresh"][seat] = 0


@kernel
def must_reshuffle(t: Any, s: Any, action: int) -> bool:
    """Whether an action needs more cards than the stock holds and the pile can give some."""
    needed = 0
    if action == int64(t["types"]):
        needed = 1
    elif action < int64(t["types"]) and (action >= int64(t["cards"]) or t["boom"] & bit(action)):
        if s["size"][int64(s["turn"])] > 1 or t["boom_on_last"]:
            needed = int64(t["num_players"]) - 1
    return needed > int64(s["stock_end"]) - int64(s["stock_at"]) and pile_below(s) > 0


@kernel
def reshuffle(t: Any, s: Any) -> None:
    """Put the pile, all but the card to match, shuffled under the stock."""
    left = int64(s["stock_end"]) - int64(s["stock_at"])
    for k in range(left):
        s["deck"][k] = s["deck"][int64(s["stock_at"]) + k]
    position = left
    top = EMPTY if s["top"] == NONE else bit(int64(s["top"]))
    words = (s["played"], s["played2"])
    # Of two copies of the card to match one stays in the pile: the second copy's bit is then the one to go.
    for copy in range(2):
        word = words[copy]
        if copy == 0:
            word &= ~top
        while word:
            s["deck"][position] = lowest(word)
            position += 1
            word &= word - np.uint64(1)
    for _ in range(int64(s["jokers_played"])):
        s["deck"][position] = int64(t["cards"])
        position += 1
    shuffle(s["deck"], left, position, s["reshuffle_stream"])
    s["stock_at"] = 0
    s["stock_end"] = position
    s["played"] = top
    s["played2"] = EMPTY
    s["jokers_played"] = 0
    s["reshuffles"] += 1
