"""A hand whose cards are decided as late as anybody could notice: the chance nodes that game-tree libraries ask for.

The engine's record holds the truth; here is only what a shuffle would have decided beforehand.
"""

from __future__ import annotations

from collections import Counter
from math import comb
from typing import Any

import numpy as np

from goboom_env import stepping
from goboom_env.actions import num_actions
from goboom_env.engine import kernels
from goboom_env.engine.game import legal_numbers
from goboom_env.engine.state import NONE, PLAYING, compile_rules, new_states
from goboom_env.rules import Rules

NO_ACTION = -1


class Setup:
    """What all states of a game share: rules, pack, the rules as kernels take them, and bounds.

    Attributes:
        rules, pack, num_players: The table.
        tables: One TABLES record.
        num_actions: Size of the action space.
        longest: Most actions of the seats in one hand.
        first_dealer: The seat that deals, -1 for one drawn by lot.
    """

    def __init__(self, rules: Rules, num_players: int, reward: str, first_dealer: int) -> None:
        self.rules, self.num_players, self.first_dealer = rules, num_players, first_dealer
        self.pack = rules.pack_for(num_players)
        self.tables = compile_rules(rules, num_players)
        self.num_actions = num_actions(self.pack)
        self.types = len(self.pack.types)
        self.naturals = len(self.pack.cards)
        self.counts = [self.pack.copies] * self.naturals + [self.pack.jokers] * (self.types - self.naturals)
        self.options = np.zeros(1, stepping.OPTIONS)
        self.options[0]["win_reward"] = reward == "win"
        stock = self.pack.size - rules.hand_size * num_players
        # A card is played once; the others may sit out between two plays; a draw may be followed by a pass.
        self.longest = rules.turn_limit if rules.reshuffle else num_players * self.pack.size + 2 * stock

    def payoffs(self, states: Any) -> list[float]:
        """Payoff of each seat after a hand."""
        t, o, s = self.tables[0], self.options[0], states[0]
        return [float(stepping.payoff(t, s, o, seat)) for seat in range(self.num_players)]

    def bound(self) -> float:
        """A size that no payoff exceeds."""
        if self.options[0]["win_reward"]:
            return 1.0
        points = int(self.tables[0]["max_points"])
        return points * (1 + 1 / (self.num_players - 1)) / 100


def hand_weights(counts: list[int], hand: list[int], size: int) -> list[tuple[int, int]]:
    """Next cards of a hand that is dealt in rising order, with weights in the proportions of a shuffled deal.

    Args:
        counts: Cards of each type outside the hands before this one.
        hand: The hand so far, in rising order.
        size: Cards it is to have.
    """
    left = size - len(hand)
    last = hand[-1] if hand else -1
    weights = []
    above = sum(counts[last + 1 :])
    same = 1
    if hand:
        held, copies = hand.count(last), counts[last]
        more = sum(comb(copies, k) * comb(above, left - (k - held)) for k in range(held + 1, min(copies, held + left) + 1))
        weights.append((last, more))
        same = comb(copies, held)
    for card in range(last + 1, len(counts)):
        rest = above - counts[card]
        weights.append((card, same * (comb(above, left) - comb(rest, left))))
        above = rest
    return [(card, weight) for card, weight in weights if weight]


