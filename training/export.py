"""From a trained MaskablePPO model to a policy file that plays from NumPy alone."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from goboom_env.observation import VERSION
from goboom_env.policies.network import FORMAT, NetworkPolicy
from goboom_env.rules import get_rules
from training.config import TrainConfig

PACKAGES = ("gymnasium", "numpy", "stable_baselines3", "sb3_contrib", "torch")


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
        "config": config.to_dict(),
        "versions": {name: version(name) for name in PACKAGES},
        "summary": {"decisions": model.num_timesteps, **(summary or {})},
    }
    return NetworkPolicy(layers, metadata)
