"""Fit a network with a policy and a value head to labelled decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from goboom_env.policies.network import Layer
from training.labels import read_labels


def relu_layers(inputs: int, widths: Sequence[int]) -> torch.nn.Sequential:
    """Linear layers of these widths, each with a ReLU behind it."""
    pairs = [(torch.nn.Linear(before, width), torch.nn.ReLU()) for before, width in pairwise([inputs, *widths])]
    return torch.nn.Sequential(*(module for pair in pairs for module in pair))


class PolicyValueNet(torch.nn.Module):
    """A trunk of ReLU layers; its head gives a logit an action and then the value."""

    def __init__(self, num_features: int, num_actions: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.trunk = relu_layers(num_features, widths)
        self.head = torch.nn.Linear(widths[-1], num_actions + 1)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits, shape (k, actions), and values, shape (k,)."""
        outputs: torch.Tensor = self.head(self.trunk(observations))
        return outputs[:, :-1], outputs[:, -1]

    def layers(self) -> tuple[list[Layer], Layer]:
        """Weights and biases of the policy's layers, and of the value head."""
        linear = [module for module in self.trunk if isinstance(module, torch.nn.Linear)]
        layers = [(module.weight.detach().numpy().copy(), module.bias.detach().numpy().copy()) for module in linear]
        weight, bias = self.head.weight.detach().numpy(), self.head.bias.detach().numpy()
        return [*layers, (weight[:-1].copy(), bias[:-1].copy())], (weight[-1:].copy(), bias[-1:].copy())


class Labels:
    """Labelled decisions in memory, of several folders, as batches for `fit`."""

    def __init__(self, folders: Sequence[Path], num_features: int, scale: float) -> None:
        parts = [part for folder in folders for part in read_labels(folder)]
        self.packed = np.concatenate([packed for packed, _ in parts])
        self.values = np.concatenate([values for _, values in parts])
        self.num_features, self.scale = num_features, scale

    def __len__(self) -> int:
        return len(self.values)

    def batch(self, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Observations, legal actions, the policy's target, and the value's: the worth of the best action."""
        observations = np.unpackbits(self.packed[rows], axis=1, count=self.num_features)
        values = torch.from_numpy(self.values[rows].astype(np.float32))
        legal = ~values.isnan()
        values = values.masked_fill(~legal, -torch.inf)
        return torch.from_numpy(observations).float(), legal, torch.softmax(self.scale * values, 1), values.amax(1)


def losses(net: PolicyValueNet, batch: tuple[torch.Tensor, ...], scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Divergence of the policy from softmax(scale x worth), and squared error of the value in the same units."""
    observations, legal, target, best = batch
    logits, value = net(observations)
    log_policy = torch.log_softmax(logits.masked_fill(~legal, -torch.inf), 1)
    policy_loss = torch.where(target > 0, target * (target.clamp_min(1e-30).log() - log_policy), 0.0).sum(1).mean()
    return policy_loss, torch.nn.functional.mse_loss(value * (scale / 12), best * (scale / 12))


def fit(
    net: PolicyValueNet,
    labels: Labels,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    seed: int,
    report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, float]:
    """Fit with Adam, the learning rate falling linearly to 0; returns the losses on a fiftieth of the labels that is held out."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(labels))
    held, rows = order[: max(1, len(order) // 50)], order[max(1, len(order) // 50) :]
    optimizer = torch.optim.Adam(net.parameters(), lr=learning_rate, fused=True)
    batch_size = min(batch_size, len(rows))
    steps = epochs * (len(rows) // batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    last: dict[str, float] = {}
    for epoch in range(epochs):
        rows = rng.permutation(rows)
        for start in range(0, len(rows) - batch_size + 1, batch_size):
            policy_loss, value_loss = losses(net, labels.batch(rows[start : start + batch_size]), labels.scale)
            optimizer.zero_grad(set_to_none=True)
            (policy_loss + value_loss).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
        with torch.no_grad():
            found = [losses(net, labels.batch(held[k : k + 4096]), labels.scale) for k in range(0, len(held), 4096)]
        last = {"policy_loss": float(sum(a for a, _ in found)) / len(found), "value_loss": float(sum(b for _, b in found)) / len(found)}
        report({"epoch": epoch + 1, **last})
    return last