class Hand:
    """A hand whose hidden cards are decided as chance nodes ask for them.

    The record in `states` is the engine's; the deck in it holds the undecided cards in any order, in `spans` of equal chance.

    Attributes:
        dealer: Seat that deals, -1 before that is drawn.
        dealt: Cards of each seat as dealt, in rising order; shorter while the deal goes on.
        turned: Cards turned up, jokers before the one that stays.
        states: One STATE record once all is dealt, else None.
        pending: Action that waits for cards of the stock, or NO_ACTION.
        events: Seat, action, and the card each seat took by it (NONE for none), for every action so far.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.dealer = setup.first_dealer
        self.dealt: list[list[int]] = [[] for _ in range(setup.num_players)]
        self.turned: list[int] = []
        self.states: Any = None
        self.pending = NO_ACTION
        self.events: list[tuple[int, int, tuple[int, ...]]] = []
        self._undealt = setup.counts
        self._spans: list[int] = []
        self._missing = self._decided = 0
        self._weights: list[tuple[int, int]] = []
        self._go_on()

    def __deepcopy__(self, memo: Any) -> Hand:
        twin = Hand.__new__(Hand)
        twin.__dict__.update(self.__dict__)
        if self.states is None:
            twin.dealt = [list(hand) for hand in self.dealt]
            twin.turned = list(self.turned)
        else:
            twin.states = new_states(1)
            twin.states[0] = self.states[0]
        twin.events = list(self.events)
        return twin

    @property
    def weights(self) -> list[tuple[int, int]]:
        """Outcomes with weights where chance is to decide, else empty."""
        return self._weights

    @property
    def over(self) -> bool:
        """Whether the hand is over."""
        return not self._weights and self.states[0]["status"] != PLAYING

    def legal(self) -> list[int]:
        """Legal actions of the seat to act, rising."""
        return legal_numbers(self.setup.tables[0], self.states[0])

    def choose(self, outcome: int) -> None:
        """Let chance decide, then take every next step that is certain."""
        self._decide(outcome)
        self._go_on()

    def act(self, action: int) -> None:
        """Take a legal action for the seat to act, as far as chance need not decide."""
        t, s = self.setup.tables[0], self.states[0]
        if t["reshuffle"] and kernels.must_reshuffle(t, s, action):
            start = int(s["stock_at"])
            spans = [end - start for end in self._spans if end > start]
            kernels.reshuffle(t, s)
            self._spans = [*spans, int(s["stock_end"])]
        after = new_states(1)
        after[0] = s
        kernels.apply(t, after[0], action)
        self._missing = int(after[0]["stock_at"]) - int(s["stock_at"])
        if self._missing:
            self.pending, self._decided = action, 0
            self._go_on()
        else:
            self.events.append((int(s["turn"]), action, (NONE,) * self.setup.num_players))
            self.states = after

    def _go_on(self) -> None:
        """Whatever has one outcome only, up to the next node."""
        while True:
            self._weights = weights = self._next_weights()
            if len(weights) > 1:
                return
            if weights:
                self._decide(weights[0][0])
            elif self.pending != NO_ACTION:
                self._apply()
            else:
                return

    def _next_weights(self) -> list[tuple[int, int]]:
        setup = self.setup
        if self.states is not None:
            return self._stock_weights() if self._missing else []
        if self.dealer < 0:
            return [(seat, 1) for seat in range(setup.num_players)]
        seat = self._seat_to_deal()
        if seat >= 0:
            return hand_weights(self._undealt, self.dealt[seat], setup.rules.hand_size)
        if self._turns_up():
            return [(card, count) for card, count in enumerate(self._undealt) if count]
        self._start()
        return []

    def _seat_to_deal(self) -> int:
        size = self.setup.rules.hand_size
        return next((seat for seat, hand in enumerate(self.dealt) if len(hand) < size), -1)

    def _turns_up(self) -> bool:
        """Whether a card is to be turned up: not once one that is no joker lies there, nor where only jokers are left."""
        naturals = self.setup.naturals
        return (
            self.setup.rules.family == "pile"
            and not (self.turned and self.turned[-1] < naturals)
            and any(self._undealt[card] for card in range(naturals))
        )

    def _stock_weights(self) -> list[tuple[int, int]]:
        cards = self._undecided()
        types, counts = np.unique(cards, return_counts=True)
        return list(zip(types.tolist(), counts.tolist(), strict=True))

    def _undecided(self) -> Any:
        """The next cards of the stock that may come in any order."""
        s = self.states[0]
        start = int(s["stock_at"]) + self._decided
        return s["deck"][start : next(end for end in self._spans if end > start)]

    def _decide(self, outcome: int) -> None:
        if self.dealer < 0:
            self.dealer = outcome
            return
        if self.states is not None:
            cards = self._undecided()
            place = int(np.argmax(cards == outcome))
            cards[place], cards[0] = cards[0], outcome
            self._decided += 1
            self._missing -= 1
            return
        seat = self._seat_to_deal()
        if seat < 0:
            self.turned.append(outcome)
            self._take_out([outcome])
            return
        hand = self.dealt[seat]
        hand.append(outcome)
        if len(hand) == self.setup.rules.hand_size:
            self._take_out(hand)

    def _take_out(self, cards: list[int]) -> None:
        self._undealt = list(self._undealt)
        for card in cards:
            self._undealt[card] -= 1

    def _start(self) -> None:
        """Lay the deck so that the engine's deal gives these hands and turns up these cards."""
        setup, n = self.setup, self.setup.num_players
        order = [(self.dealer + 1 + k) % n for k in range(n)]
        deck = [self.dealt[seat][k] for k in range(setup.rules.hand_size) for seat in order]
        rest = [card for card, count in enumerate(self._undealt) for _ in range(count)]
        self.states = new_states(1)
        s = self.states[0]
        s["deck"][: setup.pack.size] = deck + self.turned + rest
        s["dealer"], s["next_leader"] = self.dealer, order[0]
        kernels.deal(setup.tables[0], s)
        end = int(s["stock_end"])
        jokers = sum(card >= setup.naturals for card in self.turned)  # those turned up went to the bottom
        self._spans = [end - jokers, end]

    def _apply(self) -> None:
        """The pending action, now that its cards are decided."""
        s = self.states[0]
        seat, before = int(s["turn"]), self._holdings()
        kernels.apply(self.setup.tables[0], s, self.pending)
        taken = tuple(next(iter(after - old), NONE) for after, old in zip(self._holdings(), before, strict=True))
        self.events.append((seat, self.pending, taken))
        self.pending = NO_ACTION

    def _holdings(self) -> list[Counter[int]]:
        """Cards of each seat by type."""
        s, naturals = self.states[0], self.setup.naturals
        holdings = []
        for seat in range(self.setup.num_players):
            held = Counter(bits_of(int(s["hand"][seat])) + bits_of(int(s["hand2"][seat])))
            held[naturals] = int(s["jokers"][seat])
            holdings.append(held)
        return holdings


def bits_of(word: int) -> list[int]:
    """Positions of the bits set in a word, rising."""
    return [place for place in range(word.bit_length()) if word >> place & 1]
