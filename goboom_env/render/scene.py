"""A table as one seat may see it, in plain values: what every picture of it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from goboom_env.cards import Pack, split_card
from goboom_env.engine.game import held_cards
from goboom_env.engine.state import MATCH_OVER, NONE, PASSED, PLAYING
from goboom_env.rules import Rules, rules_name


@dataclass(frozen=True)
class SeatScene:
    """A seat at a table.

    Attributes:
        name: Who plays it, empty where that is not known.
        cards: Its cards by suit, then rank, None where they are hidden.
        size: Number of cards.
        score: Match score, the hand's result included once that is over.
        delta: What the hand changed the score by, None before its end.
        played: Card on the table in this trick, None before; always None in the pile family.
        sits_out: Whether it sits this trick out.
    """

    name: str
    cards: tuple[str, ...] | None
    size: int
    score: int
    delta: int | None
    played: str | None
    sits_out: bool


@dataclass(frozen=True)
class Scene:
    """A table.

    Attributes:
        rules: Name of the preset, or `house rules`.
        pile: Whether the rules are of the pile family.
        hand_number: In the match, from 1.
        stock: Cards in the stock.
        match: The card to match, None where any will do.
        top: Pile family: the card to match under any jokers, None where there is none.
        best_seat: Seat winning the trick on the table, None without one.
        seats: All seats by number.
        viewer: The seat that looks on.
        turn: Seat to act, None after the hand.
        dealer: Seat that dealt.
        winner: Seat that went out, None before the end and in a blocked hand.
        match_over: Whether the match is over too.
        last: The last action in words, empty where it is not known.
    """

    rules: str
    pile: bool
    hand_number: int
    stock: int
    match: str | None
    top: str | None
    best_seat: int | None
    seats: tuple[SeatScene, ...]
    viewer: int
    turn: int | None
    dealer: int
    winner: int | None
    match_over: bool
    last: str = ""

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return self.turn is None

    @property
    def result(self) -> str:
        """How the hand ended, in words; empty before."""
        if not self.over:
            return ""
        return "the hand is blocked" if self.winner is None else f"seat {self.winner} goes out"


def by_suit(cards: Sequence[str]) -> list[str]:
    """Cards in the order in which a player holds them: by suit, then by rank, jokers last."""
    return sorted(cards, key=lambda card: (1, 0, 0) if card == "JK" else (0, *split_card(card)[::-1]))


def make_scene(
    rules: Rules, pack: Pack, num_players: int, state: Any, viewer: int, reveal: bool = False, names: Sequence[str] = (), last: str = ""
) -> Scene:
    """A STATE record as `viewer` sees the table, or with `reveal` with every card face up.

    Args:
        rules, pack, num_players: Of the table.
        state: The record.
        viewer: A seat.
        reveal: Show every hand.
        names: Who plays each seat, or nothing.
        last: The last action in words.
    """

    def card(field: str) -> str | None:
        number = int(state[field])
        return None if number == NONE else pack.types[number]

    playing = int(state["status"]) == PLAYING
    seats = []
    for seat in range(num_players):
        played = int(state["trick"][seat])
        seats.append(
            SeatScene(
                name=names[seat] if names else "",
                cards=tuple(by_suit(held_cards(pack, state, seat))) if reveal or seat == viewer else None,
                size=int(state["size"][seat]),
                score=int(state["score"][seat]),
                delta=None if playing else int(state["delta"][seat]),
                played=pack.types[played] if played >= 0 else None,
                sits_out=played == PASSED,
            )
        )
    winner = int(state["winner"])
    return Scene(
        rules=rules_name(rules) or "house rules",
        pile=rules.family == "pile",
        hand_number=int(state["hand_number"]) + 1,
        stock=int(state["stock_end"]) - int(state["stock_at"]),
        match=card("match"),
        top=card("top"),
        best_seat=int(state["best_seat"]) if int(state["led"]) != NONE else None,
        seats=tuple(seats),
        viewer=viewer,
        turn=int(state["turn"]) if playing else None,
        dealer=int(state["dealer"]),
        winner=None if playing or winner == NONE else winner,
        match_over=int(state["status"]) == MATCH_OVER,
        last=last,
    )
