"""The rules, compiled: deal, legal, apply, score. The only implementation of them in the package.

Kernels take two records: `t` of `TABLES`, the rules, and `s` of `STATE`, the table. They are unchecked: an action must be
one of `legal`'s. Records rather than arrays pass between kernels, since passing an array counts references. Numbers of decisions in
comments refer to `docs/rules.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import int64

from goboom_env.engine.bits import EMPTY, bit, lowest, popcount
from goboom_env.engine.jit import hot, kernel
from goboom_env.engine.rng import below, next_word, shuffle
from goboom_env.engine.state import (
    DIFFERENCE,
    EACH_HAND,
    HAND_OVER,
    MATCH_OVER,
    MAY_PLAY,
    NONE,
    ONE_DRAW,
    OWN,
    PASSED,
    PENALTY,
    PLAYING,
    RENEGE_DRAW,
    RENEGE_PASS,
    SETTLE,
    TO_TARGET,
    UNTIL,
)

JOKER_LEGAL, DRAW_LEGAL, PASS_LEGAL = 1, 2, 4
"""Bits of `legal`'s second result."""


# Dealing


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


# Legal actions


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


# Playing


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


# Reshuffling


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


# The end of a hand


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
