"""How things look in a terminal: suits, colours where they are wanted, and blocks of text that fit 80 by 24 characters."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from goboom_env.render.scene import Scene
from goboom_env.render.text import card_count, card_text, shows_glyphs

COLUMNS, LINES = 80, 24
_RED, _BOLD, _DIM, _OFF = "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_CODES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
CLEAR = "\x1b[H\x1b[2J"
_MOST_IN_ONE_COLUMN = 7
"""Seats that stand one below the other; more stand in two columns."""


def wants_colour(stream: Any) -> bool:
    """Whether escape codes may be written: to a terminal that knows them, unless `NO_COLOR` is set."""
    knows = os.environ.get("TERM", "" if os.name == "nt" else "dumb") != "dumb" and (os.name != "nt" or "WT_SESSION" in os.environ)
    return bool(stream.isatty()) and knows and not os.environ.get("NO_COLOR")


@dataclass(frozen=True)
class Style:
    """What a stream can show.

    Attributes:
        glyphs: Suits as glyphs rather than letters.
        colour: Colours.
    """

    glyphs: bool = False
    colour: bool = False

    @classmethod
    def of(cls, stream: Any = None) -> Style:
        """The style for a stream, standard output if none is given."""
        stream = sys.stdout if stream is None else stream
        return cls(shows_glyphs(stream), wants_colour(stream))

    def card(self, card: str, width: int = 0, strong: bool = False) -> str:
        """A card or other action, filled up to a width."""
        text = card_text(card, self.glyphs).ljust(width)
        if not self.colour or not card:
            return text
        return (_BOLD if strong else "") + (_RED if card[-1:] in ("D", "H") else "") + text + _OFF

    def cards(self, cards: Sequence[str]) -> str:
        """Cards with a blank between them."""
        return " ".join(self.card(card) for card in cards)

    def strong(self, text: str) -> str:
        """Text that stands out."""
        return f"{_BOLD}{text}{_OFF}" if self.colour else text

    def faint(self, text: str) -> str:
        """Text that steps back."""
        return f"{_DIM}{text}{_OFF}" if self.colour else text


def seat_name(scene: Scene, number: int, you: int | None) -> str:
    """`you`, or a seat with who plays it."""
    return "you" if number == you else f"seat {number} {scene.seats[number].name}".rstrip()


def table_lines(scene: Scene, style: Style, you: int | None = None) -> list[str]:
    """A line or half a line a seat, and the hands of other seats where they are open."""
    wide = len(scene.seats) <= _MOST_IN_ONE_COLUMN
    cells = []
    for number, seat in enumerate(scene.seats):
        mark = ">" if number == scene.turn else " "
        dealer = " D" if number == scene.dealer else "  "
        played = "-" if seat.sits_out else seat.played or ""
        card = style.card(played) + ("*" if seat.played is not None and number == scene.best_seat else "")
        if wide:
            name = textwrap.shorten(seat_name(scene, number, you), 30, placeholder="..")
            cells.append(f"{mark} {name:<30}{dealer} {card_count(seat.size):>8}  score {seat.score:>4}  {card}".rstrip())
        else:
            name = "you" if number == you else f"{number:>2} {seat.name}"[:15]
            cells.append(f"{mark} {name:<15}{dealer}{seat.size:>5} {seat.score:>5}  {card}" + " " * (4 - len(visible(card))))
    if not wide:
        half = -(-len(cells) // 2)
        columns = f"  {'seat':<15}{'cards':>7}{'score':>6}"
        cells = [f"{left}    {right}" for left, right in zip(cells[:half], [*cells[half:], ""], strict=False)]
        cells = [style.faint(f"{columns:<33}      {columns}"), *(cell.rstrip() for cell in cells)]
    lines = cells
    for number, seat in enumerate(scene.seats):
        if seat.cards is not None and number != you:
            lines += hand_lines(f"{number}: ", seat.cards, style)
    return lines


def hand_lines(start: str, cards: Sequence[str], style: Style) -> list[str]:
    """A hand laid open, in as many lines as it needs."""
    room = (COLUMNS - 6 - len(start)) // 4
    rows = [cards[k : k + room] for k in range(0, len(cards), room)] or [()]
    return [
        f"    {start if k == 0 else ' ' * len(start)}" + " ".join(style.card(card, 3) for card in row).rstrip()
        for k, row in enumerate(rows)
    ]


def numbered_hand(cards: Sequence[str], legal: Sequence[str], style: Style) -> list[str]:
    """One's own cards with their numbers, legal ones in brackets; nine in a line."""
    cells = []
    for number, card in enumerate(cards, start=1):
        able = card in legal
        left, right = "[]" if able else "  "
        cells.append(f"{left}{number:>2} {style.card(card, 3, able)}{right}")
    return ["".join(cells[k : k + 9]).rstrip() for k in range(0, len(cells), 9)]


def visible(text: str) -> str:
    """Text without its colours."""
    return _CODES.sub("", text)


def wrap(text: str) -> list[str]:
    """Text in lines that fit; colours take no room."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(visible(lines[-1])) + 1 + len(visible(word)) <= COLUMNS - 2:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines
