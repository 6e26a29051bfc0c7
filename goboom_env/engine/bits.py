"""Sets of card types as 64-bit words (compiled): bit t stands for type t."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from goboom_env.engine.jit import COMPILED, kernel

EMPTY = np.uint64(0)
ONE = np.uint64(1)

if COMPILED:

    @intrinsic
    def popcount(typing: Any, word: Any) -> Any:
        """Number of bits set."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @intrinsic
    def lowest(typing: Any, word: Any) -> Any:
        """Position of the lowest bit set; the word is not zero."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], cgutils.false_bit)

        return types.int64(types.uint64), generate

    @intrinsic
    def highest(typing: Any, word: Any) -> Any:
        """Position of the highest bit set; the word is not zero."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            leading = builder.ctlz(args[0], cgutils.false_bit)
            return builder.sub(context.get_constant(types.int64, 63), leading)

        return types.int64(types.uint64), generate

else:

    def popcount(word: Any) -> int:
        """Number of bits set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Position of the lowest bit set; the word is not zero."""
        return (int(word) & -int(word)).bit_length() - 1

    def highest(word: Any) -> int:
        """Position of the highest bit set; the word is not zero."""
        return int(word).bit_length() - 1


@kernel
def bit(number: int) -> Any:
    """The set that holds one type."""
    return ONE << np.uint64(number)


@kernel
def nth(word: Any, index: int) -> int:
    """Position of the bit with `index` set bits below it; the word has more than `index` bits."""
    for _ in range(index):
        word &= word - ONE
    return lowest(word)
