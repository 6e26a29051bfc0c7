"""What happens during training besides learning: evaluation in the arena and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from goboom_env.arena import Comparison, compare
from training.config import TrainConfig
from training.export import export_policy


class ArenaEvaluation(BaseCallback):
    """Plays the policy as it stands against each named opponent on paired deals, and logs win share and points."""

    def __init__(self, config: TrainConfig) -> None:
        super().__init__()
        self.config = config
        self.results: list[Comparison] = []
        self._next = config.eval_every

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next = self.num_timesteps + self.config.eval_every
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


class PolicyCheckpoints(BaseCallback):
    """Writes the policy every so many decisions; each file is whole or not there."""

    def __init__(self, config: TrainConfig) -> None:
        super().__init__()
        self.config = config
        self._next = config.checkpoint_every

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self.config.checkpoint_every
            path = Path(self.config.output) / "checkpoints" / f"policy_{self.num_timesteps:09d}.safetensors"
            export_policy(cast(MaskablePPO, self.model), self.config).save(path)
        return True
