"""`GoBoomVectorEnv`: many tables as one Gymnasium vector environment, a compiled call a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from goboom_env.actions import IllegalActionError
from goboom_env.envs.common import RENDER_MODES, Renderer, build_spaces, build_table
from goboom_env.rollout import Rollout
from goboom_env.rules import Rules
from goboom_env.stepping import DISABLED, NEXT_STEP, SAME_STEP
from goboom_env.table import check_choice

_MODES = {AutoresetMode.NEXT_STEP: NEXT_STEP, AutoresetMode.SAME_STEP: SAME_STEP, AutoresetMode.DISABLED: DISABLED}


class GoBoomVectorEnv(VectorEnv[NDArray[np.uint8], ArrayLike, NDArray[Any]]):
    """`num_envs` tables of Go Boom; row i reset with seed s plays as a `GoBoomEnv` reset with seed s + i.

    Arguments, spaces, rewards and infos are those of `GoBoomEnv`, with a first axis of length `num_envs`, and:

    Args:
        num_envs: Number of tables.
        autoreset_mode: A `gymnasium.vector.AutoresetMode` or its value. `NEXT_STEP` (default): the step after an episode
            ignores the action and returns the first observation of the next. `SAME_STEP`: that observation comes at once, and
            `info["final_obs"]` and `info["final_info"]` hold the end of the episode. `DISABLED`: the caller resets with
            `reset(options={"reset_mask": ended})`.
        num_threads: Threads that share large batches; results do not depend on it.

    Arrays handed out are fresh each step and never change later.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as gymnasium declares it
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "classic",
        num_players: int | None = None,
        opponents: Any = "random",
        episode: str = "hand",
        reward: str = "score",
        forced: str = "auto",
        illegal_action: str = "forfeit",
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        reveal: bool = False,
    ) -> None:
        if not isinstance(autoreset_mode, AutoresetMode):
            check_choice("autoreset_mode", autoreset_mode, [mode.value for mode in AutoresetMode])
        mode = AutoresetMode(autoreset_mode)
        self._table = build_table(
            *(rules, num_players, opponents, illegal_action, render_mode),
            num_tables=num_envs,
            episode=episode,
            reward=reward,
            forced=forced,
            autoreset=_MODES[mode],
            num_threads=num_threads,
        )
        self.metadata = {**type(self).metadata, "autoreset_mode": mode}
        self.autoreset_mode = mode
        self.num_envs = num_envs
        self._each = np.ones(num_envs, np.bool_)
        self.rules = self._table.rules
        self.num_players = self._table.num_players
        self.num_actions = self._table.num_actions
        self.illegal_action = illegal_action
        self.render_mode = render_mode
        self._renderer = None if render_mode is None else Renderer(self._table, render_mode, reveal)
        self.single_observation_space, self.single_action_space = build_spaces(self._table)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Deal at all tables, or with `options={"reset_mask": bool array}` at those it names.

        Args:
            seed: Table i gets seed + i, or the i-th of a list; None goes on with the tables' own streams.
            options: `reset_mask`, shape (num_envs,), bool, or nothing.
        """
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} tables: give one for each")
        which = None if options is None else options.get("reset_mask")
        if which is not None and (not isinstance(which, np.ndarray) or which.dtype != np.bool_ or which.shape != (self.num_envs,)):
            raise ValueError(f"reset_mask must be a bool array of shape ({self.num_envs},), got {which!r}")
        if which is not None and not which.any():
            raise ValueError("reset_mask names no table: at least one of its values must be True")
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._table.reset(seeds, which)
        if self._renderer is not None:
            self._renderer.forget(which)
            self._renderer.show()
        info = self._info()
        if which is not None:
            info["_action_mask"] = info["_seat"] = which.copy()
        return self._table.observations, info

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take the learner's action at every table, shape (num_envs,), whole numbers.

        Raises:
            IllegalActionError: With `illegal_action="raise"`; nothing has changed at any table.
            ValueError: A wrong shape or an action outside the action space; nothing has changed.
            RuntimeError: Under `DISABLED`, a table's episode is over.
        """
        table = self._table
        if self.illegal_action == "raise":
            refusal = table.refuse(actions)
            if refusal:
                raise IllegalActionError(refusal)
        seats, began = table.acting, table.rows["needs_reset"].copy() if self._renderer is not None else None
        table.step(actions)
        if self._renderer is not None and began is not None:
            same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
            self._renderer.stepped(np.asarray(actions).tolist(), seats, began, table.ended & same_step)
            self._renderer.show()
        info = self._info()
        if table.num_ended:
            info.update(self._end_info())
        return table.observations, table.rewards, table.ended, np.zeros(self.num_envs, np.bool_), info

    def rollout(self, num_steps: int, bot: str = "random", seed: int | None = None) -> Rollout:
        """Play `num_steps` steps of all tables in one compiled call with a rule bot in the learner's place, from where they stand.

        That is what a loop over `step` gives, without its Python: data for imitation or offline learning, and a base line.

        Args:
            num_steps: Steps at each table, 1 or more. Each takes about 440 bytes a table at four seats with 52 cards.
            bot: Name of a rule bot, see `goboom bots`.
            seed: Of the bot's choices; `random` makes those that `sample_legal(mask, np.random.default_rng(seed))` makes.

        Raises:
            ValueError: A number below 1, no rule bot, or an opponent that is none: they alone are compiled.
            RuntimeError: Under `DISABLED`, which does not go on after an episode's end, or before the first reset.
        """
        return self._table.rollout(num_steps, bot, np.random.default_rng(seed))

    def _info(self) -> dict[str, Any]:
        each = self._each.copy()
        return {"action_mask": self._table.masks, "_action_mask": each, "seat": self._table.acting, "_seat": each}

    def _end_info(self) -> dict[str, Any]:
        """What is told of episodes that ended, in the places where Gymnasium's own vector envs put it."""
        table = self._table
        ended = table.ended
        end: dict[str, Any] = {
            "payoffs": table.payoffs,
            "_payoffs": ended,
            "scores": table.scores,
            "_scores": ended,
            "winner": table.winners,
            "_winner": ended,
            "illegal_action": table.forfeits,
            "_illegal_action": ended,
        }
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            return end
        observations, masks = np.empty(self.num_envs, object), np.zeros((self.num_envs, table.num_actions), np.int8)
        seats, last = table.last()
        for i, observation in zip(ended.nonzero()[0].tolist(), last, strict=True):
            observations[i] = observation
            masks[i] = 1
        end |= {"seat": seats, "_seat": ended, "action_mask": masks, "_action_mask": ended}
        return {"final_obs": observations, "_final_obs": ended, "final_info": end, "_final_info": ended}

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, shape (num_envs, actions), bool."""
        return self._table.masks.astype(np.bool_)

    def get_state(self) -> dict[str, NDArray[Any]]:
        """Everything that `set_state` needs to go on from here, opponents that keep a state of their own excepted."""
        return self._table.get_state()

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state that `get_state` of an env made with the same arguments gave; `ValueError` for any other."""
        self._table.set_state(state)

    def render(self) -> tuple[Any, ...] | None:
        """Every table as text in the mode `ansi`, as an array in `rgb_array`; None in `human`, where each step prints them."""
        if self._renderer is None:
            gym.logger.warn(f"render needs an env made with a render_mode, one of {', '.join(RENDER_MODES)}")
            return None
        return None if self.render_mode == "human" else tuple(self._renderer.draw(i) for i in range(self.num_envs))
