"""Training, policy files and evaluation end to end, on small runs."""

from __future__ import annotations

import csv
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from goboom_env import GoBoomEnv, observation
from goboom_env.engine.rng import stream_words
from goboom_env.engine.state import compile_rules
from goboom_env.observation.features import BITS
from goboom_env.observation.view import new_views
from goboom_env.policies import make
from goboom_env.policies.forward import forward, new_space
from goboom_env.policies.network import NetworkPolicy, PolicyFileError
from goboom_env.stepping import ask
from goboom_env.table import Table
from training import evaluate, export, train
from training.config import ConfigError, TrainConfig, load_config
from training.export import export_policy
from training.imitate import ImitateConfig
from training.selfplay import SelfPlayConfig

TINY: dict[str, Any] = {
    "rules": "classic",
    "num_players": 2,
    "n_envs": 32,
    "n_steps": 8,
    "batch_size": 64,
    "n_epochs": 1,
    "n_timesteps": 1024,
    "net_arch": [32, 16],
    "checkpoint_every": 400,
    "eval_every": 512,
    "eval_hands": 40,
    "eval_against": ["random", "greedy"],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a tiny run."""
    folder = tmp_path_factory.mktemp("run")
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({**TINY, "output": str(folder / "out")}))
    assert train.main([str(path), "--no-progress", "seed=3"]) == 0
    return folder / "out"


def test_a_run_writes_policy_checkpoints_logs_and_config(run: Path) -> None:
    assert {path.name for path in (run / "checkpoints").iterdir()} == {"policy_000000512.safetensors"}
    assert yaml.safe_load((run / "config.yaml").read_text())["seed"] == 3
    with open(run / "progress.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert any(row.get("eval/win_share_greedy") for row in rows)
    assert {"time/environment_share", "time/forward_share", "time/gradient_share"} <= set(rows[-2])
    assert list(run.glob("events.out.tfevents.*"))
    assert (run / "learning_curve.png").read_bytes()[:4] == b"\x89PNG"
    policy = NetworkPolicy.load(run / "policy.safetensors")
    assert (policy.num_players, policy.metadata["observation_version"]) == (2, observation.VERSION)
    assert policy.metadata["summary"]["decisions"] == 1024 and "torch" in policy.metadata["versions"]
    assert [weight.shape for weight, _ in policy.layers] == [(32, observation.size("classic", 2)), (16, 32), (54, 16)]


def test_numpy_forward_pass_equals_the_model() -> None:
    model = train.make_model(TrainConfig(**TINY))
    policy = export_policy(model, TrainConfig(**TINY))
    env = GoBoomEnv(num_players=2)
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    for _ in range(50):
        obs, mask = env._table.observations, env._table.masks
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.as_tensor(obs), action_masks=mask)
        expected = distribution.distribution.probs.numpy()[0]
        logits = np.where(mask[0] == 1, policy.logits(obs)[0], -np.inf)
        shares = np.exp(logits - logits.max())
        assert shares / shares.sum() == pytest.approx(expected, abs=1e-5)
        assert model.predict(obs[0], action_masks=mask[0], deterministic=True)[0] == np.argmax(logits)
        _, _, terminated, _, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if terminated:
            _, info = env.reset()


def test_a_loaded_opponent_sees_its_own_seat(run: Path) -> None:
    """What the policy plays at a table is the best legal logit of its own seat's observation and mask."""
    policy = NetworkPolicy.load(run / "policy.safetensors")
    table = Table("classic", [None, None], 64, forced="ask")
    table.reset(list(range(64)))
    views, words = new_views(64), np.empty(64, np.uint64)
    ask(compile_rules(table.rules, 2), table.states, table.rows, np.arange(64), views, words)
    logits = np.where(table.masks == 1, policy.logits(table.observations), -np.inf)
    assert (policy.act(views, words) == logits.argmax(axis=1)).all()


def test_sampling_follows_the_distribution() -> None:
    rules = GoBoomEnv(num_players=2).rules
    width = observation.size(rules, 2)
    weight, bias = np.zeros((54, width), np.float32), np.zeros(54, np.float32)
    bias[:27] = np.log(3)
    metadata = {"format": "goboom-policy/1", "rules": rules.to_dict(), "num_players": 2, "observation_version": 1, "activation": "relu"}
    policy = NetworkPolicy([(weight, bias)], metadata, deterministic=False)
    views = np.repeat(new_views(1), 8000)
    views["legal"] = np.uint64(1 << 3 | 1 << 40)
    actions = policy.act(views, stream_words(1, 8000)[:, 0])
    assert set(actions.tolist()) == {3, 40}
    # Odds 3 to 1: a share of 0.75 with a standard error of 0.0048.
    assert (actions == 3).mean() == pytest.approx(0.75, abs=0.02)


def test_evaluate_prints_a_table_and_writes_json(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "result.json"
    assert evaluate.main([str(run / "policy.safetensors"), "--against", "random,lead", "--hands", "200", "--json", str(out)]) == 0
    text = capsys.readouterr().out
    assert "win share" in text and "lead" in text and "95 % interval" in text
    results = json.loads(out.read_text())
    assert [row["field"] for row in results] == ["random", "lead"]
    for row in results:
        assert row["hands"] == 200 and row["num_players"] == 2
        assert row["win_interval"][0] <= row["win_share"] <= row["win_interval"][1]


def test_evaluation_and_opponents_need_no_torch(run: Path) -> None:
    path = run / "policy.safetensors"
    script = f"""
import sys
from training import evaluate
assert evaluate.main([{str(path)!r}, "--against", "random", "--hands", "40"]) == 0
import gymnasium, goboom_env
env = gymnasium.make("GoBoom/Classic-v0", num_players=2, opponents={str(path)!r})
env.reset(seed=0)
assert not any(name in sys.modules for name in ("torch", "stable_baselines3"))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, capture_output=True)


def test_training_twice_with_a_seed_gives_the_same_policy(tmp_path: Path) -> None:
    policies = [train.train(TrainConfig(**{**TINY, "output": str(tmp_path / name)}), progress_bar=False) for name in "ab"]
    for (weight, bias), (twin, twin_bias) in zip(policies[0].layers, policies[1].layers, strict=True):
        assert (weight == twin).all() and (bias == twin_bias).all()


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("n_timestep: 5", [], "unknown key 'n_timestep'; did you mean 'n_timesteps'"),
        ("n_envs: many", [], "n_envs='many' must be a whole number"),
        ("learning_rate: 1e-3", [], "write 0.001"),
        ("n_steps: 0", [], "n_steps=0 must be 1 or more"),
        ("rules: clasic", [], "did you mean 'classic'"),
        ("num_players: 40", [], "num_players=40"),
        ("net_arch: []", [], "net_arch"),
        ("- 1", [], "key: value"),
        ("{", [], "no YAML"),
        ("{}", ["seed"], "write key=value"),
        ("{}", ["opponents={random: 0.3"], "no YAML"),
        ("{}", ["opponents={greedy: null}"], "weights of a mix"),
        ("{}", ["opponents=self"], "name opponents"),
        ("seed: -1", [], "seed=-1 must be 0 or more"),
        ("learning_rate: .nan", [], "learning_rate=nan"),
        ("gamma: 5", [], "gamma=5"),
        ("num_threads: 0", [], "num_threads=0"),
        ("net_arch: [true]", [], "net_arch"),
        ("{n_envs: 1, n_steps: 1}", [], "at least batch_size"),
        ("output: ''", [], "output must name a folder"),
        ("{}", ["sed=1"], "did you mean 'seed'"),
    ],
)
def test_bad_configs_name_key_and_reason(text: str, settings: list[str], message: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(path, settings, TrainConfig)
    assert train.main([str(path), *settings, "--no-progress"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [item.name for item in tmp_path.iterdir()] == ["config.yaml"]


def test_a_missing_config_or_opponent_is_one_line_and_writes_nothing(tmp_path: Path, capsys: Any) -> None:
    assert train.main([str(tmp_path / "none.yaml")]) == 2
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**TINY, "output": str(tmp_path / "out")}))
    assert train.main([str(path), "opponents=gredy", "--no-progress"]) == 2
    assert train.main([str(path), "eval_against=[nobody]", "--no-progress"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "did you mean 'greedy'" in lines[1] and "nobody" in lines[2]
    assert not (tmp_path / "out").exists()


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.marker),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda policy: policy.layers[0][0].fill(np.nan), "not finite"),
        (lambda policy: policy.layers[-1][1].fill(-np.inf), "not finite"),
        (lambda policy: policy.metadata.update(num_players=4.7), "num_players 4.7"),
        (lambda policy: policy.metadata.update(observation_version=True), "observation_version True"),
        (lambda policy: policy.metadata.update(activation="gelu"), "activation 'gelu'"),
        (lambda policy: policy.metadata.update(rules={"hand_size": -1}), "hand_size=-1"),
        (lambda policy: policy.metadata.update(rules=[]), "mapping of fields"),
        (lambda policy: policy.layers.pop(), "do not lead from"),
    ],
)
def test_a_policy_file_that_cannot_play_says_why(run: Path, tmp_path: Path, change: Any, message: str) -> None:
    policy = NetworkPolicy.load(run / "policy.safetensors")
    change(policy)
    policy.save(tmp_path / "odd.safetensors")
    with pytest.raises(PolicyFileError, match=message):
        make(tmp_path / "odd.safetensors")


@pytest.mark.parametrize("kind", ["pickle", "zip", "text", "empty", "truncated", "foreign"])
def test_foreign_and_crafted_files_are_refused_and_do_not_execute(kind: str, run: Path, tmp_path: Path, capsys: Any) -> None:
    marker, path = tmp_path / "marker", tmp_path / "evil.safetensors"
    good = (run / "policy.safetensors").read_bytes()
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Bomb(marker)))
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("data", pickle.dumps(Bomb(marker)))
    elif kind == "foreign":
        from safetensors.numpy import save_file

        save_file({"a": np.zeros(3)}, path)
    else:
        path.write_bytes({"text": b"hello", "empty": b"", "truncated": good[: len(good) // 2]}[kind])
    with pytest.raises(PolicyFileError, match=r"evil\.safetensors"):
        make(path)
    assert evaluate.main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(ValueError, match=r"evil\.safetensors"):
        GoBoomEnv(opponents=str(path))
    assert not marker.exists()


@pytest.mark.parametrize(
    ("rules", "players", "there"),
    [("classic", 4, "classic at 4 seats"), ("hundred", 2, "hundred at 2 seats"), ("jokers", 3, "jokers at 3 seats")],
)
def test_a_policy_on_another_table_is_an_error_that_names_both_sides(run: Path, rules: str, players: int, there: str) -> None:
    path = run / "policy.safetensors"
    with pytest.raises(ValueError, match=f"classic at 2 seats.*this table is {there}"):
        GoBoomEnv(rules, players, opponents=str(path))
    assert evaluate.main([str(path), "--rules", rules, "--players", str(players)]) == 2


def test_another_observation_version_is_an_error_that_names_both_sides(run: Path, tmp_path: Path) -> None:
    policy = NetworkPolicy.load(run / "policy.safetensors")
    policy.metadata["observation_version"] = 99
    policy.save(tmp_path / "old.safetensors")
    with pytest.raises(ValueError, match=r"observation version 99.*observation version 1"):
        GoBoomEnv(num_players=2, opponents=tmp_path / "old.safetensors")


def test_saving_is_whole_or_not_at_all(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = NetworkPolicy.load(run / "policy.safetensors")
    path = tmp_path / "policy.safetensors"
    policy.save(path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        policy.save(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["policy.safetensors"]


def test_onnx_gives_what_numpy_gives(run: Path, tmp_path: Path, capsys: Any) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    policy = NetworkPolicy.load(run / "policy.safetensors")
    rng = np.random.default_rng(1)
    policy.value = (rng.standard_normal((1, 16)).astype(np.float32), rng.standard_normal(1).astype(np.float32))
    policy.save(tmp_path / "valued.safetensors")
    assert export.main([str(tmp_path / "valued.safetensors"), str(tmp_path / "policy.onnx")]) == 0
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    table = Table("classic", [None, None], 64)
    table.reset(list(range(64)))
    logits, value = session.run(None, {"observation": table.observations, "action_mask": table.masks})
    assert logits == pytest.approx(np.where(table.masks == 1, policy.logits(table.observations), -np.inf), abs=1e-5)
    views, words = new_views(64), np.empty(64, np.uint64)
    ask(compile_rules(table.rules, 2), table.states, table.rows, np.arange(64), views, words)
    assert logits.argmax(axis=1).tolist() == policy.act(views, words).tolist()
    space, bits, compiled = new_space(policy.compiled()), np.zeros(1, BITS), policy.compiled()
    values = [forward(compile_rules(table.rules, 2)[0], view, bits[0], compiled, space)[54] for view in views]
    assert value[:, 0] == pytest.approx(values, abs=1e-5)
    assert json.loads(session.get_modelmeta().custom_metadata_map["goboom"])["num_players"] == 2
    assert export.main([str(tmp_path / "none.safetensors"), str(tmp_path / "no.onnx")]) == 2
    assert "there is no policy file" in capsys.readouterr().err and not (tmp_path / "no.onnx").exists()


CONFIGS = Path(__file__).parent.parent / "configs"


@pytest.mark.parametrize("path", [str(path.relative_to(CONFIGS)) for path in sorted(CONFIGS.rglob("*.yaml"))])
def test_every_config_loads_with_the_script_that_its_second_line_names(path: str) -> None:
    script = (CONFIGS / path).read_text().splitlines()[1].split()[3]
    kind = {"training.train": TrainConfig, "training.imitate": ImitateConfig, "training.selfplay": SelfPlayConfig}[script]
    config = load_config(CONFIGS / path, [], kind)
    name = Path(path).stem
    if "-" in name:
        assert name == f"{config.to_dict()['rules']}-{config.to_dict()['num_players']}"
