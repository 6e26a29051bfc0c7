"""The single environment: Gymnasium's contract, masks, rewards, seeds, illegal actions."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import goboom_env
from goboom_env import PRESETS, GoBoomEnv, IllegalActionError, Rules, observation
from goboom_env.actions import action_text
from goboom_env.registration import ENV_IDS

IDS = sorted(ENV_IDS)


def rollout(env: Any, steps: int, seed: int | None = None, rng: Any = None) -> list[Any]:
    """Observations, rewards, ends and masks of random legal play."""
    rng = np.random.default_rng(0) if rng is None else rng
    observation, info = env.reset(seed=seed)
    trail = [(observation.tobytes(), info["action_mask"].tobytes())]
    for _ in range(steps):
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        trail.append((observation.tobytes(), reward, terminated, info["action_mask"].tobytes()))
        if terminated or truncated:
            observation, info = env.reset()
            trail.append((observation.tobytes(), info["action_mask"].tobytes()))
    return trail


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("env_id", IDS)
def test_gymnasium_checker_passes_without_a_warning(env_id: str, episode: str) -> None:
    check_env(gym.make(env_id, episode=episode).unwrapped)


@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("env_id", IDS)
def test_sb3_checker_passes_without_a_warning(env_id: str, episode: str) -> None:
    from stable_baselines3.common.env_checker import check_env as check_sb3

    check_sb3(gym.make(env_id, episode=episode).unwrapped)


def test_an_id_for_each_preset() -> None:
    assert {preset for preset in ENV_IDS.values()} == set(PRESETS)
    assert "GoBoom/ClassicReverse-v0" in ENV_IDS and "GoBoom/Stakes200-v0" in ENV_IDS and "GoBoom/JokersAces-v0" in ENV_IDS
    assert gym.make("GoBoom/Mini-v0").unwrapped.num_players == 2
    assert gym.make("GoBoom/Hundred-v0").unwrapped.num_players == 4


def test_id_is_found_in_a_new_process_without_import_and_nothing_heavy_is_imported() -> None:
    script = """
