"""What a player of the OpenSpiel game observes: the engine's observation, or with perfect recall all that it has seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from goboom_env.actions import action_text
from goboom_env.engine.state import NONE, PASSED, Records
from goboom_env.integrations.lazy_deal import Hand, Setup, bits_of
from goboom_env.observation import features
from goboom_env.observation.view import cut, new_views

PRIVATE = ("hand", "hand_second", "jokers", "legal")
"""Sections of the observation that other seats cannot know."""


class GoBoomObserver:
    """A `PyObserver`, as `open_spiel.python.observation` describes it.

    Without perfect recall `dict` holds sections of `goboom_env.observation.layout`, in their order and relative to the player. With
    it: `dealer`, the cards `turned` up and the `history` of actions (a row each: who, what) are public, the `hand` dealt and
    the card `taken` at each action private. Private pieces hold a row a seat where all players' are asked for.

    Raises:
        ValueError: Observer parameters, of which there are none.
    """

    def __init__(self, setup: Setup, kind: Any, params: Mapping[str, Any] | None = None) -> None:
        if params:
            raise ValueError(f"observers of this game take no parameters, got {dict(params)}")
        self.setup, self.kind = setup, kind
        n, types, longest = setup.num_players, setup.types, setup.longest
        self._layout = features.layout(setup.rules, n)
        private: dict[str, tuple[int, ...]]
        public: dict[str, tuple[int, ...]]
        if kind.perfect_recall:
            public = {"dealer": (n,), "turned": (types,), "history": (longest, n + setup.num_actions)}
            private = {"hand": (types,), "taken": (longest, types)}
        else:
            widths = {name: (place.stop - place.start,) for name, place in self._layout.items() if name != "pad"}
            public = {name: shape for name, shape in widths.items() if name not in PRIVATE}
            private = {name: shape for name, shape in widths.items() if name in PRIVATE}
        shapes: dict[str, tuple[int, ...]] = {"player": (n,)}
        if kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            shapes.update(private)
        elif kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS:
            shapes.update({name: (n, *shape) for name, shape in private.items()})
        if kind.public_info:
            shapes.update(public)
        self._private = private.keys() & shapes.keys()
        self.tensor = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()), np.float32)
        self.dict: dict[str, NDArray[np.float32]] = {}
        start = 0
        for name, shape in shapes.items():
            stop = start + int(np.prod(shape))
            self.dict[name] = self.tensor[start:stop].reshape(shape)
            start = stop

    def _seats(self, player: int) -> list[int]:
        """Seats whose private information is shown."""
        if self.kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return [player]
        return list(range(self.setup.num_players)) if self.kind.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS else []

    def set_from(self, state: Any, player: int) -> None:
        """Fill `tensor`, and so `dict`, with what `player` observes; of the engine's observation nothing before the deal is done."""
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if self.kind.perfect_recall:
            self._recall(state.hand, player)
        elif state.hand.states is not None:
            self._sections(state.hand, player)

    def _recall(self, hand: Hand, player: int) -> None:
        n = self.setup.num_players
        if "history" in self.dict:
            if hand.dealer >= 0:
                self.dict["dealer"][hand.dealer] = 1
            for card in hand.turned:
                self.dict["turned"][card] += 1
            for row, (seat, action, _) in zip(self.dict["history"], hand.events, strict=False):
                row[seat] = row[n + action] = 1
        if self._private:
            types = self.setup.types
            hands, taken = self.dict["hand"].reshape(-1, types), self.dict["taken"].reshape(-1, self.setup.longest, types)
            for k, seat in enumerate(self._seats(player)):
                for card in hand.dealt[seat]:
                    hands[k, card] += 1
                for row, (_, _, cards) in enumerate(hand.events):
                    if cards[seat] != NONE:
                        taken[k, row, cards[seat]] = 1

    def _sections(self, hand: Hand, player: int) -> None:
        own = features.encode(self.setup.rules, self.setup.num_players, views_of(hand, [player]))[0][0]
        for name, place in self._layout.items():
            if name in self.dict and name not in self._private:
                self.dict[name][:] = own[place]
        if self._private:
            seats = self._seats(player)
            rows = features.encode(self.setup.rules, self.setup.num_players, views_of(hand, seats))[0]
            for name in self._private:
                self.dict[name].reshape(len(seats), -1)[:] = rows[:, self._layout[name]]

    def string_from(self, state: Any, player: int) -> str:
        """The same as text; seats in it are absolute."""
        hand, seats = state.hand, self._seats(player)
        if self.kind.perfect_recall:
            return f"p{player} {history_text(hand, seats, self.kind.public_info)}"
        if hand.states is None:
            return f"p{player}"
        words = [f"p{player}"]
        for seat, view in zip(seats, views_of(hand, seats), strict=True):
            words.append(f"{seat}=" + cards_text(self.setup, view))
        if self.kind.public_info:
            words.append(public_text(self.setup, views_of(hand, [0])[0]))
        return " ".join(words)


