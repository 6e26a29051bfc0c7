"""`goboom play`: a person against policies, a line at a time. Exit code 0 when finished or left, 130 after Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from goboom_env.actions import DRAW, PASS, IllegalActionError
from goboom_env.arena.advice import advise
from goboom_env.engine.game import Game
from goboom_env.policies import Policy, make
from goboom_env.render.scene import by_suit
from goboom_env.render.text import card_text
from goboom_env.terminal.options import STOPPED, read_policies, read_table
from goboom_env.terminal.results import result_lines, result_text
from goboom_env.terminal.screen import Style, numbered_hand, table_lines, wrap
from goboom_env.terminal.session import Session, tell
from goboom_env.terminal.summary import rules_summary

YOU = 0
"""The person's seat."""


def run(options: argparse.Namespace) -> int:
    """Play; returns the exit code, `ValueError` for options that cannot be."""
    rules, players, seed = read_table(options)
    policies = read_policies("--opponents", options.opponents, players - 1)
    hints = make(options.hints).bind(rules, players)
    session = Session(rules, [None, *policies], seed)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    try:
        return Play(session, hints, seed, options.match, options.reveal).run()
    except KeyboardInterrupt:
        print()
        return STOPPED


class _Quit(Exception):
    """The person leaves."""


class Play:
    """The conversation with the person.

    Args:
        session: The match, with the person on a seat.
        hints: Bound policy that gives hints.
        seed: Seed of the match, also of hints.
        match: Play on after a hand.
        reveal: Show every hand.
    """

    def __init__(self, session: Session, hints: Policy, seed: int, match: bool, reveal: bool) -> None:
        self.session, self.hints, self.seed, self.match, self.reveal = session, hints, seed, match, reveal
        self.style = Style.of(sys.stdout)

    @property
    def game(self) -> Game:
        """The game as it stands; undo replaces it."""
        return self.session.game

    def run(self) -> int:
        """Hands until the end, or until the person leaves; returns the exit code."""
        rules = self.game.rules
        print(f"Go Boom, {len(self.session.names)} seats, seed {self.seed}. You are seat {YOU}.")
        self._say(rules_summary(rules, self.game.num_players)[0] + " r shows the rules.")
        try:
            while True:
                self.session.advance()
                if not self.game.over:
                    self._decision()
                elif not self._after_hand():
                    return 0
        except _Quit:
            print("You leave the game.")
        except EOFError:
            print("\nNo more input: the game stops here.")
        return 0

    def _say(self, text: str) -> None:
        for line in wrap(text):
            print(line)

    # A decision

    def _decision(self) -> None:
        self._show_table()
        while True:
            word = input("> ").strip()
            game = self.game
            if self._command(word):
                if self.game is not game:
                    return
                continue
            action = self._action(word)
            if action is None:
                continue
            try:
                self.session.play(action)
            except IllegalActionError as error:
                self._say(f"Not possible: {error}")
                continue
            return

    def _show_table(self) -> None:
        game, style = self.game, self.style
        scene = self.session.scene(self.reveal)
        print()
        self._say(tell(self.session, style))
        of = f" of a match to {game.rules.target}" if game.rules.match_end == "target" and self.match else ""
        print(style.strong(f"{scene.rules}, hand {scene.hand_number}{of}, stock {scene.stock}"))
        print(*table_lines(scene, style, YOU), sep="\n")
        legal = game.legal()
        match = "You lead: any card." if not scene.pile and scene.match is None else "Any card may follow."
        if scene.match is not None:
            match = f"To match: {style.card(scene.match, 0, True)}."
        print(match)
        print(*numbered_hand(by_suit(game.hands[YOU]), legal, style), sep="\n")
        cards = [card for card in legal if card not in (DRAW, PASS)]
        ways = [f"number or card ({card_text(cards[0])})"] if cards else []
        ways += [word for word, action in (("d draw", DRAW), ("p pass", PASS)) if action in legal]
        ways += ["Enter for the only one"] if len(legal) == 1 else []
        self._say(f"{', '.join(ways)}; ? hint, u undo, r rules, q quit")

    def _command(self, word: str) -> bool:
        """Whether a word was one of the commands, and it was carried out."""
        commands: dict[str, Callable[[], None]] = {
            "?": self._hint,
            "h": self._hint,
            "hint": self._hint,
            "u": self._undo,
            "undo": self._undo,
        }
        commands |= {"r": self._rules, "rules": self._rules, "q": self._quit, "quit": self._quit}
        command = commands.get(word.lower())
        if command is not None:
            command()
        return command is not None

    def _action(self, word: str) -> str | None:
        """The action that a word names, or None after saying why it names none."""
        hand, legal = by_suit(self.game.hands[YOU]), self.game.legal()
        if not word:
            if len(legal) == 1:
                return legal[0]
            self._say("Type the number of a card, the card itself, draw or pass; ? gives a hint.")
            return None
        if word.isascii() and word.isdecimal():
            number = int(word[:9])
            if 1 <= number <= len(hand):
                return hand[number - 1]
            self._say(f"There is no card {word[:20]}: your cards are numbered 1 to {len(hand)}.")
            return None
        return {"d": DRAW, "p": PASS}.get(word.lower(), word[:40])

    def _hint(self) -> None:
        advice = advise(self.game, self.hints, self.seed)
        style = self.style
        print(f"{self.hints.name} would {'play ' if advice.action not in (DRAW, PASS) else ''}{style.card(advice.action)}.")
        if advice.values:
            ranked = sorted(advice.values.items(), key=lambda item: -item[1])
            what = "Estimates" if hasattr(self.hints, "evaluate") else "Probabilities"
            self._say(f"{what}: " + ", ".join(f"{style.card(card)} {value:.3f}" for card, value in ranked))

    def _undo(self) -> None:
        if self.session.undo():
            print("Taken back.")
        else:
            print("There is nothing to take back.")

    def _rules(self) -> None:
        for sentence in rules_summary(self.game.rules, self.game.num_players):
            self._say(sentence)

    def _quit(self) -> None:
        raise _Quit

    # The end of a hand

    def _after_hand(self) -> bool:
        """Show the result; whether another hand, or an undone decision, is to be played."""
        game = self.game
        print()
        self._say(tell(self.session, self.style))
        print(self.style.strong(result_text(self.session)))
        print(*result_lines(self.session), sep="\n")
        if not self.match or game.match_over:
            return False
        print("Enter for the next hand, u undo, r rules, q quit.")
        while True:
            word = input("> ").strip()
            if not word:
                self.session.next_hand()
                return True
            if not self._command_after(word):
                self._say("Press Enter for the next hand, or type u, r or q.")
            if self.game is not game:
                return True

    def _command_after(self, word: str) -> bool:
        if word.lower() in ("?", "h", "hint"):
            print("The hand is over.")
            return True
        return self._command(word)
