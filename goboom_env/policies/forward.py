"""The forward pass of a network over packed features (compiled), one decision at a time.

Features are bits, so the first layer is a sum of weight rows, and units that a ReLU left at zero are skipped. A decision is
summed in one order whatever batch it comes in, so that a choice never depends on the other tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from goboom_env.engine import kernels
from goboom_env.engine.bits import lowest
from goboom_env.engine.jit import kernel
from goboom_env.observation.features import pack_features

_ONE = np.uint64(1)


class Network(NamedTuple):
    """A network as kernels take it.

    Attributes:
        weights: Of each layer in turn the weights, input by input, and the biases, float32.
        widths: Number of features, of units in each hidden layer, and of outputs: a logit an action, and the value if there is one.
        relu: 1 for ReLU between the layers, 0 for tanh.
        has_value: 1 where the last output is the value of the view, an expected share of the win.
    """

    weights: NDArray[np.float32]
    widths: NDArray[np.int64]
    relu: int
    has_value: int


def make_network(
    layers: list[tuple[NDArray[np.float32], NDArray[np.float32]]], value: tuple[NDArray[np.float32], NDArray[np.float32]] | None, relu: bool
) -> Network:
    """From weights, shape (outputs, inputs), and biases, shape (outputs,), of each layer and of the value head."""
    if value is not None:
        weight, bias = layers[-1]
        layers = [*layers[:-1], (np.concatenate([weight, value[0]]), np.concatenate([bias, value[1]]))]
    parts = [part for weight, bias in layers for part in (weight.T.reshape(-1), bias)]
    widths = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    return Network(np.concatenate(parts).astype(np.float32), np.array(widths, np.int64), int(relu), int(value is not None))


NO_NETWORK = Network(np.zeros(0, np.float32), np.zeros(1, np.int64), 0, 0)


class Space(NamedTuple):
    """What `forward` needs to write in, for one thread."""

    units: NDArray[np.float32]
    rows: NDArray[np.int64]
    factors: NDArray[np.float32]


def new_space(network: Network) -> Space:
    """Room for a network."""
    most = int(network.widths.max())
    return Space(np.zeros((2, most), np.float32), np.zeros(most + 3, np.int64), np.zeros(most + 3, np.float32))


@kernel
def add_rows(weights: Any, start: int, width: int, rows: Any, factors: Any, count: int, sums: Any) -> None:
    """Add multiples of rows of weights to the sums, four at a time, so that a sum is loaded and stored a quarter as often."""
    while count & 3:
        rows[count], factors[count] = 0, np.float32(0.0)
        count += 1
    for k in range(0, count, 4):
        w0, w1, w2, w3 = rows[k] * width + start, rows[k + 1] * width + start, rows[k + 2] * width + start, rows[k + 3] * width + start
        r0, r1, r2, r3 = weights[w0 : w0 + width], weights[w1 : w1 + width], weights[w2 : w2 + width], weights[w3 : w3 + width]
        f0, f1, f2, f3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        for j in range(width):
            sums[j] += f0 * r0[j] + f1 * r1[j] + f2 * r2[j] + f3 * r3[j]


@kernel
def forward(t: Any, v: Any, b: Any, network: Network, space: Space) -> Any:
    """The outputs of the network for a view, in one of the two rows of `space.units`."""
    pack_features(t, v, b)
    weights, widths = network.weights, network.widths
    rows, factors = space.rows, space.factors
    inputs, start = widths[0], int64(0)
    units, sums = space.units[0], space.units[1]
    for layer in range(1, len(widths)):
        width = widths[layer]
        sums[:width] = weights[start + inputs * width : start + (inputs + 1) * width]
        count = int64(0)
        if layer == 1:
            for k in range((inputs + 63) >> 6):
                word = b["words"][k]
                while word:
                    rows[count], factors[count] = 64 * k + lowest(word), np.float32(1.0)
                    count += 1
                    word &= word - _ONE
        else:
            for unit in range(inputs):
                if units[unit] != 0:
                    rows[count], factors[count] = unit, units[unit]
                    count += 1
        add_rows(weights, start, width, rows, factors, count, sums)
        if layer + 1 < len(widths):
            for j in range(width):
                sums[j] = max(sums[j], np.float32(0.0)) if network.relu else np.float32(np.tanh(sums[j]))
        start += (inputs + 1) * width
        inputs = width
        units, sums = sums, units
    return units


@kernel
def choose_by_network(t: Any, v: Any, b: Any, network: Network, space: Any) -> int:
    """The legal action of the highest logit."""
    outputs = forward(t, v, b, network, space)
    legal, more = v["legal"], int64(v["legal_more"])
    best = int64(-1)
    for action in range(int64(t["types"]) + 2):
        if kernels.is_among(t, legal, more, action) and (best < 0 or outputs[action] > outputs[best]):
            best = action
    return best


@kernel
def forward_all(tables: Any, views: Any, bits: Any, network: Network, space: Any, logits: Any) -> None:
    """Logits of every view, minus infinity for actions that are not legal."""
    t, b = tables[0], bits[0]
    for j in range(len(views)):
        v = views[j]
        outputs = forward(t, v, b, network, space)
        for action in range(int64(t["types"]) + 2):
            legal = kernels.is_among(t, v["legal"], int64(v["legal_more"]), action)
            logits[j, action] = outputs[action] if legal else -np.inf