def views_of(hand: Hand, seats: list[int]) -> Records:
    """VIEW records of some seats."""
    views = new_views(len(seats))
    for view, seat in zip(views, seats, strict=True):
        cut(hand.setup.tables[0], hand.states[0], seat, view)
    return views


def cards_text(setup: Setup, view: Any) -> str:
    """Own cards, and the last card drawn where it decides what is legal."""
    types = setup.pack.types
    numbers = sorted(bits_of(int(view["hand"])) + bits_of(int(view["hand2"]))) + [setup.naturals] * int(view["jokers"])
    drawn = int(view["drawn"])
    return ",".join(types[number] for number in numbers) + ("" if drawn == NONE else f"+{types[drawn]}")


def public_text(setup: Setup, view: Any) -> str:
    """What every seat knows, from the view of seat 0."""
    types, n = setup.pack.types, setup.num_players
    match = int(view["match"])
    words = [
        f"turn{view['turn']}",
        "match:" + (types[match] if match != NONE else "-"),
        "sizes:" + ",".join(str(size) for size in view["size"][:n]),
        f"stock:{view['stock']}",
        f"drawn:{view['draws']}",
        "seen:" + ",".join(types[number] for number in sorted(bits_of(int(view["seen"])) + bits_of(int(view["seen2"])))),
        f"jokers:{view['jokers_seen']}",
        "lack:"
        + ",".join(f"{lack:x}" + (f"({fresh})" if fresh else "") for lack, fresh in zip(view["lack"][:n], view["fresh"][:n], strict=True)),
    ]
    if setup.rules.family == "trick":
        names = {NONE: "-", PASSED: "x"}
        words.append("trick:" + ",".join(names[number] if number < 0 else types[number] for number in view["trick"][:n].tolist()))
        best = int(view["best_seat"])
        words.append(f"best:{'-' if best == NONE else best}")
    return " ".join(words)


def history_text(hand: Hand, seats: Iterable[int], public: bool = True) -> str:
    """Everything since the deal as some seats see it: dealer, their hands, cards turned up, actions, and the cards they took."""
    setup, seats = hand.setup, list(seats)
    types = setup.pack.types
    words = []
    if public and hand.dealer >= 0:
        words.append(f"dealer{hand.dealer}")
    words += [f"{seat}=" + ",".join(types[card] for card in hand.dealt[seat]) for seat in seats]
    if public and hand.turned:
        words.append("up:" + ",".join(types[card] for card in hand.turned))
    for number, (seat, action, taken) in enumerate(hand.events):
        gains = "".join(
            f"+{types[taken[other]]}" if other == seat else f"({other}+{types[taken[other]]})" for other in seats if taken[other] != NONE
        )
        if public:
            words.append(f"{seat}:{action_text(setup.pack, action)}{gains}")
        elif gains:
            words.append(f"{number}{gains}")
    return " ".join(words)
