"""What the single and the vector env have in common."""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goboom_env import stepping
from goboom_env.actions import action_text
from goboom_env.policies import make_seats
from goboom_env.render.scene import make_scene
from goboom_env.render.text import action_words, card_text, shows_glyphs, table_text
from goboom_env.rules import Rules, get_rules
from goboom_env.table import Table, check_choice

ILLEGAL_ACTION = ("forfeit", "raise")
RENDER_MODES = ("ansi", "rgb_array", "human")


class RenderModeError(ValueError, TypeError):
    """A render mode that there is not, or not without Pillow.

    A TypeError too: Stable-Baselines3 tries `rgb_array` and goes on without at that.
    """


def build_table(
    rules: str | Rules, num_players: int | None, opponents: Any, illegal_action: str, render_mode: str | None, **options: Any
) -> Table:
    """The tables of an env, with the learner on seat 0, or on every seat for `opponents="self"`."""
    rules = get_rules(rules)
    num_players = rules.default_players if num_players is None else operator.index(num_players)
    rules.pack_for(num_players)
    check_choice("illegal_action", illegal_action, ILLEGAL_ACTION)
    if render_mode not in (None, *RENDER_MODES):
        raise RenderModeError(f"render_mode={render_mode!r} is not one of None, {', '.join(map(repr, RENDER_MODES))}")
    if render_mode == "rgb_array" and find_spec("PIL") is None:
        raise RenderModeError('render_mode="rgb_array" needs Pillow: pip install pillow')
    if isinstance(opponents, str) and opponents == "self":
        return Table(rules, [None] * num_players, **options)
    return Table(rules, [None, *make_seats(opponents, num_players - 1)], **options)


def build_spaces(table: Table) -> tuple[spaces.Box, spaces.Discrete]:
    """Observation and action space of one table."""
    return spaces.Box(0, 1, (table.num_features,), np.uint8), spaces.Discrete(table.num_actions)


def _last_words(last: tuple[int, str, bool] | None, glyphs: bool) -> str:
    if last is None:
        return ""
    seat, action, forfeit = last
    if forfeit:
        return f"seat {seat} forfeits the episode: {card_text(action, glyphs)} is not legal"
    return f"seat {seat} {action_words(action, glyphs)}"


class Renderer:
    """Pictures of an env's tables.

    Args:
        table: The tables.
        mode: One of `RENDER_MODES`.
        reveal: Show every hand, not that of the acting seat alone.
    """

    def __init__(self, table: Table, mode: str, reveal: bool) -> None:
        self._table, self._mode, self._reveal = table, mode, reveal
        self._last: list[tuple[int, str, bool] | None] = [None] * table.num_tables
        """What the learner did last: seat, action and whether that was illegal."""

    def forget(self, which: NDArray[np.bool_] | None) -> None:
        """Tables, or those of a boolean array, begin anew."""
        for i in range(self._table.num_tables) if which is None else which.nonzero()[0]:
            self._last[i] = None

    def stepped(self, actions: Sequence[int], seats: NDArray[np.int64], began: NDArray[np.bool_], gone: NDArray[np.bool_]) -> None:
        """Keep what the learner did at each table.

        Args:
            actions: Its actions.
            seats: The seats it took them for.
            began: Tables that began an episode instead.
            gone: Tables whose end of an episode is not to be seen any more.
        """
        table = self._table
        for i, (action, seat) in enumerate(zip(actions, seats, strict=True)):
            forfeit = bool(table.ended[i]) and int(table.rows[i]["illegal"]) == stepping.FORFEIT
            self._last[i] = None if began[i] or gone[i] else (int(seat), action_text(table.pack, action), forfeit)

    def draw(self, i: int) -> Any:
        """Table i as text, or as an array in the mode `rgb_array`."""
        table = self._table
        numbers = table.rows[i]["policy"][: table.num_players]
        names = ["learner" if number < 0 else table.policies[number].name for number in numbers]
        viewer = int(table.acting[i])
        glyphs = self._mode != "rgb_array" and shows_glyphs(sys.stdout)
        last = _last_words(self._last[i], glyphs)
        scene = make_scene(table.rules, table.pack, table.num_players, table.states[i], viewer, self._reveal, names, last)
        if self._mode == "rgb_array":
            from goboom_env.render.image import table_image

            return table_image(scene)
        return table_text(scene, glyphs)

    def show(self) -> None:
        """In the mode `human`, print every table."""
        if self._mode == "human":
            for i in range(self._table.num_tables):
                print(self.draw(i), flush=True)
