"""A game between a person or none and policies, with what happened in words, and undo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from goboom_env.actions import DRAW, PASS, action_text
from goboom_env.arena.recording import decide
from goboom_env.cards import JOKER
from goboom_env.engine.game import Game
from goboom_env.policies import Policy
from goboom_env.render.scene import Scene, make_scene
from goboom_env.rules import Rules
from goboom_env.terminal.screen import Style


class Event(NamedTuple):
    """Something that happened: `plays`, `draws`, `passes`, `gets` (a card, by another's boom) or `wins` (a trick)."""

    seat: int
    what: str
    card: str = ""


@dataclass
class _Moment:
    game: Game
    log: list[Event]


class Session:
    """A match, with a person on one seat or on none.

    Args:
        rules: The rules.
        policies: A policy for each seat, None where the person sits.
        seed: Seed of deals and policies.

    Attributes:
        game: The game as it stands.
        you: The person's seat, None if all seats are policies'.
        names: Who plays each seat.
        log: What happened since the person's last decision, or since `log` was emptied.
    """

    def __init__(self, rules: Rules, policies: Sequence[Policy | None], seed: int) -> None:
        self.game = Game(rules, len(policies), seed)
        self.policies = [None if policy is None else policy.bind(rules, len(policies)) for policy in policies]
        self.you = next((seat for seat, policy in enumerate(policies) if policy is None), None)
        self.names = ["you" if policy is None else policy.name for policy in policies]
        self.log: list[Event] = []
        self._history: list[_Moment] = []

    def scene(self, reveal: bool = False) -> Scene:
        """The table as the person sees it; with no person, the hands are all open or all hidden."""
        game = self.game
        viewer = -1 if self.you is None else self.you
        return make_scene(game.rules, game.pack, game.num_players, game.records[1], viewer, reveal, self.names)

    def step(self) -> None:
        """One action of the policy whose turn it is."""
        policy = self.policies[self.game.turn or 0]
        if policy is None:
            raise RuntimeError("it is the person's turn")
        self._act(action_text(self.game.pack, decide(self.game, policy)))

    def advance(self) -> None:
        """Let the policies play until the person is to decide or the hand is over."""
        while not self.game.over and self.game.turn != self.you:
            self.step()

    def play(self, action: str) -> None:
        """The person's action; `IllegalActionError` says why it is refused, and nothing has changed."""
        before = _Moment(self.game.copy(), self.log)
        self.log = []
        try:
            self._act(action)
        except ValueError:
            self.log = before.log
            raise
        self._history.append(before)

    def undo(self) -> bool:
        """Back to the person's last decision, with the policies' streams as they were; False if there was none."""
        if not self._history:
            return False
        moment = self._history.pop()
        self.game, self.log = moment.game, moment.log
        return True

    def next_hand(self) -> None:
        """Deal the next hand of the match."""
        self.game.next_hand()
        self.log = []

    def _act(self, action: str) -> None:
        game, you = self.game, self.you
        seat, tricks = game.turn or 0, len(game.tricks)
        held = Counter() if you is None else Counter(game.hands[you])
        game.play(action)
        seat, action = game.actions[-1]
        gained = list(((Counter() if you is None else Counter(game.hands[you])) - held).elements())
        if action == DRAW:
            self.log.append(Event(seat, "draws", gained[0] if gained else ""))
        else:
            self.log.append(Event(seat, "passes") if action == PASS else Event(seat, "plays", action))
            if you is not None:
                self.log += [Event(you, "gets", card) for card in gained]
        if len(game.tricks) > tricks and not game.over:
            self.log.append(Event(game.tricks[-1], "wins"))


def booms(rules: Rules, card: str) -> bool:
    """Whether playing a card makes the others draw."""
    return card == JOKER or (rules.aces == "boom" and card[:-1] == "A")


def tell(session: Session, style: Style) -> str:
    """The log in sentences; draws of a turn are one."""
    sentences: list[str] = []
    drawn: list[str] = []
    drawing: int | None = None
    for event in [*session.log, Event(-1, "")]:
        you = event.seat == session.you
        if drawing is not None and (event.what != "draws" or event.seat != drawing):
            cards = ", ".join(style.card(card) for card in drawn) if drawing == session.you else str(len(drawn))
            who = "You draw" if drawing == session.you else f"Seat {drawing} draws"
            if event.seat == drawing and event.what in ("plays", "passes"):
                does = _does(event, you, style)
                sentences.append(f"{who} {cards} and {does}")
                drawn, drawing = [], None
                _add_boom(sentences, session, event)
                continue
            sentences.append(f"{who} {cards}")
            drawn, drawing = [], None
        if event.what == "draws":
            drawing = event.seat
            drawn.append(event.card)
        elif event.what == "wins":
            sentences.append("You win the trick" if you else f"Seat {event.seat} wins the trick")
        elif event.what:
            sentences.append(f"{'You' if you else f'Seat {event.seat}'} {_does(event, you, style)}")
            _add_boom(sentences, session, event)
    return " ".join(f"{sentence}." for sentence in sentences)


def _does(event: Event, you: bool, style: Style) -> str:
    verb = {"plays": "play", "passes": "pass", "gets": "get"}[event.what] if you else event.what
    return f"{verb} {style.card(event.card)}".rstrip()


def _add_boom(sentences: list[str], session: Session, event: Event) -> None:
    if event.what == "plays" and booms(session.game.rules, event.card):
        sentences.append("Boom: every other seat draws")