import sys, json
import goboom_env
heavy = [name for name in ("torch", "stable_baselines3", "sb3_contrib", "pettingzoo", "matplotlib", "numba") if name in sys.modules]
import gymnasium
env = gymnasium.make("goboom_env:GoBoom/Classic-v0")
observation, info = env.reset(seed=1)
heavy += [name for name in ("torch", "stable_baselines3", "pettingzoo", "matplotlib") if name in sys.modules]
print(json.dumps([heavy, list(observation.shape)]))
"""
    result = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    heavy, shape = json.loads(result.stdout)
    assert heavy == []
    assert shape == [observation.size("classic", 4)]


def test_importing_twice_registers_once_without_a_warning() -> None:
    from goboom_env.registration import register_envs

    before = set(gym.registry)
    register_envs()
    assert set(gym.registry) == before


@pytest.mark.parametrize("env_id", IDS)
def test_same_seed_same_trajectory_whatever_global_generators_do(env_id: str) -> None:
    env = gym.make(env_id, opponents="random").unwrapped
    first = rollout(env, 60, seed=7)
    np.random.seed(1)
    random.seed(1)
    np.random.random()
    second = rollout(gym.make(env_id, opponents="random").unwrapped, 60, seed=7)
    assert first == second
    assert rollout(env, 60, seed=8) != first


def test_reset_without_a_seed_goes_on_reproducibly() -> None:
    env = GoBoomEnv()
    deals = []
    for _ in range(2):
        first = env.reset(seed=3)[0]
        deals.append([first.tobytes()] + [env.reset()[0].tobytes() for _ in range(5)])
    assert deals[0] == deals[1]
    assert len(set(deals[0])) == 6
    assert GoBoomEnv().reset()[0].tobytes() != GoBoomEnv().reset()[0].tobytes()


def test_reset_after_a_long_game_equals_a_fresh_env() -> None:
    env = GoBoomEnv(episode="match")
    rollout(env, 500, seed=1)
    env.reset(seed=9)
    fresh = GoBoomEnv(episode="match")
    fresh.reset(seed=9)
    assert env._table.states.tobytes() == fresh._table.states.tobytes()


@pytest.mark.parametrize("copier", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy], ids=["pickle", "deepcopy"])
@pytest.mark.parametrize("name", ["classic", "jokers", "stakes"])
def test_a_copy_in_mid_trick_plays_the_same_next_50_steps(name: str, copier: Any) -> None:
    env = GoBoomEnv(name, opponents="greedy", episode="match")
    _, info = env.reset(seed=2)
    for _ in range(3):
        _, _, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert not terminated
    twin = copier(env)
    rng, twin_rng = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(50):
        masks = env.action_masks(), twin.action_masks()
        assert (masks[0] == masks[1]).all()
        results = [one.step(int(gen.choice(np.flatnonzero(masks[0])))) for one, gen in ((env, rng), (twin, twin_rng))]
        assert results[0][0].tobytes() == results[1][0].tobytes()
        assert results[0][1:3] == results[1][1:3]
        if results[0][2]:
            env.reset()
            twin.reset()


@pytest.mark.parametrize("env_id", IDS)
def test_mask_is_the_same_everywhere_and_never_empty(env_id: str) -> None:
    env = gym.make(env_id, opponents="random")
    _, info = env.reset(seed=5)
    rng = np.random.default_rng(5)
    for _ in range(300):
        mask = info["action_mask"]
        method = env.get_wrapper_attr("action_masks")()
        assert mask.dtype == np.int8 and method.dtype == np.bool_ and mask.shape == (env.action_space.n,)
        assert (mask == method).all() and mask.any()
        env.action_space.seed(int(rng.integers(1 << 30)))
        action = env.action_space.sample(mask=mask)
        assert mask[action] == 1
        _, _, terminated, _, info = env.step(action)
        if terminated:
            assert info["action_mask"].all()
            _, info = env.reset()


@pytest.mark.parametrize("forced", ["auto", "ask"])
def test_forced_moves_are_played_or_asked_for(forced: str) -> None:
    env = GoBoomEnv(forced=forced)
    rng, single = np.random.default_rng(0), 0
    _, info = env.reset(seed=0)
    for _ in range(400):
        single += info["action_mask"].sum() == 1
        _, _, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if terminated:
            _, info = env.reset()
    assert (single == 0) == (forced == "auto")


def play_illegal(env: GoBoomEnv, seed: int = 0) -> tuple[Any, ...]:
    _, info = env.reset(seed=seed)
    return env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))


# The worst payoff: every point of the pack lost. A 52-card pack has 4 x (1 + 2+...+9 + 4 x 10) = 340 points, with aces at 15
# and two jokers 4 x (15 + 44 + 40) + 40 = 436.
@pytest.mark.parametrize(
    ("name", "reward", "worst"),
    [
        ("classic", "win", -1 / 3),
        ("classic", "score", -3.40 / 3),
        ("hundred", "score", -3.40),
        ("stakes", "score", -3.40 * 4 / 3),
        ("jokers", "score", -4.36),
    ],
)
def test_forfeit_ends_the_episode_at_the_worst_payoff(name: str, reward: str, worst: float) -> None:
    env = GoBoomEnv(name, reward=reward)
    _, value, terminated, truncated, info = play_illegal(env)
    assert terminated is True and truncated is False and info["illegal_action"] is True
    assert value == pytest.approx(worst)
    assert info["payoffs"] == pytest.approx([worst] + [-worst / 3] * 3)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


def test_raise_names_the_card_and_leaves_the_state_as_it_was() -> None:
    env = GoBoomEnv(illegal_action="raise")
    _, info = env.reset(seed=0)
    before = env._table.states.tobytes(), env._table.rows.tobytes()
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    with pytest.raises(IllegalActionError, match=f"seat 0 cannot take {action_text(env._table.pack, illegal)}.*legal:"):
        env.step(illegal)
    assert before == (env._table.states.tobytes(), env._table.rows.tobytes())
    env.step(int(np.flatnonzero(info["action_mask"])[0]))


@pytest.mark.parametrize("illegal_action", ["forfeit", "raise"])
@pytest.mark.parametrize("action", [-1, 54, 1000])
def test_an_action_outside_the_space_is_an_error_and_changes_nothing(illegal_action: str, action: int) -> None:
    env = GoBoomEnv(illegal_action=illegal_action)
    env.reset(seed=0)
    before = env._table.states.tobytes()
    with pytest.raises(ValueError, match=str(action)):
        env.step(action)
    with pytest.raises(ValueError, match="whole numbers"):
        env.step(0.5)  # type: ignore[arg-type]
    assert before == env._table.states.tobytes()


def test_step_before_reset_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        GoBoomEnv().step(0)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"rules": "clasic"}, "did you mean 'classic'"),
        ({"num_players": 13}, "num_players=13"),
        ({"num_players": 1}, "num_players=1"),
        ({"rules": Rules(hand_size=20), "num_players": 4}, "80 cards and the pack has 52"),
        ({"opponents": "gredy"}, "did you mean 'greedy'"),
        ({"opponents": ["random"]}, "1 policies for 3 opponent seats"),
        ({"opponents": {"random": -1.0}}, "weights"),
        ({"opponents": 3}, "is no policy"),
        ({"opponents": "no/such/file.safetensors"}, "no policy file"),
        ({"episode": "game"}, "episode='game'"),
        ({"reward": "wins"}, "did you mean 'win'"),
        ({"forced": "none"}, "forced='none'"),
        ({"illegal_action": "ignore"}, "illegal_action='ignore'"),
        ({"render_mode": "rgb"}, "render_mode='rgb' is not one of None, 'ansi', 'rgb_array', 'human'"),
    ],
)
def test_bad_arguments_name_the_value(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GoBoomEnv(**kwargs)


@pytest.mark.parametrize("name", ["classic", "jokers", "stakes", "hundred"])
@pytest.mark.parametrize("episode", ["hand", "match"])
@pytest.mark.parametrize("reward", ["score", "win"])
def test_rewards_add_up_to_payoffs_that_follow_from_the_scores(name: str, episode: str, reward: str) -> None:
    env = GoBoomEnv(name, episode=episode, reward=reward, opponents="random")
    rng = np.random.default_rng(1)
    for seed in range(15):
        _, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            _, value, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
            total += value
        scores, n = info["scores"].astype(float), env.num_players
        sign = -1 if env.rules.scoring == "penalty" else 1
        if reward == "score":
            # Episodes begin at scores of 0, so the scores are the points of the episode.
            expected = [sign * (scores[k] - np.delete(scores, k).mean()) / 100 for k in range(n)]
        elif episode == "hand":
            expected = [0.0] * n if info["winner"] < 0 else [1.0 if k == info["winner"] else -1 / (n - 1) for k in range(n)]
        else:
            best = sign * scores == (sign * scores).max()
            expected = [1 / best.sum() if best[k] else -1 / (n - 1) for k in range(n)]
        assert info["payoffs"] == pytest.approx(expected)
        assert total == pytest.approx(info["payoffs"][0])


def test_self_play_gives_the_acting_seat_and_all_payoffs() -> None:
    env = GoBoomEnv(opponents="self", forced="ask")
    rng = np.random.default_rng(2)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        terminated, seats = False, []
        while not terminated:
            state = env._table.states[0]
            assert info["seat"] == state["turn"]
            hand = {k for k in range(52) if int(state["hand"][info["seat"]]) >> k & 1}
            assert set(np.flatnonzero(env._table.observations[0][observation.layout("classic", 4)["hand"]])) == hand
            seats.append(info["seat"])
            _, reward, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        assert set(seats) == {0, 1, 2, 3}
        assert reward == pytest.approx(info["payoffs"][seats[-1]]) and sum(info["payoffs"]) == pytest.approx(0)


def test_the_learner_gets_the_reward_when_an_opponent_ends_the_hand() -> None:
    env = GoBoomEnv("classic", 2, opponents="random", reward="win")
    rng, seen = np.random.default_rng(3), set()
    for seed in range(40):
        _, info = env.reset(seed=seed)
        terminated = False
        while not terminated:
            _, reward, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        assert reward == (1 if info["winner"] == 0 else -1)
        seen.add(info["winner"])
    assert seen == {0, 1}


def test_the_dealer_is_drawn_each_episode() -> None:
    env = GoBoomEnv()
    env.reset(seed=0)
    counts = np.bincount([int(env._table.states[0]["dealer"]) for _ in range(4000) if env.reset()], minlength=4)
    # Chi-square with 3 degrees of freedom is below 16.3 with probability 0.999.
    assert ((counts - 1000) ** 2 / 1000).sum() < 16.3


def test_rewards_and_ends_are_plain_python_and_arrays_are_fresh() -> None:
    env = GoBoomEnv()
    first, info = env.reset(seed=0)
    kept, kept_mask = first.copy(), info["action_mask"].copy()
    mask = info["action_mask"]
    for _ in range(3):
        _, reward, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
    assert (first == kept).all() and (mask == kept_mask).all()


def test_house_rules_keep_through_reset_with_a_seed() -> None:
    env = GoBoomEnv(Rules(hand_size=3, target=50), 3, episode="match")
    for seed in (1, None, 2):
        env.reset(seed=seed)
        assert env._table.states[0]["size"][:3].max() <= 3 and env.rules.target == 50


def test_version_is_a_string() -> None:
    assert goboom_env.__version__.count(".") == 2


def test_rules_that_never_ask_anybody_are_an_error_and_not_a_hang() -> None:
    rules = Rules(hand_size=1)
    with pytest.raises(RuntimeError, match="no choice"):
        GoBoomEnv(rules).reset(seed=1)
    assert GoBoomEnv(rules, forced="ask").reset(seed=1)[1]["action_mask"].any()


def test_matches_that_never_end_are_an_error_and_not_a_hang() -> None:
    from goboom_env.arena import compare
    from goboom_env.cards import Pack

    rules = Rules(ace_points=0, court_points=0, packs=((2, Pack.of("JQKA")),), hand_size=3)
    with pytest.raises(RuntimeError, match="10,000 hands"):
        compare("greedy", "random", rules, 2, 2, episode="match")


def test_after_an_error_in_a_policy_the_env_asks_for_a_reset() -> None:
    fails = [False]

    def moody(observation: np.ndarray, mask: np.ndarray) -> int:
        if fails[0]:
            raise KeyError("moody")
        return int(np.flatnonzero(mask)[0])

    env = GoBoomEnv(opponents=moody)
    _, info = env.reset(seed=1)
    fails[0] = True
    with pytest.raises(KeyError):
        env.reset(seed=0)  # an opponent moves first
    with pytest.raises(RuntimeError, match="interrupted"):
        env.step(int(np.flatnonzero(info["action_mask"])[0]))
    fails[0] = False
    _, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))


@pytest.mark.parametrize("answer", [4.7, "3", None, float("nan"), 2**70])
def test_an_answer_of_a_function_that_is_no_action_names_it(answer: Any) -> None:
    def odd(observation: np.ndarray, mask: np.ndarray) -> Any:
        return answer

    with pytest.raises(ValueError, match="policy 'odd' must return an action id"):
        GoBoomEnv(opponents=odd).reset(seed=0)


def test_numpy_player_counts_and_sb3_entry_points_work() -> None:
    from stable_baselines3.common.env_util import make_vec_env

    assert GoBoomEnv(num_players=np.int64(3)).num_players == 3  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # Gymnasium's, of the render mode that SB3 tries first
        vec = make_vec_env("GoBoom/Classic-v0", 2)
    assert vec.reset().shape == (2, observation.size("classic", 4))
    vec.close()
