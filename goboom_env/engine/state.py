"""STATE: the whole truth of a table as one record of a NumPy dtype, and TABLES: a rule set as one record for kernels.

Copying, saving, hashing or sending a table is copying its bytes; a batch is an array of records.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.cards import COURT_RANKS, JOKER, MAX_CARDS, RANKS, Pack, split_card
from goboom_env.rules import CHOICES, MAX_PLAYERS, Rules

Records = NDArray[Any]
"""An array of records of one of the structured dtypes."""

NONE = -1
"""No card, in every field that holds a card type."""

PASSED = -2
"""In `trick`: the seat sat out."""

PLAYING, HAND_OVER, MATCH_OVER = 0, 1, 2
"""Values of `status`."""

STATE = np.dtype(
    [
        # Sets of types a seat holds at least one (hand) or two copies of (hand2).
        ("hand", np.uint64, MAX_PLAYERS),
        ("hand2", np.uint64, MAX_PLAYERS),
        # Cards played since the deal or the last reshuffle, the pile's first card included; sets as above.
        ("played", np.uint64),
        ("played2", np.uint64),
        # Public inference: suits and ranks, as in `traits`, surely absent from all of a seat's hand but `fresh` cards of it.
        ("lack", np.uint32, MAX_PLAYERS),
        # Streams: deals, policies, and reshuffles (seeded at each deal from the first).
        ("deal_stream", np.uint64, 2),
        ("policy_stream", np.uint64, 2),
        ("reshuffle_stream", np.uint64, 2),
        ("score", np.int32, MAX_PLAYERS),
        # What the hand that ended changes each score by, and the points left in each hand.
        ("delta", np.int16, MAX_PLAYERS),
        ("left", np.int16, MAX_PLAYERS),
        ("hand_number", np.int16),  # in the match, from 0
        ("actions", np.int16),  # in the hand so far
        ("deck", np.int8, MAX_CARDS),  # types in dealing order; the stock is deck[stock_at:stock_end], top first
        ("stock_at", np.int16),
        ("stock_end", np.int16),
        ("jokers", np.int8, MAX_PLAYERS),
        ("jokers_played", np.int8),
        ("size", np.int8, MAX_PLAYERS),  # cards in each hand
        ("fresh", np.int8, MAX_PLAYERS),
        ("trick", np.int8, MAX_PLAYERS),  # type each seat played to this trick, PASSED, or NONE before its turn
        ("turn", np.int8),  # seat to act
        ("dealer", np.int8),
        ("leader", np.int8),  # of this trick; in the pile family of the hand
        ("acted", np.int8),  # seats that played or sat out in this trick
        ("tricks", np.int8),  # tricks finished in this hand
        ("match", np.int8),  # type to match, NONE for a leader or when anything goes
        ("led", np.int8),  # type led to this trick, NONE before; unused in the pile family
        ("best", np.int8),  # type winning this trick, NONE before
        ("best_seat", np.int8),  # seat winning this trick; after a hand, the winner of its last trick
        ("top", np.int8),  # pile family: the card to match lies under any jokers; NONE if there is none
        ("drawn", np.int8),  # type the seat to act drew last in this turn, NONE before
        ("draws", np.int8),  # cards it drew in this turn
        ("status", np.int8),  # PLAYING, HAND_OVER, MATCH_OVER
        ("winner", np.int8),  # seat that went out (first); NONE before or when blocked
        ("next_leader", np.int8),  # after a hand
        ("reshuffles", np.int16),  # in this hand
    ],
    align=True,
)

TABLES = np.dtype(
    [
        ("fits", np.uint64, 64),  # types of the same suit or rank as a type, itself included
        ("traits", np.uint32, 64),  # bit 0-3 for the suit of a type, bit 4-19 for its rank
        ("suits", np.uint64, 4),  # types of each suit
        ("ranks", np.uint64, 16),  # types of each rank of the pack, low to high
        ("wild", np.uint64),  # types that may be played on anything
        ("boom", np.uint64),  # types other than the joker that boom
        ("aces", np.uint64),
        ("points", np.int16, 65),  # by type; the joker's stands at its number
        ("rank", np.int8, 64),  # position of the type's rank among the pack's ranks
        ("suit", np.int8, 64),
        ("deck", np.int8, MAX_CARDS),  # the pack in order
    ]
    + [
        (name, np.int32)
        for name in (
            *("num_players", "cards", "types", "num_ranks", "copies", "jokers", "pack_size", "hand_size", "pile"),
            *("match_last", "winner_any", "draw", "draw_limit", "renege", "finish_trick", "after_boom_any", "boom_on_last"),
            *("reshuffle", "turn_limit", "blocked", "scoring", "match_end", "target", "last_trick_leads", "max_points", "fresh_cards"),
        )
    ],
    align=True,
)
"""`cards` counts the types without the joker, `types` with it; words of a `Rules` field are their position in `CHOICES`;
`fresh_cards` says that a hand may hold cards which public inference says nothing of."""

UNTIL, ONE_DRAW, MAY_PLAY = 0, 1, 2
RENEGE_DRAW, RENEGE_PASS = 1, 2
OWN, DIFFERENCE, VOID = 1, 2, 3
COLLECT, PENALTY, SETTLE = 0, 1, 2
TO_TARGET, ROUND, EACH_HAND = 0, 1, 2


def new_states(count: int) -> Records:
    """`count` empty records, 64-byte aligned."""
    buffer = np.zeros(count * STATE.itemsize + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    return buffer[start : start + count * STATE.itemsize].view(STATE)


def card_points(rules: Rules, card: str) -> int:
    """Points of a card left in a hand."""
    if card == JOKER:
        return rules.joker_points
    rank = card[:-1]
    if rank == "A":
        return rules.ace_points
    if rank in COURT_RANKS:
        return rules.court_points
    return 10 if rank == "T" else int(rank)


def pack_ranks(pack: Pack) -> list[str]:
    """Ranks that occur in a pack, low to high."""
    return [rank for rank in RANKS if any(card[:-1] == rank for card in pack.cards)]


@lru_cache(maxsize=64)
def compile_rules(rules: Rules, num_players: int) -> Records:
    """The one-record array of `TABLES` that kernels take; `ValueError` for an impossible player count."""
    pack = rules.pack_for(num_players)
    tables = np.zeros(1, TABLES)
    row = tables[0]
    ranks = pack_ranks(pack)
    for number, card in enumerate(pack.cards):
        word = np.uint64(1) << np.uint64(number)
        suit = split_card(card)[1]
        rank = ranks.index(card[:-1])
        row["suits"][suit] |= word
        row["ranks"][rank] |= word
        row["rank"][number], row["suit"][number] = rank, suit
        if card[:-1] == "A":
            row["aces"] |= word
    for number in range(len(pack.cards)):
        suit, rank = row["suit"][number], row["rank"][number]
        row["fits"][number] = row["suits"][suit] | row["ranks"][rank]
        row["traits"][number] = 1 << int(suit) | 1 << 4 + int(rank)
    row["points"][: len(pack.types)] = [card_points(rules, card) for card in pack.types]
    deck = list(range(len(pack.cards))) * pack.copies + [len(pack.cards)] * pack.jokers
    row["deck"][: pack.size] = deck
    if rules.aces != "plain" and not rules.ace_must_match:
        row["wild"] = row["aces"]
    if rules.aces == "boom":
        row["boom"] = row["aces"]
    blocked = rules.blocked or ("own" if rules.scoring == "penalty" else "difference")
    numbers = {
        "num_players": num_players,
        "cards": len(pack.cards),
        "types": len(pack.types),
        "num_ranks": len(ranks),
        "copies": pack.copies,
        "jokers": pack.jokers,
        "pack_size": pack.size,
        "hand_size": rules.hand_size,
        "pile": rules.family == "pile",
        "match_last": rules.match == "last",
        "winner_any": rules.trick_winner == "any",
        "after_boom_any": rules.after_boom == "any",
        "last_trick_leads": rules.next_lead == "last_trick",
        "blocked": CHOICES["blocked"].index(blocked),
        "fresh_cards": rules.family == "pile" or rules.draw != "until" or rules.renege == "draw",
        "max_points": int(row["points"][deck].sum()),
    }
    for name in ("draw", "renege", "scoring", "match_end"):
        numbers[name] = CHOICES[name].index(getattr(rules, name))
    for name in ("draw_limit", "finish_trick", "boom_on_last", "reshuffle", "turn_limit", "target"):
        numbers[name] = int(getattr(rules, name))
    for name, number in numbers.items():
        row[name] = number
    return tables
