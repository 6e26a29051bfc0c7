"""`Game`: the checked, readable face on one STATE record. It has no rule of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from goboom_env.actions import DRAW, PASS, IllegalActionError, action_number, action_text
from goboom_env.cards import JOKER, Pack
from goboom_env.engine import kernels
from goboom_env.engine.rng import seed_words
from goboom_env.engine.state import HAND_OVER, MATCH_OVER, NONE, PASSED, PLAYING, compile_rules, new_states
from goboom_env.rules import Rules, get_rules


def legal_numbers(t: Any, s: Any) -> list[int]:
    """Ids of the legal actions of the seat to act, rising, from the rules and the state as records; empty after a hand."""
    cards, more = kernels.legal(t, s)
    types = int(t["types"])
    numbers = [number for number in range(int(t["cards"])) if int(cards) >> number & 1]
    flags = ((kernels.JOKER_LEGAL, types - 1), (kernels.DRAW_LEGAL, types), (kernels.PASS_LEGAL, types + 1))
    return numbers + [number for flag, number in flags if more & flag]


def refusal(pack: Pack, t: Any, s: Any, action: int) -> str:
    """One line that says why an action is not legal and what is."""
    seat = int(s["turn"])
    word = action_text(pack, action)
    if s["status"] != PLAYING:
        return f"{word} is not legal: the hand is over"
    legal = [action_text(pack, number) for number in legal_numbers(t, s)]
    drawn = "" if s["drawn"] == NONE else action_text(pack, int(s["drawn"]))
    held = s["jokers"][seat] if word == JOKER else int(s["hand"][seat]) >> min(action, 63) & 1
    if word in (DRAW, PASS) and not t["pile"] and s["led"] == NONE:
        reason = "a leader must play a card"
    elif word == DRAW:
        reason = "it has a card to play or may draw no more" if s["stock_at"] < s["stock_end"] else "the stock is empty"
    elif word == PASS:
        reason = "it can play or draw"
    elif not held:
        reason = f"it does not hold {word}"
    elif drawn in legal and not set(legal) - {drawn, DRAW, PASS}:
        reason = f"after drawing only the card drawn, {drawn}, may be played"
    else:
        reason = f"{word} matches neither suit nor rank of {action_text(pack, int(s['match']))}"
    return f"seat {seat} cannot take {word}: {reason}; legal: {', '.join(legal)}"


def held_cards(pack: Pack, state: Any, seat: int) -> list[str]:
    """Cards of a seat as text in the order of the numbering, copies repeated, jokers last."""
    cards = []
    for number, card in enumerate(pack.cards):
        cards += [card] * ((int(state["hand"][seat]) >> number & 1) + (int(state["hand2"][seat]) >> number & 1))
    return cards + [JOKER] * int(state["jokers"][seat])


class Game:
    """A match of Go Boom, hand by hand, with cards and actions as text and every action checked.

    Args:
        rules: A preset's name or a `Rules` value.
        num_players: Seats at the table; they are numbered 0 to `num_players - 1` clockwise.
        seed: Seed of the deals and of the first dealer.

    Raises:
        ValueError: Unknown preset, or a player count these rules or their pack cannot serve.

    Example:
        >>> game = Game("classic", 4, seed=1)
        >>> while not game.over:
        ...     game.play(game.legal()[0])
    """

    def __init__(self, rules: str | Rules = "classic", num_players: int = 4, seed: int | None = 0) -> None:
        self._set_up(rules, num_players)
        words = seed_words(seed)
        self._state["deal_stream"], self._state["policy_stream"] = words[:2], words[2:]
        kernels.start_match(self._rules, self._state)
        kernels.shuffle_deck(self._rules, self._state)
        self._deal()

    def _set_up(self, rules: str | Rules, num_players: int) -> None:
        self.rules = get_rules(rules)
        self.pack = self.rules.pack_for(num_players)
        self.num_players = num_players
        self._tables = compile_rules(self.rules, num_players)
        self._states = new_states(1)
        self._begin_log([])

    @property
    def _rules(self) -> Any:
        return self._tables[0]

    @property
    def _state(self) -> Any:
        return self._states[0]

    def _begin_log(self, deck: list[str]) -> None:
        self.deck = deck
        self.actions: list[tuple[int, str]] = []
        self.tricks: list[int] = []
        self.reshuffles: list[list[str]] = []
        self.scores_before = self.scores
        self.first_leader = 0

    def _deal(self) -> None:
        """Deal from the deck in the record as it lies."""
        deck = self._state["deck"][: self.pack.size]
        self._begin_log([self.pack.types[card] for card in deck])
        self.first_leader = int(self._state["next_leader"])
        kernels.deal(self._rules, self._state)

    @classmethod
    def from_deck(
        cls,
        rules: str | Rules,
        num_players: int,
        deck: Sequence[str],
        dealer: int,
        leader: int,
        scores: Sequence[int],
        hand_number: int = 0,
    ) -> Game:
        """A hand dealt from a given deck, every card of the pack in dealing order.

        Raises:
            ValueError: The deck is not the pack, or a seat or score list does not fit the table.
        """
        game = cls.__new__(cls)
        game._set_up(rules, num_players)
        numbers = [game.pack.number(card) for card in deck]
        whole = sorted(list(range(len(game.pack.cards))) * game.pack.copies + [len(game.pack.cards)] * game.pack.jokers)
        if sorted(numbers) != whole:
            raise ValueError(f"the deck of {len(numbers)} cards is not the pack of {game.pack.size}")
        state = game._state
        state["deck"][: len(numbers)] = numbers
        state["dealer"], state["next_leader"] = game._seat(dealer, "dealer"), game._seat(leader, "leader")
        state["hand_number"] = hand_number
        game._set_scores(scores)
        words = seed_words(0)
        state["deal_stream"], state["policy_stream"] = words[:2], words[2:]
        game._deal()
        return game

    @classmethod
    def from_position(
        cls,
        rules: str | Rules,
        hands: Sequence[Sequence[str]],
        stock: Sequence[str] = (),
        to_play: int = 0,
        top: str | None = None,
        dealer: int | None = None,
        scores: Sequence[int] | None = None,
    ) -> Game:
        """A position from text, at the start of a trick or of a turn.

        Args:
            rules: A preset's name or a `Rules` value.
            hands: Cards of each seat, clockwise from seat 0.
            stock: Cards of the stock, the next to be drawn first.
            to_play: Seat to act.
            top: Pile family: the card to match.
            dealer: Default: the seat before `to_play`.
            scores: Match score of each seat, default 0.

        Cards of the pack that stand nowhere count as played before.

        Raises:
            ValueError: A card the pack has not, or has fewer of; an empty hand; a top card missing or out of place.
        """
        game = cls.__new__(cls)
        game._set_up(rules, len(hands))
        pack, state, n = game.pack, game._state, len(hands)
        pile = game.rules.family == "pile"
        if pile == (top is None):
            raise ValueError(f"top={top!r}: the {game.rules.family} family {'needs' if pile else 'has no'} card to match on a pile")
        if not all(hands):
            raise ValueError(f"seat {[bool(hand) for hand in hands].index(False)} has no card: the hand would be over")
        names = [pack.types[pack.number(card)] for card in [*stock, *(card for hand in hands for card in hand), *([top] if top else [])]]
        rest = Counter({card: pack.copies for card in pack.cards})
        rest[JOKER] = pack.jokers
        rest.subtract(names)
        for card, count in rest.items():
            if count < 0:
                raise ValueError(f"{card} stands {-count} times more than the pack of {pack.size} has it")
        if top is not None and names[-1] == JOKER:
            raise ValueError("top=JK: name the card under the joker, it is the one to match")
        kernels.clear_hand(game._rules, game._state)
        for seat, hand in enumerate(hands):
            for card in hand:
                kernels.take(game._rules, game._state, seat, pack.number(card))
        for card, count in rest.items():
            game._count_played(card, count)
        state["deck"][: len(stock)] = [pack.number(card) for card in stock]
        state["stock_end"] = len(stock)
        if top is not None:
            game._count_played(names[-1], 1)
            state["top"] = state["match"] = pack.number(top)
        state["turn"] = state["leader"] = state["best_seat"] = game._seat(to_play, "to_play")
        state["dealer"] = (to_play - 1) % n if dealer is None else game._seat(dealer, "dealer")
        words = seed_words(0)
        state["deal_stream"], state["policy_stream"], state["reshuffle_stream"] = words[:2], words[2:], words[:2]
        game._set_scores([0] * n if scores is None else scores)
        game._begin_log([])
        if pile and kernels.is_blocked(game._rules, state):
            kernels.finish(game._rules, state, NONE)
        return game

    def copy(self) -> Game:
        """The same position with the same streams ahead of it; playing on either leaves the other as it is."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._states = new_states(1)
        other._states[:] = self._states
        other.actions, other.tricks = self.actions.copy(), self.tricks.copy()
        other.reshuffles = [cards.copy() for cards in self.reshuffles]
        return other

    def _count_played(self, card: str, count: int) -> None:
        state = self._state
        if card == JOKER:
            state["jokers_played"] += count
            return
        for _ in range(count):
            word = np.uint64(1) << np.uint64(self.pack.number(card))
            state["played2" if state["played"] & word else "played"] |= word

    def _seat(self, seat: int, name: str) -> int:
        if not 0 <= seat < self.num_players:
            raise ValueError(f"{name}={seat} is not a seat of this table of {self.num_players}")
        return seat

    def _set_scores(self, scores: Sequence[int]) -> None:
        if len(scores) != self.num_players:
            raise ValueError(f"{len(scores)} scores for {self.num_players} seats")
        self._state["score"][: self.num_players] = scores

    # Playing

    def legal(self) -> list[str]:
        """Legal actions of the seat to act as text, in the order of their ids; empty after the hand."""
        return [action_text(self.pack, number) for number in legal_numbers(self._rules, self._state)]

    def play(self, action: str) -> None:
        """Take an action for the seat to act: a card, `DRAW` or `PASS`.

        Raises:
            IllegalActionError: The action is not legal now; nothing has changed.
        """
        try:
            number = action_number(self.pack, action)
        except ValueError as error:
            raise IllegalActionError(f"{error}; legal: {', '.join(self.legal()) or 'nothing, the hand is over'}") from None
        self.play_number(number)

    def play_number(self, action: int, reshuffled: Sequence[str] | None = None) -> None:
        """`play` by action id; `reshuffled` is the order of a stock made of the pile, for replays."""
        t, state = self._rules, self._state
        if not kernels.is_legal(t, state, action):
            raise IllegalActionError(refusal(self.pack, t, state, action))
        seat, finished = int(state["turn"]), int(state["tricks"])
        if self.needs_reshuffle(action):
            self._reshuffle(reshuffled)
        self.actions.append((seat, action_text(self.pack, action)))
        kernels.apply(t, state, action)
        if state["tricks"] > finished and self.rules.family == "trick":
            self.tricks.append(int(state["best_seat"]))

    def needs_reshuffle(self, action: int) -> bool:
        """Whether an action, by its id, would first make the pile the stock."""
        return self.rules.reshuffle and bool(kernels.must_reshuffle(self._rules, self._state, action))

    def _reshuffle(self, given: Sequence[str] | None) -> None:
        state = self._state
        before = int(state["stock_end"]) - int(state["stock_at"])
        kernels.reshuffle(self._rules, state)
        new = state["deck"][before : int(state["stock_end"])]
        if given is not None:
            numbers = [self.pack.number(card) for card in given]
            if sorted(numbers) != sorted(new.tolist()):
                raise ValueError("the reshuffled stock does not hold the cards of the pile")
            new[:] = numbers
        self.reshuffles.append([self.pack.types[card] for card in new])

    def next_hand(self) -> None:
        """Deal the next hand of the match.

        Raises:
            RuntimeError: The hand is not over, or the match is.
        """
        if not self.over:
            raise RuntimeError("the hand is not over yet: play on until game.over")
        if self.match_over:
            raise RuntimeError("the match is over: start a new Game")
        kernels.next_hand(self._rules, self._state)
        kernels.shuffle_deck(self._rules, self._state)
        self._deal()

    # What can be read

    @property
    def records(self) -> tuple[Any, Any]:
        """The rules and the table as TABLES and STATE records, for kernels; they are live."""
        return self._rules, self._state

    @property
    def turn(self) -> int | None:
        """Seat to act, None after the hand."""
        return None if self.over else int(self._state["turn"])

    @property
    def hands(self) -> list[list[str]]:
        """Cards of each seat, in the order of the numbering."""
        return [held_cards(self.pack, self._state, seat) for seat in range(self.num_players)]

    @property
    def stock(self) -> list[str]:
        """Cards of the stock, the next to be drawn first."""
        state = self._state
        return [self.pack.types[card] for card in state["deck"][int(state["stock_at"]) : int(state["stock_end"])]]

    def _card(self, field: str) -> str | None:
        number = int(self._state[field])
        return None if number == NONE else self.pack.types[number]

    @property
    def top(self) -> str | None:
        """Pile family: the card to match under any jokers, None in the trick family."""
        return self._card("top")

    @property
    def lead(self) -> str | None:
        """The card led to the trick on the table, None before a lead and in the pile family."""
        return self._card("led")

    @property
    def dealer(self) -> int:
        """Seat that dealt."""
        return int(self._state["dealer"])

    @property
    def leader(self) -> int:
        """Seat that led, or is to lead, this trick; in the pile family the one that began the hand."""
        return int(self._state["leader"])

    @property
    def trick(self) -> list[tuple[int, str]]:
        """Plays on the table, seat and card, in order; seats that sat out are left out."""
        cards = [int(card) for card in self._state["trick"][: self.num_players]]
        order = [(self.leader + k) % self.num_players for k in range(self.num_players)]
        return [(seat, self.pack.types[cards[seat]]) for seat in order if cards[seat] not in (NONE, PASSED)]

    @property
    def hand_number(self) -> int:
        """Number of this hand in the match, from 0."""
        return int(self._state["hand_number"])

    @property
    def scores(self) -> list[int]:
        """Match score of each seat; the hand's result is in it once the hand is over."""
        return self._seats("score")

    def _seats(self, field: str) -> list[int]:
        return [int(value) for value in self._state[field][: self.num_players]]

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return int(self._state["status"]) in (HAND_OVER, MATCH_OVER)

    @property
    def winner(self) -> int | None:
        """Seat that went out, None before the end and in a blocked hand."""
        winner = int(self._state["winner"])
        return None if winner == NONE or not self.over else winner

    @property
    def blocked(self) -> bool:
        """Whether the hand ended because nobody could go on."""
        return self.over and self.winner is None

    @property
    def left(self) -> list[int] | None:
        """Points left in each hand, None before the end."""
        return self._seats("left") if self.over else None

    @property
    def delta(self) -> list[int] | None:
        """What the hand changed each match score by, None before the end."""
        return self._seats("delta") if self.over else None

    @property
    def next_dealer(self) -> int | None:
        """Dealer of the next hand, None before the end of this."""
        return (self.dealer + 1) % self.num_players if self.over else None

    @property
    def next_leader(self) -> int | None:
        """Leader of the next hand, None before the end of this."""
        return int(self._state["next_leader"]) if self.over else None

    @property
    def match_over(self) -> bool:
        """Whether the match is over."""
        return int(self._state["status"]) == MATCH_OVER

    @property
    def match_winners(self) -> list[int]:
        """Seats with the best score once the match is over, else empty."""
        if not self.match_over:
            return []
        return [seat for seat in range(self.num_players) if kernels.is_match_winner(self._rules, self._state, seat)]
