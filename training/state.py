"""The whole state of a run at the start of an update, in one `.safetensors` file: nothing in it is executed when it is loaded.

It holds the network, the optimizer, the tables, the random streams, and where the run stands, so that a run which goes on
from it makes the same updates as one that was never interrupted.
"""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from sb3_contrib import MaskablePPO

from goboom_env.files import whole_file
from goboom_env.integrations.sb3 import GoBoomVecEnv
from training.config import ConfigError, TrainConfig

FORMAT = "goboom-training/1"
NAME = "state.safetensors"

MAY_CHANGE = ("n_timesteps", "n_envs", "eval_every", "eval_against", "eval_hands", "checkpoint_every", "output", "num_threads")
"""Settings that may differ between the run that wrote a state and the one that goes on."""


def save_state(path: Path, model: MaskablePPO, config: TrainConfig, progress: dict[str, Any]) -> None:
    """Write the state of a model before an update; a file of this name is always whole."""
    env: Any = model.env
    assert isinstance(env, GoBoomVecEnv) and model._last_obs is not None and model._last_episode_starts is not None
    tensors: dict[str, NDArray[Any]] = {f"policy.{key}": value.numpy() for key, value in model.policy.state_dict().items()}
    for number, entry in model.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{key}": value.numpy() for key, value in entry.items()}
    name, keys, position, has_gauss, cached = np.random.get_state()
    tensors |= {f"env.{key}": value for key, value in env.get_state().items()}
    tensors["last_observations"] = np.asarray(model._last_obs)
    tensors["last_starts"] = np.asarray(model._last_episode_starts)
    tensors["torch_random"] = torch.get_rng_state().numpy()
    tensors["numpy_random"] = np.asarray(keys)
    tensors["episodes"] = np.array([[item["r"], item["l"], item["t"]] for item in model.ep_info_buffer or ()]).reshape(-1, 3)
    metadata = {
        "format": FORMAT,
        "config": config.to_dict(),
        "num_timesteps": model.num_timesteps,
        "updates": model._n_updates,
        "numpy_random": [str(name), int(position), int(has_gauss), float(cached)],
        "progress": progress,
    }
    contiguous = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
    with whole_file(path) as file:
        file.write(save(contiguous, metadata={"goboom": json.dumps(metadata)}))


def load_state(path: Path, model: MaskablePPO, config: TrainConfig) -> dict[str, Any]:
    """Bring a new model of the same configuration to the state in a file; returns what was given as `progress`.

    With another number of tables these are dealt anew, and the run is not the same from there on.

    Raises:
        ConfigError: The file is missing or damaged, or a run with other settings wrote it.
    """
    if not path.is_file():
        raise ConfigError(f"there is no state {str(path)!r} to go on from: start without --resume")
    try:
        with safe_open(path, "numpy") as file:
            metadata = json.loads((file.metadata() or {})["goboom"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - the handle is no mapping
        if metadata["format"] != FORMAT:
            raise ValueError(f"format {metadata['format']!r} is not {FORMAT!r}")
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise ConfigError(f"{str(path)!r} is no training state: {error}") from None
    there, here = metadata["config"], config.to_dict()
    differ = [
        f"{key}={there.get(key)!r} there and {here[key]!r} here" for key in here if key not in MAY_CHANGE and there.get(key) != here[key]
    ]
    if differ:
        raise ConfigError(f"{str(path)!r} was written with other settings: {'; '.join(differ)}")
    _restore_model(model, tensors, metadata)
    if there["n_envs"] == config.n_envs:
        env: Any = model.env
        env.set_state({key.removeprefix("env."): value for key, value in tensors.items() if key.startswith("env.")})
        model._last_obs, model._last_episode_starts = tensors["last_observations"], tensors["last_starts"]
    progress: dict[str, Any] = metadata["progress"]
    return progress


def _restore_model(model: MaskablePPO, tensors: dict[str, NDArray[Any]], metadata: dict[str, Any]) -> None:
    model.policy.load_state_dict({key: torch.from_numpy(tensors[f"policy.{key}"]) for key in model.policy.state_dict()})
    optimizer = model.policy.optimizer
    entries: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, number, field = key.split(".")
            entries.setdefault(int(number), {})[field] = torch.from_numpy(value.copy())
    optimizer.load_state_dict({"state": entries, "param_groups": optimizer.state_dict()["param_groups"]})
    model.num_timesteps, model._n_updates = metadata["num_timesteps"], metadata["updates"]
    torch.set_rng_state(torch.from_numpy(tensors["torch_random"].copy()))
    name, position, has_gauss, cached = metadata["numpy_random"]
    np.random.set_state((name, tensors["numpy_random"], position, has_gauss, cached))
    model.ep_info_buffer = deque(({"r": r, "l": int(length), "t": t} for r, length, t in tensors["episodes"].tolist()), maxlen=100)
    model.ep_success_buffer = deque(maxlen=100)
