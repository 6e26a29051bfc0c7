"""What the single and the vector env have in common."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from gymnasium import spaces

from goboom_env.policies import make_seats
from goboom_env.rules import Rules, get_rules
from goboom_env.table import Table, check_choice

ILLEGAL_ACTION = ("forfeit", "raise")
DEFAULT_PLAYERS = 4


class RenderModeError(ValueError, TypeError):
    """A render mode that there is not. A TypeError too: Stable-Baselines3 tries `rgb_array` and goes on without at that."""


def build_table(
    rules: str | Rules, num_players: int | None, opponents: Any, illegal_action: str, render_mode: str | None, **options: Any
) -> Table:
    """The tables of an env, with the learner on seat 0, or on every seat for `opponents="self"`."""
    rules = get_rules(rules)
    if num_players is not None:
        num_players = operator.index(num_players)
    else:
        num_players = min(max(DEFAULT_PLAYERS, rules.min_players), rules.max_players)
    rules.pack_for(num_players)
    check_choice("illegal_action", illegal_action, ILLEGAL_ACTION)
    if render_mode not in (None, "ansi"):
        raise RenderModeError(f"render_mode={render_mode!r} is not one of None, 'ansi'")
    if isinstance(opponents, str) and opponents == "self":
        return Table(rules, [None] * num_players, **options)
    return Table(rules, [None, *make_seats(opponents, num_players - 1)], **options)


def build_spaces(table: Table) -> tuple[spaces.Box, spaces.Discrete]:
    """Observation and action space of one table."""
    return spaces.Box(0, 1, (table.num_features,), np.uint8), spaces.Discrete(table.num_actions)
