"""Learning from search, and self-play on every seat, end to end on small runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from goboom_env import PRESETS
from goboom_env.observation import features
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.search import SearchPolicy
from training import imitate, selfplay
from training.fit import Labels, PolicyValueNet, fit
from training.labels import make_labels, read_labels
from training.selfplay import SelfPlayConfig, seat_returns

RULES = PRESETS["classic"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 32 deals."""
    monkeypatch.setattr("training.labels.TABLES", 32)


@pytest.mark.usefixtures("small")
def test_labels_are_worths_of_the_legal_actions(tmp_path: Path) -> None:
    count = make_labels(tmp_path, SearchPolicy(8), RULES, 2, 400, seed=1, explore=0.2)
    parts = list(read_labels(tmp_path))
    assert count == sum(len(values) for _, values in parts) >= 400
    where = features.layout(RULES, 2)["legal"]
    for packed, values in parts:
        observations = np.unpackbits(packed, axis=1, count=features.size(RULES, 2))
        assert (observations[:, where] == ~np.isnan(values)).all()
        assert (~np.isnan(values)).sum(axis=1).min() >= 2  # where there is no choice there is nothing to learn
        assert np.nanmin(values) > -1.01 and np.nanmax(values) < 2.01  # means of so few deals, moved between deals
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["teacher"] == "search:8" and manifest["parts"] == [len(values) for _, values in parts]


@pytest.mark.usefixtures("small")
def test_labels_go_on_where_they_stopped(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"seed": 1, "explore": 0.2}
    make_labels(tmp_path / "whole", SearchPolicy(4), RULES, 2, 700, **settings)
    make_labels(tmp_path / "parts", SearchPolicy(4, num_threads=1), RULES, 2, 10, **settings)
    (tmp_path / "parts" / "part_0001.npz").write_bytes(b"a part that was not finished")
    make_labels(tmp_path / "parts", SearchPolicy(4), RULES, 2, 700, **settings)
    for (packed, values), (other_packed, other_values) in zip(
        read_labels(tmp_path / "whole"), read_labels(tmp_path / "parts"), strict=True
    ):
        assert (packed == other_packed).all() and np.array_equal(values, other_values, equal_nan=True)
    with pytest.raises(ValueError, match="another teacher, seed"):
        make_labels(tmp_path / "parts", SearchPolicy(5), RULES, 2, 10, seed=2, explore=0.2)


@pytest.mark.usefixtures("small")
def test_a_fit_learns_what_the_labels_say(tmp_path: Path) -> None:
    make_labels(tmp_path, SearchPolicy(8), RULES, 2, 1500, seed=1, explore=0.2)
    torch.manual_seed(0)
    net = PolicyValueNet(features.size(RULES, 2), 54, [64])
    labels = Labels([tmp_path], features.size(RULES, 2), 12.0)
    # Worths that a network can learn: the higher an action's number, the better.
    labels.values = np.where(np.isnan(labels.values), np.nan, np.arange(54) / 54).astype(np.float16)
    observations, legal, target, best = labels.batch(np.arange(len(labels)))
    assert target.sum(1).numpy() == pytest.approx(np.ones(len(labels)), abs=1e-5) and not target[~legal].any()
    found = fit(net, labels, epochs=30, batch_size=128, learning_rate=3e-3, seed=0)
    with torch.no_grad():
        logits, values = net(observations)
    agree = (logits.masked_fill(~legal, -torch.inf).argmax(1) == target.argmax(1)).float().mean()
    assert agree > 0.95
    assert (values - best).pow(2).mean() < 0.5 * best.var()
    assert found["policy_loss"] > 0


@pytest.mark.usefixtures("small")
def test_a_run_writes_rounds_and_a_policy_with_its_history(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "config.yaml"
    settings = {"deals": 4, "guided_deals": 2, "decisions": 200, "net_arch": [16], "n_epochs": 1, "batch_size": 64, "eval_hands": 40}
    path.write_text(yaml.safe_dump({**settings, "eval_against": ["random"], "output": str(tmp_path / "out")}))
    assert imitate.main([str(path)]) == 0
    assert "against" in capsys.readouterr().out
    policy = NetworkPolicy.load(tmp_path / "out" / "policy.safetensors")
    assert policy.metadata["objective"] == "win" and policy.logit_scale == 12.0 and policy.value is not None
    rounds = policy.metadata["summary"]["rounds"]
    assert [row["teacher"] for row in rounds] == ["search:4", "search+round_0:2"] and "win_share_against_last" in rounds[1]
    assert (tmp_path / "out" / "policy.safetensors").stat().st_size < (tmp_path / "out" / "round_0.safetensors").stat().st_size
    guided = SearchPolicy(4, guide=tmp_path / "out" / "policy.safetensors")
    assert guided.bind(RULES, 2).name == "search+policy:4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rounds: 0", "rounds=0"),
        ("explore: 1.0", "explore"),
        ("objective: fun", "objective"),
        ("half: 1", "true or false"),
        ("num_threads: 0", "num_threads=0"),
        ("decision: 5", "did you mean 'decisions'"),
        ("eval_against: [gredy]", "did you mean 'greedy'"),
    ],
)
def test_bad_configs_name_key_and_reason(text: str, message: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    assert imitate.main([str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_each_decision_returns_what_its_own_seat_is_paid() -> None:
    # Table 0: seats 0, 1, 0, then a hand of seats 1, 0 that does not end. Table 1: a hand of seat 2, one of seats 1, 1, 0.
    seats = np.array([[0, 2], [1, 1], [0, 1], [1, 0], [0, 2]])
    ended = np.array([[0, 1], [0, 0], [1, 0], [0, 1], [0, 0]], bool)
    payoffs = np.zeros((5, 2, 3))
    payoffs[2, 0], payoffs[0, 1], payoffs[3, 1] = [0.5, -0.5, 0.0], [0.0, -1.0, 1.0], [-0.25, 0.75, -0.5]
    returns, known = seat_returns(seats, ended, payoffs)
    assert known.tolist() == [[True, True]] * 3 + [[False, True], [False, False]]
    assert returns[known].tolist() == [0.5, 1.0, -0.5, 0.75, 0.5, 0.75, -0.25]


@pytest.mark.slow
def test_selfplay_learns(tmp_path: Path) -> None:
    policy = selfplay.selfplay(
        SelfPlayConfig(n_envs=128, n_steps=32, n_timesteps=200_000, batch_size=1024, net_arch=[64], eval_hands=8000, output=str(tmp_path))
    )
    against_random = policy.metadata["summary"]["evaluation"][0]
    assert against_random["win_interval"][0] > 0.5
    assert NetworkPolicy.load(tmp_path / "policy.safetensors").num_players == 2
