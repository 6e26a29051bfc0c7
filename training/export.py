"""From a trained MaskablePPO model to a policy file that plays from NumPy alone."""

from __future__ import annotations

import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from goboom_env.observation import VERSION
from goboom_env.policies.network import FORMAT, NetworkPolicy
from goboom_env.rules import get_rules
from training.config import TrainConfig

PACKAGES = ("gymnasium", "numpy", "stable_baselines3", "sb3_contrib", "torch")


def provenance() -> dict[str, Any]:
    """Versions of the packages, and the git commit where there is one."""
    try:
        command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {"versions": {name: version(name) for name in PACKAGES}, "commit": commit}


def export_policy(model: MaskablePPO, config: TrainConfig, summary: dict[str, Any] | None = None) -> NetworkPolicy:
    """The network of a model that `training.train.make_model` built, as a policy; `summary` says how training went."""
    policy = model.policy
    modules = [*torch.nn.Module.modules(policy.features_extractor), policy.action_net]
    layers = [
        (linear.weight.detach().cpu().numpy().copy(), linear.bias.detach().cpu().numpy().copy())
        for linear in modules
        if isinstance(linear, torch.nn.Linear)
    ]
    metadata = {
        "format": FORMAT,
        "rules": get_rules(config.rules).to_dict(),
        "num_players": config.num_players,
        "observation_version": VERSION,
        "activation": "relu",
        "objective": "win" if config.reward == "win" else "points",
        "config": config.to_dict(),
        **provenance(),
        "summary": {"decisions": model.num_timesteps, **(summary or {})},
    }
    return NetworkPolicy(layers, metadata)
