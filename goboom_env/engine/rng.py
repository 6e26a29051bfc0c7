"""Random streams of a table (compiled): xorshift128, two words each, made of shifts and xors only.

The same stream gives the same numbers compiled and in plain Python, and nothing here touches a global generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from goboom_env.engine.jit import hot, kernel

_A, _B, _C, _HALF = np.uint64(23), np.uint64(18), np.uint64(5), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def seed_words(seed: int | None = None, entropy: np.random.SeedSequence | None = None) -> NDArray[np.uint64]:
    """Four words, none zero, for the two streams of a table: from a seed, or the next child of `entropy`."""
    sequence = np.random.SeedSequence(seed) if entropy is None else entropy.spawn(1)[0]
    return np.asarray(sequence.generate_state(4, np.uint64) | np.uint64(1), np.uint64)


def stream_words(seed: int, count: int) -> NDArray[np.uint64]:
    """Words for the two streams of `count` tables, shape (count, 4), from one seed; the first k do not depend on `count`."""
    words = np.random.SeedSequence(seed).generate_state(4 * count, np.uint64).reshape(count, 4)
    return np.asarray(words | np.uint64(1), np.uint64)


@hot
def next_word(stream: Any) -> Any:
    """Advance a stream, an array of two words, and return 64 random bits."""
    first, second = stream[0], stream[1]
    first ^= first << _A
    word = first ^ second ^ (first >> _B) ^ (second >> _C)
    stream[0] = second
    stream[1] = word
    return word


@hot
def below(word: Any, bound: int) -> int:
    """A number in 0 .. bound-1 from the high half of 64 random bits; bound is under 2**31."""
    return np.int64(((word >> _HALF) * np.uint64(bound)) >> _HALF)


@hot
def below_low(word: Any, bound: int) -> int:
    """The same from the low half."""
    return np.int64(((word & _LOW) * np.uint64(bound)) >> _HALF)


@kernel
def shuffle(cards: Any, start: int, stop: int, stream: Any) -> None:
    """Shuffle cards[start:stop] in place, two swaps from each word."""
    left = stop - start
    while left > 1:
        word = next_word(stream)
        other = start + below(word, left)
        left -= 1
        cards[start + left], cards[other] = cards[other], cards[start + left]
        if left > 1:
            other = start + below_low(word, left)
            left -= 1
            cards[start + left], cards[other] = cards[other], cards[start + left]
