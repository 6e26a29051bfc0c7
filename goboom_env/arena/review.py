"""Records with the table at each decision, and what policies think of it: everything that a page on them shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goboom_env.arena.advice import advise
from goboom_env.engine.game import Game
from goboom_env.engine.record import replay
from goboom_env.policies import Policy
from goboom_env.render.scene import make_scene
from goboom_env.rules import rules_name

MOST_MISTAKES = 5
"""Mistakes listed for a seat."""

SMALLEST_MISTAKE = 0.01
"""Less lost than this is no mistake: an estimate is never so exact."""


def review(records: Iterable[Mapping[str, Any]], policy: Policy | None = None, search: Policy | None = None) -> dict[str, Any]:
    """Records as JSON values with every table and every piece of advice.

    Args:
        records: Good records.
        policy: Shown with its probabilities, or with its choice where it has none.
        search: A `SearchPolicy`, shown with its estimates; what an action loses is the best estimate less its own.

    Returns:
        `policy` and `search` (names or None), `hands`, each with `steps`, and `mistakes`: for each seat the actions that
        lost most, the worst first.

    Raises:
        RecordError: A record that does not follow the rules.
        ValueError: A policy that cannot play at a record's table.
    """
    hands = [_review_hand(record, policy, search) for record in records]
    found: list[dict[str, Any]] = []
    for number, hand in enumerate(hands):
        for k, step in enumerate(hand["steps"]):
            if step["loss"] is not None and step["loss"] >= SMALLEST_MISTAKE:
                best = max(step["values"], key=step["values"].get)
                found.append(
                    {"hand": number, "step": k, "seat": step["turn"], "action": step["action"], "best": best, "loss": step["loss"]}
                )
    seats = max((len(hand["seats"]) for hand in hands), default=0)
    worst = sorted(found, key=lambda mistake: -mistake["loss"])
    return {
        "policy": None if policy is None else policy.name,
        "search": None if search is None else search.name,
        "hands": hands,
        "mistakes": [[mistake for mistake in worst if mistake["seat"] == seat][:MOST_MISTAKES] for seat in range(seats)],
    }


def _review_hand(record: Mapping[str, Any], policy: Policy | None, search: Policy | None) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    seed = int(record["match"])
    bound: dict[str, Policy | None] = {}

    def visit(game: Game, action: str) -> None:
        if not bound:
            for name, shown in (("policy", policy), ("search", search)):
                bound[name] = None if shown is None else shown.bind(game.rules, game.num_players)
        legal = game.legal()
        step = {**_table(game), "turn": game.turn, "action": action, "legal": legal, "values": {}, "probabilities": {}, "loss": None}
        if len(legal) > 1 and bound["search"] is not None:
            values = advise(game, bound["search"], seed).values
            step["values"] = {card: round(value, 4) for card, value in values.items()}
            if action in values:
                step["loss"] = round(max(values.values()) - values[action], 4)
        if len(legal) > 1 and bound["policy"] is not None:
            advice = advise(game, bound["policy"], seed)
            step["probabilities"] = {card: round(value, 4) for card, value in advice.values.items()} or {advice.action: 1.0}
        steps.append(step)

    game = replay(record, visit=visit)
    return {
        "rules": rules_name(game.rules) or "house rules",
        "pile": game.rules.family == "pile",
        "match": record["match"],
        "hand": record["hand"],
        "seats": list(record["seats"]),
        "dealer": game.dealer,
        "steps": steps,
        "end": {
            **_table(game),
            "winner": game.winner,
            "left": game.left,
            "delta": game.delta,
            "match_over": game.match_over,
            "match_winners": game.match_winners,
        },
    }


def _table(game: Game) -> dict[str, Any]:
    """What lies on the table and in every hand; `-` for a seat that sits the trick out."""
    scene = make_scene(game.rules, game.pack, game.num_players, game.records[1], -1, reveal=True)
    return {
        "stock": scene.stock,
        "match": scene.match,
        "top": scene.top,
        "best": scene.best_seat,
        "trick": ["-" if seat.sits_out else seat.played for seat in scene.seats],
        "hands": [list(seat.cards or ()) for seat in scene.seats],
        "scores": [seat.score for seat in scene.seats],
    }
