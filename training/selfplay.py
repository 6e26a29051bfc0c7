"""PPO by self-play that trains on every seat's decisions: `python -m training.selfplay configs/selfplay.yaml [key=value ...]`.

One network plays all seats of many tables. A decision's return is what its own seat is paid at the end of the hand, so
nothing is bootstrapped and no seat's reward is taken for another's.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goboom_env import GoBoomVectorEnv
from goboom_env.arena import compare
from goboom_env.arena.report import comparison_table
from goboom_env.arguments import Parser
from goboom_env.observation import features
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.rules import get_rules
from training.config import ConfigError, RunConfig, load_config
from training.export import policy_metadata
from training.fit import PolicyValueNet


@dataclass(frozen=True)
class SelfPlayConfig(RunConfig):
    """Settings of a run; names as in `training.config.TrainConfig`."""

    rules: str = "classic"
    num_players: int = 2
    reward: str = "win"
    seed: int = 0
    n_envs: int = 512
    n_timesteps: int = 4_000_000
    n_steps: int = 64
    batch_size: int = 4096
    n_epochs: int = 2
    learning_rate: float = 1e-3
    clip_range: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    net_arch: list[int] = field(default_factory=lambda: [256, 256])
    eval_against: list[str] = field(default_factory=lambda: ["random", "greedy"])
    eval_hands: int = 20_000
    output: str = "runs/selfplay"

    def __post_init__(self) -> None:
        lows = dict.fromkeys(("n_envs", "n_timesteps", "n_steps", "n_epochs", "eval_hands"), 1)
        self.check({**lows, "seed": 0, "batch_size": 2, "ent_coef": 0, "vf_coef": 0}, unit=("learning_rate", "clip_range"))
        try:
            GoBoomVectorEnv(1, self.rules, self.num_players, "self", reward=self.reward)
            for opponent in self.eval_against:
                make(opponent).bind(get_rules(self.rules), self.num_players)
        except ValueError as error:
            raise ConfigError(str(error)) from None


def seat_returns(
    seats: NDArray[np.int64], ended: NDArray[np.bool_], payoffs: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return of each decision, and whether its hand ended within the steps; both of shape (steps, tables).

    Args:
        seats: Seat of each decision, shape (steps, tables).
        ended: Whether it ended the hand.
        payoffs: Of each seat where it did, shape (steps, tables, seats).
    """
    returns, known = np.zeros(seats.shape, np.float32), np.zeros(seats.shape, np.bool_)
    paid, over = np.zeros(payoffs.shape[1:]), np.zeros(seats.shape[1], np.bool_)
    for step in range(len(seats) - 1, -1, -1):
        paid[ended[step]] = payoffs[step][ended[step]]
        over |= ended[step]
        known[step] = over
        returns[step] = paid[np.arange(len(paid)), seats[step]]
    return returns, known


def selfplay(config: SelfPlayConfig) -> NetworkPolicy:
    """Train as the config says; writes `policy.safetensors` into the output folder."""
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(config.seed)
    env = GoBoomVectorEnv(config.n_envs, config.rules, config.num_players, "self", reward=config.reward, autoreset_mode="SameStep")
    net = PolicyValueNet(features.size(env.rules, env.num_players), env.num_actions, config.net_arch)
    optimizer = torch.optim.Adam(net.parameters(), lr=config.learning_rate, eps=1e-5, fused=True)
    observations, info = env.reset(seed=config.seed)
    done, started = 0, time.perf_counter()
    while done < config.n_timesteps:
        optimizer.param_groups[0]["lr"] = config.learning_rate * (1 - done / config.n_timesteps)
        kept: dict[str, list[Any]] = {name: [] for name in ("observations", "masks", "actions", "chances", "seats", "ended", "payoffs")}
        for _ in range(config.n_steps):
            masks, seats = info["action_mask"].astype(np.bool_), info["seat"].copy()
            with torch.no_grad():
                logits, _ = net(torch.from_numpy(observations).float())
                policy = torch.distributions.Categorical(
                    logits=logits.masked_fill(~torch.from_numpy(masks), -torch.inf), validate_args=False
                )
                actions = policy.sample()
            step = (observations, masks, actions.numpy(), policy.log_prob(actions).numpy(), seats)
            observations, _, ended, _, info = env.step(actions.numpy())
            payoffs = info["final_info"]["payoffs"] if ended.any() else np.zeros((config.n_envs, config.num_players))
            for name, value in zip(kept, (*step, ended, payoffs), strict=True):
                kept[name].append(value)
        batch = {name: np.stack(values) for name, values in kept.items()}
        returns, known = seat_returns(batch["seats"], batch["ended"], batch["payoffs"])
        update(
            net,
            optimizer,
            config,
            {name: batch[name][known] for name in ("observations", "masks", "actions", "chances")},
            returns[known],
            rng,
        )
        done += config.n_envs * config.n_steps
    return finish(net, config, done, time.perf_counter() - started)


def update(
    net: PolicyValueNet,
    optimizer: torch.optim.Optimizer,
    config: SelfPlayConfig,
    batch: dict[str, NDArray[Any]],
    returns: NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    """The epochs of PPO over the decisions whose hands ended."""
    tensors = {name: torch.from_numpy(value) for name, value in batch.items()}
    targets = torch.from_numpy(returns)
    for _ in range(config.n_epochs):
        order = rng.permutation(len(returns))
        for start in range(0, len(order), config.batch_size):
            rows = torch.from_numpy(order[start : start + config.batch_size])
            if len(rows) < 2:
                continue
            logits, values = net(tensors["observations"][rows].float())
            policy = torch.distributions.Categorical(logits=logits.masked_fill(~tensors["masks"][rows], -1e8), validate_args=False)
            advantages = targets[rows] - values.detach()
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            ratio = (policy.log_prob(tensors["actions"][rows]) - tensors["chances"][rows]).exp()
            clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
            loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            loss = loss + config.vf_coef * torch.nn.functional.mse_loss(values, targets[rows]) - config.ent_coef * policy.entropy().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()


def finish(net: PolicyValueNet, config: SelfPlayConfig, decisions: int, seconds: float) -> NetworkPolicy:
    """Save and evaluate the policy."""
    layers, _ = net.layers()
    rules, seats = get_rules(config.rules), config.num_players
    metadata = policy_metadata(config, "win" if config.reward == "win" else "points")
    policy = NetworkPolicy(layers, metadata)
    results = [compare(policy, other, rules, seats, max(2, config.eval_hands // seats), config.seed + 1) for other in config.eval_against]
    policy.metadata["summary"] = {"decisions": decisions, "seconds": seconds, "evaluation": [result.to_dict() for result in results]}
    policy.save(Path(config.output) / "policy.safetensors")
    print(f"{decisions:,} decisions in {seconds:.0f} s; policy: {Path(config.output) / 'policy.safetensors'}")
    print(comparison_table(results))
    return policy


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.selfplay", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("config", help="YAML file of settings, see SelfPlayConfig in training/selfplay.py")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="settings that go before the file's")
    options = parser.parse_args(arguments)
    try:
        selfplay(load_config(options.config, options.settings, SelfPlayConfig))
    except (ConfigError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
