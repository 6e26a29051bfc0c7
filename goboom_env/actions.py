"""Action ids and their text.

With T types in the pack (a joker is the last type):

    0 .. T-1   play a card of that type; copies of a card are one action
    T          DRAW one card from the stock
    T + 1      PASS

so the action space of a rule set at a table is `Discrete(T + 2)`.
"""

from __future__ import annotations

from goboom_env.cards import Pack

DRAW = "DRAW"
PASS = "PASS"


class IllegalActionError(ValueError):
    """An action that the rules do not allow now; the message names it, the reason and what is legal."""


def num_actions(pack: Pack) -> int:
    """Size of the action space."""
    return len(pack.types) + 2


def action_text(pack: Pack, action: int) -> str:
    """`"7D"`, `"JK"`, `"DRAW"` or `"PASS"`."""
    types = pack.types
    if 0 <= action < len(types):
        return types[action]
    if action == len(types):
        return DRAW
    if action == len(types) + 1:
        return PASS
    raise ValueError(f"action {action} is out of range: this pack has actions 0 to {len(types) + 1}")


def action_number(pack: Pack, text: str) -> int:
    """The id of an action from its text, upper or lower case."""
    word = text.strip().upper()
    if word == DRAW:
        return len(pack.types)
    if word == PASS:
        return len(pack.types) + 1
    return pack.number(text)
