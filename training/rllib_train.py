"""Train by PPO in RLlib, on this machine or a Ray cluster: `python -m training.rllib_train configs/X.yaml [key=value ...]`.

It needs the extra `rllib` and reads the settings of `training.train`. `n_envs * n_steps` is the number of decisions an
iteration trains on; the tables are those of the env runners.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ray
import yaml

from goboom_env.arena import compare
from goboom_env.arena.report import comparison_table
from goboom_env.arguments import Parser
from goboom_env.files import whole_file
from goboom_env.integrations.rllib import SHARED, network_policy, ppo_config
from goboom_env.policies.network import NetworkPolicy
from training.config import ConfigError, TrainConfig, load_config

AGENTS = {
    "shared": "an agent on every seat, one network for all",
    "separate": "an agent on every seat, a network each",
    "one": "one agent, the config's opponents on the other seats",
}
PACKAGES = ("gymnasium", "numpy", "ray", "torch")


@dataclass(frozen=True)
class Runners:
    """How a run is spread.

    Attributes:
        agents: One of `AGENTS`.
        num_env_runners: Processes that play; 0 plays in the main process.
        envs_per_runner: Tables of each of them.
        num_learners: Processes that compute gradients; 0 for the main process.
        iterations: Iterations to run, None for as many as the config's `n_timesteps` need.
        resume: Checkpoint to go on from.
    """

    agents: str = "shared"
    num_env_runners: int = 2
    envs_per_runner: int = 16
    num_learners: int = 0
    iterations: int | None = None
    resume: Path | None = None


def algorithm_config(config: TrainConfig, runners: Runners) -> Any:
    """RLlib's configuration of the run."""
    opponents = config.opponents if runners.agents == "one" else "self"
    env_config = {
        "rules": config.rules,
        "num_players": config.num_players,
        "opponents": opponents,
        "episode": config.episode,
        "reward": config.reward,
        "illegal_action": "raise",
    }
    result = ppo_config(env_config, config.net_arch, separate=runners.agents == "separate")
    result = result.env_runners(num_env_runners=runners.num_env_runners, num_envs_per_env_runner=runners.envs_per_runner)
    # A runner that fails has met a fault, an illegal action perhaps: that is to be seen, not restarted.
    result = result.fault_tolerance(restart_failed_env_runners=False)
    result = result.learners(num_learners=runners.num_learners).debugging(seed=config.seed)
    trained = result.training(
        lr=[[0, config.learning_rate], [config.n_timesteps, 0.0]],
        gamma=config.gamma,
        lambda_=config.gae_lambda,
        clip_param=config.clip_range,
        entropy_coeff=config.ent_coef,
        vf_loss_coeff=config.vf_coef,
        use_kl_loss=False,
        grad_clip=0.5,
        train_batch_size_per_learner=config.n_envs * config.n_steps // max(1, runners.num_learners),
        minibatch_size=config.batch_size,
        num_epochs=config.n_epochs,
    )
    return trained


def train(config: TrainConfig, runners: Runners) -> dict[str, NetworkPolicy]:
    """Train on the Ray that runs; writes config, checkpoints and a policy file a network, and returns the policies by module."""
    output = Path(config.output)
    output.mkdir(parents=True, exist_ok=True)
    with whole_file(output / "config.yaml") as file:
        file.write(yaml.safe_dump(config.to_dict(), sort_keys=False).encode())
    algorithm = algorithm_config(config, runners).build_algo()
    try:
        if runners.resume is not None:
            algorithm.restore_from_path(str(runners.resume.absolute()))
        summary = _iterate(algorithm, config, runners)
        modules = {name: algorithm.get_module(name) for name in algorithm.config.policies}
        policies = {}
        for name, module in sorted(modules.items()):
            stem = "policy" if name == SHARED else f"policy_{name}"
            told = {"config": config.to_dict(), "versions": {package: version(package) for package in PACKAGES}, "summary": summary}
            policies[name] = network_policy(module, config.rules, config.num_players, stem, **told)
            policies[name].save(output / f"{stem}.safetensors")
            print(f"policy: {output / stem}.safetensors")
    finally:
        algorithm.stop()
    return policies


def _iterate(algorithm: Any, config: TrainConfig, runners: Runners) -> dict[str, Any]:
    """Train iteration by iteration, with a line each and checkpoints; returns what is to be told of the run."""
    batch = config.n_envs * config.n_steps
    iterations = -(-config.n_timesteps // batch) if runners.iterations is None else runners.iterations
    start, saved, decisions, illegal = time.perf_counter(), 0, 0, 0
    checkpoints = Path(config.output).absolute() / "checkpoints"
    for iteration in range(1, iterations + 1):
        result = algorithm.train()["env_runners"]
        decisions = int(result["num_env_steps_sampled_lifetime"])
        illegal += int(result["illegal_actions"])
        seconds = time.perf_counter() - start
        print(
            f"iteration {iteration}/{iterations}: {decisions:,} decisions, {seconds:.0f} s, "
            f"{int(result['num_episodes']):,} episodes, illegal actions so far: {illegal}",
            flush=True,
        )
        if decisions // config.checkpoint_every > saved or iteration == iterations:
            saved = decisions // config.checkpoint_every
            algorithm.save_to_path(str(checkpoints / f"{decisions:010}"))
    return {"decisions": decisions, "iterations": iterations, "illegal_actions": illegal, "seconds": round(time.perf_counter() - start, 1)}


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.rllib_train", description=__doc__)
    parser.add_argument("config", help="YAML file of settings, see training/config.py")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="settings that go before the file's")
    parser.add_argument(
        "--agents", choices=list(AGENTS), default="shared", help="; ".join(f"{key}: {text}" for key, text in AGENTS.items())
    )
    parser.add_argument("--num-env-runners", type=int, default=2, metavar="K", help="processes that play (default: %(default)s)")
    parser.add_argument("--envs-per-runner", type=int, default=16, metavar="N", help="tables of each (default: %(default)s)")
    parser.add_argument("--num-learners", type=int, default=0, metavar="N", help="processes for gradients; 0: the main one (default)")
    parser.add_argument("--iterations", type=int, metavar="N", help="iterations, instead of the config's n_timesteps")
    parser.add_argument("--resume", type=Path, metavar="FOLDER", help="checkpoint to go on from")
    parser.add_argument("--address", help="of a running Ray cluster, or `auto`; default: a Ray of its own on this machine")
    options = parser.parse_intermixed_args(arguments)
    try:
        config = load_config(options.config, options.settings, TrainConfig)
        for name, low in (("num_env_runners", 0), ("envs_per_runner", 1), ("num_learners", 0), ("iterations", 1)):
            value = getattr(options, name)
            if value is not None and value < low:
                raise ConfigError(f"--{name.replace('_', '-')} {value} must be {low} or more")
        if options.resume is not None and not options.resume.is_dir():
            raise ConfigError(f"--resume {str(options.resume)!r}: there is no such checkpoint")
        runners = Runners(
            options.agents, options.num_env_runners, options.envs_per_runner, options.num_learners, options.iterations, options.resume
        )
        own = {} if options.address else {"include_dashboard": False, "num_cpus": options.num_env_runners + options.num_learners + 1}
        ray.init(address=options.address or "local", **own)
        try:
            policies = train(config, runners)
        finally:
            ray.shutdown()
        deals = max(2, -(-config.eval_hands // config.num_players))
        for policy in policies.values():
            against = [
                compare(policy, name, config.rules, config.num_players, deals, config.seed, config.episode) for name in config.eval_against
            ]
            print(comparison_table(against))
    except (ConfigError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
