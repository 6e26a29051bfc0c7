"""Small compiled helpers for a user's own loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.bits import gather_bits, nth_evenly, popcount
from goboom_env.engine.jit import direct, kernel
from goboom_env.engine.rng import below


@kernel
def choose_legal(masks: Any, random: Any, actions: Any) -> int:
    """Choose in every row of contiguous masks; the first row without a legal action, or -1."""
    count, width = masks.shape
    if width > 64:
        return choose_legal_in_wide(masks, random, actions)
    for i in range(count):
        legal = gather_bits(masks, i * width, width)
        if not legal:
            return i
        actions[i] = nth_evenly(legal, below(random[i], popcount(legal)))
    return -1


@kernel
def choose_legal_in_wide(masks: Any, random: Any, actions: Any) -> int:
    """`choose_legal` for rows that no word holds."""
    for i in range(len(masks)):
        total = np.int64(0)
        for k in range(masks.shape[1]):
            total += masks[i, k]
        if total == 0:
            return i
        left = below(random[i], total)
        for k in range(masks.shape[1]):
            left -= masks[i, k]
            if left < 0:
                actions[i] = k
                break
    return -1


@lru_cache(maxsize=1)
def _direct_choose() -> Callable[..., Any]:
    return direct(choose_legal, np.zeros((1, 1), np.int8), np.zeros(1, np.uint64), np.zeros(1, np.int64))


def sample_legal(mask: NDArray[np.int8] | NDArray[np.bool_], rng: np.random.Generator) -> Any:
    """Draw a legal action with equal chance, from one mask or from each of many.

    Args:
        mask: Legal actions as 1 and 0, shape (actions,) or (k, actions), int8 or bool, as in `info["action_mask"]`.
        rng: A NumPy generator; one 64-bit word is drawn from it for each row.

    Returns:
        An int for one mask, else action ids of shape (k,), int64.

    Raises:
        ValueError: A mask of another shape or type, or without a legal action.
    """
    masks = np.ascontiguousarray(mask)
    kind, many = masks.dtype.char, masks.ndim == 2
    if kind == "?":
        masks = masks.view(np.int8)
    if masks.ndim == 1:
        masks = masks[None]
    if kind not in "?b" or masks.ndim != 2:
        raise ValueError(f"mask must be int8 or bool of shape (actions,) or (k, actions), got {masks.dtype} of shape {np.shape(mask)}")
    actions = np.empty(len(masks), np.int64)
    empty = _direct_choose()(masks, rng.bit_generator.random_raw(len(masks)), actions)
    if empty >= 0:
        raise ValueError(f"mask {empty} has no legal action")
    return actions if many else int(actions[0])
