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
_EACH, _HIGH, _DIAGONAL = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080), np.uint64(0x8040201008040201)
_PAIRS, _FOURS, _BYTES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)

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

    spread64, _spread32, _spread16, _spread8, _spread1 = map(_make_spread, (64, 32, 16, 8, 1))

    @intrinsic
    def gather64(typing: Any, array: Any, offset: Any) -> Any:
        """Which of 64 bytes of a contiguous array, aligned or not, are not 0, as a word; unchecked."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.VectorType(ir.IntType(8), 64)
            found = builder.load(_address(context, builder, signature.args[0], args[0], args[1], wide), align=1)
            return builder.bitcast(builder.icmp_unsigned("!=", found, ir.Constant(wide, [0] * 64)), ir.IntType(64))

        return types.uint64(array, types.int64), generate

else:

    def _make_plain_spread(bits: int) -> Any:
        def spread(array: Any, offset: int, word: Any) -> None:
            array.reshape(-1)[offset : offset + bits] = [int(word) >> k & 1 for k in range(bits)]

        return spread

    spread64, _spread32, _spread16, _spread8, _spread1 = map(_make_plain_spread, (64, 32, 16, 8, 1))

    def gather64(array: Any, offset: int) -> Any:
        """Which of 64 bytes of a contiguous array, aligned or not, are not 0, as a word; unchecked."""
        return np.packbits(array.reshape(-1)[offset : offset + 64] != 0, bitorder="little").view(np.uint64)[0]

    def popcount(word: Any) -> int:
        """Number of bits set."""
        return int(word).bit_count()

    def lowest(word: Any) -> int:
        """Position of the lowest bit set; the word is not zero."""
        return (int(word) & -int(word)).bit_length() - 1


@hot
def spread_bits(array: Any, offset: int, word: Any, width: int) -> None:
    """Write the `width` lowest bits, at most 64, of a word as bytes 0 and 1 from a byte of a contiguous array on; unchecked."""
    # Two writes that overlap where the width is no power of 2: fewer branches than a write for each bit of it.
    if width == 64:
        spread64(array, offset, word)
    elif width >= 32:
        _spread32(array, offset, word)
        _spread32(array, offset + width - 32, word >> np.uint64(width - 32))
    elif width >= 16:
        _spread16(array, offset, word)
        _spread16(array, offset + width - 16, word >> np.uint64(width - 16))
    elif width >= 8:
        _spread8(array, offset, word)
        _spread8(array, offset + width - 8, word >> np.uint64(width - 8))
    else:
        for k in range(width):
            _spread1(array, offset + k, word >> np.uint64(k))


@hot
def gather_bits(array: Any, offset: int, width: int) -> Any:
    """The inverse of `spread_bits`; any byte but 0 counts as 1."""
    last = offset + width - 64
    if last + 128 - width <= array.size:
        return gather64(array, offset) & (~EMPTY >> np.uint64(64 - width))
    if last >= 0:
        return gather64(array, last) >> np.uint64(64 - width)  # at the array's end: 64 bytes that end with the last
    word = EMPTY
    flat = array.reshape(-1)
    for k in range(width):
        word |= np.uint64(flat[offset + k] != 0) << np.uint64(k)
    return word


@hot
def at(number: int) -> Any:
    """A number as an index that never counts from the end: unsigned, it needs no code for that."""
    return np.uint64(number)


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


@hot
def _running_sums(counts: Any) -> Any:
    """Each byte plus all lower ones. A product would do it as well, but one that overflows, which plain Python warns of."""
    counts += counts << np.uint64(8)
    counts += counts << np.uint64(16)
    return counts + (counts << np.uint64(32))


@hot
def nth_evenly(word: Any, index: int) -> int:
    """The same without branches: slower alone, faster in a row of independent draws, which a branch would mispredict."""
    counts = word - (word >> ONE & _PAIRS)
    counts = (counts & _FOURS) + (counts >> np.uint64(2) & _FOURS)
    # Byte j becomes the number of bits set up to byte j; the first above `index` holds the bit ...
    counts = _running_sums((counts + (counts >> np.uint64(4))) & _BYTES)
    start = np.uint64(lowest(((counts | _HIGH) - np.uint64(index + 1) * _EACH) & _HIGH)) & ~np.uint64(7)
    before = np.int64((counts << np.uint64(8)) >> start & np.uint64(255))
    # ... then the same for the bits of that byte, each made a byte of its own.
    ones = ((word >> start & np.uint64(255)) * _EACH & _DIAGONAL) + ~_HIGH
    counts = _running_sums(ones >> np.uint64(7) & _EACH)
    return np.int64(start) + (lowest(((counts | _HIGH) - np.uint64(index - before + 1) * _EACH) & _HIGH) >> 3)
