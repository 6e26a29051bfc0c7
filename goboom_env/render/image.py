"""A table as a picture, drawn without a display. Needs Pillow (extra `render`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from goboom_env.cards import JOKER
from goboom_env.render.layout import CAPTION, HEIGHT, WIDTH, Box, Layout, lay_out
from goboom_env.render.scene import Scene
from goboom_env.render.text import card_count

Colour = tuple[int, int, int]

_FINE = 4
"""Shapes are drawn this many times too large and scaled down, so that edges are smooth."""

BACKGROUND: Colour = (22, 26, 31)
PANEL: Colour = (38, 45, 53)
FELT: Colour = (28, 86, 62)
FELT_LINE: Colour = (62, 124, 98)
INK: Colour = (236, 239, 242)
FAINT: Colour = (158, 168, 178)
GOLD: Colour = (246, 198, 74)
PAPER: Colour = (252, 252, 249)
EDGE: Colour = (128, 136, 144)
BACK: Colour = (54, 92, 156)
BACK_LINE: Colour = (132, 164, 214)
RED: Colour = (200, 30, 44)
BLACK: Colour = (24, 26, 30)
VIOLET: Colour = (118, 60, 160)


@lru_cache(maxsize=128)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _draw_suit(draw: ImageDraw.ImageDraw, suit: str, x: float, y: float, size: float, colour: Colour) -> None:
    """A suit in the square at (x, y)."""

    def at(*points: tuple[float, float]) -> list[tuple[float, float]]:
        return [(x + a * size, y + b * size) for a, b in points]

    def disc(a: float, b: float, radius: float) -> None:
        draw.ellipse(at((a - radius, b - radius), (a + radius, b + radius)), fill=colour)

    if suit == "D":
        draw.polygon(at((0.5, 0.0), (0.88, 0.5), (0.5, 1.0), (0.12, 0.5)), fill=colour)
    elif suit == "H":
        disc(0.27, 0.3, 0.25)
        disc(0.73, 0.3, 0.25)
        draw.polygon(at((0.07, 0.45), (0.27, 0.3), (0.5, 0.28), (0.73, 0.3), (0.93, 0.45), (0.5, 0.98)), fill=colour)
    elif suit == "S":
        disc(0.28, 0.56, 0.24)
        disc(0.72, 0.56, 0.24)
        draw.polygon(at((0.08, 0.43), (0.5, 0.0), (0.92, 0.43), (0.72, 0.6), (0.28, 0.6)), fill=colour)
        draw.polygon(at((0.5, 0.5), (0.68, 1.0), (0.32, 1.0)), fill=colour)
    elif suit == "C":
        disc(0.5, 0.24, 0.23)
        disc(0.25, 0.57, 0.23)
        disc(0.75, 0.57, 0.23)
        draw.polygon(at((0.42, 0.3), (0.58, 0.3), (0.6, 0.6), (0.4, 0.6)), fill=colour)
        draw.polygon(at((0.5, 0.45), (0.68, 1.0), (0.32, 1.0)), fill=colour)
    else:  # a joker's star
        angles = np.arange(10) * np.pi / 5
        radii = np.where(np.arange(10) % 2, 0.22, 0.54)
        draw.polygon(at(*zip(0.5 + radii * np.sin(angles), 0.54 - radii * np.cos(angles), strict=True)), fill=colour)


@lru_cache(maxsize=256)
def _panel(width: int, height: int, radius: int, fill: Colour | None, line: Colour | None = None, thick: int = 0) -> Image.Image:
    """A rectangle with round corners, transparent outside."""
    image = Image.new("RGBA", (width * _FINE, height * _FINE), (*(fill or line or PAPER), 0))
    draw = ImageDraw.Draw(image)
    corner = (0, 0, width * _FINE - 1, height * _FINE - 1)
    draw.rounded_rectangle(corner, radius * _FINE, fill=fill, outline=line, width=thick * _FINE)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=2048)
def _face(card: str, width: int, height: int) -> Image.Image:
    """A card face up."""
    image = _panel(width * _FINE, height * _FINE, max(2, width // 10) * _FINE, PAPER, EDGE, _FINE).copy()
    draw = ImageDraw.Draw(image)
    colour = VIOLET if card == JOKER else RED if card[-1] in "DH" else BLACK
    suit = "" if card == JOKER else card[-1]
    rank = "JK" if card == JOKER else "10" if card[:-1] == "T" else card[:-1]
    # Large cards carry a corner and a large suit, small ones rank above suit.
    large = width >= 48
    column = (0.44 if large else 1.0) * width * _FINE
    widest = (0.6 * width * _FINE) if large and len(rank) > 1 else 0.86 * column
    room = min(0.92 * column, (0.34 if large else 0.46) * height * _FINE)
    size = int(room * 1.25)
    font = _font(size)
    while size > 6 and (draw.textlength(rank, font=font) > widest or font.getbbox("8")[3] - font.getbbox("8")[1] > 0.9 * room):
        size -= max(1, size // 20)
        font = _font(size)
    left, top, right, bottom = font.getbbox(rank)
    upper = (0.07 if large else 0.09) * height * _FINE
    start = max((column - right - left) / 2 + 1, 0.05 * width * _FINE - left)
    draw.text((start, upper - top), rank, fill=colour, font=font, stroke_width=size / 40, stroke_fill=colour)
    pip = min(0.62 * column, 0.36 * height * _FINE)
    _draw_suit(draw, suit, (column - pip) / 2 + 1, upper + (bottom - top) + 0.07 * height * _FINE, pip, colour)
    if large:
        pip = 0.52 * width * _FINE
        _draw_suit(draw, suit, 0.4 * width * _FINE, 0.5 * height * _FINE, pip, colour)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=256)
def _back(width: int, height: int) -> Image.Image:
    """A card face down."""
    image = _panel(width * _FINE, height * _FINE, max(2, width // 10) * _FINE, BACK, PAPER, max(1, width // 18) * _FINE).copy()
    draw = ImageDraw.Draw(image)
    size = 0.5 * width * _FINE
    _draw_suit(draw, "D", (width * _FINE - size) / 2, (height * _FINE - size) / 2, size, BACK_LINE)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=32)
def _background(layout: Layout) -> Image.Image:
    """What does not change while a table plays: felt and panels."""
    image = Image.new("RGB", (WIDTH, HEIGHT), BACKGROUND)
    for box, radius, fill in [(layout.table, 28, FELT), *((box, 10, PANEL) for box in layout.seats)]:
        _paste(image, _panel(box.w, box.h, radius, fill), box)
    return image


def _paste(image: Image.Image, part: Image.Image, box: Box) -> None:
    image.paste(part, (box.x, box.y), part)


def _write(draw: ImageDraw.ImageDraw, box: Box, text: str, size: int, colour: Colour = INK, side: str = "left") -> int:
    """Text in the middle of a box's height at one side of it, cut with dots where it is too long; returns its width."""
    font = _font(size)
    if draw.textlength(text, font=font) > box.w:
        while text and draw.textlength(text + "...", font=font) > box.w:
            text = text[:-1]
        text += "..."
    width = int(draw.textlength(text, font=font))
    x = {"left": box.x, "middle": box.x + (box.w - width) / 2, "right": box.x + box.w - width}[side]
    draw.text((x, box.y + box.h / 2), text, fill=colour, font=font, anchor="lm")
    return width


