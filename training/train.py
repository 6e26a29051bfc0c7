"""Train a policy with MaskablePPO: `python -m training.train configs/X.yaml [key=value ...]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

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
from goboom_env.policies.network import NetworkPolicy
from training.callbacks import ArenaEvaluation, PolicyCheckpoints
from training.config import ConfigError, TrainConfig, load_config
from training.export import export_policy


class Trunk(BaseFeaturesExtractor):
    """The layers that policy and value share."""

    def __init__(self, observation_space: Any, widths: list[int]) -> None:
        super().__init__(observation_space, widths[-1])
        layers: list[torch.nn.Module] = []
        inputs = observation_space.shape[0]
        for width in widths:
            layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
            inputs = width
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Features of the last layer."""
        result: torch.Tensor = self.layers(observations)
        return result


def make_model(config: TrainConfig) -> MaskablePPO:
    """The learner on its tables."""
    torch.set_num_threads(config.num_threads)
    env = GoBoomVecEnv(
        {"rules": config.rules, "num_players": config.num_players, "opponents": config.opponents},
        config.n_envs,
        episode=config.episode,
        reward=config.reward,
        num_threads=config.num_threads,
    )
    return MaskablePPO(
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


def train(config: TrainConfig, progress_bar: bool = True) -> NetworkPolicy:
    """Train as the config says; writes config, logs, checkpoints and `policy.safetensors` into the output folder."""
    model = make_model(config)
    output = Path(config.output)
    output.mkdir(parents=True, exist_ok=True)
    model.set_logger(configure(str(output), ["csv", "tensorboard"]))
    with whole_file(output / "config.yaml") as file:
        file.write(yaml.safe_dump(config.to_dict(), sort_keys=False).encode())
    evaluation = ArenaEvaluation(config)
    started = time.perf_counter()
    try:
        model.learn(config.n_timesteps, callback=CallbackList([evaluation, PolicyCheckpoints(config)]), progress_bar=progress_bar)
        seconds = time.perf_counter() - started
        evaluation.evaluate()
        model.logger.dump(model.num_timesteps)
    finally:
        model.logger.close()
    summary = {"seconds": round(seconds, 1), "evaluation": [result.to_dict() for result in evaluation.results]}
    policy = export_policy(model, config, summary)
    policy.save(output / "policy.safetensors")
    print(f"{model.num_timesteps:,} decisions in {seconds:.0f} s; policy: {output / 'policy.safetensors'}")
    print(comparison_table(evaluation.results))
    return policy


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.train", description=__doc__)
    parser.add_argument("config", help="YAML file of settings, see training/config.py")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="settings that go before the file's")
    parser.add_argument("--no-progress", action="store_true", help="no progress bar")
    options = parser.parse_intermixed_args(arguments)
    try:
        config = load_config(options.config, options.settings)
        train(config, progress_bar=not options.no_progress)
    except (ConfigError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
