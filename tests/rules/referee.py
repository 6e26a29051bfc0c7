"""A second, slow referee of Go Boom in plain Python, to check the engine against.

It is written from the prose of the rules alone, shares no code with `goboom_env`, and prefers reading like the rules to
being fast. Comments quote the rule a line stands for; "decision n" is one of those where the sources are silent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

# "An ace is high in play everywhere."
RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "11", "12", "13", "J", "Q", "K", "A"]
JOKER, DRAW, PASS = "JK", "DRAW", "PASS"

RESULT_KEYS = ("tricks", "winner", "blocked", "left", "delta", "scores_after", "match_over", "match_winners")
OTHER_KEYS = ("format", "num_players", "match", "hand", "dealer", "leader", "deck", "scores_before", "actions")


class RefereeError(Exception):
    """An illegal action, or a record that the rules do not allow."""


def rank(card: str) -> str:
    return card[:-1]


def suit(card: str) -> str:
    return card[-1]


def matches(card: str, other: str) -> bool:
    """Whether a card matches another by suit or rank; a joker matches nothing."""
    return card != JOKER and (rank(card) == rank(other) or suit(card) == suit(other))


def once(cards: list[str]) -> list[str]:
    """The cards without repetition: playing either of two identical cards is the same action."""
    return list(dict.fromkeys(cards))


def card_points(card: str, rules: dict[str, Any]) -> int:
    if card == JOKER:
        return int(rules["joker_points"])
    if rank(card) == "A":
        return int(rules["ace_points"])
    if rank(card) in ("J", "Q", "K"):
        return int(rules["court_points"])
    return 10 if rank(card) == "T" else int(rank(card))


class Referee:
    """One hand of Go Boom, from the deal to the scores. What has the name of a record's key means the same when over.

    Attributes:
        turn: Seat to act.
        hands: Cards of each seat; drawn cards go to the end.
        stock: Its first card is drawn first.
        pile: Pile family: cards turned up or played, the last one on top, jokers included.
        match_card: The card to match or None. It stays after a joker, even if `after_boom="any"` frees the next card.
        reshuffles: For each reshuffle to come, the cards in the order in which they go under the stock.
    """

    def __init__(
        self, rules: dict[str, Any], num_players: int,
        *, dealer: int, leader: int, deck: list[str], scores: list[int], hand_number: int,
    ) -> None:  # fmt: skip
        needed = rules["hand_size"] * num_players + (1 if rules["family"] == "pile" else 0)
        if needed > len(deck):
            # Decision 15: "Never deal short".
            raise RefereeError(f"{num_players} hands need {needed} cards and the deck has {len(deck)}")
        # "round by round, one card each starting left of the dealer, then the stock from its top"
        stock = list(deck)
        hands: list[list[str]] = [[] for _ in range(num_players)]
        for _ in range(rules["hand_size"]):
            for step in range(1, num_players + 1):
                hands[(dealer + step) % num_players].append(stock.pop(0))
        top = None
        if rules["family"] == "pile" and any(card != JOKER for card in stock):
            # Decision 6: "Joker turned up at the start goes to the bottom of the stock, the next card is turned".
            # With jokers only in the stock there is nothing to turn, and no card to match.
            while stock[0] == JOKER:
                stock.append(stock.pop(0))
            top = stock.pop(0)
        self._start(rules, hands, stock, leader, top, dealer, scores, hand_number)

    @classmethod
    def from_position(
        cls, rules: dict[str, Any], hands: list[list[str]], stock: list[str], to_play: int,
        top: str | None = None, dealer: int | None = None, scores: list[int] | None = None,
    ) -> Referee:  # fmt: skip
        """A hand in which `to_play` leads a trick or has the turn; the cards not named are out of the game."""
        if top == JOKER:
            raise RefereeError("top is the card to match, so it cannot be a joker")
        dealer = (to_play - 1) % len(hands) if dealer is None else dealer
        scores = [0] * len(hands) if scores is None else scores
        referee = cls.__new__(cls)
        referee._start(rules, [list(hand) for hand in hands], list(stock), to_play, top, dealer, scores, 0)
        return referee

    def _start(
        self, rules: dict[str, Any], hands: list[list[str]], stock: list[str], leader: int, top: str | None,
        dealer: int, scores: list[int], hand_number: int,
    ) -> None:  # fmt: skip
        self.rules, self.num_players, self.dealer, self.hand_number = rules, len(hands), dealer, hand_number
        self.hands, self.stock, self.turn = hands, stock, leader
        self.match_card = top
        self.pile: list[str] = [] if top is None else [top]
        self.reshuffles: list[list[str]] = []
        self.scores_before = list(scores)

        self.trick: list[tuple[int, str]] = []
        self.acted_in_trick = 0
        self.first_out: int | None = None
        self.anything_goes = False  # a boom card was played under after_boom="any" and no card since
        self.drawn_this_turn = 0
        self.last_drawn: str | None = None
        self.actions_played = 0

        self.tricks: list[int] = []
        self.over = False
        self.winner: int | None = None
        self.blocked = False
        self.delta = [0] * self.num_players
        self.scores_after = list(scores)
        self.match_over = False
        self.match_winners: list[int] = []
        self._end_if_blocked()

    def legal(self) -> list[str]:
        """Texts of the legal actions, each once, in no particular order; none when the hand is over."""
        if self.over:
            return []
        return self._legal_pile() if self.rules["family"] == "pile" else self._legal_trick()

    def _legal_trick(self) -> list[str]:
        hand, renege, drawn = self.hands[self.turn], self.rules["renege"], self.last_drawn
        if self.match_card is None:
            # Decision 1: "A leader never draws and never passes."
            return once(hand)
        fitting = [card for card in hand if matches(card, self.match_card)]
        if drawn is not None and self.rules["draw"] == "one_may_play":
            # "draws one card and may play that card"
            return [drawn, PASS] if drawn in fitting else [PASS]
        if drawn is not None and renege != "draw":
            # Decision 3: "A drawn card that fits is the only legal card, so it is played."
            fitting = [drawn] if drawn in fitting else []
        actions = once(fitting)
        if self._may_draw() and (not fitting or renege == "draw"):
            # renege "draw": "a follower may draw, a card at a time, although it could play"
            actions.append(DRAW)
        if not actions or (fitting and renege == "pass"):
            # "stock empty: sit the trick out"; renege "pass": "although it could play"
            actions.append(PASS)
        return actions

    def _legal_pile(self) -> list[str]:
        natural, free, drawn = self._natural_cards(self.turn), self._free_cards(self.turn), self.last_drawn
        if drawn is not None and self.rules["draw"] == "one_may_play":
            # "draws one card and may play that card"
            return [drawn, PASS] if drawn in natural + free else [PASS]
        if drawn is not None and drawn in natural:
            # Decision 3: "A drawn card that fits is the only legal card, so it is played."
            return [drawn]
        if natural:
            return once(natural + free)
        # Decision 9: "Holding a joker but no match: play it or draw. With an empty stock it must be played."
        actions = once(free)
        if self._may_draw():
            actions.append(DRAW)
        return actions or [PASS]

    def _natural_cards(self, seat: int) -> list[str]:
        """Pile family: the cards of a seat that match, jokers never among them."""
        cards = [card for card in self.hands[seat] if card != JOKER]
        if self.anything_goes or self.match_card is None:
            return cards
        return [card for card in cards if matches(card, self.match_card)]

    def _free_cards(self, seat: int) -> list[str]:
        """Pile family: the cards of a seat that go on anything."""
        free_aces = self.rules["aces"] in ("wild", "boom") and not self.rules["ace_must_match"]
        return [card for card in self.hands[seat] if card == JOKER or (rank(card) == "A" and free_aces)]

    def _may_draw(self) -> bool:
        limit = self.rules["draw_limit"] if self.rules["draw"] == "until" else 1
        if limit and self.drawn_this_turn >= limit:
            return False
        return self._stock_can_give()

    def _stock_can_give(self) -> bool:
        return bool(self.stock) or bool(self._cards_to_reshuffle())

    def _cards_to_reshuffle(self) -> list[str]:
        cards = list(self.pile) if self.rules["reshuffle"] else []
        if cards and self.match_card is not None:
            # "all of the pile but the card to match"
            cards.remove(self.match_card)
        return cards

    def play(self, action: str) -> None:
        """Plays one action of the seat to act; `RefereeError` if it is illegal or needs a reshuffle not given."""
        legal, seat = self.legal(), self.turn
        if action not in legal:
            raise RefereeError(f"seat {seat} may not {action}: legal is {' '.join(legal) or 'nothing, it is over'}")
        self._reshuffle_before(seat, action)
        self.actions_played += 1
        if action == DRAW:
            self._draw(seat)
        elif action == PASS:
            self._end_turn()
        elif self.rules["family"] == "pile":
            self._play_on_pile(seat, action)
        else:
            self._play_to_trick(seat, action)
        # Decision 4: "Test it after every action."
        self._end_if_blocked()

    def _draw(self, seat: int) -> None:
        self.last_drawn = self.stock.pop(0)
        self.hands[seat].append(self.last_drawn)
        self.drawn_this_turn += 1
        if self.rules["draw"] == "one":
            # "draw ONE, turn over at once, playable or not"
            self._end_turn()

    def _end_turn(self) -> None:
        self.drawn_this_turn = 0
        self.last_drawn = None
        self.turn = (self.turn + 1) % self.num_players
        if self.rules["family"] == "trick":
            self.acted_in_trick += 1
            if self.acted_in_trick == self.num_players:
                self._end_trick()

    def _play_to_trick(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        if len(self.trick) == 1 or self.rules["match"] == "last":
            self.match_card = card
        if not self.hands[seat] and self.first_out is None:
            # finish_trick: "all who go out score 0 and the first to go out is the winner"
            self.first_out = seat
        if self.first_out is not None and not self.rules["finish_trick"]:
            # "at once; the highest card of the suit led so far wins that last trick"
            self.tricks.append(self._trick_winner())
            self._end_hand(self.first_out)
        else:
            self._end_turn()

    def _end_trick(self) -> None:
        # "next lead: trick winner"
        self.turn = self._trick_winner()
        self.tricks.append(self.turn)
        self.trick, self.acted_in_trick, self.match_card = [], 0, None
        if self.first_out is not None:
            self._end_hand(self.first_out)

    def _trick_winner(self) -> int:
        winner, best = self.trick[0]
        for seat, card in self.trick[1:]:
            # "highest of the suit led; of two identical cards the first played", or with `any` the highest of any suit.
            can_win = self.rules["trick_winner"] == "any" or suit(card) == suit(best)
            if can_win and RANKS.index(rank(card)) > RANKS.index(rank(best)):
                winner, best = seat, card
        return winner

    def _play_on_pile(self, seat: int, card: str) -> None:
        cards_to_draw = self._boom_draws(seat, card)
        self.hands[seat].remove(card)
        self.pile.append(card)
        self.anything_goes = self._booms(card) and self.rules["after_boom"] == "any"
        if card != JOKER:
            # Decision 5: "the next player matches the card UNDER the joker". Aces that boom "keep their suit and rank".
            self.match_card = card
        for step in range(1, cards_to_draw + 1):
            # Decision 8: "one card each, clockwise from the boomer's left, until it is empty"
            if self.stock:
                self.hands[(seat + step) % self.num_players].append(self.stock.pop(0))
        if not self.hands[seat]:
            # Decision 7: "Joker as the last card booms first (the others draw), then the hand is scored."
            self._end_hand(seat)
        else:
            self._end_turn()

    def _booms(self, card: str) -> bool:
        return card == JOKER or (rank(card) == "A" and self.rules["aces"] == "boom")

    def _boom_draws(self, seat: int, card: str) -> int:
        last_card = len(self.hands[seat]) == 1
        if not self._booms(card) or (last_card and not self.rules["boom_on_last"]):
            return 0
        return self.num_players - 1

    def _reshuffle_before(self, seat: int, action: str) -> None:
        cards = self._cards_to_reshuffle()
        if not cards or action == PASS:
            return
        needed = 1 if action == DRAW else self._boom_draws(seat, action)
        if needed <= len(self.stock):
            # "When a draw needs more cards than the stock holds", and not before.
            return
        if not self.reshuffles:
            raise RefereeError(f"{action} of seat {seat} needs a reshuffle of {' '.join(cards)} and none is given")
        if Counter(self.reshuffles[0]) != Counter(cards):
            raise RefereeError(f"the reshuffle is {' '.join(self.reshuffles[0])} and the pile gives {' '.join(cards)}")
        self.stock = self.stock + self.reshuffles[0]
        self.reshuffles = self.reshuffles[1:]
        self.pile = [] if self.match_card is None else [self.match_card]

    def _end_if_blocked(self) -> None:
        if self.over or self.rules["family"] == "trick":
            # Decision 4: "The trick family cannot block: each trick removes a card."
            return
        # turn_limit: "With reshuffle, the number of actions after which a hand counts as blocked."
        too_long = self.rules["reshuffle"] and self.actions_played >= self.rules["turn_limit"]
        # Decision 4: "the stock is empty and nobody holds a legal card"
        can_play = any(self._natural_cards(seat) or self._free_cards(seat) for seat in range(self.num_players))
        if too_long or not (can_play or self._stock_can_give()):
            self._end_hand(None)

    def _end_hand(self, winner: int | None) -> None:
        self.over, self.winner, self.blocked = True, winner, winner is None
        self.delta = self._blocked_delta() if winner is None else self._delta(winner)
        self.scores_after = [before + change for before, change in zip(self.scores_before, self.delta, strict=True)]
        # Decision 12: "Match end is tested after a hand only."
        self.match_over = (
            self.rules["match_end"] == "hand"
            or (self.rules["match_end"] == "round" and self.hand_number + 1 >= self.num_players)
            or (self.rules["match_end"] == "target" and max(self.scores_after) >= self.rules["target"])
        )
        if self.match_over:
            best = min(self.scores_after) if self.rules["scoring"] == "penalty" else max(self.scores_after)
            # "ties: co-winners"
            self.match_winners = [seat for seat, score in enumerate(self.scores_after) if score == best]

    @property
    def left(self) -> list[int]:
        return [sum(card_points(card, self.rules) for card in hand) for hand in self.hands]

    def _delta(self, winner: int) -> list[int]:
        left, scoring = self.left, self.rules["scoring"]
        if scoring == "penalty":
            return left
        # "collect: the winner scores all points left", "settle: the winner scores all, each other seat minus its own"
        delta = [-points if scoring == "settle" else 0 for points in left]
        delta[winner] = sum(left)
        return delta

    def _blocked_delta(self) -> list[int]:
        left, scoring = self.left, self.rules["scoring"]
        # "None: own under penalty scoring, else difference"
        how = self.rules["blocked"] or ("own" if scoring == "penalty" else "difference")
        if how == "own":
            return left if scoring == "penalty" else [-points for points in left]
        if how == "void" or left.count(min(left)) > 1:
            # Decision 4: "a tie for lowest collects nothing"
            return [0] * self.num_players
        # Decision 4: "the unique lowest hand collects the difference from each other player"
        differences = [points - min(left) for points in left]
        if scoring == "penalty":
            return differences
        delta = [-difference if scoring == "settle" else 0 for difference in differences]
        delta[left.index(min(left))] = sum(differences)
        return delta

    @property
    def next_dealer(self) -> int:
        # "The deal passes to the left in every version."
        return (self.dealer + 1) % self.num_players

    @property
    def next_leader(self) -> int:
        if self.rules["next_lead"] == "last_trick" and self.tricks:
            return self.tricks[-1]
        return (self.next_dealer + 1) % self.num_players


def check_record(record: dict[str, Any], rules: dict[str, Any]) -> None:
    """Plays a `goboom-record/1` object again; `RefereeError` if its deck, an action or a result is not by the rules."""
    for key in OTHER_KEYS + RESULT_KEYS:
        if key not in record:
            raise RefereeError(f"the record has no key {key!r}")
    if record["format"] != "goboom-record/1":
        raise RefereeError(f"the format is {record['format']!r}")
    num_players, dealer, leader = record["num_players"], record["dealer"], record["leader"]
    if dealer not in range(num_players) or leader not in range(num_players):
        raise RefereeError(f"dealer {dealer!r} or leader {leader!r} is no seat of {num_players}")
    if len(record["scores_before"]) != num_players:
        raise RefereeError(f"scores_before has {len(record['scores_before'])} scores for {num_players} players")
    pack = [pack for start, pack in rules["packs"] if start <= num_players][-1]
    if Counter(record["deck"]) != Counter(list(pack["cards"]) * pack["copies"] + [JOKER] * pack["jokers"]):
        raise RefereeError("the deck is not the pack")
    referee = Referee(
        rules, num_players, dealer=dealer, leader=leader,
        deck=record["deck"], scores=record["scores_before"], hand_number=record["hand"],
    )  # fmt: skip
    referee.reshuffles = [list(cards) for cards in record.get("reshuffles", [])]
    for number, (seat, action) in enumerate(record["actions"]):
        if not referee.over and seat != referee.turn:
            raise RefereeError(f"action {number}: seat {seat} acts, it is the turn of seat {referee.turn}")
        try:
            referee.play(action)
        except RefereeError as error:
            raise RefereeError(f"action {number}: {error}") from None
    if not referee.over:
        raise RefereeError(f"the actions end before the hand does; it is the turn of seat {referee.turn}")
    if referee.reshuffles:
        raise RefereeError(f"{len(referee.reshuffles)} of the reshuffles never took place")
    for key in RESULT_KEYS:
        if record[key] != getattr(referee, key):
            raise RefereeError(f"{key} is {record[key]!r} and should be {getattr(referee, key)!r}")


def check_match_order(records: Sequence[dict[str, Any]], rules: dict[str, Any]) -> None:
    """Checks that records, each good by itself, are all the hands of one match in order; `RefereeError` if not."""
    if not records:
        raise RefereeError("a match has at least one hand")
    num_players, match, dealer = records[0]["num_players"], records[0]["match"], records[0]["dealer"]
    # The source with next_lead="last_trick" too opens with "left of dealer".
    leader, scores = (dealer + 1) % num_players, [0] * num_players
    for number, record in enumerate(records):
        expected = {
            "num_players": num_players,
            "match": match,
            "hand": number,
            "dealer": dealer,
            "leader": leader,
            "scores_before": scores,
            "match_over": number == len(records) - 1,
        }
        for key, value in expected.items():
            if record[key] != value:
                raise RefereeError(f"hand {number}: {key} is {record[key]!r} and should be {value!r}")
        # "deal passes left", and "left of the dealer" leads, or the "winner of the last trick".
        dealer = (dealer + 1) % num_players
        leader = (dealer + 1) % num_players
        if rules["next_lead"] == "last_trick" and record["tricks"]:
            leader = record["tricks"][-1]
        scores = record["scores_after"]
