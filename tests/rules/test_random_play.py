"""Random play over every preset and player count, against the invariants and against the independent referee."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from goboom_env.engine.game import Game
from goboom_env.engine.record import make_record, replay
from goboom_env.engine.rng import stream_words
from goboom_env.engine.state import compile_rules, new_states
from goboom_env.observation.features import BITS
from goboom_env.observation.view import new_views
from goboom_env.rules import PRESETS, Rules
from tests.rules import referee
from tests.rules.invariants import FAULTS, check_hands
from tests.rules.random_play import play_hands

ALL_TABLES = [(name, count) for name, rules in PRESETS.items() for count in rules.player_counts]
ENDS = [(name, count) for name, rules in PRESETS.items() for count in sorted({rules.min_players, rules.max_players})]

HOUSE_RULES = {
    "last-any": {"match": "last", "trick_winner": "any", "renege": "draw"},
    "renege-draw-limit": {"renege": "draw", "draw_limit": 2},
    "renege-pass": {"renege": "pass"},
    "one": {"draw": "one", "finish_trick": True},
    "may-play": {"draw": "one_may_play", "renege": "pass"},
    "may-play-settle": {"draw": "one_may_play", "scoring": "settle", "match_end": "hand"},
    "limit": {"draw_limit": 3, "next_lead": "last_trick", "scoring": "penalty"},
    "finish": {"finish_trick": True, "renege": "draw", "draw": "one_may_play"},
    "big-hand": {"hand_size": 20, "max_players": 5, "packs": PRESETS["rockaway"].packs},
    "pile-until": {"family": "pile", "packs": PRESETS["jokers"].packs, "max_players": 7},
    "pile-any": {"family": "pile", "packs": PRESETS["jokers"].packs, "max_players": 7, "after_boom": "any", "draw": "one_may_play"},
    "pile-own": {"family": "pile", "draw": "one", "blocked": "own", "boom_on_last": False, "aces": "boom", "max_players": 7},
    "pile-void": {"family": "pile", "draw": "one", "blocked": "void", "aces": "wild", "ace_must_match": True, "scoring": "settle"},
    "pile-limit": {"family": "pile", "draw_limit": 2, "packs": PRESETS["jokers"].packs, "max_players": 7, "scoring": "settle"},
    "pile-settle": {"family": "pile", "draw": "one", "scoring": "settle", "aces": "boom", "after_boom": "any", "max_players": 7},
    "pile-difference": {"family": "pile", "draw": "one", "scoring": "penalty", "blocked": "difference", "max_players": 7},
}
RESHUFFLE_RULES = {
    "until": {"packs": PRESETS["jokers"].packs, "max_players": 7},
    "one": {"draw": "one", "aces": "boom", "turn_limit": 120, "max_players": 7},
    "two-packs": {"draw": "one", "packs": PRESETS["rockaway"].packs, "aces": "boom", "hand_size": 14, "max_players": 7, "turn_limit": 300},
    "any": {"packs": PRESETS["jokers"].packs, "after_boom": "any", "draw": "one_may_play", "turn_limit": 200, "max_players": 7},
}


def check_invariants(rules: Rules, num_players: int, hands: int, seed: int) -> None:
    states = new_states(2)
    words = stream_words(seed, 1)[0]
    states[0]["deal_stream"], states[0]["policy_stream"] = words[:2], words[2:]
    tables = compile_rules(rules, num_players)
    masks = np.zeros((1, int(tables[0]["types"]) + 2), np.int8)
    fault = check_hands(tables, states, hands, new_views(2), np.zeros(2, BITS), masks)
    assert fault == 0, FAULTS[fault] if fault < len(FAULTS) else f"payoffs do not sum as the scoring says ({fault})"


def check_against_referee(rules: Rules, num_players: int, hands: int, seed: int) -> None:
    fields = dataclasses.asdict(rules)
    match: list[dict] = []
    for record, legal in play_hands(rules, num_players, hands, seed):
        judge = referee.Referee(
            fields,
            num_players,
            dealer=record["dealer"],
            leader=record["leader"],
            deck=record["deck"],
            scores=record["scores_before"],
            hand_number=record["hand"],
        )
        for (seat, action), engine_legal in zip(record["actions"], legal, strict=True):
            assert judge.turn == seat
            assert set(judge.legal()) == engine_legal
            judge.play(action)
        assert judge.over
        for key in ("winner", "blocked", "left", "delta", "scores_after", "match_over", "match_winners", "next_dealer", "next_leader"):
            assert getattr(judge, key) == record[key], key
        match.append({**record, "tricks": judge.tricks})
        if record["match_over"]:
            referee.check_match_order(match, fields)
            match = []


@pytest.mark.parametrize(("name", "num_players"), ENDS)
def test_invariants_at_smallest_and_largest_table(name: str, num_players: int) -> None:
    check_invariants(PRESETS[name], num_players, 3, seed=5)


@pytest.mark.parametrize(("name", "num_players"), ENDS)
def test_referee_agrees_at_smallest_and_largest_table(name: str, num_players: int) -> None:
    check_against_referee(PRESETS[name], num_players, 5, seed=6)


@pytest.mark.parametrize("name", HOUSE_RULES)
def test_house_rules(name: str) -> None:
    rules = Rules(**HOUSE_RULES[name])
    for num_players in (2, 3, 5):
        check_invariants(rules, num_players, 3, seed=7)
        check_against_referee(rules, num_players, 4, seed=8)


def play_reshuffling(rules: Rules, num_players: int, seed: int) -> int:
    """One hand with reshuffles through `Game`, its record judged and replayed; the number of reshuffles."""
    game, rng = Game(rules, num_players, seed), np.random.default_rng(seed)
    while not game.over:
        game.play(str(rng.choice(game.legal())))
    record = make_record(game, 0, ["random"] * num_players)
    referee.check_record(record, dataclasses.asdict(rules))
    assert replay(record).delta == game.delta
    return len(game.reshuffles)


@pytest.mark.parametrize("name", RESHUFFLE_RULES)
def test_reshuffle(name: str) -> None:
    rules = Rules(family="pile", reshuffle=True, **RESHUFFLE_RULES[name])
    assert sum(play_reshuffling(rules, players, seed) for players in (2, 7) for seed in range(3)) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "num_players"), ALL_TABLES)
def test_a_thousand_hands(name: str, num_players: int) -> None:
    check_invariants(PRESETS[name], num_players, 1000, seed=1)
    check_against_referee(PRESETS[name], num_players, 1000, seed=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOUSE_RULES)
def test_a_thousand_hands_of_house_rules(name: str) -> None:
    rules = Rules(**HOUSE_RULES[name])
    for num_players in range(2, 6):
        check_invariants(rules, num_players, 300, seed=3)
        check_against_referee(rules, num_players, 300, seed=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESHUFFLE_RULES)
def test_many_reshuffles(name: str) -> None:
    rules = Rules(family="pile", reshuffle=True, **RESHUFFLE_RULES[name])
    for num_players in range(2, 8):
        check_invariants(rules, num_players, 100, seed=9)
        for seed in range(20):
            play_reshuffling(rules, num_players, seed)
