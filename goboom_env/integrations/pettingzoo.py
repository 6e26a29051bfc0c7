"""PettingZoo: the table as an AEC environment with one agent a seat, and an id for each preset in PettingZoo's registry.

There is no `parallel_env`: one seat acts at a time, and which it is depends on the play.

    >>> from goboom_env.integrations import pettingzoo as goboom_v0
    >>> env = goboom_v0.env(rules="classic", num_players=4)

Importing this module registers the ids of the Gymnasium environments, so `pettingzoo.make("aec", "GoBoom/Classic-v0")` works
after it.
"""

from __future__ import annotations

import operator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, aec_registry, register
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from goboom_env.actions import IllegalActionError
from goboom_env.envs.common import RENDER_MODES, Renderer, build_spaces, build_table
from goboom_env.registration import ENV_IDS
from goboom_env.rules import Rules

__all__ = ["env", "raw_env"]


def env(**kwargs: Any) -> AECEnv:
    """`raw_env` in PettingZoo's usual wrappers; the arguments are those of `raw_env`.

    An illegal action ends the episode for all agents: the offender is paid the worst payoff of the reward scheme, the others
    nothing more. An action outside the action space is an `AssertionError`.
    """
    raw = raw_env(**kwargs)
    return _OrderEnforcing(_AssertOutOfBounds(_TerminateIllegal(raw, illegal_reward=raw.worst_reward)))


