"""Learn from search: `python -m training.imitate configs/classic-2.yaml [key=value ...]`.

Each round plays hands in which a search chooses, labels every decision with the worth of each legal action, and fits a
network to the labels of all rounds so far. The network then guides the search of the next round. A round that adds nothing
is the last, and the best network is kept.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import yaml
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from goboom_env.arena import Comparison, compare
from goboom_env.arena.report import comparison_table
from goboom_env.arguments import Parser
from goboom_env.files import whole_file
from goboom_env.observation import features
from goboom_env.policies import make
from goboom_env.policies.network import NetworkPolicy
from goboom_env.policies.search import SearchPolicy
from goboom_env.rules import get_rules
from training.config import ConfigError, RunConfig, load_config
from training.export import policy_metadata
from training.fit import Labels, PolicyValueNet, fit
from training.labels import make_labels


@dataclass(frozen=True)
class ImitateConfig(RunConfig):
    """Settings of a run.

    Attributes:
        rules: Name of a preset.
        num_players: Seats at each table.
        objective: What the search and so the network aim at, `win` or `points`.
        rollout: Rule bot that plays the search's hands out.
        deals: Deals of the search of the first round.
        guided_deals: Deals of the search of later rounds, which the network guides.
        prior_deals: What the logits of that network count, in deals.
        leaf: Whether its value ends a hand at the seat's next choice; else hands are played out.
        rounds: Most rounds.
        decisions: Decisions labelled in each round.
        explore: Share of moves that are random, for variety.
        logit_scale: The policy is fitted to softmax(logit_scale x worth): larger is sharper.
        net_arch: Widths of the layers.
        n_epochs, batch_size, learning_rate: Of the fit.
        half: Write the policy file in half precision.
        seed: Seed of deals, search and network.
        eval_against: Opponents of the evaluation at the end.
        eval_hands: Hands against each of them, and against the network of the round before.
        num_threads: Threads of the search; None for one a core. torch always has one.
        output: Folder of the run.
    """

    rules: str = "classic"
    num_players: int = 2
    objective: str = "win"
    rollout: str = "greedy"
    deals: int = 128
    guided_deals: int = 128
    prior_deals: float = 128.0
    leaf: bool = False
    rounds: int = 2
    decisions: int = 500_000
    explore: float = 0.1
    logit_scale: float = 12.0
    net_arch: list[int] = field(default_factory=lambda: [512, 512])
    n_epochs: int = 6
    batch_size: int = 2048
    learning_rate: float = 2e-3
    half: bool = True
    seed: int = 0
    eval_against: list[str] = field(default_factory=lambda: ["greedy", "counter", "search:128"])
    eval_hands: int = 20_000
    num_threads: int | None = None
    output: str = "runs/imitate"

    def __post_init__(self) -> None:
        lows = dict.fromkeys(("deals", "guided_deals", "rounds", "decisions", "n_epochs", "eval_hands"), 1)
        self.check({**lows, "seed": 0, "batch_size": 2}, unit=("learning_rate",))
        if not 0 <= self.explore < 1:
            raise ConfigError(f"explore={self.explore} must be 0 or more and below 1")
        if self.prior_deals < 0:
            raise ConfigError(f"prior_deals={self.prior_deals} must be 0 or more")
        if self.logit_scale <= 0:
            raise ConfigError(f"logit_scale={self.logit_scale} must be above 0")
        try:
            rules = get_rules(self.rules)
            rules.pack_for(self.num_players)
            SearchPolicy(self.deals, self.rollout, self.objective)
            for opponent in self.eval_against:
                make(opponent).bind(rules, self.num_players)
        except ValueError as error:
            raise ConfigError(str(error)) from None


def imitate(config: ImitateConfig) -> NetworkPolicy:
    """Run as the config says; writes labels, the network of each round and `policy.safetensors` into the output folder."""
    torch.set_num_threads(1)
    rules, seats, output = get_rules(config.rules), config.num_players, Path(config.output)
    output.mkdir(parents=True, exist_ok=True)
    with whole_file(output / "config.yaml") as file:
        file.write(yaml.safe_dump(config.to_dict(), sort_keys=False).encode())
    best: NetworkPolicy | None = None
    folders: list[Path] = []
    history: list[dict[str, Any]] = []
    started = time.perf_counter()
    for number in range(config.rounds):
        deals = config.deals if best is None else config.guided_deals
        teacher = SearchPolicy(
            *(deals, config.rollout, config.objective, config.num_threads), guide=best, prior_deals=config.prior_deals, leaf=config.leaf
        )
        folders.append(output / "labels" / f"round_{number}")
        begun = time.perf_counter()
        with Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,}"), TimeRemainingColumn()) as bar:
            task = bar.add_task(f"round {number}: labels by {teacher.name}", total=config.decisions)
            seed = config.seed + 1_000 * number
            make_labels(
                *(folders[-1], teacher, rules, seats, config.decisions, seed, config.explore),
                progress=lambda count, bar=bar, task=task: bar.advance(task, count),  # type: ignore[misc]
            )
        labelled = time.perf_counter()
        policy = _fit_round(config, folders, number)
        row: dict[str, Any] = {
            "round": number,
            "teacher": teacher.name,
            "label_seconds": round(labelled - begun, 1),
            "fit_seconds": round(time.perf_counter() - labelled, 1),
            **policy.metadata["summary"],
        }
        if best is not None:
            gain = compare(policy, best, rules, seats, max(2, config.eval_hands // seats), config.seed + 1)
            score, equal = (gain.win_share, 1 / seats) if config.objective == "win" else (gain.points, 0.0)
            row |= {"win_share_against_last": gain.win_share, "points_against_last": gain.points}
            print(f"round {number} against the last: {gain.win_share:.3f} of wins, {gain.points:+.2f} points a hand")
            if score <= equal:
                history.append(row)
                break
        history.append(row)
        best = policy
    assert best is not None
    results = [
        compare(best, opponent, rules, seats, max(2, config.eval_hands // seats), config.seed + 2) for opponent in config.eval_against
    ]
    best.metadata["summary"] = summary(history, results, time.perf_counter() - started)
    best.save(output / "policy.safetensors", half=config.half)
    print(f"policy: {output / 'policy.safetensors'}")
    print(comparison_table(results))
    return best


def summary(history: list[dict[str, Any]], results: list[Comparison], seconds: float) -> dict[str, Any]:
    """What the policy file says of its training."""
    return {"rounds": history, "seconds": round(seconds, 1), "evaluation": [result.to_dict() for result in results]}


def _fit_round(config: ImitateConfig, folders: list[Path], number: int) -> NetworkPolicy:
    rules, seats = get_rules(config.rules), config.num_players
    torch.manual_seed(config.seed + number)
    width = features.size(rules, seats)
    net = PolicyValueNet(width, len(rules.pack_for(seats).types) + 2, config.net_arch)
    labels = Labels(folders, width, config.logit_scale)
    found = fit(
        *(net, labels, config.n_epochs, config.batch_size, config.learning_rate, config.seed + number),
        report=lambda row: print(f"round {number}: " + ", ".join(f"{key} {value:.5g}" for key, value in row.items()), flush=True),
    )
    layers, value = net.layers()
    metadata = policy_metadata(config, config.objective)
    metadata |= {"logit_scale": config.logit_scale, "summary": {"decisions": len(labels), **found}}
    policy = NetworkPolicy(layers, metadata, name=f"round_{number}", value=value)
    policy.save(Path(config.output) / f"round_{number}.safetensors")
    return policy


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.imitate", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("config", help="YAML file of settings, see ImitateConfig in training/imitate.py")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="settings that go before the file's")
    options = parser.parse_args(arguments)
    try:
        imitate(load_config(options.config, options.settings, ImitateConfig))
    except (ConfigError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
