"""Trained networks: one `.safetensors` file, played with NumPy alone. Loading a file executes nothing in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from goboom_env.engine.state import Records
from goboom_env.files import whole_file
from goboom_env.observation import features
from goboom_env.policies.base import Policy
from goboom_env.policies.forward import Network, make_network
from goboom_env.rules import Rules, rules_name

FORMAT = "goboom-policy/1"
METADATA_KEY = "goboom"
ACTIVATIONS = ("relu", "tanh")

Layer: TypeAlias = "tuple[NDArray[np.float32], NDArray[np.float32]]"
"""Weights, shape (outputs, inputs), and biases, shape (outputs,)."""

_BLOCK = 8
"""Rows of each matrix product. How a product rounds depends on its shape, so every one has the same shape: then the logits of
a row do not depend on how many rows are asked about at once."""


class PolicyFileError(ValueError):
    """A file that is missing or no policy of this format."""


class NetworkPolicy(Policy):
    """A multilayer perceptron over the observation, with illegal actions masked out.

    Args:
        layers: Weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer, float32, the last giving a
            logit an action.
        metadata: What the file says of the policy: `rules`, `num_players`, `observation_version`, `activation` and more.
        deterministic: Play the best action rather than draw from the distribution.
        name: Name in tables.
        value: Weights, shape (1, inputs), and bias, shape (1,), of a value beside the logits, which is what `objective` in the
            metadata says of the hand, as a search measures it; None for a policy without.
    """

    def __init__(
        self,
        layers: list[Layer],
        metadata: Mapping[str, Any],
        deterministic: bool = True,
        name: str = "network",
        value: Layer | None = None,
    ) -> None:
        self.layers = layers
        self.value = value
        self._transposed = [np.ascontiguousarray(weight.T) for weight, _ in layers]
        self.metadata = dict(metadata)
        self.deterministic = deterministic
        self.name = name
        self.rules = Rules.from_dict(self.metadata["rules"])
        self.num_players = int(self.metadata["num_players"])
        self.objective = str(self.metadata.get("objective", "win"))
        self.logit_scale = float(self.metadata.get("logit_scale", 1.0))
        self._compiled: Network | None = None

    def compiled(self) -> Network:
        """The network as kernels take it."""
        if self._compiled is None:
            self._compiled = make_network(self.layers, self.value, self.metadata["activation"] == "relu")
        return self._compiled

    @classmethod
    def load(cls, path: str | Path, deterministic: bool = True) -> NetworkPolicy:
        """Read a policy file.

        Raises:
            PolicyFileError: The file is missing, is no safetensors file, or holds no policy this version can play.
        """
        path = Path(path)
        if not path.is_file():
            raise PolicyFileError(f"there is no policy file {str(path)!r}")
        try:
            with safe_open(path, "numpy") as file:
                text = (file.metadata() or {}).get(METADATA_KEY)
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - the handle is no mapping
        except (SafetensorError, OSError, TypeError, AttributeError) as error:
            raise PolicyFileError(f"{str(path)!r} is no policy file (.safetensors): {error}") from None
        try:
            value = (
                (tensors.pop("value.weight").astype(np.float32), tensors.pop("value.bias").astype(np.float32))
                if "value.weight" in tensors
                else None
            )
            policy = cls(*_read(text, tensors), deterministic, name=path.stem, value=value)
            policy._check_shapes()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = f"no {error} in it" if isinstance(error, KeyError) else error
            raise PolicyFileError(f"{str(path)!r} holds no policy that can be played: {reason}") from None
        return policy

    def _check_shapes(self) -> None:
        width = features.size(self.rules, self.num_players)
        outputs = len(self.rules.pack_for(self.num_players).types) + 2
        if self.metadata["observation_version"] == features.VERSION:
            expected = [width, *(len(bias) for _, bias in self.layers[:-1]), outputs]
            shapes = [(b, a) for a, b in pairwise(expected)]
            found = [weight.shape for weight, _ in self.layers]
            if not self.layers or found != shapes or any(bias.shape != weight.shape[:1] for weight, bias in self.layers):
                raise ValueError(f"layers of shapes {found} do not lead from {width} features to {outputs} actions")

    def save(self, path: str | Path, half: bool = False) -> None:
        """Write the policy file, if wanted in half precision: to a temporary file first, so that a file of this name is always whole."""
        path = Path(path)
        tensors = {}
        for k, (weight, bias) in enumerate(self.layers):
            tensors[f"layers.{k}.weight"] = np.ascontiguousarray(weight, np.float32)
            tensors[f"layers.{k}.bias"] = np.ascontiguousarray(bias, np.float32)
        if self.value is not None:
            tensors["value.weight"], tensors["value.bias"] = (np.ascontiguousarray(part, np.float32) for part in self.value)
        if half:
            tensors = {key: tensor.astype(np.float16) for key, tensor in tensors.items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(save(tensors, metadata={METADATA_KEY: json.dumps({**self.metadata, "format": FORMAT})}))

    def bind(self, rules: Rules, num_players: int) -> NetworkPolicy:
        """This policy, where it was trained for this table.

        Raises:
            ValueError: It was trained for other rules of play, seats, or another observation; the message names both sides.
        """
        mine = _describe(self.rules, self.num_players, self.metadata["observation_version"])
        table = _describe(rules, num_players, features.VERSION)
        if mine == table and self.rules != rules:
            fields = [key for key, value in rules.to_dict().items() if value != self.rules.to_dict()[key]]
            table += f" that differ in {', '.join(fields)}"
        if (self.rules, self.num_players, self.metadata["observation_version"]) != (rules, num_players, features.VERSION):
            raise ValueError(f"policy {self.name!r} was trained for {mine}, this table is {table}")
        return self

    def logits(self, observations: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Unmasked logits, shape (k, actions), of observations, shape (k, features); a row's do not depend on the others."""
        count, width = observations.shape
        blocks = -(-count // _BLOCK)
        rows = np.zeros((blocks * _BLOCK, width), np.float32)
        rows[:count] = observations
        hidden = rows.reshape(blocks, _BLOCK, width)
        for k, ((_, bias), weight) in enumerate(zip(self.layers, self._transposed, strict=True), start=1):
            hidden = hidden @ weight + bias
            if k < len(self.layers):
                hidden = np.maximum(hidden, 0) if self.metadata["activation"] == "relu" else np.tanh(hidden)
        return np.asarray(hidden, np.float32).reshape(len(rows), hidden.shape[-1])[:count]

    def act(self, views: Records, rng: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The best action of each view, or one drawn from the network's distribution."""
        observations, masks = features.encode(self.rules, self.num_players, views)
        logits = np.where(masks.astype(bool), self.logits(observations), -np.inf)
        if not self.deterministic:
            # Gumbel noise from a stream of each row's own: the draw is that of the softmax.
            uniform = np.stack([np.random.Generator(np.random.PCG64(int(word))).random(logits.shape[1]) for word in rng])
            logits = logits - np.log(-np.log(uniform + 1e-300) + 1e-300)
        return np.asarray(logits.argmax(axis=1), np.int64)


def _read(text: str | None, tensors: dict[str, NDArray[Any]]) -> tuple[list[Layer], Any]:
    """Layers and metadata of a policy file, or `ValueError`, `KeyError` or `TypeError` for what cannot be one."""
    metadata = json.loads(text or "")
    if metadata["format"] != FORMAT:
        raise ValueError(f"format {metadata['format']!r} is not {FORMAT!r}")
    if metadata["activation"] not in ACTIVATIONS:
        raise ValueError(f"activation {metadata['activation']!r} is not one of {', '.join(ACTIVATIONS)}")
    for key in ("num_players", "observation_version"):
        if type(metadata[key]) is not int:
            raise ValueError(f"{key} {metadata[key]!r} is no whole number")
    count = len(tensors) // 2
    layers = [(tensors[f"layers.{k}.weight"].astype(np.float32), tensors[f"layers.{k}.bias"].astype(np.float32)) for k in range(count)]
    if len(tensors) != 2 * count or not all(np.isfinite(tensor).all() for layer in layers for tensor in layer):
        raise ValueError("its tensors are not finite weights and biases in pairs")
    return layers, metadata


def _describe(rules: Rules, num_players: int, version: int) -> str:
    return f"{rules_name(rules) or 'house rules'} at {num_players} seats with observation version {version}"
