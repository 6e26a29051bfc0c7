"""Small compiled helpers for a user's own loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.bits import load_word, lowest, popcount
from goboom_env.engine.jit import kernel
from goboom_env.engine.rng import below

_ZERO = np.uint64(0)
_EACH, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)


@kernel
def _choose(masks: Any, random: Any, actions: Any) -> int:
    """Choose in every row of contiguous masks; the first row without a legal action, or -1. Eight actions at a time."""
    count, width = masks.shape
    steps = (width + 7) >> 3
    last = ~_ZERO >> np.uint64(8 * (8 * steps - width))  # the bytes of the last word that belong to the row
    for i in range(count):
        start = i * width
        if start + 8 * steps > count * width:
            actions[i] = _choose_one_by_one(masks, i, random[i])
            if actions[i] < 0:
                return i
            continue
        total = popcount(load_word(masks, start + 8 * (steps - 1)) & last)
        for k in range(steps - 1):
            total += popcount(load_word(masks, start + 8 * k))
        if total == 0:
            return i
        # Without branches, which a random draw would mispredict: first the word that holds the action ...
        left = below(random[i], total)
        before, offset, chosen, passed = np.int64(0), np.int64(0), _ZERO, np.int64(0)
        for k in range(steps):
            word = load_word(masks, start + 8 * k)
            found = passed <= left
            before = passed if found else before
            offset = 8 * k if found else offset
            chosen = word if found else chosen
            passed += popcount(word)
        # ... then its byte. Byte j becomes the number of legal actions up to j; the first above `left - before` is the one.
        chosen += chosen << np.uint64(8)
        chosen += chosen << np.uint64(16)
        chosen += chosen << np.uint64(32)
        above = (chosen | _HIGH) - np.uint64(left - before + 1) * _EACH
        actions[i] = offset + (lowest(above & _HIGH) >> 3)
    return -1


@kernel
def _choose_one_by_one(masks: Any, i: int, word: Any) -> int:
    """The same for one row, -1 where nothing is legal."""
    total = np.int64(0)
    for k in range(masks.shape[1]):
        total += masks[i, k]
    left = below(word, total)
    for k in range(masks.shape[1]):
        left -= masks[i, k]
        if left < 0:
            return k
    return -1


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
    if masks.dtype == np.bool_:
        masks = masks.view(np.int8)
    if masks.ndim == 1:
        masks = masks[None]
    if masks.ndim != 2 or masks.dtype != np.int8:
        raise ValueError(f"mask must be int8 or bool of shape (actions,) or (k, actions), got {masks.dtype} of shape {np.shape(mask)}")
    actions = np.empty(len(masks), np.int64)
    empty = _choose(masks, rng.bit_generator.random_raw(len(masks)), actions)
    if empty >= 0:
        raise ValueError(f"mask {empty} has no legal action")
    return actions if np.ndim(mask) == 2 else int(actions[0])
