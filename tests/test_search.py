"""`search`: deals that fit what is known, choices that do not depend on what is hidden, and strength."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS, Game, Rules
from goboom_env.actions import action_text
from goboom_env.arena import compare
from goboom_env.engine import kernels
from goboom_env.engine.rng import next_word, stream_words
from goboom_env.engine.state import compile_rules, new_states
from goboom_env.observation import features
from goboom_env.observation.view import cut, new_views
from goboom_env.policies import Policy, make
from goboom_env.policies.determinise import deal_unseen, rebuild
from goboom_env.policies.forward import choose_by_network, forward, new_space
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.scripted import choose_random
from goboom_env.policies.search import WORK, SearchPolicy, conclude, drop_worse_half
from goboom_env.rules import Rules as RulesValue
from tests.rules.invariants import conserved, deal_hidden
from tests.rules.test_random_play import HOUSE_RULES

TABLES = {name: (rules, min(4, rules.max_players)) for name, rules in PRESETS.items()}
TABLES |= {name: (Rules(**fields), 3) for name, fields in HOUSE_RULES.items()}


def positions(rules: RulesValue, players: int, hands: int, seed: int) -> Iterator[tuple[Any, Any, Any]]:
    """Rules, table and view of the seat to act, at every decision of random play."""
    tables, states, views = compile_rules(rules, players), new_states(1), new_views(1)
    t, s = tables[0], states[0]
    words = stream_words(seed, 1)[0]
    s["deal_stream"], s["policy_stream"] = words[:2], words[2:]
    for _ in range(hands):
        kernels.start_match(t, s)
        kernels.shuffle_deck(t, s)
        kernels.deal(t, s)
        while s["status"] == 0:
            cut(t, s, int(s["turn"]), views[0])
            yield t, s, views[0]
            cards, more = kernels.legal(t, s)
            kernels.apply(t, s, choose_random(cards, more, int(t["types"]), np.uint64(next_word(s["policy_stream"]))))


@pytest.mark.parametrize("name", TABLES)
def test_deals_fit_all_that_is_known(name: str) -> None:
    rules, players = TABLES[name]
    cards, owner, guess = np.empty(128, np.int64), np.empty(128, np.int64), new_states(1)
    stream = np.array([5, 9], np.uint64)
    checked = inferred = 0
    for t, s, v in positions(rules, players, 5, seed=3):
        rebuild(t, v, guess[0])
        deal_unseen(t, v, guess[0], cards, owner, stream)
        assert conserved(t, guess[0])
        n, seat = int(t["num_players"]), int(s["turn"])
        sizes = [int(s["size"][(seat + k) % n]) for k in range(n)]
        assert guess[0]["size"][:n].tolist() == sizes
        assert guess[0]["stock_end"] - guess[0]["stock_at"] == s["stock_end"] - s["stock_at"]
        assert kernels.legal(t, guess[0]) == kernels.legal(t, s)
        for other in range(1, n):
            lack, fresh = int(v["lack"][other]), int(v["fresh"][other])
            held = [k for k in range(int(t["cards"])) for word in ("hand", "hand2") if int(guess[0][word][other]) >> k & 1]
            assert sum(lack & int(t["traits"][card]) != 0 for card in held) <= fresh
            inferred += lack != 0 and fresh == 0
        checked += 1
    assert checked > 20
    if name in ("classic", "stakes", "rockaway"):
        assert inferred > 0


@pytest.mark.parametrize("policy", ["search:8", "endgame"])
@pytest.mark.parametrize("name", PRESETS)
def test_no_peeking(name: str, policy: str) -> None:
    rules, players = TABLES[name]
    check_no_peeking(make(policy), rules, players)


@pytest.mark.parametrize("policy", ["trained", "search+trained:8", "endgame"])
def test_no_peeking_at_two_seats(policy: str) -> None:
    check_no_peeking(make(policy), PRESETS["classic"], 2)


def check_no_peeking(policy: Policy, rules: RulesValue, players: int) -> None:
    """What a seat cannot see is dealt anew, and it plays the same."""
    bound, hidden, views = policy.bind(rules, players), new_states(1), new_views(1)
    for t, s, v in positions(rules, players, 2, seed=4):
        word = np.array([int(next_word(s["policy_stream"]))], np.uint64)
        hidden[0] = s
        deal_hidden(t, hidden[0], int(s["turn"]), np.array([3, int(word[0]) | 1], np.uint64))
        cut(t, hidden[0], int(s["turn"]), views[0])
        assert bound.act(np.array([v]), word) == bound.act(views, word)


def choice(game: Game, policy: str) -> str:
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    return action_text(game.pack, int(make(policy).bind(game.rules, game.num_players).act(views, np.array([77], np.uint64))[0]))


def test_sees_a_certain_win() -> None:
    # The ace takes the trick from any club, and the two then goes out; the two first would give the lead away.
    game = Game.from_position("classic", [["AC", "2D"], ["KC", "3D", "QC", "4D"]])
    assert choice(game, "search:16") == "AC"
    # Going out at once beats drawing for a boom card that could be kept.
    pile = Game.from_position("jokers", [["JK"], ["2C", "3C"], ["5C", "7C"]], stock=["9H", "TC", "JC", "QC"], top="6S")
    assert choice(pile, "search:16") == "JK"


def test_points_objective_sheds_the_dear_card() -> None:
    # The lead cannot be won and the other seat goes out next: only what is left in the hand counts.
    game = Game.from_position("hundred", [["2H"], ["KS"], ["3H", "QH", "9C"]], stock=[], to_play=2)
    game.play("9C")  # nobody can follow but the leader, who leads again
    for _ in range(2):
        game.play("PASS")
    assert choice(game, "search:32:greedy:points") == "QH"


def test_values_are_worths_of_legal_actions() -> None:
    game = Game("classic", 3, seed=5)
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    actions, values = SearchPolicy(64).bind(game.rules, 3).evaluate(views, np.array([9], np.uint64))
    known = {action_text(game.pack, k) for k in np.flatnonzero(~np.isnan(values[0]))}
    assert known == set(game.legal())
    assert np.nanmax(values) <= 1.1 and np.nanmin(values) >= -0.1
    assert not np.isnan(values[0, actions[0]])


def test_choices_do_not_depend_on_threads_or_on_the_batch() -> None:
    rules, players = TABLES["classic"]
    views = np.concatenate([np.array([v]) for _, _, v in positions(rules, players, 1, seed=8)])
    words = stream_words(2, len(views))[:, 0]
    one = SearchPolicy(16).bind(rules, players).act(views, words)
    many = SearchPolicy(16, num_threads=3).bind(rules, players).act(views, words)
    alone = [int(SearchPolicy(16).bind(rules, players).act(views[k : k + 1], words[k : k + 1])[0]) for k in range(len(views))]
    assert one.tolist() == many.tolist() == alone


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search:0", "1 to 1,000,000 deals"),
        ("search:99999999999999999999", "1 to 1,000,000 deals"),
        ("search:many", "'many' is no number"),
        ("search:8:gredy", "did you mean 'greedy'"),
        ("search:8:lead:fun", "objective='fun'"),
        ("search:8:lead:win:more", "search:BUDGET:ROLLOUT:OBJECTIVE"),
        ("serch", "did you mean 'search'"),
    ],
)
def test_bad_texts_name_the_value(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(text)


def test_names() -> None:
    assert [make(text).name for text in ("search", "search:64", "search:64:lead", "search:64:greedy:points")] == [
        "search:128",
        "search:64",
        "search:64:lead",
        "search:64:greedy:points",
    ]


@pytest.mark.slow
def test_strength_on_classic() -> None:
    """Against `greedy` on the other seats, 95 % intervals over paired deals."""
    assert compare("search:128", "greedy", num_players=2, deals=1500, seed=2).win_interval[0] > 0.66
    assert compare("search:128", "greedy", num_players=4, deals=600, seed=2).win_interval[0] > 0.34


def network(rules: RulesValue, players: int, seed: int, value: bool = True) -> NetworkPolicy:
    rng = np.random.default_rng(seed)
    widths = [features.size(rules, players), 24, 16, len(rules.pack_for(players).types) + 2]
    layers = [
        ((rng.standard_normal((b, a)) / a**0.5).astype(np.float32), rng.standard_normal(b).astype(np.float32)) for a, b in pairwise(widths)
    ]
    metadata = {"rules": rules.to_dict(), "num_players": players, "observation_version": features.VERSION, "activation": "relu"}
    head = (rng.standard_normal((1, 16)).astype(np.float32), rng.standard_normal(1).astype(np.float32)) if value else None
    return NetworkPolicy(layers, {**metadata, "objective": "win", "logit_scale": 4.0}, name="net", value=head)


@pytest.mark.parametrize(("name", "activation"), [("classic", "relu"), ("jokers", "tanh"), ("rockaway", "relu")])
def test_compiled_forward_pass_is_that_of_numpy(name: str, activation: str) -> None:
    rules, players = TABLES[name]
    policy = network(rules, players, 1)
    policy.metadata["activation"] = activation
    compiled, tables, bits = policy.compiled(), compile_rules(rules, players), np.zeros(1, features.BITS)
    assert policy.value is not None
    for t, _, v in positions(rules, players, 2, seed=6):
        outputs = forward(t, v, bits[0], compiled, new_space(compiled))
        observation, mask = features.encode(rules, players, np.array([v]))
        logits = policy.logits(observation)[0]
        assert outputs[: len(logits)] == pytest.approx(logits, abs=1e-4)
        hidden = observation.astype(np.float32)
        for weight, bias in policy.layers[:-1]:
            hidden = np.tanh(hidden @ weight.T + bias) if activation == "tanh" else np.maximum(hidden @ weight.T + bias, 0)
        assert outputs[len(logits)] == pytest.approx(float((hidden @ policy.value[0].T + policy.value[1])[0, 0]), abs=1e-4)
        best = choose_by_network(tables[0], v, bits[0], compiled, new_space(compiled))
        assert best == np.where(mask[0] > 0, logits, -np.inf).argmax()


def test_a_guide_with_a_large_say_decides() -> None:
    rules, players = TABLES["classic"]
    net = network(rules, players, 2)
    views = np.concatenate([np.array([v]) for _, _, v in positions(rules, players, 3, seed=8)])
    words = stream_words(2, len(views))[:, 0]
    guided = SearchPolicy(4, guide=net, prior_deals=100_000).bind(rules, players).act(views, words)
    assert guided.tolist() == net.act(views, words).tolist()
    free = SearchPolicy(4, guide=net, prior_deals=0).bind(rules, players).act(views, words)
    assert free.tolist() != guided.tolist()


def test_a_guide_values_the_next_choice() -> None:
    # A head that always says 7 gives every hand that is not over before the next choice that worth.
    rules, players = TABLES["classic"]
    net = network(rules, players, 3)
    net.value = (np.zeros((1, 16), np.float32), np.array([7.0], np.float32))
    game = Game("classic", players, seed=5)
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    _, values = SearchPolicy(32, guide=net).bind(rules, players).evaluate(views, np.array([9], np.uint64))
    assert np.nanmax(values) > 6
    _, values = SearchPolicy(32, objective="points", guide=net).bind(rules, players).evaluate(views, np.array([9], np.uint64))
    assert np.nanmax(values) < 2  # a value of wins says nothing of points


def test_hands_played_out_by_a_network() -> None:
    rules, players = TABLES["classic"]
    net = network(rules, players, 4, value=False)
    views = np.concatenate([np.array([v]) for _, _, v in positions(rules, players, 1, seed=9)])
    words = stream_words(2, len(views))[:, 0]
    policy = SearchPolicy(8, rollout=net).bind(rules, players)
    assert policy.name == "search:8:net"
    actions, values = policy.evaluate(views, words)
    choices = features.encode(rules, players, views)[1].sum(axis=1)
    assert ((~np.isnan(values)).sum(axis=1) == np.where(choices > 1, choices, 0)).all()  # one legal action is not searched
    assert actions.tolist() != SearchPolicy(8).bind(rules, players).act(views, words).tolist()


def test_a_budget_of_time() -> None:
    game = Game("classic", 4, seed=5)
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    policy = make("search:5ms").bind(game.rules, 4)
    actions, values = policy.evaluate(views, np.array([9], np.uint64))  # type: ignore[attr-defined]
    known = {action_text(game.pack, k) for k in np.flatnonzero(~np.isnan(values[0]))}
    assert known == set(game.legal())
    assert action_text(game.pack, int(actions[0])) in known


def test_dropped_actions_are_judged_on_the_deals_of_the_rest() -> None:
    # The first quarter of the deals is worth 0.4 more to everything than the rest.
    w = np.zeros(1, WORK)[0]
    w["legal"], w["count"], w["dealt"] = 4, 4, 10
    w["actions"][:4], w["totals"][:4] = [0, 1, 2, 3], [9.0, 8.0, 6.0, 7.0]
    drop_worse_half(w)
    assert sorted(w["actions"][:2]) == [0, 1]
    w["dealt"] = 20
    w["totals"][0] += 5.0
    w["totals"][1] += 4.0
    values = np.empty(54)
    best = conclude(compile_rules(PRESETS["classic"], 2)[0], w, 0.0, values)
    assert best == 0
    assert values[:4] == pytest.approx([0.7, 0.6, 0.4, 0.5])
    # A guide that has as much say as the deals, and likes action 3 by one more than the rest, halves the other differences.
    w["prior"][:4] = [0.0, 0.0, 0.0, 20.0]
    conclude(compile_rules(PRESETS["classic"], 2)[0], w, 20.0, values)
    assert values[:4].mean() == pytest.approx(0.55)
    assert values[:4] - values[0] == pytest.approx([0.0, -0.05, -0.15, 0.4])


def test_a_search_takes_trained_policies_only_as_guide() -> None:
    with pytest.raises(ValueError, match="no trained policy"):
        make("search+greedy:8")
    with pytest.raises(ValueError, match="rule bot"):
        SearchPolicy(8, rollout=network(*TABLES["classic"], 1), guide=network(*TABLES["classic"], 1))
