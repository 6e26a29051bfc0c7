"""Where everything of a picture lies: boxes in pixels, worked out from the number of seats and cards alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

WIDTH, HEIGHT = 1280, 960
"""Size of a picture in pixels; even, as video encoders want it."""

HEADER, FOOTER, GAP = 52, 44, 8
LABEL = 26
"""Height of the line with a seat's name and score."""

CAPTION = 18
"""Height of a line of text below a card on the table."""

CARD = (92, 128)
"""Largest size of a card."""

SHAPE = CARD[0] / CARD[1]
CARD_GAP = 3
_SIDE = 308
"""Width of the columns of seats left and right of the table."""

_PLACES = {
    2: (0, 1, 0),
    3: (1, 0, 1),
    4: (1, 1, 1),
    5: (1, 2, 1),
    6: (1, 3, 1),
    7: (2, 2, 2),
    8: (2, 3, 2),
    9: (3, 2, 3),
    10: (3, 3, 3),
    11: (3, 4, 3),
    12: (4, 3, 4),
    13: (4, 4, 4),
    14: (4, 5, 4),
}
"""Seats left, above and right of the table; seat 0 sits below it."""


class Box(NamedTuple):
    """A rectangle: left, top, width and height in pixels."""

    x: int
    y: int
    w: int
    h: int

    def overlaps(self, other: Box) -> bool:
        """Whether two boxes share a pixel."""
        return self.x < other.x + other.w and other.x < self.x + self.w and self.y < other.y + other.h and other.y < self.y + self.h

    def holds(self, other: Box) -> bool:
        """Whether another box lies in this one."""
        return self.x <= other.x and self.y <= other.y and other.x + other.w <= self.x + self.w and other.y + other.h <= self.y + self.h

    def inset(self, x: int, y: int) -> Box:
        """The box without a margin of so many pixels."""
        return Box(self.x + x, self.y + y, self.w - 2 * x, self.h - 2 * y)


@dataclass(frozen=True)
class Layout:
    """Boxes of a picture.

    Attributes:
        header, footer: Lines of text above and below.
        seats: Panel of each seat.
        labels: The line of text in each panel.
        cards: Boxes of each seat's cards in order.
        table: The felt in the middle.
        plays: Where each seat's card of the trick lies; the seat's number stands in the `CAPTION` pixels below.
        stock, pile: The stock, and the discard pile or the card to match, both with a caption below.
    """

    header: Box
    footer: Box
    seats: tuple[Box, ...]
    labels: tuple[Box, ...]
    cards: tuple[tuple[Box, ...], ...]
    table: Box
    plays: tuple[Box, ...]
    stock: Box
    pile: Box


def spread(box: Box, count: int) -> list[Box]:
    """Boxes of `count` cards in a box, side by side in the number of rows that makes them largest."""
    if not count:
        return []
    width, rows = 0, 1
    for tried in range(1, count + 1):
        columns = -(-count // tried)
        height = min(CARD[1], (box.h - CARD_GAP * (tried - 1)) // tried)
        fits = min(int(height * SHAPE), (box.w - CARD_GAP * (columns - 1)) // columns)
        if fits > width:
            width, rows = fits, tried
    if width < 1:
        raise ValueError(f"{count} cards do not fit a box of {box.w} x {box.h} pixels")
    columns, height = -(-count // rows), int(width / SHAPE)
    rows = -(-count // columns)
    top = box.y + (box.h - rows * height - (rows - 1) * CARD_GAP) // 2
    boxes = []
    for k in range(count):
        row, column = divmod(k, columns)
        in_row = min(columns, count - row * columns)
        left = box.x + (box.w - in_row * (width + CARD_GAP) + CARD_GAP) // 2
        boxes.append(Box(left + column * (width + CARD_GAP), top + row * (height + CARD_GAP), width, height))
    return boxes


def _row(box: Box, count: int) -> list[Box]:
    """`count` equal boxes side by side."""
    edges = [box.x + (box.w + GAP) * k // count for k in range(count + 1)]
    return [Box(edges[k], box.y, edges[k + 1] - edges[k] - GAP, box.h) for k in range(count)]


def _column(box: Box, count: int) -> list[Box]:
    """`count` equal boxes one above the other."""
    edges = [box.y + (box.h + GAP) * k // count for k in range(count + 1)]
    return [Box(box.x, edges[k], box.w, edges[k + 1] - edges[k] - GAP) for k in range(count)]


def _play(box: Box) -> Box:
    """The largest card in the middle of a box, with room for a caption below."""
    height = min(CARD[1] - 16, box.h - CAPTION, int(box.w / SHAPE))
    width = int(height * SHAPE)
    return Box(box.x + (box.w - width) // 2, box.y + (box.h - CAPTION - height) // 2, width, height)


def lay_out(sizes: tuple[int, ...]) -> Layout:
    """The layout of a table whose seats hold so many cards."""
    n = len(sizes)
    left, above, right = _PLACES[n]
    area = Box(GAP, HEADER, WIDTH - 2 * GAP, HEIGHT - HEADER - FOOTER)
    top_height = (180 if n < 5 else 164) if above else 0
    own_height = 196 if n < 9 else 176
    middle_top = area.y + top_height + (GAP if above else 0)
    middle = Box(area.x, middle_top, area.w, area.y + area.h - own_height - GAP - middle_top)
    side = _SIDE if left else 0
    # Clockwise from seat 0 below: up the left side, along the top, down the right side.
    seats = [Box(area.x, middle.y + middle.h + GAP, area.w, own_height)]
    seats += _column(Box(area.x, middle.y, side, middle.h), left)[::-1] if left else []
    seats += _row(Box(area.x, area.y, area.w, top_height), above) if above else []
    seats += _column(Box(area.x + area.w - side, middle.y, side, middle.h), right) if right else []

    felt = Box(area.x + side, middle.y, area.w - 2 * side, middle.h).inset(GAP if left else 0, 0)
    table = felt.inset(2 * GAP, GAP)
    band = min(CARD[1] - 16 + CAPTION, table.h // 3 - GAP)
    across = int((band - CAPTION) * SHAPE) + GAP
    inner = table.inset(across if left else 0, band + GAP)
    plays = [_play(Box(inner.x, table.y + table.h - band, inner.w, band))]
    plays += [_play(box) for box in _column(Box(table.x, table.y, across - GAP, table.h), left)[::-1]] if left else []
    plays += [_play(box) for box in _row(Box(inner.x, table.y, inner.w, band), above)] if above else []
    plays += [_play(box) for box in _column(Box(table.x + table.w - across + GAP, table.y, across - GAP, table.h), right)] if right else []

    stock, pile = (_play(half) for half in _row(Box(inner.x + inner.w // 2 - 130, inner.y, 260, inner.h), 2))
    labels = [Box(box.x + 10, box.y + 4, box.w - 20, LABEL) for box in seats]
    room = [Box(box.x + 8, box.y + LABEL + 6, box.w - 16, box.h - LABEL - 12) for box in seats]
    return Layout(
        header=Box(2 * GAP, 0, WIDTH - 4 * GAP, HEADER),
        footer=Box(2 * GAP, HEIGHT - FOOTER, WIDTH - 4 * GAP, FOOTER),
        seats=tuple(seats),
        labels=tuple(labels),
        cards=tuple(tuple(spread(box, size)) for box, size in zip(room, sizes, strict=True)),
        table=felt,
        plays=tuple(plays),
        stock=stock,
        pile=pile,
    )
