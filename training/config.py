"""The configuration of a run: one flat dataclass a script, filled from a YAML file and from the command line."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from goboom_env import GoBoomEnv
from goboom_env.policies import make
from goboom_env.rules import nearest


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names file, key and reason."""


@dataclass(frozen=True)
class RunConfig:
    """A flat set of settings of one script."""

    def check(self, lows: Mapping[str, float], unit: Sequence[str]) -> None:
        """`ConfigError` unless every field is of its type, those in `lows` are at least so much, and those in `unit` in (0, 1]."""
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            kind = item.type
            if kind == "int" and (not isinstance(value, int) or isinstance(value, bool)):
                raise ConfigError(f"{item.name}={value!r} must be a whole number")
            if kind == "int | None" and not (value is None or (type(value) is int and value > 0)):
                raise ConfigError(f"{item.name}={value!r} must be a whole number above 0 or null")
            if kind == "float" and (not isinstance(value, (int, float)) or isinstance(value, bool)):
                raise ConfigError(f"{item.name}={value!r} must be a number (YAML reads 1e-3 as text: write 0.001)")
            if kind == "bool" and not isinstance(value, bool):
                raise ConfigError(f"{item.name}={value!r} must be true or false")
            if kind == "str | None" and not (value is None or isinstance(value, str)):
                raise ConfigError(f"{item.name}={value!r} must be text or null")
            if kind == "str" and not isinstance(value, str):
                raise ConfigError(f"{item.name}={value!r} must be text")
            if str(kind).startswith("list") and not isinstance(value, list):
                raise ConfigError(f"{item.name}={value!r} must be a list")
        for name, low in lows.items():
            if not low <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name}={getattr(self, name)} must be {low} or more")
        for name in unit:
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name}={getattr(self, name)} must be above 0 and at most 1")
        values = self.to_dict()
        if not values["output"]:
            raise ConfigError("output must name a folder")
        widths = values["net_arch"]
        if not widths or not all(type(width) is int and width > 0 for width in widths):
            raise ConfigError(f"net_arch={widths} must be a list of widths")

    def to_dict(self) -> dict[str, Any]:
        """Every setting."""
        return dataclasses.asdict(self)


_Config = TypeVar("_Config", bound=RunConfig)


@dataclass(frozen=True)
class TrainConfig(RunConfig):
    """Settings of a run. Names follow rl-zoo where it has one.

    Attributes:
        rules: Name of a preset.
        num_players: Seats at each table.
        opponents: On the other seats, as `opponents=` of the environment takes it; in a mix or alone `snapshots` stands for
            frozen copies of the learner.
        snapshot_every: Decisions between two of these copies.
        snapshot_slots: Number of them that play: the newest, and others from the whole run.
        init: Trained policy to begin from, a path or `trained`; None for a new network.
        episode, reward: As in the environment.
        seed: Seed of the deals, of the opponents and of the network.
        n_envs: Tables stepped at once.
        n_timesteps: Decisions of the learner to train on.
        n_steps: Decisions at each table between updates.
        batch_size: Decisions in a gradient step.
        n_epochs: Passes over the decisions of an update.
        learning_rate: Of the optimizer, falling linearly to 0.
        gamma, gae_lambda, clip_range, ent_coef, vf_coef: As in PPO.
        net_arch: Widths of the layers of the trunk that policy and value share.
        checkpoint_every: Decisions between checkpoints.
        eval_every: Decisions between evaluations during training.
        eval_against: Opponents of those evaluations and of the last.
        eval_hands: Hands, or with `episode: match` matches, against each of them.
        num_threads: Threads of torch and of the environment; small networks are slower with more than one.
        output: Folder of the run.
    """

    rules: str = "classic"
    num_players: int = 4
    opponents: Any = "random"
    snapshot_every: int = 200_000
    snapshot_slots: int = 8
    init: str | None = None
    episode: str = "hand"
    reward: str = "win"
    seed: int = 0
    n_envs: int = 512
    n_timesteps: int = 1_000_000
    n_steps: int = 32
    batch_size: int = 4096
    n_epochs: int = 2
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    net_arch: list[int] = field(default_factory=lambda: [256, 256])
    checkpoint_every: int = 500_000
    eval_every: int = 250_000
    eval_against: list[str] = field(default_factory=lambda: ["random", "greedy"])
    eval_hands: int = 4000
    num_threads: int = 1
    output: str = "runs/classic"

    def __post_init__(self) -> None:
        lows = dict.fromkeys(
            (
                "n_envs",
                "n_timesteps",
                "n_steps",
                "n_epochs",
                "checkpoint_every",
                "eval_every",
                "eval_hands",
                "num_threads",
                "snapshot_every",
                "snapshot_slots",
            ),
            1,
        )
        self.check(
            {**lows, "seed": 0, "batch_size": 2, "ent_coef": 0, "vf_coef": 0}, unit=("learning_rate", "clip_range", "gamma", "gae_lambda")
        )
        if self.n_envs * self.n_steps < self.batch_size:
            raise ConfigError(f"n_envs * n_steps = {self.n_envs * self.n_steps} must be at least batch_size={self.batch_size}")
        if self.opponents == "self":
            raise ConfigError("opponents=self would mix the seats' decisions into one return: name opponents")
        try:
            opponents = without_snapshots(self.opponents)
            env = GoBoomEnv(self.rules, self.num_players, opponents, self.episode, self.reward)
            for opponent in self.eval_against:
                make(opponent).bind(env.rules, self.num_players)
        except ValueError as error:
            raise ConfigError(str(error)) from None


def without_snapshots(opponents: Any) -> Any:
    """The opponents with a bot in place of the frozen copies, which are not there before a run."""
    if isinstance(opponents, Mapping):
        return {"random" if name == "snapshots" else name: weight for name, weight in opponents.items()}
    return "random" if opponents == "snapshots" else opponents


def load_config(path: str | Path, overrides: Sequence[str], kind: type[_Config]) -> _Config:
    """Settings from a YAML file, then from `key=value` words.

    Raises:
        ConfigError: The file is missing or no mapping, a key is unknown, or a value is of the wrong kind.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        values = yaml.safe_load(text)
    except OSError as error:
        raise ConfigError(f"cannot read the config {str(path)!r}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, Mapping):
        raise ConfigError(f"{str(path)!r} must hold `key: value` lines")
    values = dict(values)
    known = [item.name for item in dataclasses.fields(kind)]
    for word in overrides:
        key, sign, value = word.partition("=")
        if not sign:
            raise ConfigError(f"{word!r} is no setting: write key=value")
        try:
            values[key] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise ConfigError(f"{word!r}: the value is no YAML") from None
    for key in values:
        if key not in known:
            raise ConfigError(f"{str(path)!r}: unknown key {key!r}{nearest(key, known)}")
    try:
        return kind(**values)
    except ConfigError as error:
        raise ConfigError(f"{str(path)!r}: {error}") from None
