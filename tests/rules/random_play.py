"""Random play in a compiled loop, with a log of every decision, for checks against the referee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from goboom_env.actions import action_text
from goboom_env.engine import kernels
from goboom_env.engine.jit import kernel
from goboom_env.engine.record import FORMAT
from goboom_env.engine.rng import next_word, stream_words
from goboom_env.engine.state import NONE, PLAYING, compile_rules, new_states
from goboom_env.policies.scripted import choose_random
from goboom_env.rules import Rules

MOST_ACTIONS = 1200


@kernel
def play(tables: Any, states: Any, log: Any, sets: Any) -> int:
    """Play the hand of states[0] with random legal actions; log seat, action, flags and hand sizes, and the legal sets."""
    t, s = tables[0], states[0]
    count = 0
    while s["status"] == PLAYING and count < len(log):
        cards, more = kernels.legal(t, s)
        action = choose_random(cards, more, int(t["types"]), next_word(s["policy_stream"]))
        log[count, 0], log[count, 1], log[count, 2] = s["turn"], action, more
        sets[count] = cards
        kernels.apply(t, s, action)
        count += 1
    return count


def play_hands(rules: Rules, num_players: int, count: int, seed: int = 0) -> Iterator[tuple[dict[str, Any], list[set[str]]]]:
    """Records of `count` hands, match after match, each with the legal actions the engine gave at each decision."""
    pack = rules.pack_for(num_players)
    tables, states = compile_rules(rules, num_players), new_states(1)
    t, s = tables[0], states[0]
    words = stream_words(seed, 1)[0]
    s["deal_stream"], s["policy_stream"] = words[:2], words[2:]
    log, sets = np.zeros((MOST_ACTIONS, 3), np.int64), np.zeros(MOST_ACTIONS, np.uint64)
    match, seats = -1, range(num_players)
    new_match = True
    for _ in range(count):
        if new_match:
            match += 1
            kernels.start_match(t, s)
        else:
            kernels.next_hand(t, s)
        kernels.shuffle_deck(t, s)
        before = s.copy()
        kernels.deal(t, s)
        actions = play(tables, states, log, sets)
        assert s["status"] != PLAYING, f"a hand of more than {MOST_ACTIONS} actions"
        new_match = s["status"] == 2
        legal = []
        for row, word in zip(log[:actions].tolist(), sets[:actions].tolist(), strict=True):
            numbers = {number for number in range(len(pack.cards)) if word >> number & 1}
            numbers |= {len(pack.types) - 1} if row[2] & 1 else set()
            numbers |= {len(pack.types)} if row[2] & 2 else set()
            numbers |= {len(pack.types) + 1} if row[2] & 4 else set()
            legal.append({action_text(pack, number) for number in numbers})
        winner = int(s["winner"])
        yield (
            {
                "format": FORMAT,
                "rules": rules.to_dict(),
                "num_players": num_players,
                "match": match,
                "hand": int(s["hand_number"]),
                "dealer": int(before["dealer"]),
                "leader": int(before["next_leader"]),
                "deck": [pack.types[card] for card in before["deck"][: pack.size]],
                "scores_before": before["score"][:num_players].tolist(),
                "seats": ["random"] * num_players,
                "actions": [[seat, action_text(pack, action)] for seat, action, _ in log[:actions].tolist()],
                "winner": None if winner == NONE else winner,
                "blocked": winner == NONE,
                "left": s["left"][:num_players].tolist(),
                "delta": s["delta"][:num_players].tolist(),
                "scores_after": s["score"][:num_players].tolist(),
                "match_over": bool(new_match),
                "match_winners": [seat for seat in seats if new_match and kernels.is_match_winner(t, s, seat)],
                "next_dealer": (int(s["dealer"]) + 1) % num_players,
                "next_leader": int(s["next_leader"]),
            },
            legal,
        )