def _draw_cards(image: Image.Image, boxes: Sequence[Box], cards: Sequence[str] | None) -> None:
    for k, box in enumerate(boxes):
        _paste(image, _back(box.w, box.h) if cards is None else _face(cards[k], box.w, box.h), box)


def _draw_seat(image: Image.Image, draw: ImageDraw.ImageDraw, scene: Scene, layout: Layout, number: int) -> None:
    seat, box, label = scene.seats[number], layout.seats[number], layout.labels[number]
    if number == scene.turn or number == scene.winner:
        _paste(image, _panel(box.w, box.h, 10, None, GOLD, 3), box)
    delta = "" if seat.delta is None else f"  {seat.delta:+d}"
    count = _write(draw, label, f"{card_count(seat.size)}   {seat.score} pts{delta}", 17, FAINT, "right")
    name = f"Seat {number}" + (f"  {seat.name}" if seat.name else "")
    rest = Box(label.x, label.y, label.w - count - 12, label.h)
    if number == scene.dealer:
        chip = Box(rest.x + rest.w - 22, rest.y + 3, 20, 20)
        rest = Box(rest.x, rest.y, rest.w - 28, rest.h)
        _paste(image, _panel(20, 20, 10, INK), chip)
        draw.text((chip.x + 10, chip.y + 10), "D", fill=BACKGROUND, font=_font(15), anchor="mm")
    _write(draw, rest, name, 18, GOLD if number == scene.turn else INK)
    _draw_cards(image, layout.cards[number], seat.cards)


def _draw_table(image: Image.Image, draw: ImageDraw.ImageDraw, scene: Scene, layout: Layout) -> None:
    def caption(box: Box, text: str, colour: Colour = INK) -> None:
        _write(draw, Box(box.x - 30, box.y + box.h, box.w + 60, CAPTION), text, 15, colour, "middle")

    def place(box: Box, card: str | None, text: str, marked: bool = False) -> None:
        radius = max(2, box.w // 10)
        part = _face(card, box.w, box.h) if card is not None else _panel(box.w, box.h, radius, None, FELT_LINE, 2)
        _paste(image, part, box)
        if marked:
            around = box.inset(-3, -3)
            _paste(image, _panel(around.w, around.h, radius + 3, None, GOLD, 3), around)
        caption(box, text, GOLD if marked else INK if card is not None else FELT_LINE)

    if scene.stock:
        _paste(image, _back(layout.stock.w, layout.stock.h), layout.stock)
    else:
        place(layout.stock, None, "")
    caption(layout.stock, f"stock {scene.stock}" if scene.stock else "no stock")
    shown = scene.top if scene.pile else scene.match
    place(layout.pile, shown, "" if scene.over else "to match" if scene.match is not None else "any card")
    if not scene.pile:
        for number, (seat, box) in enumerate(zip(scene.seats, layout.plays, strict=True)):
            text = f"{number} sits out" if seat.sits_out else f"seat {number}"
            place(box, seat.played, text, scene.best_seat == number and seat.played is not None)


def table_image(scene: Scene) -> NDArray[np.uint8]:
    """The table as pixels, shape (960, 1280, 3), uint8; the same scene gives the same pixels."""
    layout = lay_out(tuple(seat.size for seat in scene.seats))
    image = _background(layout).copy()
    draw = ImageDraw.Draw(image)
    state = scene.result if scene.over else f"seat {scene.turn} to act"
    if scene.match_over:
        state += ", the match is over"
    used = _write(draw, layout.header, state, 24, GOLD, "right")
    room = Box(layout.header.x, layout.header.y, layout.header.w - used - 24, layout.header.h)
    _write(draw, room, f"Go Boom  {scene.rules}   hand {scene.hand_number}", 24)
    _draw_table(image, draw, scene, layout)
    for number in range(len(scene.seats)):
        _draw_seat(image, draw, scene, layout, number)
    if scene.last:
        _write(draw, layout.footer, f"last: {scene.last}", 20, FAINT)
    return np.asarray(image, np.uint8).copy()
