"""Cards and packs: text, order, and the numbering that the whole package shares.

A card *type* is a rank and a suit, whatever the number of copies. Types of a pack are numbered from 0 upwards by rank,
then by suit (clubs, diamonds, hearts, spades); jokers, all one type, come last. The same number is the bit of the
type in a 64-bit set and the action that plays it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

SUITS = ("C", "D", "H", "S")
"""Suits in the order of the numbering."""

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "11", "12", "13", "J", "Q", "K", "A")
"""Ranks from low to high; an ace is high in play in every version of the game."""

COURT_RANKS = ("J", "Q", "K")
JOKER = "JK"
MAX_CARDS = 128
"""Most cards a pack may have, jokers and second copies included."""


def split_card(card: str) -> tuple[int, int]:
    """Positions of a card's rank in `RANKS` and of its suit in `SUITS`; `ValueError` for anything but such a card."""
    rank, suit = card[:-1], card[-1:]
    if rank not in RANKS or suit not in SUITS:
        raise ValueError(f"{card!r} is not a card: write a rank of {' '.join(RANKS)} and a suit of C D H S, as in 7D or TC")
    return RANKS.index(rank), SUITS.index(suit)


def normal_card(text: str) -> str:
    """The one spelling of a card: `"7d"` and `"10c"` become `"7D"` and `"TC"`; `ValueError` where it is no card."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a card: cards are text, as in 7D or TC")
    card = text.strip().upper()
    if card == JOKER:
        return card
    if len(card) == 3 and card.startswith("10") and card[2] in SUITS:
        card = "T" + card[2:]
    split_card(card)
    return card


@dataclass(frozen=True)
class Pack:
    """A pack of cards: which types there are, how many of each, and how many jokers.

    Attributes:
        cards: The types as text, in any order; stored by rank, then suit. At most 64.
        copies: Copies of each type, 1 or 2.
        jokers: Number of jokers, all alike, 0 to 16.
    """

    cards: tuple[str, ...]
    copies: int = 1
    jokers: int = 0

    def __post_init__(self) -> None:
        cards = tuple(sorted((normal_card(card) for card in self.cards), key=split_card))
        if not cards or len(set(cards)) != len(cards):
            raise ValueError(f"a pack names each of its types once and has at least one, got {' '.join(cards) or 'none'}")
        if type(self.copies) is not int or self.copies not in (1, 2):
            raise ValueError(f"a pack has 1 or 2 copies of each type, got copies={self.copies!r}")
        if type(self.jokers) is not int or not 0 <= self.jokers <= 16:
            raise ValueError(f"a pack has 0 to 16 jokers, got jokers={self.jokers!r}")
        object.__setattr__(self, "cards", cards)
        if self.size > MAX_CARDS:
            raise ValueError(f"a pack has at most {MAX_CARDS} cards, this one would have {self.size}")

    @classmethod
    def of(cls, ranks: Iterable[str], suits: Iterable[str] = SUITS, copies: int = 1, jokers: int = 0) -> Pack:
        """Every given rank in every given suit, as in `Pack.of("234A", "CD")`."""
        suits = tuple(suits)
        return cls(tuple(rank + suit for rank in ranks for suit in suits), copies, jokers)

    @property
    def size(self) -> int:
        """Number of cards, copies and jokers included."""
        return len(self.cards) * self.copies + self.jokers

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Text of every type by number; the joker, if there is one, last."""
        return self.cards + ((JOKER,) if self.jokers else ())

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {card: number for number, card in enumerate(self.types)}

    def number(self, card: str) -> int:
        """Number of a type from its text; `ValueError` where the pack has no such card."""
        number = self._numbers.get(card)
        if number is None:
            number = self._numbers.get(normal_card(card))
        if number is None:
            raise ValueError(f"this pack has no {normal_card(card)}: its {self.size} cards are {' '.join(self.types)}")
        return number


_PLAIN_RANKS = tuple(rank for rank in RANKS if rank not in ("11", "12", "13"))

PACK_52 = Pack.of(_PLAIN_RANKS)
PACK_54 = Pack.of(_PLAIN_RANKS, jokers=2)
PACK_104 = Pack.of(_PLAIN_RANKS, copies=2)
PACK_62 = Pack(PACK_52.cards + tuple(rank + suit for rank in ("11", "12") for suit in SUITS) + ("13D", "13H"))
"""The pack with 11s and 12s in all suits and 13s in hearts and diamonds."""
