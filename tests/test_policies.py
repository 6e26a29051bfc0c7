"""Policies: rule bots on hand-worked positions, functions, mixes, and no peeking."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from goboom_env import PRESETS, Game, GoBoomEnv, IllegalActionError, Policy
from goboom_env.actions import action_text
from goboom_env.engine import kernels
from goboom_env.engine.rng import next_word, stream_words
from goboom_env.engine.state import compile_rules, new_states
from goboom_env.observation import features
from goboom_env.observation.view import VIEW, cut, new_views
from goboom_env.policies import make, make_seats, names
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.scripted import BOTS, choose, looks_at_seats
from goboom_env.rules import get_rules
from goboom_env.table import Table
from tests.rules.invariants import deal_hidden


def choice(game: Game, policy: str) -> str:
    """What a policy plays for the seat to act."""
    t, s = game.records
    views = new_views(1)
    cut(t, s, int(s["turn"]), views[0])
    action = make(policy).bind(game.rules, game.num_players).act(views, np.array([1 << 60], np.uint64))
    return action_text(game.pack, int(action[0]))


OTHERS = [["2S", "3S", "4S", "5S", "6S"], ["2H", "3H", "4H", "5H", "6H"]]


@pytest.mark.parametrize(
    ("policy", "hand", "played"),
    [
        ("greedy", ["2D", "9D", "KD", "AC", "7C"], "KD"),  # the highest of the longest suit
        ("greedy", ["AC", "2D"], "AC"),  # equal lengths: the higher card
        ("shed", ["2D", "9D", "7D", "JC", "AC"], "JC"),  # 10 points against 9, 7, 2 and 1
        ("lead", ["2D", "9D", "AD", "KC", "7C"], "9D"),  # the longest suit, but not its ace
        ("lead", ["KD", "AC"], "AC"),  # two cards: the ace wins the trick and the other goes out
    ],
)
def test_bots_leading(policy: str, hand: list[str], played: str) -> None:
    assert choice(Game.from_position("classic", [hand, *OTHERS]), policy) == played


@pytest.mark.parametrize(
    ("policy", "led", "hand", "played"),
    [
        ("greedy", "7H", ["9H", "KH", "2C", "3C"], "KH"),  # wins with its highest
        ("greedy", "KH", ["9H", "QH", "KC", "3C", "4C"], "KC"),  # cannot win: from the longest suit, clubs
        ("shed", "KH", ["9H", "QH", "2C"], "QH"),
        ("lead", "7H", ["9H", "KH", "2C"], "9H"),  # wins cheaply
        ("lead", "7H", ["AH", "QH", "2C"], "QH"),  # the ace stays
        ("lead", "7H", ["AH", "2H", "2C"], "AH"),  # no other winner: the ace takes the lead
        ("lead", "7H", ["9H", "KH"], "KH"),  # two cards: wins with the surer one
    ],
)
def test_bots_following(policy: str, led: str, hand: list[str], played: str) -> None:
    game = Game.from_position("classic", [[led, "TS", "JS"], hand, OTHERS[0]])
    game.play(led)
    assert choice(game, policy) == played


@pytest.mark.parametrize(
    ("policy", "hand", "played"),
    [
        ("greedy", ["JK", "6D", "2D", "9S"], "6D"),  # diamonds are longest
        ("greedy", ["JK", "9D", "2D"], "JK"),  # nothing but the joker: plays rather than draws
        ("greedy", ["9D", "2D"], "DRAW"),
        ("shed", ["JK", "6D", "9S"], "JK"),  # 20 points
        ("lead", ["JK", "6D", "2D", "9S"], "6D"),  # no short hand about: the joker stays
    ],
)
def test_bots_on_the_pile(policy: str, hand: list[str], played: str) -> None:
    game = Game.from_position("jokers", [hand, ["2C", "3C", "4C"], ["5C", "7C", "8C"]], stock=["TC", "JC"], top="6S")
    assert choice(game, policy) == played


@pytest.mark.parametrize(("policy", "played"), [("lead", "JK"), ("void", "JK"), ("counter", "6D"), ("flexible", "6D"), ("greedy", "6D")])
def test_who_booms_when_another_seat_has_one_card(policy: str, played: str) -> None:
    game = Game.from_position("jokers", [["JK", "6D", "2D"], ["2C"], ["5C", "7C", "8C"]], stock=["TC", "JC"], top="6S")
    assert choice(game, policy) == played


@pytest.mark.parametrize(("policy", "played"), [("flexible", "7C"), ("greedy", "9H"), ("counter", "9H")])
def test_flexible_keeps_suits_and_ranks(policy: str, played: str) -> None:
    """After 7C the rest still follows hearts, clubs, 9s, 8s and 2s; after 9H only clubs, 7s, 8s and 2s. Only 9H wins the trick."""
    game = Game.from_position("classic", [["7H", "TS", "JS"], ["9H", "7C", "8C", "2C"], OTHERS[0]])
    game.play("7H")
    assert choice(game, policy) == played


@pytest.mark.parametrize(("policy", "played"), [("void", "2D"), ("lead", "KC")])
def test_void_leads_what_the_others_lack(policy: str, played: str) -> None:
    """The other seat could not follow the 9 of diamonds: it has no diamond."""
    game = Game.from_position("classic", [["9D", "2D", "KC", "QC"], ["3C", "4S", "5S"]])
    game.play("9D")
    game.play("PASS")
    assert choice(game, policy) == played


def test_counter_leads_the_card_that_nobody_can_beat_or_follow() -> None:
    """All diamonds above the 9, and all 9s, are played or held here; clubs are all with the other seat."""
    game = Game.from_position("classic", [["9D", "TC", "3S"], ["3C", "4C", "5C"]], stock=["6C", "7C", "8C", "JC", "QC", "KC", "AC"])
    assert choice(game, "counter") == "9D"


def test_random_takes_each_legal_action_equally_often() -> None:
    game = Game.from_position("jokers", [["JK", "6D", "9S"], ["2C", "3C"], ["5C", "7C"]], stock=["TC"], top="6S")
    t, s = game.records
    views = new_views(1)
    cut(t, s, 0, views[0])
    actions = make("random").bind(game.rules, 3).act(np.repeat(views, 6000), stream_words(0, 6000)[:, 2])
    counts = np.bincount(actions, minlength=55)
    assert [action_text(game.pack, k) for k in np.flatnonzero(counts)] == ["6D", "9S", "JK"]
    # 2,000 each with a standard deviation of 36.5.
    assert np.abs(counts[counts > 0] - 2000).max() < 150


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("bot", BOTS)
def test_no_peeking(bot: str, rules: str) -> None:
    """Hidden cards dealt anew leave every choice as it was, given the same random bits."""
    players = min(4, PRESETS[rules].max_players)
    tables, states, views = compile_rules(PRESETS[rules], players), new_states(2), new_views(2)
    t, s, code = tables[0], states[0], list(BOTS).index(bot)
    words = stream_words(3, 1)[0]
    s["deal_stream"], s["policy_stream"] = words[:2], words[2:]
    for _ in range(6):
        kernels.start_match(t, s)
        kernels.shuffle_deck(t, s)
        kernels.deal(t, s)
        while s["status"] == 0:
            states[1] = states[0]
            seat, word = int(s["turn"]), np.uint64(next_word(s["policy_stream"]))
            deal_hidden(t, states[1], seat, np.array([word, 7], np.uint64))
            cut(t, s, seat, views[0])
            cut(t, states[1], seat, views[1])
            assert views[0].tobytes() == views[1].tobytes()
            action = choose(code, t, views[0], word)
            assert action == choose(code, t, views[1], word)
            kernels.apply(t, s, action)


@pytest.mark.parametrize("rules", ["classic", "jokers"])
@pytest.mark.parametrize("code", [code for code in range(len(BOTS)) if not looks_at_seats(code)])
def test_bots_that_get_no_field_a_seat_read_none(code: int, rules: str) -> None:
    """The same choice whatever stands in those fields: at a table they hold what another table left there."""
    table = Table(rules, [None] * 4, 32, forced="ask")
    table.reset(range(32))
    gen = np.random.default_rng(code)
    compiled, views, choices = compile_rules(PRESETS[rules], 4), new_views(1), set()
    for _ in range(12):
        for state, word in zip(table.states, gen.integers(1 << 63, size=32, dtype=np.uint64), strict=True):
            cut(compiled[0], state, int(state["turn"]), views[0])
            chosen = choose(code, compiled[0], views[0], word)
            for name in ("lack", "score", "size", "fresh", "trick", "acted", "passed"):
                views[name] = gen.integers(64, size=views[name].shape)
            assert choose(code, compiled[0], views[0], word) == chosen
            choices.add(chosen)
        table.step(np.array([gen.choice(np.flatnonzero(mask)) for mask in table.masks]))
        if table.rows["needs_reset"].any():
            table.reset(which=table.rows["needs_reset"])
    assert len(choices) > 10


def test_names_and_what_they_make() -> None:
    assert set(names()) >= {"random", "shed", "greedy", "lead"}
    for name in names():
        assert make(name).name.split(":")[0] == name


def test_function_opponents_get_the_observation_and_mask_of_their_own_seat() -> None:
    seen: list[Any] = []

    def first(observation: np.ndarray, mask: np.ndarray) -> int:
        seen.append((observation, mask))
        return int(np.flatnonzero(mask)[0])

    env = GoBoomEnv(opponents=[first, "random", "random"])
    _, info = env.reset(seed=0)
    for _ in range(60):
        _, _, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        if terminated:
            _, info = env.reset()
    assert len(seen) > 10
    for observation, mask in seen:
        assert env.observation_space.contains(observation) and mask.dtype == np.int8 and mask.sum() > 1


def test_an_illegal_choice_of_a_policy_is_named() -> None:
    def stubborn(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(np.flatnonzero(mask == 0)[0])

    env = GoBoomEnv(opponents=stubborn)
    # With this seed an opponent moves before the learner and has a choice.
    with pytest.raises(IllegalActionError, match=r"'stubborn'.*legal:"):
        env.reset(seed=0)


def test_a_policy_class_of_ones_own_plays_in_batches() -> None:
    class Highest(Policy):
        name = "highest"
        sizes: list[int] = []  # noqa: RUF012

        def act(self, views: Any, rng: Any) -> Any:
            assert views.dtype == VIEW and rng.dtype == np.uint64 and len(views) == len(rng)
            self.sizes.append(len(views))
            legal, more = views["legal"], views["legal_more"]
            highest = [int(word).bit_length() - 1 for word in legal]
            return np.where(legal > 0, highest, np.where(more & 2, 52, 53))

    policy = Highest()
    table = Table("classic", [None, [(policy, 1.0)], [(policy, 1.0)]], 32)
    table.reset(list(range(32)))
    for _ in range(10):
        table.reset(which=table.rows["needs_reset"]) if table.rows["needs_reset"].any() else None
        table.step(table.masks.argmax(axis=1))
    assert max(policy.sizes) > 8


@pytest.mark.parametrize("answer", [np.zeros(()), np.zeros(1), np.array([0.5]), np.zeros((1, 1), int), np.array(["3"])])
def test_an_answer_of_a_policy_of_a_wrong_shape_or_kind_names_it(answer: Any) -> None:
    class Odd(Policy):
        name = "odd"

        def act(self, views: Any, rng: Any) -> Any:
            return answer

    with pytest.raises(ValueError, match=r"policy 'odd' must give whole numbers of shape \(1,\)"):
        GoBoomEnv(opponents=Odd()).reset(seed=0)


def test_mixes_are_drawn_each_episode_in_their_shares() -> None:
    mix = {"greedy": 1, "random": 3}
    table = Table("classic", [None, *make_seats(mix, 3)], 4000)
    table.reset(list(range(4000)))
    greedy = [policy.name for policy in table.policies].index("greedy")
    share = (table.rows["policy"][:, 1:4] == greedy).mean(axis=0)
    # A quarter, with a standard error of 0.0068 a seat; seats are drawn one by one.
    assert np.abs(share - 0.25).max() < 0.03
    both = ((table.rows["policy"][:, 1] == greedy) & (table.rows["policy"][:, 2] == greedy)).mean()
    assert both == pytest.approx(1 / 16, abs=0.015)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_logits_of_a_network_do_not_depend_on_the_batch(activation: str) -> None:
    rules, rng = get_rules("classic"), np.random.default_rng(0)
    sizes = [features.size(rules, 4), 256, 256, 54]
    layers = [(rng.normal(size=(b, a)).astype(np.float32) / 16, rng.normal(size=b).astype(np.float32)) for a, b in pairwise(sizes)]
    metadata = {"rules": rules.to_dict(), "num_players": 4, "observation_version": features.VERSION, "activation": activation}
    policy = NetworkPolicy(layers, metadata)
    observations = rng.integers(0, 2, (200, sizes[0]), np.uint8)
    whole = policy.logits(observations)
    for size in (1, 2, 7, 64, 199):
        parts = [policy.logits(observations[start : start + size]) for start in range(0, 200, size)]
        assert (np.concatenate(parts) == whole).all()
    assert policy.logits(observations[:0]).shape == (0, 54)
    # The same calculation in float64, to the rounding of float32.
    hidden = observations.astype(float)
    for k, (weight, bias) in enumerate(layers):
        hidden = np.einsum("ki,oi->ko", hidden, weight.astype(float)) + bias
        hidden = hidden if k == 2 else np.maximum(hidden, 0) if activation == "relu" else np.tanh(hidden)
    assert whole == pytest.approx(hidden, rel=1e-4, abs=1e-3)
