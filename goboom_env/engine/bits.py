"""Sets of card types as 64-bit words (compiled): bit t stands for type t."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from goboom_env.engine.jit import COMPILED, hot

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

    def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, pointee: Any) -> Any:
        """Pointer to a byte of a contiguous array."""
        data = context.make_array(array_type)(context, builder, array).data
        start = builder.ptrtoint(data, cgutils.intp_t)
        return builder.inttoptr(builder.add(start, offset), pointee.as_pointer())

    def _make_spread(bits: int) -> Any:
        @intrinsic
        def spread(typing: Any, array: Any, offset: Any, word: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                # A vector of bits widened to a vector of bytes: an instruction or two on most processors.
                low = builder.trunc(args[2], ir.IntType(bits)) if bits < 64 else args[2]
                wide = builder.zext(builder.bitcast(low, ir.VectorType(ir.IntType(1), bits)), ir.VectorType(ir.IntType(8), bits))
                builder.store(wide, _address(context, builder, signature.args[0], args[0], args[1], wide.type), align=1)
                return context.get_dummy_value()

            return types.void(array, types.int64, types.uint64), generate

        return spread

    _spread64, _spread32, _spread16, _spread8, _spread4, _spread2, _spread1 = map(_make_spread, (64, 32, 16, 8, 4, 2, 1))

    @intrinsic
    def load_word(typing: Any, array: Any, offset: Any) -> Any:
        """Eight bytes of a contiguous array, aligned or not, as a word; unchecked."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _address(context, builder, signature.args[0], args[0], args[1], ir.IntType(64))
            return builder.load(pointer, align=1)

        return types.uint64(array, types.int64), generate

else:

    def _make_plain_spread(bits: int) -> Any:
        def spread(array: Any, offset: int, word: Any) -> None:
            array.reshape(-1)[offset : offset + bits] = [int(word) >> k & 1 for k in range(bits)]

        return spread

    _spread64, _spread32, _spread16, _spread8, _spread4, _spread2, _spread1 = map(_make_plain_spread, (64, 32, 16, 8, 4, 2, 1))

    def load_word(array: Any, offset: int) -> Any:
        """Eight bytes of a contiguous array, aligned or not, as a word; unchecked."""
        return array.reshape(-1)[offset : offset + 8].view(np.uint64)[0]

    def popcount(word: Any) -> int:
        """Number of bits set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Position of the lowest bit set; the word is not zero."""
        return (int(word) & -int(word)).bit_length() - 1


@hot
def spread_bits(array: Any, offset: int, word: Any, width: int) -> None:
    """Write the `width` lowest bits, at most 64, of a word as bytes 0 and 1 from a byte of a contiguous array on; unchecked."""
    if width == 64:
        _spread64(array, offset, word)
        return
    if width & 32:
        _spread32(array, offset, word)
        word >>= np.uint64(32)
        offset += 32
    if width & 16:
        _spread16(array, offset, word)
        word >>= np.uint64(16)
        offset += 16
    if width & 8:
        _spread8(array, offset, word)
        word >>= np.uint64(8)
        offset += 8
    if width & 4:
        _spread4(array, offset, word)
        word >>= np.uint64(4)
        offset += 4
    if width & 2:
        _spread2(array, offset, word)
        word >>= np.uint64(2)
        offset += 2
    if width & 1:
        _spread1(array, offset, word)


@hot
def bit(number: int) -> Any:
    """The set that holds one type."""
    return ONE << np.uint64(number)


@hot
def nth(word: Any, index: int) -> int:
    """Position of the bit with `index` set bits below it; the word has more than `index` bits."""
    for _ in range(index):
        word &= word - ONE
    return lowest(word)
