"""RLlib: the multi-agent env, what RLlib keeps of its episodes, training with two runners, and the exported network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

import torch  # noqa: E402 - after the skip
from ray.rllib.core.rl_module.rl_module import RLModule  # noqa: E402

from goboom_env import GoBoomEnv, IllegalActionError  # noqa: E402
from goboom_env.arena import compare  # noqa: E402
from goboom_env.integrations.rllib import SHARED, GoBoomMultiAgentEnv, agent, network_policy, ppo_config  # noqa: E402
from goboom_env.policies.network import NetworkPolicy  # noqa: E402
from goboom_env.sampling import sample_legal  # noqa: E402
from training import rllib_train  # noqa: E402
from training.config import TrainConfig  # noqa: E402

# Warnings here are those of ray and of what it pins.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.slow]

QUICK: dict[str, Any] = {"n_envs": 16, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "net_arch": [16], "eval_hands": 40}


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.parametrize(
    "options",
    [
        {"rules": "classic", "num_players": 3},
        {"rules": "jokers", "num_players": 4, "reward": "win", "forced": "ask"},
        {"rules": "jokers", "num_players": 3, "episode": "match"},
        {"rules": "classic", "num_players": 2, "episode": "match", "reward": "win"},
    ],
)
def test_agents_see_what_the_single_env_shows_and_are_paid_its_payoffs(options: dict[str, Any]) -> None:
    env, single = GoBoomMultiAgentEnv(options), GoBoomEnv(**options, opponents="self")
    rng = np.random.default_rng(1)
    for seed in range(8):
        (shown, _), (observation, info) = env.reset(seed=seed), single.reset(seed=seed)
        totals, acted, ended = dict.fromkeys(env.possible_agents, 0.0), set(), False
        while not ended:
            name = agent(info["seat"])
            assert shown.keys() == {name} and env.observation_spaces[name].contains(shown[name])
            assert (shown[name]["observations"] == observation).all() and (shown[name]["action_mask"] == info["action_mask"]).all()
            action = sample_legal(info["action_mask"], rng)
            acted.add(name)
            shown, rewards, ends, cuts, infos = env.step({name: action})
            observation, _, ended, _, info = single.step(action)
            assert name in rewards and rewards.keys() <= acted
            assert ends == {"__all__": ended} and cuts == {"__all__": False}
            for key, reward in rewards.items():
                totals[key] += reward
        assert shown == {} and infos.keys() == acted and not env.forfeited
        for seat, name in enumerate(env.possible_agents):
            assert totals[name] == pytest.approx(info["payoffs"][seat] if name in acted else 0)


def test_with_named_opponents_there_is_one_agent() -> None:
    env, single = GoBoomMultiAgentEnv({"num_players": 3, "opponents": "greedy"}), GoBoomEnv(num_players=3, opponents="greedy")
    assert env.possible_agents == ["player_0"]
    shown, observation = env.reset(seed=4)[0], single.reset(seed=4)[0]
    ended = False
    while not ended:
        assert (shown["player_0"]["observations"] == observation).all()
        action = int(shown["player_0"]["action_mask"].argmax())
        shown, rewards, ends, _, _ = env.step({"player_0": action})
        observation, reward, ended, _, _ = single.step(action)
        assert rewards == {"player_0": pytest.approx(reward)} and ends["__all__"] == ended


def test_illegal_actions_and_wrong_words() -> None:
    env = GoBoomMultiAgentEnv({"num_players": 2, "illegal_action": "raise"})
    shown, _ = env.reset(seed=0)
    (name,) = shown
    illegal = int(shown[name]["action_mask"].argmin())
    with pytest.raises(IllegalActionError):
        env.step({name: illegal})
    other = next(one for one in env.possible_agents if one != name)
    with pytest.raises(ValueError, match=f"{name} is to act"):
        env.step({other: 0})
    env = GoBoomMultiAgentEnv({"num_players": 2})
    env.reset(seed=0)
    _, rewards, ends, _, infos = env.step({name: illegal})
    assert ends["__all__"] and env.forfeited and infos[name]["illegal_action"] and rewards[name] < 0
    with pytest.raises(TypeError, match="colour"):
        GoBoomMultiAgentEnv({"colour": 1})
    with pytest.raises(ValueError, match="activation='gelu'"):
        ppo_config({}, [8], activation="gelu")


@pytest.mark.parametrize(("widths", "activation"), [([24, 16], "relu"), ([16], "tanh")])
def test_exported_network_gives_the_modules_logits(widths: list[int], activation: str) -> None:
    env = GoBoomMultiAgentEnv({"rules": "jokers", "num_players": 3})
    spec = ppo_config({"rules": "jokers", "num_players": 3}, widths, activation=activation).rl_module_spec.rl_module_specs[SHARED]
    spec.observation_space, spec.action_space = env.observation_spaces["player_0"], env.action_spaces["player_0"]
    module = spec.build()
    policy = network_policy(module, "jokers", 3)
    shown = [next(iter(env.reset(seed=seed)[0].values())) for seed in range(50)]
    assert_same_logits(module, policy, np.stack([one["observations"] for one in shown]), np.stack([one["action_mask"] for one in shown]))


def assert_same_logits(module: Any, policy: NetworkPolicy, observations: Any, masks: Any) -> None:
    batch = {"obs": {"observations": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks)}}
    with torch.no_grad():
        logits = module.forward_inference(batch)["action_dist_inputs"].numpy()
    legal = masks.astype(bool)
    assert legal.any() and not legal.all()
    assert logits[legal] == pytest.approx(policy.logits(observations.astype(np.uint8))[legal], abs=1e-5)
    assert logits[~legal].max() < -1e30
    assert (np.where(legal, policy.logits(observations.astype(np.uint8)), -np.inf).argmax(axis=1) == logits.argmax(axis=1)).all()


def test_rllib_keeps_every_decision_and_reward(cluster: None) -> None:
    config = rllib_train.algorithm_config(TrainConfig(num_players=3, **QUICK), rllib_train.Runners(num_env_runners=0, envs_per_runner=2))
    algorithm = config.build_algo()
    try:
        episodes = algorithm.env_runner.sample(num_episodes=30, random_actions=False)
    finally:
        algorithm.stop()
    assert len(episodes) >= 30
    for episode in episodes:
        agents = episode.agent_episodes.values()
        assert episode.is_terminated and sum(len(one) for one in agents) == episode.env_t > 3
        rewards = [one.get_rewards() for one in agents]
        assert all((np.asarray(values[:-1]) == 0).all() for values in rewards)  # a hand pays at its end
        if len(rewards) == 3:
            assert sum(values[-1] for values in rewards) == pytest.approx(0, abs=1e-6)
            assert any(values[-1] != 0 for values in rewards)


@pytest.mark.parametrize(("agents", "files"), [("separate", ["policy_player_0", "policy_player_1"]), ("one", ["policy"])])
def test_other_casts_train_too(agents: str, files: list[str], tmp_path: Path, cluster: None) -> None:
    config = TrainConfig(rules="mini", num_players=2, opponents="greedy", output=str(tmp_path), **QUICK)
    policies = rllib_train.train(config, rllib_train.Runners(agents, num_env_runners=0, envs_per_runner=4, iterations=1))
    assert sorted(path.stem for path in tmp_path.glob("*.safetensors")) == files == [policy.name for policy in policies.values()]
    if agents == "one":
        return
    first, second = policies.values()
    assert (first.layers[0][0] != second.layers[0][0]).any()
    (checkpoint,) = (tmp_path / "checkpoints").iterdir()
    runners = rllib_train.Runners(agents, num_env_runners=0, envs_per_runner=4, iterations=1, resume=checkpoint)
    more = rllib_train.train(config, runners)
    assert more["player_0"].metadata["summary"]["decisions"] > first.metadata["summary"]["decisions"]


def test_training_with_two_runners_exports_a_policy_for_the_arena(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ray.shutdown()
    path = tmp_path / "config.yaml"
    path.write_text(f"num_players: 2\neval_against: [random]\noutput: {tmp_path / 'run'}\n")
    settings = [f"{key}={value}" for key, value in QUICK.items()]
    assert rllib_train.main([str(path), *settings, "--iterations", "3", "--num-env-runners", "2", "--envs-per-runner", "4"]) == 0
    out = capsys.readouterr().out
    assert "iteration 3/3" in out and "policy on classic, 2 seats" in out
    policy = NetworkPolicy.load(tmp_path / "run" / "policy.safetensors")
    summary = policy.metadata["summary"]
    assert summary["iterations"] == 3 and summary["illegal_actions"] == 0 and summary["decisions"] >= 3 * 256
    result = compare(policy, "random", "classic", 2, 100)
    assert result.hands == 200 and 0 < result.win_share < 1
    (checkpoint,) = (tmp_path / "run" / "checkpoints").iterdir()
    module = RLModule.from_checkpoint(checkpoint / "learner_group" / "learner" / "rl_module" / SHARED)
    shown = [next(iter(GoBoomMultiAgentEnv({"num_players": 2}).reset(seed=seed)[0].values())) for seed in range(20)]
    assert_same_logits(module, policy, np.stack([one["observations"] for one in shown]), np.stack([one["action_mask"] for one in shown]))


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--num-env-runners", "-1"], "--num-env-runners -1"), (["--resume", "nowhere"], "nowhere")]
)
def test_wrong_arguments_are_named(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("num_players: 2\n")
    assert rllib_train.main([str(path), *arguments]) == 2
    assert message in capsys.readouterr().err
