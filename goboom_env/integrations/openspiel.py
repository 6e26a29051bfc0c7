"""OpenSpiel: a hand of Go Boom as an explicit chance game, `python_goboom`, registered when this module is imported.

Parameters, all optional:

    rules     a preset's name, or one given to `add_rules` (default "classic")
    players   seats (default 4)
    reward    "score" or "win": returns are the payoffs of the Gymnasium envs (default "score")
    dealer    the seat that deals; -1 draws it by lot, as the first hand of a match does (default)

A hand is one that begins a match at scores of 0. Actions are numbered as in `goboom_env.actions`, and every action is a
decision node, forced ones too.

Chance decides as late as anybody could notice. The dealer comes first. Then each seat's hand, in rising order of cards: a
hand so has one history rather than one an order, with the probabilities of a shuffled deal. In the pile family the card turned up
follows. The order of the stock stays undecided: a card drawn from it is a chance node after the action that takes it, and so is
each card of a boom. A chance outcome is a card type (for the dealer a seat), and what can come out in one way only is no node.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pyspiel

from goboom_env.actions import action_text
from goboom_env.integrations.lazy_deal import Hand, Setup
from goboom_env.integrations.openspiel_observer import GoBoomObserver, history_text
from goboom_env.rules import MAX_PLAYERS, PRESETS, Rules, get_rules
from goboom_env.table import REWARDS, check_choice

NAME = "python_goboom"
DEFAULTS: dict[str, Any] = {"rules": "classic", "players": 4, "reward": "score", "dealer": -1}
_HOUSE_RULES: dict[str, Rules] = {}


def add_rules(name: str, rules: Rules) -> None:
    """Make a house rule known to `pyspiel.load_game` by a name of its own, in this process.

    Raises:
        ValueError: The name is a preset's, or already that of other rules.
    """
    if name in PRESETS or _HOUSE_RULES.get(name, rules) != rules:
        raise ValueError(f"the name {name!r} is taken by other rules")
    _HOUSE_RULES[name] = rules


def rules_of(name: str) -> Rules:
    """The rules of a name, as the parameter `rules` takes it; `ValueError` names the nearest."""
    return _HOUSE_RULES.get(name) or get_rules(name)


GAME_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Go Boom",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=MAX_PLAYERS,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    provides_factored_observation_string=True,
    parameter_specification=DEFAULTS,
)


class GoBoomGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel is untyped
    """A hand of Go Boom; `pyspiel.load_game("python_goboom", {...})` makes one.

    Raises:
        ValueError: An unknown rule set or word, or a player count the rules or their pack do not allow.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        options = {**DEFAULTS, **(params or {})}
        num_players, dealer = int(options["players"]), int(options["dealer"])
        check_choice("reward", options["reward"], REWARDS)
        self.setup = Setup(rules_of(options["rules"]), num_players, options["reward"], dealer)
        if not -1 <= dealer < num_players:
            raise ValueError(f"dealer={dealer} is not a seat of this table of {num_players}, nor -1 for one drawn by lot")
        bound = self.setup.bound()
        info = pyspiel.GameInfo(
            num_distinct_actions=self.setup.num_actions,
            max_chance_outcomes=max(self.setup.types, num_players),
            num_players=num_players,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=self.setup.longest,
        )
        super().__init__(GAME_TYPE, info, dict(params or {}))
        self.first = Hand(self.setup)

    def new_initial_state(self) -> GoBoomState:
        """The state before the first card is dealt."""
        return GoBoomState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> GoBoomObserver:
        """An observer, by default of what the engine's observation shows one seat."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return GoBoomObserver(self.setup, kind, params)


class GoBoomState(pyspiel.State):  # type: ignore[misc]  # pyspiel is untyped
    """A state of `GoBoomGame`; `hand` holds the engine's record and what chance has yet to decide."""

    def __init__(self, game: GoBoomGame) -> None:
        super().__init__(game)
        self.hand: Hand = copy.deepcopy(game.first)

    def current_player(self) -> int:
        """Seat to act, or pyspiel's number for chance or the end."""
        if self.hand.weights:
            return int(pyspiel.PlayerId.CHANCE)
        if self.hand.over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(self.hand.states[0]["turn"])

    def _legal_actions(self, player: int) -> list[int]:
        return self.hand.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Card types, or seats for the dealer, with their probabilities."""
        total = sum(weight for _, weight in self.hand.weights)
        return [(outcome, weight / total) for outcome, weight in self.hand.weights]

    def _apply_action(self, action: int) -> None:
        if self.hand.weights:
            self.hand.choose(action)
        else:
            self.hand.act(action)

    def _action_to_string(self, player: int, action: int) -> str:
        setup = self.hand.setup
        if player != pyspiel.PlayerId.CHANCE:
            return action_text(setup.pack, action)
        return f"dealer {action}" if self.hand.dealer < 0 else setup.pack.types[action]

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.hand.over

    def returns(self) -> list[float]:
        """Payoff of each seat, 0 before the end."""
        hand = self.hand
        return hand.setup.payoffs(hand.states) if hand.over else [0.0] * hand.setup.num_players

    def __str__(self) -> str:
        return history_text(self.hand, range(self.hand.setup.num_players))


pyspiel.register_game(GAME_TYPE, GoBoomGame)
