"""A table as plain text, with the cards that one seat may see."""

from __future__ import annotations

from typing import Any, TextIO

from goboom_env.actions import DRAW, PASS
from goboom_env.cards import RANKS
from goboom_env.render.scene import Scene, SeatScene

GLYPHS = {"C": "\u2663", "D": "\u2666", "H": "\u2665", "S": "\u2660"}
"""The suits as they stand on cards."""


def shows_glyphs(stream: TextIO | Any) -> bool:
    """Whether a stream's encoding has the four suits; where it has not, letters stand for them."""
    try:
        "".join(GLYPHS.values()).encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def card_text(card: str, glyphs: bool = False) -> str:
    """A card as a person reads it: `10D`, or `10♦` with glyphs; jokers and the words of other actions as they are."""
    rank, suit = card[:-1], card[-1:]
    if suit not in GLYPHS or rank not in RANKS:
        return card
    return ("10" if rank == "T" else rank) + (GLYPHS[suit] if glyphs else suit)


def action_words(action: str, glyphs: bool = False) -> str:
    """What a seat does, from an action's text: `plays 7D`, `draws`, `passes`."""
    return {DRAW: "draws", PASS: "passes"}.get(action) or f"plays {card_text(action, glyphs)}"


def title(scene: Scene, glyphs: bool = False) -> str:
    """The line above a table."""
    text = f"Go Boom {scene.rules}, hand {scene.hand_number}, stock {scene.stock}"
    if scene.over:
        return f"{text}, {scene.result}"
    if scene.match is not None:
        return f"{text}, to match: {card_text(scene.match, glyphs)}"
    return f"{text}, {'to match: any card' if scene.pile else f'seat {scene.turn} leads'}"


def card_count(size: int) -> str:
    """`1 card`, `2 cards`."""
    return f"{size} card{'' if size == 1 else 's'}"


def seat_text(scene: Scene, number: int, glyphs: bool = False) -> str:
    """The line of a seat."""
    seat: SeatScene = scene.seats[number]
    cards = card_count(seat.size) if seat.cards is None else " ".join(card_text(card, glyphs) for card in seat.cards)
    played = "  (sits out)" if seat.sits_out else ""
    if seat.played is not None:
        played = f"  plays {card_text(seat.played, glyphs)}" + ("*" if scene.best_seat == number else "")
    delta = "" if seat.delta is None else f" ({seat.delta:+d})"
    name = f" {seat.name}" if seat.name else ""
    dealer = "  dealer" if scene.dealer == number else ""
    return f"{'>' if scene.turn == number else ' '} seat {number}{name}: {cards or '-'}{played}  score {seat.score}{delta}{dealer}"


def table_text(scene: Scene, glyphs: bool = False) -> str:
    """Some lines on a table: hands or numbers of cards, trick or card to match, scores; `*` marks the card that wins so far."""
    lines = [title(scene, glyphs), *(seat_text(scene, number, glyphs) for number in range(len(scene.seats)))]
    if scene.last:
        lines.append(f"  last: {scene.last}")
    return "\n".join(lines) + "\n"