class raw_env(AECEnv):  # type: ignore[misc]
    """Go Boom with the agents `player_0` to `player_{n-1}`, one a seat, clockwise.

    The agent to act is `agent_selection`. It stays the same while one seat draws and then plays, and is the winner of the last
    trick when a trick begins.

    An observation is a dict of `observation`, shape (features,), uint8, the agent's own view as `GoBoomEnv` has it, and
    `action_mask`, shape (actions,), int8, 1 where the agent may take an action: all 0 for an agent that is not to act.
    `observe` gives each agent of `possible_agents` its view at any time, whether it is done or not. Arrays are fresh.

    Rewards come to all agents in the step that ends a hand (`reward="score"`) or the episode (`reward="win"`), and sum over the
    episode to `infos[agent]["payoffs"][seat]`. At the end all agents are terminated in the same step, never truncated, and
    `infos` hold `payoffs`, `scores` and `winner` as in `GoBoomEnv`; they are empty before.

    Args:
        rules: A preset's name or a `Rules` value (a house rule).
        num_players: Seats. Default 4, or the nearest number that the rules allow.
        episode: `"hand"` or `"match"`.
        reward: `"score"` or `"win"`.
        forced: `"ask"` hands over every action, `"auto"` plays an agent's only legal action for it.
        render_mode: None; `"ansi"`: `render()` gives text; `"rgb_array"`: `render()` gives a picture, shape (960, 1280, 3), uint8
            (needs the extra `render`); `"human"`: each reset and step prints the table.
        reveal: Whether pictures show every hand; without it only that of the acting seat.

    Raises:
        ValueError: An unknown word, or a player count that the rules or their pack do not allow.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as AECEnv declares it
        "name": "goboom_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Rules = "classic",
        num_players: int | None = None,
        episode: str = "hand",
        reward: str = "score",
        forced: str = "ask",
        render_mode: str | None = None,
        reveal: bool = False,
    ) -> None:
        super().__init__()
        table = build_table(rules, num_players, "self", "raise", render_mode, episode=episode, reward=reward, forced=forced)
        self._table = table
        self.rules = table.rules
        self.num_players = table.num_players
        self.render_mode = render_mode
        self._renderer = None if render_mode is None else Renderer(table, render_mode, reveal)
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        observation, action = build_spaces(table)
        mask = spaces.Box(0, 1, (table.num_actions,), np.int8)
        # Each agent's own objects: code that seeds one agent's space must not seed another's.
        self.observation_spaces = {
            agent: spaces.Dict({"observation": spaces.Box(0, 1, observation.shape, np.uint8), "action_mask": mask})
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(int(action.n)) for agent in self.possible_agents}
        self._by_hand = reward == "score" and episode == "match"

    @property
    def worst_reward(self) -> float:
        """What an agent that takes an illegal action is paid under PettingZoo's `TerminateIllegalWrapper` in `env`."""
        return self._table.worst_payoff()

    def observation_space(self, agent: str) -> spaces.Dict:
        """The agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. The same seed gives the same episodes; without one the env's own streams go on."""
        table = self._table
        table.reset(None if seed is None else [seed])
        self.agents: list[str] = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._paid = False
        self._hand, self._scores = 0, np.zeros(self.num_players, np.int64)
        self.agent_selection = self.possible_agents[table.acting.item(0)]
        if self._renderer is not None:
            self._renderer.forget(None)
            self._renderer.show()

    def step(self, action: int | None) -> None:
        """Take the action of `agent_selection`, None for an agent that is done.

        Raises:
            IllegalActionError: The rules do not allow the action now; nothing has changed. (`env` ends the episode instead.)
            ValueError: The action is no action id, or not None for an agent that is done; nothing has changed.
        """
        agent, table = self.agent_selection, self._table
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = _whole_number(action)
        if 0 <= number < table.num_actions and not table.masks[0, number]:
            raise IllegalActionError(table.refuse([number]))
        seats = table.acting
        table.step([number])
        if self._renderer is not None:
            never = np.zeros(1, np.bool_)
            self._renderer.stepped([number], seats, never, never)
            self._renderer.show()
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self._clear_rewards()
            self._paid = False
        if table.num_ended:
            self._end()
            return
        if self._by_hand and table.states[0]["hand_number"] != self._hand:
            self._pay_hands()
        self.agent_selection = self.possible_agents[table.acting.item(0)]

    def _pay(self, rewards: list[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        self._paid = True
        self._accumulate_rewards()

    def _pay_hands(self) -> None:
        """Pay what the match scores grew by since they were paid last."""
        state, n = self._table.states[0], self.num_players
        scores = state["score"][:n].astype(np.int64)
        points = scores - self._scores
        self._hand, self._scores = int(state["hand_number"]), scores
        self._pay(self._table.pay_points(points))

    def _end(self) -> None:
        """Pay all agents what is left and terminate them."""
        info = self._table.end_info(0)
        del info["illegal_action"]  # the wrapper's business
        if self._by_hand:
            self._pay_hands()
        else:
            self._pay(info["payoffs"].tolist())
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: dict(info) for agent in self.agents}
        self._deads_step_first()

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """The agent's own view and mask, see the class."""
        table, seat = self._table, self._seat_of[agent]
        if agent == self.agent_selection and not (self.terminations.get(agent, True) or self.truncations.get(agent, True)):
            return {"observation": table.observations[0].copy(), "action_mask": table.masks[0].copy()}
        return {"observation": table.observe(0, seat), "action_mask": np.zeros(table.num_actions, np.int8)}

    def render(self) -> Any:
        """The table as text in the mode `ansi`, as an array in `rgb_array`; None in `human`, where each step prints it.

        Only the hand of the seat that acts is shown, or at the end that acted last; all are with `reveal=True`.
        """
        if self._renderer is None:
            gym.logger.warn(f"render needs an env made with a render_mode, one of {', '.join(RENDER_MODES)}")
            return None
        return None if self.render_mode == "human" else self._renderer.draw(0)

    def close(self) -> None:
        """Nothing is held open."""


class _Direct(BaseWrapper):  # type: ignore[misc]  # pettingzoo is untyped
    """Reads the raw env's attributes straight: handing each read from wrapper to wrapper takes most of a step.

    Where the raw env has none yet, before the first reset, Python goes on to `__getattr__`, which says so.
    """

    def __init__(self, env: AECEnv, **kwargs: Any) -> None:
        self._raw = env.unwrapped
        super().__init__(env, **kwargs)

    agent_selection = property(operator.attrgetter("_raw.agent_selection"))
    agents = property(operator.attrgetter("_raw.agents"))
    rewards = property(operator.attrgetter("_raw.rewards"))
    terminations = property(operator.attrgetter("_raw.terminations"))
    truncations = property(operator.attrgetter("_raw.truncations"))
    infos = property(operator.attrgetter("_raw.infos"))
    _cumulative_rewards = property(operator.attrgetter("_raw._cumulative_rewards"))


class _TerminateIllegal(_Direct, TerminateIllegalWrapper):  # type: ignore[misc]
    pass


class _AssertOutOfBounds(_Direct, AssertOutOfBoundsWrapper):  # type: ignore[misc]
    pass


class _OrderEnforcing(_Direct, OrderEnforcingWrapper):  # type: ignore[misc]
    def __str__(self) -> str:
        return str(self._raw)


def _whole_number(action: Any) -> int:
    try:
        return operator.index(action)
    except TypeError:
        raise ValueError(f"an action must be a whole number, got {action!r}") from None


def _register() -> None:
    """An id for each preset; again does nothing."""
    for name, preset in ENV_IDS.items():
        if name not in aec_registry:
            register("aec", name, entry_point="goboom_env.integrations.pettingzoo:env", kwargs={"rules": preset})


_register()
