"""From a trained MaskablePPO model to a policy file, and from a policy file to ONNX: `python -m training.export POLICY OUT.onnx`."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from goboom_env.arguments import Parser
from goboom_env.files import whole_file
from goboom_env.observation import VERSION
from goboom_env.policies.network import FORMAT, METADATA_KEY, Layer, NetworkPolicy
from goboom_env.rules import get_rules
from training.config import RunConfig, TrainConfig

PACKAGES = ("gymnasium", "numpy", "stable_baselines3", "sb3_contrib", "torch")


def settings(config: RunConfig) -> dict[str, Any]:
    """What a policy file keeps of a configuration: all but the folder, which says nothing of the policy."""
    return {key: value for key, value in config.to_dict().items() if key != "output"}


def policy_metadata(config: RunConfig, objective: str) -> dict[str, Any]:
    """What the policy file of a run says, but for its summary: of a network of ReLU layers that aims at `win` or `points`."""
    values = config.to_dict()
    return {
        "format": FORMAT,
        "rules": get_rules(values["rules"]).to_dict(),
        "num_players": values["num_players"],
        "observation_version": VERSION,
        "activation": "relu",
        "objective": objective,
        "config": settings(config),
        **provenance(),
    }


@lru_cache(maxsize=1)
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
    metadata = policy_metadata(config, "win" if config.reward == "win" else "points")
    metadata["summary"] = {"decisions": model.num_timesteps, **(summary or {})}
    return NetworkPolicy(layers, metadata)


def export_onnx(policy: NetworkPolicy, path: Path) -> None:
    """Write a policy as an ONNX model.

    Inputs are `observation`, shape (k, features), uint8, and `action_mask`, shape (k, actions), int8; outputs are `logits`,
    shape (k, actions), float32, minus infinity where illegal, and `value`, shape (k, 1), for a policy with a value head. The
    metadata of the policy file go with it.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    width, actions = policy.layers[0][0].shape[1], len(policy.layers[-1][1])
    tensors = {"minus_infinity": np.array(-np.inf, np.float32)}
    nodes = [helper.make_node("Cast", ["observation"], ["hidden_0"], to=TensorProto.FLOAT)]
    activation = {"relu": "Relu", "tanh": "Tanh"}[policy.metadata["activation"]]

    def linear(name: str, layer: Layer, source: str, target: str) -> None:
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = layer
        nodes.append(helper.make_node("Gemm", [source, f"{name}.weight", f"{name}.bias"], [target], transB=1))

    for k, layer in enumerate(policy.layers[:-1]):
        linear(f"layers.{k}", layer, f"hidden_{k}", f"sums_{k}")
        nodes.append(helper.make_node(activation, [f"sums_{k}"], [f"hidden_{k + 1}"]))
    last = f"hidden_{len(policy.layers) - 1}"
    linear("policy", policy.layers[-1], last, "unmasked")
    nodes.append(helper.make_node("Cast", ["action_mask"], ["legal"], to=TensorProto.BOOL))
    nodes.append(helper.make_node("Where", ["legal", "unmasked", "minus_infinity"], ["logits"]))
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["k", actions])]
    if policy.value is not None:
        linear("value", policy.value, last, "value")
        outputs.append(helper.make_tensor_value_info("value", TensorProto.FLOAT, ["k", 1]))
    graph = helper.make_graph(
        nodes,
        "goboom_policy",
        [
            helper.make_tensor_value_info("observation", TensorProto.UINT8, ["k", width]),
            helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["k", actions]),
        ],
        outputs,
        [numpy_helper.from_array(np.ascontiguousarray(tensor), name) for name, tensor in tensors.items()],
    )
    model = helper.make_model(graph, producer_name="goboom_env", opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(model, {METADATA_KEY: json.dumps(policy.metadata)})
    checker.check_model(model)
    with whole_file(path) as file:
        file.write(model.SerializeToString())


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code."""
    parser = Parser(prog="python -m training.export", description="Write a policy file as an ONNX model.")
    parser.add_argument("policy", help=".safetensors file of a trained policy")
    parser.add_argument("out", type=Path, help=".onnx file to write")
    options = parser.parse_args(arguments)
    try:
        export_onnx(NetworkPolicy.load(options.policy), options.out)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"written: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
