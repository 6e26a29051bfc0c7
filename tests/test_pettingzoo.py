"""The PettingZoo face: PettingZoo's own tests, and step by step the same play as `Game`."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import random
import re
import sys
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

import pettingzoo
from pettingzoo import AECEnv
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.utils import wrappers

from goboom_env import PRESETS, Game, GoBoomEnv, IllegalActionError
from goboom_env.actions import action_text
from goboom_env.integrations import pettingzoo as goboom_v0
from goboom_env.observation import layout
from goboom_env.registration import ENV_IDS

SIZES = [(name, n) for name, rules in PRESETS.items() for n in sorted({rules.min_players, rules.max_players})]
EPISODES = ["hand", "match"]
LISTED_ONLY = (
    # api_test keeps lists of PettingZoo's own environments that may have dict observations and masks, and warns of all others.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros (no legal actions).",  # an agent that is done
)

every_size = pytest.mark.parametrize(("rules", "num_players"), SIZES)
every_episode = pytest.mark.parametrize("episode", EPISODES)


@every_size
@every_episode
def test_api_test(rules: str, num_players: int, episode: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(goboom_v0.env(rules=rules, num_players=num_players, episode=episode), num_cycles=1000)
    assert {str(warning.message) for warning in caught} <= set(LISTED_ONLY)


@every_size
@every_episode
def test_seed_test(rules: str, num_players: int, episode: str) -> None:
    seed_test(lambda: goboom_v0.env(rules=rules, num_players=num_players, episode=episode), num_cycles=500)


@every_size
def test_render_test(rules: str, num_players: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("PIL")
    tests = {"ansi": lambda text: text.count("seat ") >= num_players, "rgb_array": lambda frame: frame.shape == (960, 1280, 3)}
    render_test(partial(goboom_v0.env, rules=rules, num_players=num_players), custom_tests=tests)
    assert capsys.readouterr().out.count("Go Boom") >= 4  # of the mode "human"


def test_human_prints_what_ansi_returns_at_each_reset_and_step(capsys: pytest.CaptureFixture[str]) -> None:
    printing, returning = (goboom_v0.env(num_players=3, render_mode=mode) for mode in ("human", "ansi"))
    for seed in range(2):
        for env in (printing, returning):
            env.reset(seed=seed)
        while returning.agents:
            shown = returning.render()
            assert capsys.readouterr().out == shown + "\n" and printing.render() is None
            acts = returning.agent_selection[-1]
            assert f"> seat {acts}" in shown and len(re.findall(r"^. seat .*", shown, re.MULTILINE)) == 3
            action = int(returning.observe(returning.agent_selection)["action_mask"].argmax())
            for env in (printing, returning):
                env.step(action)
            if any(returning.terminations.values()):
                break
            assert f"seat {acts} " in returning.render().splitlines()[-1]
        assert f"seat {acts} goes out" in capsys.readouterr().out


def test_only_the_hand_of_the_agent_to_act_is_shown_but_with_reveal() -> None:
    hidden, revealed = (goboom_v0.env(num_players=4, render_mode="ansi", reveal=reveal) for reveal in (False, True))
    game = Game("classic", 4, seed=7)
    for env, shown in ((hidden, [game.turn]), (revealed, range(4))):
        env.reset(seed=7)
        words = {word.translate(str.maketrans("♣♦♥♠", "CDHS")).replace("10", "T") for word in env.render().split()}
        for seat, cards in enumerate(game.hands):
            assert set(cards) <= words if seat in shown else not set(cards) & words


@every_size
def test_performance_benchmark(rules: str, num_players: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """It plays until five seconds are over, so its clock ticks a sixteenth of a second a cycle."""
    ticks = itertools.count()
    monkeypatch.setattr(sys.modules["pettingzoo.test.performance_benchmark"], "time", SimpleNamespace(time=lambda: next(ticks) / 16))
    performance_benchmark(goboom_v0.env(rules=rules, num_players=num_players))
    assert "Finished performance benchmark" in capsys.readouterr().out


def payoffs_by_hand(game: Game, points: list[int]) -> list[float]:
    """The reward scheme `score` in plain Python."""
    sign = -1 if game.rules.scoring == "penalty" else 1
    n = game.num_players
    return [sign * (own - (sum(points) - own) / (n - 1)) / 100 for own in points]


def check_views(env: AECEnv, game: Game, hand: slice) -> None:
    """Every agent, done or not, sees its own cards, and a mask if it is to act."""
    for agent, cards in zip(env.possible_agents, game.hands, strict=True):
        seen = env.observe(agent)
        held = [card for card in cards if card != "JK"]
        assert [game.pack.cards[k] for k in np.flatnonzero(seen["observation"][hand])] == list(dict.fromkeys(held))
        acts = not game.over and agent == f"player_{game.turn}"
        assert [action_text(game.pack, k) for k in np.flatnonzero(seen["action_mask"])] == (game.legal() if acts else [])


@every_size
@every_episode
@pytest.mark.parametrize("reward", ["score", "win"])
def test_play_follows_the_game_and_pays_each_agent_once(rules: str, num_players: int, episode: str, reward: str) -> None:
    env = goboom_v0.env(rules=rules, num_players=num_players, episode=episode, reward=reward)
    hand = layout(rules, num_players)["hand"]
    rng = random.Random(num_players)
    for seed in range(2 if episode == "hand" else 1):
        game = Game(rules, num_players, seed=seed)
        env.reset(seed=seed)
        got, paid, done = dict.fromkeys(env.agents, 0.0), dict.fromkeys(env.agents, 0), []
        expected = [0.0] * num_players
        for agent in env.agent_iter():
            if rng.random() < 1 / num_players**2 or game.over:
                check_views(env, game, hand)
            observation, payment, terminated, truncated, info = env.last()
            got[agent] += payment
            paid[agent] += payment != 0
            if terminated:
                done.append(agent)
                assert not truncated and info["scores"].tolist() == game.scores and info["winner"] == (-1 if game.blocked else game.winner)
                env.step(None)
                continue
            assert agent == f"player_{game.turn}" and not info
            assert [action_text(game.pack, k) for k in np.flatnonzero(observation["action_mask"])] == game.legal()
            action = rng.choice(np.flatnonzero(observation["action_mask"]).tolist())
            game.play(action_text(game.pack, action))
            env.step(action)
            if game.over and reward == "score":
                assert game.delta is not None
                expected = [a + b for a, b in zip(expected, payoffs_by_hand(game, game.delta), strict=True)]
                assert list(env.rewards.values()) == pytest.approx(payoffs_by_hand(game, game.delta))
            elif not env.terminations[agent]:
                assert not any(env.rewards.values())
            if game.over and episode == "match" and not game.match_over:
                game.next_hand()
        assert game.match_over if episode == "match" else game.over
        if reward == "win":
            winners = game.match_winners if episode == "match" else [game.winner]
            share = 0.0 if winners == [None] else -1 / (num_players - 1)
            expected = [1 / len(winners) if seat in winners else share for seat in range(num_players)]
            assert max(paid.values()) <= 1
        assert list(got.values()) == pytest.approx(expected)
        assert done == env.possible_agents and env.agents == []
        for agent in env.possible_agents:  # also when all are gone
            assert not env.observe(agent)["action_mask"].any()


def test_the_winner_is_paid_in_the_step_that_wins() -> None:
    env = goboom_v0.env(rules="classic", num_players=2, reward="win")
    rng = random.Random(0)
    for seed in range(20):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            mover = env.agent_selection
            env.step(rng.choice(np.flatnonzero(env.observe(mover)["action_mask"]).tolist()))
        loser = next(agent for agent in env.agents if agent != mover)
        assert env.rewards == {mover: 1.0, loser: -1.0}
        told = {}
        while env.agents:
            told[env.agent_selection] = env.last()[1]
            env.step(None)
        assert told == {mover: 1.0, loser: -1.0}


def test_a_seat_that_draws_keeps_the_move_and_the_trick_winner_leads() -> None:
    env = goboom_v0.raw_env(rules="classic", num_players=4)
    draw = int(env.action_space("player_0").n) - 2
    longest = leads = 0
    for seed in range(20):
        env.reset(seed=seed)
        game = Game("classic", 4, seed=seed)
        row: list[str] = []
        while env.agents and not env.terminations[env.agent_selection]:
            agent, finished = env.agent_selection, len(game.tricks)
            row = [*row, agent] if row and row[-1] == agent else [agent]
            action = int(env.observe(agent)["action_mask"].argmax())
            env.step(action)
            game.play(action_text(game.pack, action))
            if action == draw:
                assert env.agent_selection == agent
                longest = max(longest, len(row))
            if len(game.tricks) > finished and not game.over:
                leads += env.agent_selection != f"player_{(int(agent[-1]) + 1) % 4}"
                assert env.agent_selection == f"player_{game.tricks[-1]}"
    assert longest >= 3 and leads > 20


def test_forced_auto_hands_over_choices_only_and_pays_the_same_sum() -> None:
    env = goboom_v0.env(rules="hundred", num_players=3, episode="match", forced="auto")
    env.reset(seed=4)
    got = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        got[agent] += reward
        if terminated:
            assert got[agent] == pytest.approx(info["payoffs"][int(agent[-1])])
        else:
            assert observation["action_mask"].sum() >= 2
        env.step(None if terminated else int(observation["action_mask"].argmax()))
    assert sum(got.values()) == pytest.approx(0) and any(got.values())


def views(env: AECEnv) -> list[bytes]:
    return [env.observe(agent)["observation"].tobytes() for agent in env.possible_agents]


def test_seeds_repeat_and_the_stream_goes_on_and_arguments_stay() -> None:
    rules = dataclasses.replace(PRESETS["classic"], hand_size=5)
    first, second = (goboom_v0.env(rules=rules, num_players=3, reward="win") for _ in range(2))
    first.reset(seed=1)
    random.seed(5)
    np.random.seed(5)
    second.reset(seed=1, options={"nothing": 1})
    assert views(first) == views(second)
    opening = views(first)
    for env in (first, second):
        env.reset()
    assert views(first) == views(second) != opening
    first.reset(seed=1)
    assert views(first) == opening
    hand = layout(rules, 3)["hand"]
    for seed in (1, None):
        first.reset(seed=seed)
        assert all(first.observe(agent)["observation"][hand].sum() == 5 for agent in first.agents)
        while not any(first.terminations.values()):
            first.step(int(first.observe(first.agent_selection)["action_mask"].argmax()))
        assert sorted(first.rewards.values()) == [-0.5, -0.5, 1.0]


def test_an_illegal_action_ends_the_episode_with_the_gymnasium_env_s_penalty() -> None:
    for reward, rules in itertools.product(("score", "win"), ("classic", "jokers", "stakes")):
        env = goboom_v0.env(rules=rules, num_players=4, reward=reward)
        env.reset(seed=1)
        single = GoBoomEnv(rules, num_players=4, reward=reward, opponents="self")
        single.reset(seed=1)
        agent = env.agent_selection
        illegal = int(env.observe(agent)["action_mask"].argmin())
        _, penalty, ended, _, _ = single.step(illegal)
        env.step(illegal)
        assert ended and penalty < 0 and all(env.terminations.values())
        assert env.rewards == {other: (penalty if other == agent else 0) for other in env.possible_agents}
        assert not any(env.observe(other)["action_mask"].any() for other in env.possible_agents)
        told = {}
        for other in env.agent_iter():
            told[other] = env.last()[1]
            env.step(None)
        assert told == {other: (penalty if other == agent else 0) for other in env.possible_agents}


def test_the_raw_env_refuses_and_changes_nothing() -> None:
    env = goboom_v0.raw_env(rules="classic", num_players=3)
    env.reset(seed=1)
    agent, before = env.agent_selection, views(env)
    with pytest.raises(IllegalActionError, match="legal: "):
        env.step(int(env.observe(agent)["action_mask"].argmin()))
    for wrong in (-1, 54, None, 1.0):
        with pytest.raises(ValueError, match="action"):
            env.step(wrong)
    assert env.agent_selection == agent and views(env) == before
    env.step(int(env.observe(agent)["action_mask"].argmax()))
    assert views(env) != before


def test_out_of_bounds_and_the_order_of_calls() -> None:
    env = goboom_v0.env(num_players=2)
    with pytest.raises(AttributeError, match="before reset"):
        _ = env.agent_selection
    for call in (lambda: env.observe("player_0"), lambda: env.step(0), env.render):
        with pytest.raises(AssertionError, match="reset"):
            call()
    env.reset(seed=1)
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(54)
    with pytest.raises(KeyError):
        env.observe("player_2")


def test_the_wrappers_are_pettingzoo_s_and_show_the_raw_env_s_values() -> None:
    env = goboom_v0.env(num_players=2)
    stack, inner = [], env
    while inner is not env.unwrapped:
        stack.append(inner)
        inner = inner.env
    kinds = (wrappers.OrderEnforcingWrapper, wrappers.AssertOutOfBoundsWrapper, wrappers.TerminateIllegalWrapper)
    assert len(stack) == 3 and all(isinstance(wrapper, kind) for wrapper, kind in zip(stack, kinds, strict=True))
    assert isinstance(env.unwrapped, goboom_v0.raw_env) and str(env) == "goboom_v0"
    env.reset(seed=1)
    raw = env.unwrapped
    for name in ("agent_selection", "agents", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards"):
        assert getattr(env, name) is getattr(raw, name)
    assert env.num_agents == env.max_num_agents == 2 and env.metadata["is_parallelizable"] is False


def test_observations_handed_out_share_no_memory() -> None:
    env = goboom_v0.raw_env(num_players=2)
    env.reset(seed=1)
    for agent in env.agents:
        first, second = env.observe(agent), env.observe(agent)
        for key in first:
            assert not np.shares_memory(first[key], second[key])
        first["action_mask"][:] = 0
        first["observation"][:] = 0
        assert (env.observe(agent)["observation"] == second["observation"]).all()
        assert (env.observe(agent)["action_mask"] == second["action_mask"]).all()


def test_copies_and_pickles_play_on_alone() -> None:
    env = goboom_v0.env(num_players=3, rules="jokers")
    env.reset(seed=1)
    for _ in range(5):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    before = views(env)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert views(other) == before and other.agent_selection == env.agent_selection
        other.step(int(other.observe(other.agent_selection)["action_mask"].argmax()))
        assert views(other) != before and views(env) == before


def test_registered_ids() -> None:
    assert set(ENV_IDS) <= set(pettingzoo.aec_registry) and not set(ENV_IDS) & set(pettingzoo.parallel_registry)
    env = pettingzoo.make("aec", "GoBoom/Jokers-v0", num_players=3, reward="win")
    assert env.unwrapped.rules == PRESETS["jokers"] and env.possible_agents == ["player_0", "player_1", "player_2"]
    assert pettingzoo.make("aec", "GoBoom/Mini").max_num_agents == 2
    goboom_v0._register()  # again: no warning, which would fail


def test_wrong_arguments() -> None:
    for wrong in (
        {"rules": "clasic"},
        {"num_players": 13},
        {"episode": "game"},
        {"reward": "points"},
        {"forced": "no"},
        {"render_mode": "x"},
    ):
        with pytest.raises(ValueError, match=next(iter(map(str, wrong.values())))):
            goboom_v0.env(**wrong)
