"""`GoBoomEnv`: one table as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from goboom_env.actions import IllegalActionError
from goboom_env.envs.common import RENDER_MODES, Renderer, build_spaces, build_table
from goboom_env.rules import Rules


class GoBoomEnv(gym.Env[NDArray[np.uint8], int]):
    """Go Boom for one learner, with a policy on each other seat.

    ## Description
    Go Boom is a card game for 2 to 14 players: be the first to get rid of all your cards. In the trick family each seat in
    turn plays a card of the suit or rank led, or draws until it can; the highest card of the suit led wins the trick and its
    player leads the next. In the pile family each seat matches the top of a discard pile, and a joker (or an ace) makes all
    others draw. Each registered id is one written version of the rules.

    ## Action Space
    `Discrete(T + 2)` with T card types in the pack: 0 to T-1 play a card of that type, T draws one card, T+1 passes. Types are
    numbered by rank from 2 to ace, then by suit (clubs, diamonds, hearts, spades); a joker is the last. Legal actions are 1 in
    `info["action_mask"]`, shape (T + 2,), int8, and True in `action_masks()`. At the end of an episode no action is judged and
    the mask is all 1.

    ## Observation Space
    `Box(0, 1, (n,), uint8)`: one-hot and thermometer sections of what the acting seat may know, relative to that seat.
    `goboom_env.observation.layout(rules, num_players)` gives name and slice of each section.

    ## Starting State
    A shuffled deal. The dealer, so the learner's position, is drawn each episode. If an episode ends before the
    learner had a choice, another begins.

    ## Rewards
    `reward="score"`: own points less the mean of the others', penalties counted negative, divided by 100, when a hand ends.
    `reward="win"`: 1 for the winner (co-winners of a match share it), -1/(n-1) for each other seat, 0 for all in a blocked
    hand; in a match it is paid at its end.

    ## Episode End
    Terminated at the end of the hand (`episode="hand"`) or of the match (`episode="match"`); never truncated. An illegal action
    ends the episode at the worst payoff of the reward scheme (`illegal_action="forfeit"`) or raises `IllegalActionError` and
    changes nothing (`"raise"`).

    ## Information
    Always `action_mask` and `seat`, the seat they belong to. At the end `payoffs` and `scores` of each seat, shape (n,),
    `winner`, the seat that went out in the last hand or -1, and `illegal_action`, whether the episode was forfeited.

    ## Arguments
    Args:
        rules: A preset's name or a `Rules` value (a house rule).
        num_players: Seats, 2 to 14 as the rules allow. Default 4, or the nearest number that the rules allow.
        opponents: On each other seat: a bot's name, the path of a trained policy, a `Policy`, a function
            `(observation, mask) -> action`, a mix such as `{"greedy": 0.5, "random": 0.5}` drawn each episode, a list of one
            of these an opponent seat, or `"self"`: the caller plays every seat and `info["seat"]` says whose turn it is.
        episode: `"hand"` or `"match"`.
        reward: `"score"` or `"win"`.
        forced: `"auto"` plays the learner's only legal action for it, `"ask"` hands over every action.
        illegal_action: `"forfeit"` or `"raise"`.
        render_mode: None; `"ansi"`: `render()` gives text; `"rgb_array"`: `render()` gives a picture, shape (960, 1280, 3), uint8
            (needs the extra `render`); `"human"`: each reset and step prints the table.
        reveal: Whether pictures show every hand; without it only that of the acting seat.

    Raises:
        ValueError: An unknown word or policy, or a player count that the rules or their pack do not allow.

    ## Version History
    v0: first version.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - as gymnasium.Env declares it

    def __init__(
        self,
        rules: str | Rules = "classic",
        num_players: int | None = None,
        opponents: Any = "random",
        episode: str = "hand",
        reward: str = "score",
        forced: str = "auto",
        illegal_action: str = "forfeit",
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        self._table = build_table(rules, num_players, opponents, illegal_action, render_mode, episode=episode, reward=reward, forced=forced)
        self.rules = self._table.rules
        self.num_players = self._table.num_players
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self._renderer = None if render_mode is None else Renderer(self._table, render_mode, reveal)
        self.observation_space, self.action_space = build_spaces(self._table)  # type: ignore[assignment]  # Discrete holds int64

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Deal. The same seed gives the same episodes; without one the env's own streams go on."""
        super().reset(seed=seed)
        self._table.reset(None if seed is None else [seed])
        if self._renderer is not None:
            self._renderer.forget(None)
            self._renderer.show()
        return self._table.observations[0], self._info()

    def step(self, action: int) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Take an action for the learner and play on to its next decision.

        Raises:
            IllegalActionError: With `illegal_action="raise"`; nothing has changed.
            ValueError: The action is outside the action space; nothing has changed.
            RuntimeError: The episode is over or was never begun.
        """
        table = self._table
        actions = np.array([action])
        if self.illegal_action == "raise":
            refusal = table.refuse(actions)
            if refusal:
                raise IllegalActionError(refusal)
        seats = table.acting
        table.step(actions)
        if self._renderer is not None:
            never = np.zeros(1, np.bool_)
            self._renderer.stepped(actions.tolist(), seats, never, never)
            self._renderer.show()
        ended = bool(table.ended[0])
        info = self._info()
        if ended:
            info.update(table.end_info(0))
        return table.observations[0], float(table.rewards[0]), ended, False, info

    def _info(self) -> dict[str, Any]:
        table = self._table
        return {"action_mask": table.masks[0], "seat": int(table.acting[0])}

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, shape (actions,), bool, as sb3-contrib's MaskablePPO asks for them."""
        return np.asarray(self._table.masks[0], np.bool_)

    def render(self) -> Any:
        """The table as text in the mode `ansi`, as an array in `rgb_array`; None in `human`, where each step prints it.

        Other seats' cards stay hidden but with `reveal=True`.
        """
        if self._renderer is None:
            gym.logger.warn(f"render needs an env made with a render_mode, one of {', '.join(RENDER_MODES)}")
            return None
        return None if self.render_mode == "human" else self._renderer.draw(0)
