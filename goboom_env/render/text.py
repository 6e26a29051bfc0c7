"""A table as plain text, with the cards that one seat may see."""

from __future__ import annotations

from typing import Any

from goboom_env.cards import Pack
from goboom_env.engine.game import held_cards
from goboom_env.engine.state import NONE, PASSED, PLAYING
from goboom_env.rules import Rules, rules_name


def table_text(rules: Rules, pack: Pack, num_players: int, state: Any, seat: int) -> str:
    """Some lines on a STATE record as `seat` sees the table: own cards, the others' numbers of cards, trick or pile, scores."""
    name = rules_name(rules) or "house rules"
    stock = int(state["stock_end"]) - int(state["stock_at"])
    lines = [f"Go Boom {name}, hand {int(state['hand_number']) + 1}, stock {stock}"]
    if rules.family == "pile":
        match = int(state["match"])
        lines[0] += f", to match: {'any card' if match == NONE else pack.types[match]}"
    for other in range(num_players):
        turn = ">" if other == int(state["turn"]) and state["status"] == PLAYING else " "
        count = int(state["size"][other])
        cards = " ".join(held_cards(pack, state, other)) if other == seat else f"{count} card{'' if count == 1 else 's'}"
        played = int(state["trick"][other])
        trick = {NONE: "", PASSED: "  (sits out)"}.get(played, f"  plays {pack.types[played] if played >= 0 else ''}")
        dealer = "  dealer" if other == int(state["dealer"]) else ""
        lines.append(f"{turn} seat {other}: {cards or '-'}{trick}  score {int(state['score'][other])}{dealer}")
    return "\n".join(lines) + "\n"
