"""Train a policy with MaskablePPO: `python -m training.train configs/X.yaml [key=value ...]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from goboom_env.arena.report import comparison_table
from goboom_env.arguments import Parser
from goboom_env.files import whole_file
from goboom_env.integrations.sb3 import GoBoomVecEnv
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import get_rules
from training.callbacks import ArenaEvaluation, Checkpoints, Display, Shares
from training.config import ConfigError, TrainConfig, load_config
from training.export import export_policy
from training.fit import relu_layers
from training.plots import learning_curve
from training.snapshots import Snapshots, uses_snapshots, with_slots
from training.state import NAME, load_state


class Trunk(BaseFeaturesExtractor):
    """The layers that policy and value share."""

    def __init__(self, observation_space: Any, widths: list[int]) -> None:
        super().__init__(observation_space, widths[-1])
        self.layers = relu_layers(observation_space.shape[0], widths)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features of the last layer."""
        result: torch.Tensor = self.layers(observations)
        return result


def make_model(config: TrainConfig, snapshots: Snapshots | None = None) -> MaskablePPO:
    """The learner on its tables, from `config.init` where that names a policy."""
    torch.set_num_threads(config.num_threads)
    opponents = config.opponents if snapshots is None else with_slots(config.opponents, snapshots)
    env = GoBoomVecEnv(
        {"rules": config.rules, "num_players": config.num_players, "opponents": opponents},
        config.n_envs,
        episode=config.episode,
        reward=config.reward,
        num_threads=config.num_threads,
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=lambda left: left * config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        seed=config.seed,
        device="cpu",
        policy_kwargs={
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"widths": config.net_arch},
            "net_arch": [],
            "optimizer_kwargs": {"fused": True, "eps": 1e-5},
        },
    )
    if config.init is not None:
        initialise(model, config)
    return model


def initialise(model: MaskablePPO, config: TrainConfig) -> None:
    """Give the model the weights of the policy that `config.init` names; its value head too, where it is of the same reward.

    Raises:
        ConfigError: The policy is of another table or of other layers.
    """
    try:
        policy = make(str(config.init)).bind(get_rules(config.rules), config.num_players)
    except ValueError as error:
        raise ConfigError(f"init={config.init!r}: {error}") from None
    if not isinstance(policy, NetworkPolicy) or policy.metadata["activation"] != "relu":
        raise ConfigError(f"init={config.init!r} is no trained policy with ReLU layers")
    widths = [len(bias) for _, bias in policy.layers[:-1]]
    if widths != config.net_arch:
        raise ConfigError(f"init={config.init!r} has layers {widths}, net_arch is {config.net_arch}")
    trunk = [module for module in model.policy.features_extractor.modules() if isinstance(module, torch.nn.Linear)]
    modules: list[Any] = [*trunk, model.policy.action_net]
    pairs = list(zip(modules, policy.layers, strict=True))
    if policy.value is not None and policy.objective == ("win" if config.reward == "win" else "points"):
        weight, bias = policy.value
        if config.reward == "win":
            # From a share w of the win to a reward of 1 for a win and -1/(n-1) for a loss.
            n = np.float32(config.num_players)
            weight, bias = weight * (n / (n - 1)), bias * (n / (n - 1)) - 1 / (n - 1)
        pairs.append((model.policy.value_net, (weight, bias)))
    with torch.no_grad():
        for module, (weight, bias) in pairs:
            module.weight.copy_(torch.from_numpy(weight))
            module.bias.copy_(torch.from_numpy(bias))


def train(config: TrainConfig, progress_bar: bool = True, resume: bool = False) -> NetworkPolicy:
    """Train as the config says, or go on from the state in its output folder.

    Writes config, logs, checkpoints, state, `best.safetensors`, `policy.safetensors` and `learning_curve.png` there.
    """
    output = Path(config.output)
    snapshots = Snapshots(config.snapshot_slots, config.seed, output / "snapshots") if uses_snapshots(config.opponents) else None
    model = make_model(config, snapshots)
    evaluation = ArenaEvaluation(config)
    checkpoints = Checkpoints(config, evaluation, snapshots)
    if resume:
        checkpoints.restore(load_state(output / NAME, model, config))
        keep_log(output, model.num_timesteps)
    output.mkdir(parents=True, exist_ok=True)
    model.set_logger(configure(str(output), ["csv", "tensorboard"]))
    with whole_file(output / "config.yaml") as file:
        file.write(yaml.safe_dump(config.to_dict(), sort_keys=False).encode())
    if snapshots is not None and not resume:
        snapshots.add(export_policy(model, config))
    callbacks = [evaluation, checkpoints, Shares()] + [Display(evaluation)] * progress_bar
    started, first = time.perf_counter(), model.num_timesteps
    try:
        model.learn(max(0, config.n_timesteps - first), callback=CallbackList(callbacks), reset_num_timesteps=not resume)
        seconds = time.perf_counter() - started
        evaluation.evaluate()
        model.logger.record("time/total_timesteps", model.num_timesteps)
        model.logger.dump(model.num_timesteps)
    finally:
        model.logger.close()
    summary = {"seconds": round(seconds, 1), "evaluation": [result.to_dict() for result in evaluation.results]}
    policy = export_policy(model, config, summary)
    policy.save(output / "policy.safetensors")
    learning_curve(output, 1 / config.num_players)
    print(f"{model.num_timesteps - first:,} decisions in {seconds:.0f} s; policy: {output / 'policy.safetensors'}")
    print(comparison_table(evaluation.results))
    return policy


def keep_log(output: Path, decisions: int) -> None:
    """Put the log of the run so far aside, since the logger begins `progress.csv` anew."""
    log = output / "progress.csv"
    if log.exists():
        log.replace(output / f"progress_until_{decisions:09d}.csv")


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.train", description=__doc__)
    parser.add_argument("config", help="YAML file of settings, see training/config.py")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="settings that go before the file's")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar")
    parser.add_argument("--resume", action="store_true", help="go on from the state in the output folder")
    options = parser.parse_intermixed_args(arguments)
    try:
        config = load_config(options.config, options.settings, TrainConfig)
        train(config, progress_bar=not options.no_progress, resume=options.resume)
    except (ConfigError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
