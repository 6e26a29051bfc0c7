"""What happens during training besides learning: evaluation in the arena, checkpoints, snapshots, and what is shown."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, cast

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from goboom_env.arena import Comparison, compare
from goboom_env.integrations.sb3 import GoBoomVecEnv
from training.config import TrainConfig
from training.export import export_policy
from training.snapshots import Snapshots
from training.state import NAME, save_state


class ArenaEvaluation(BaseCallback):
    """Plays the policy as it stands against each named opponent on paired deals, and logs win share and points.

    The policy of the highest mean win share over these opponents so far is kept as `best.safetensors`.
    """

    def __init__(self, config: TrainConfig) -> None:
        super().__init__()
        self.config = config
        self.results: list[Comparison] = []
        self.best, self.best_at = -1.0, 0
        self.next = config.eval_every

    def _on_step(self) -> bool:
        if self.num_timesteps >= self.next:
            self.next = self.num_timesteps + self.config.eval_every
            self.evaluate()
        return True

    def evaluate(self) -> None:
        """Evaluate now; the masks are those of the engine, so no action is illegal."""
        config = self.config
        policy = export_policy(cast(MaskablePPO, self.model), config)
        deals = max(2, config.eval_hands // config.num_players)
        self.results = []
        for opponent in config.eval_against:
            result = compare(policy, opponent, config.rules, config.num_players, deals, seed=config.seed + 1, episode=config.episode)
            self.results.append(result)
            self.logger.record(f"eval/win_share_{opponent}", result.win_share)
            self.logger.record(f"eval/points_{opponent}", result.points)
        mean = sum(result.win_share for result in self.results) / max(1, len(self.results))
        if mean > self.best:
            self.best, self.best_at = mean, self.num_timesteps
            policy.metadata["summary"]["evaluation"] = [result.to_dict() for result in self.results]
            policy.save(Path(config.output) / "best.safetensors")


class Checkpoints(BaseCallback):
    """Writes the policy and the state of the run every so many decisions, before an update; each file is whole or not there."""

    def __init__(self, config: TrainConfig, evaluation: ArenaEvaluation, snapshots: Snapshots | None) -> None:
        super().__init__()
        self.config, self.evaluation, self.snapshots = config, evaluation, snapshots
        self.next, self.next_snapshot = config.checkpoint_every, config.snapshot_every

    def _on_rollout_start(self) -> None:
        model = cast(MaskablePPO, self.model)
        if self.snapshots is not None and self.num_timesteps >= self.next_snapshot:
            self.next_snapshot = self.num_timesteps + self.config.snapshot_every
            self.snapshots.add(export_policy(model, self.config))
        if self.num_timesteps >= self.next:
            self.next = self.num_timesteps + self.config.checkpoint_every
            output = Path(self.config.output)
            export_policy(model, self.config).save(output / "checkpoints" / f"policy_{self.num_timesteps:09d}.safetensors")
            save_state(output / NAME, model, self.config, self.to_dict())

    def _on_step(self) -> bool:
        return True

    def to_dict(self) -> dict[str, Any]:
        """Where these callbacks stand, for a state."""
        evaluation = self.evaluation
        return {
            "next": self.next,
            "next_snapshot": self.next_snapshot,
            "next_evaluation": evaluation.next,
            "best": evaluation.best,
            "best_at": evaluation.best_at,
            "snapshots": None if self.snapshots is None else self.snapshots.to_dict(),
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Stand where a state says."""
        self.next, self.next_snapshot = values["next"], values["next_snapshot"]
        self.evaluation.next = values["next_evaluation"]
        self.evaluation.best, self.evaluation.best_at = values["best"], values["best_at"]
        if self.snapshots is not None:
            self.snapshots.restore(values["snapshots"])


class Shares(BaseCallback):
    """Logs which share of the time goes to the environment, to choosing actions (forward), and to gradient steps."""

    def __init__(self) -> None:
        super().__init__()
        self.start = self.collected = 0.0

    def _on_rollout_start(self) -> None:
        now, env = time.perf_counter(), self._env()
        if self.start:
            whole, collecting = now - self.start, self.collected - self.start
            self.logger.record("time/environment_share", env.seconds / whole)
            self.logger.record("time/forward_share", (collecting - env.seconds) / whole)
            self.logger.record("time/gradient_share", 1 - collecting / whole)
        env.seconds = 0.0
        self.start = now

    def _on_rollout_end(self) -> None:
        self.collected = time.perf_counter()

    def _on_step(self) -> bool:
        return True

    def _env(self) -> GoBoomVecEnv:
        env: Any = self.training_env
        assert isinstance(env, GoBoomVecEnv)
        return env


class Display(BaseCallback):
    """A line of progress: decisions, decisions a second, win share against each opponent, time left."""

    def __init__(self, evaluation: ArenaEvaluation) -> None:
        super().__init__()
        self.evaluation = evaluation
        columns = ("{task.completed:,.0f} of {task.total:,.0f} decisions", "{task.fields[rate]:,.0f} a second", "{task.fields[wins]}")
        self.progress = Progress(BarColumn(20), *(TextColumn(column) for column in columns), TimeRemainingColumn())

    def _on_training_start(self) -> None:
        self.first, self.start = self.num_timesteps, time.perf_counter()
        self.progress.start()
        self.task = self.progress.add_task("", total=self.model._total_timesteps, completed=self.first, rate=0.0, wins="")

    def _on_step(self) -> bool:
        rate = (self.num_timesteps - self.first) / max(1e-9, time.perf_counter() - self.start)
        wins = ", ".join(f"{result.field} {result.win_share:.3f}" for result in self.evaluation.results)
        self.progress.update(self.task, completed=self.num_timesteps, rate=rate, wins=wins)
        return True

    def _on_training_end(self) -> None:
        self.progress.stop()
