"""Runs that go on: exact resume, kills in the middle of a write, snapshots as opponents, a policy to begin from."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from goboom_env.integrations.sb3 import GoBoomVecEnv
from goboom_env.policies.network import NetworkPolicy
from goboom_env.table import Table
from tests.test_training import TINY, Bomb
from training import train
from training.config import ConfigError, TrainConfig
from training.export import export_policy
from training.snapshots import Snapshots, with_slots
from training.state import NAME, load_state, save_state


def config(output: Path, **settings: Any) -> TrainConfig:
    return TrainConfig(**{**TINY, "checkpoint_every": 256, "output": str(output), **settings})


@pytest.mark.parametrize("opponents", ["greedy", {"greedy": 0.5, "snapshots": 0.5}])
def test_a_resumed_run_makes_the_same_updates_as_one_never_interrupted(opponents: Any, tmp_path: Path) -> None:
    settings = {"opponents": opponents, "snapshot_every": 256, "snapshot_slots": 3}
    whole = train.train(config(tmp_path / "whole", **settings), progress_bar=False)
    # A run that its last checkpoint, before the update at 768, outlives.
    half = config(tmp_path / "half", **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train.ArenaEvaluation, "evaluate", interrupt_at(800))
        with pytest.raises(KeyboardInterrupt):
            train.train(half, progress_bar=False)
    assert not (tmp_path / "half" / "policy.safetensors").exists()
    resumed = train.train(half, progress_bar=False, resume=True)
    for (weight, bias), (twin, twin_bias) in zip(whole.layers, resumed.layers, strict=True):
        assert (weight == twin).all() and (bias == twin_bias).all()
    assert resumed.metadata["summary"]["decisions"] == 1024
    assert list((tmp_path / "half").glob("progress_until_*.csv"))


def interrupt_at(decisions: int) -> Any:
    original = train.ArenaEvaluation.evaluate

    def evaluate(self: Any) -> None:
        if self.num_timesteps >= decisions:
            raise KeyboardInterrupt
        original(self)

    return evaluate


def test_resume_says_what_does_not_fit(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**TINY, "checkpoint_every": 256, "n_timesteps": 512, "output": str(tmp_path / "out")}))
    assert train.main([str(path), "--no-progress", "--resume"]) == 2
    assert "start without --resume" in capsys.readouterr().err
    assert train.main([str(path), "--no-progress"]) == 0
    state = tmp_path / "out" / "state.safetensors"
    before = state.read_bytes()
    assert train.main([str(path), "--no-progress", "--resume", "learning_rate=0.5", "rules=hundred"]) == 2
    message = capsys.readouterr().err
    assert "rules='classic' there and 'hundred' here" in message and "learning_rate" in message
    assert state.read_bytes() == before
    # More decisions and another number of tables: it goes on, at tables dealt anew.
    assert train.main([str(path), "--no-progress", "--resume", "n_timesteps=1024", "n_envs=64"]) == 0
    assert NetworkPolicy.load(tmp_path / "out" / "policy.safetensors").metadata["summary"]["decisions"] >= 1024
    for content in (b"", before[: len(before) // 2], pickle.dumps(Bomb(tmp_path / "marker"))):
        state.write_bytes(content)
        assert train.main([str(path), "--no-progress", "--resume"]) == 2
    assert not (tmp_path / "marker").exists()


def write_states(settings: TrainConfig, number: int, pipe: Any) -> None:
    """Write state after state and say so, until killed."""
    model = train.make_model(settings)
    model._last_obs = model.env.reset()  # type: ignore[union-attr, assignment]
    model._last_episode_starts = np.ones(settings.n_envs, bool)
    while True:
        number += 1
        save_state(Path(settings.output) / NAME, model, settings, {"number": number})
        pipe.send(number)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_state_to_go_on_from(tmp_path: Path) -> None:
    """Twenty kills while states are written as fast as they can be: what was said to be written is there, and whole."""
    settings, rng, last = config(tmp_path), np.random.default_rng(0), 0
    for _ in range(20):
        here, there = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(target=write_states, args=(settings, last, there))
        process.start()
        there.close()
        said = here.recv()
        assert said == last + 1
        time.sleep(float(rng.uniform(0, 0.05)))
        process.kill()
        process.join()
        try:
            while True:
                said = here.recv()
        except EOFError:
            here.close()
        process.close()
        found = load_state(tmp_path / NAME, train.make_model(settings), settings)["number"]
        assert found in (said, said + 1)
        last = found


def network(seed: int) -> NetworkPolicy:
    torch.manual_seed(seed)
    return export_policy(train.make_model(TrainConfig(**{**TINY, "seed": seed})), TrainConfig(**TINY))


def test_snapshots_hold_the_newest_and_a_sample_of_all(tmp_path: Path) -> None:
    snapshots, policy = Snapshots(4, 1, tmp_path), network(0)
    for number in range(60):
        snapshots.add(policy)
        assert snapshots.sources[0] == number
    assert {int(path.stem.split("_")[1]) for path in tmp_path.glob("*.safetensors")} == set(snapshots.sources)
    assert min(snapshots.sources) < 40
    other = Snapshots(4, 1, tmp_path)
    other.restore(json.loads(json.dumps(snapshots.to_dict())))
    assert other.sources == snapshots.sources and all(slot.policy is not None for slot in other.slots)


def test_memory_is_flat_over_200_opponent_swaps(tmp_path: Path) -> None:
    snapshots = Snapshots(3, 0, tmp_path)
    policies = [network(seed) for seed in range(3)]
    snapshots.add(policies[0])
    env = GoBoomVecEnv({"num_players": 2, "opponents": with_slots({"greedy": 0.5, "snapshots": 0.5}, snapshots)}, 64)
    env.seed(0)
    env.reset()
    sizes = []
    for swap in range(200):
        snapshots.add(policies[swap % 3])
        env.step(env.action_masks().argmax(axis=1))
        sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert len(list(tmp_path.iterdir())) <= 3
    assert sizes[-1] - sizes[99] < 4_000  # KiB of the most memory ever used


def test_a_snapshot_sees_its_own_seat() -> None:
    snapshots = with_slots("snapshots", filled(network(1)))
    frozen = network(1)
    tables = [Table("classic", [None, list(mix.items())], 64, forced="ask") for mix in (snapshots, {frozen: 1.0})]
    for table in tables:
        table.reset(list(range(64)))
        for _ in range(5):
            table.reset(which=table.rows["needs_reset"]) if table.rows["needs_reset"].any() else None
            table.step(table.masks.argmax(axis=1))
    assert (tables[0].observations == tables[1].observations).all()


def filled(policy: NetworkPolicy) -> Snapshots:
    snapshots = Snapshots(1, 0, Path("unused"))
    snapshots.slots[0].policy = policy
    return snapshots


def test_a_run_begins_from_a_policy(tmp_path: Path) -> None:
    policy = network(5)
    rng = np.random.default_rng(0)
    policy.value = (rng.standard_normal((1, 16)).astype(np.float32), rng.standard_normal(1).astype(np.float32))
    policy.save(tmp_path / "first.safetensors")
    settings = {**TINY, "init": str(tmp_path / "first.safetensors"), "seed": 9}
    model = train.make_model(TrainConfig(**settings))
    for (weight, bias), (twin, twin_bias) in zip(export_policy(model, TrainConfig(**TINY)).layers, policy.layers, strict=True):
        assert (weight == twin).all() and (bias == twin_bias).all()
    # The value head tells shares of the win, a reward is 1 or -1 at two seats.
    hidden = torch.from_numpy(rng.random((7, 16)).astype(np.float32))
    share = hidden.numpy() @ policy.value[0].T + policy.value[1]
    assert model.policy.value_net(hidden).detach().numpy() == pytest.approx(2 * share - 1, abs=1e-4)
    with pytest.raises(ConfigError, match=r"layers \[32, 16\], net_arch is \[8\]"):
        train.make_model(TrainConfig(**{**settings, "net_arch": [8]}))
    with pytest.raises(ConfigError, match="trained for classic at 2 seats"):
        train.make_model(TrainConfig(**{**settings, "num_players": 4}))
