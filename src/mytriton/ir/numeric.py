"""How each element type is held and rounded in NumPy: the ground that folding and the interpreter
stand on.

A value is held in its *held dtype* (floats below 32 bits as float32 numbers that the
format can represent), so NumPy arithmetic works on values, and `round_to` brings a result back into
the format by scaling to the format's quantum and rounding to even. Bit patterns appear only at
memory and in bitcasts (`encode`, `decode`).

    round_to(F16, [2049.0, 1e6])   # quantum of 2049 is 2 → 2048.0;  past max_finite → inf
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .types import Element, PointerType, ScalarType

Array = np.ndarray[Any, np.dtype[Any]]


@cache
def held_dtype(element: Element) -> np.dtype[Any]:
    """The dtype of arrays that hold values of this type: float32 for small floats, int64 addresses
    for pointers."""
    if isinstance(element, PointerType):
        return np.dtype(np.int64)
    if element.kind == "b":
        return np.dtype(np.bool_)
    if element.kind == "f":
        return np.dtype(np.float64 if element.bits == 64 else np.float32)
    return np.dtype(f"{element.kind}{element.bits // 8}")


@cache
def memory_dtype(element: Element) -> np.dtype[Any]:
    """The dtype of the element's bytes in memory: unsigned bits for bool and floats NumPy does not
    know."""
    if isinstance(element, PointerType):
        return np.dtype(np.int64)
    if element.kind == "b":
        return np.dtype(np.uint8)
    if element.kind == "f" and element.ir not in ("f16", "f32", "f64"):
        return np.dtype(f"u{element.itemsize}")
    return np.dtype(f"{element.kind}{element.itemsize}")


def round_to(element: ScalarType, value: Any, toward_zero: bool = False) -> Array:
    """Rounds float values (any float dtype) once to the format, to nearest even or toward zero;
    held dtype out.

    Past the largest finite value: infinity where the format has one, NaN where it has only that,
    else the largest.
    """
    held = held_dtype(element)
    with np.errstate(all="ignore"):
        if element.bits >= 32 and not toward_zero:
            return np.asarray(value).astype(held)
        wide = np.asarray(value, np.float64)
        _, exponent = np.frexp(wide)
        least = 1 - element.bias
        quantum = np.ldexp(1.0, np.maximum(exponent - 1, least) - element.mantissa)
        steps = wide / quantum
        rounded = (np.trunc(steps) if toward_zero else np.rint(steps)) * quantum
        return _limit(element, wide, rounded, toward_zero).astype(held)


def _limit(element: ScalarType, wide: Array, rounded: Array, toward_zero: bool) -> Array:
    """Puts what the format cannot hold where it belongs: overflow, infinity, NaN, and fnuz's
    missing minus zero."""
    top = element.max_finite
    over = np.abs(rounded) > top
    past = {"ieee": np.inf, "fn": np.nan, "fnuz": np.nan, "none": top}[element.special]
    limit = np.where(np.isinf(wide), past, top) if toward_zero else np.full_like(wide, past)
    result = np.where(over, np.copysign(limit, wide), rounded)
    result = np.where(np.isnan(wide), np.nan if element.special != "none" else top, result)
    return np.where(result == 0, 0.0, result) if element.special == "fnuz" else result


@cache
def _patterns(element: ScalarType) -> Array:
    """The float32 value of each bit pattern of a float format of at most 16 bits."""
    bits = np.arange(1 << element.bits, dtype=np.int64)
    mantissa = bits & (1 << element.mantissa) - 1
    exponent = bits >> element.mantissa & (1 << element.exponent) - 1
    normal = exponent > 0
    fraction = mantissa + np.where(normal, 1 << element.mantissa, 0)
    power = np.where(normal, exponent, 1) - element.bias - element.mantissa
    value = np.ldexp(fraction.astype(np.float64), power)
    full = exponent == (1 << element.exponent) - 1
    if element.special == "ieee":
        value = np.where(full, np.where(mantissa == 0, np.inf, np.nan), value)
    elif element.special == "fn":
        value = np.where(full & (mantissa == (1 << element.mantissa) - 1), np.nan, value)
    value = np.where(bits >> element.bits - 1, -value, value)
    if element.special == "fnuz":
        value[1 << element.bits - 1] = np.nan
    return np.asarray(value.astype(np.float32))


def decode(element: Element, memory: Array) -> Array:
    """Values, in the held dtype, of elements in memory (an array of `memory_dtype`)."""
    if isinstance(element, PointerType):
        return memory
    if element.kind == "b":
        return np.asarray(memory != 0)
    if element.kind == "f" and element.bits < 32:
        unsigned = memory.view(np.dtype(f"u{element.itemsize}"))
        return np.asarray(_patterns(element)[unsigned])
    return memory


def encode(element: Element, value: Array) -> Array:
    """The elements in memory of values that are already in the format."""
    if isinstance(element, PointerType) or element.kind != "f" or element.bits >= 32:
        return np.ascontiguousarray(value).astype(memory_dtype(element))
    if element.ir == "f16":
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(np.float16)
    return _encode_small(element, np.asarray(value, np.float32))


def _encode_small(element: ScalarType, value: Array) -> Array:
    if element.ir == "bf16":
        bits = np.ascontiguousarray(value).view(np.uint32) >> np.uint32(16)
        return np.where(np.isnan(value), np.uint32(0x7FC0), bits).astype(np.uint16)
    patterns = _patterns(element)
    finite = np.flatnonzero(np.isfinite(patterns[: 1 << element.bits - 1]))
    index = finite[
        np.searchsorted(patterns[finite], np.where(np.isfinite(value), np.abs(value), 0))
    ]
    nan = int(np.flatnonzero(np.isnan(patterns))[0]) if np.isnan(patterns).any() else 0
    if element.special == "ieee":
        index = np.where(np.isinf(value), ((1 << element.exponent) - 1) << element.mantissa, index)
        nan |= 1 << element.mantissa - 1
    index = np.where(np.isnan(value), nan, index)
    sign = np.signbit(value) & ~np.isnan(value) & ((value != 0) | (element.special != "fnuz"))
    return np.asarray((index | sign.astype(np.int64) << element.bits - 1).astype(np.uint8))


def saturate(element: ScalarType, value: Array) -> Array:
    """Floats to an integer type: toward zero, out of range to the nearest end, NaN to 0."""
    low, high = element.min_int, element.max_int
    with np.errstate(all="ignore"):
        whole = np.trunc(
            np.nan_to_num(np.asarray(value, np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        )
        inside = (whole > float(low)) & (whole < float(high))
        cast = np.where(inside, whole, 0.0).astype(held_dtype(element))
    bound = np.where(whole >= float(high), np.array(high, held_dtype(element)), cast)
    return np.where(whole <= float(low), np.array(low, held_dtype(element)), bound)


def convert(source: Element, target: Element, value: Array, toward_zero: bool = False) -> Array:
    """The cast of SEMANTICS: ints wrap, floats round once, float → int saturates, anything → bool
    is `!= 0`."""
    if isinstance(target, PointerType) or isinstance(source, PointerType):
        return value.astype(held_dtype(target))
    if target.kind == "b":
        return np.asarray(value != 0)
    if target.kind == "f":
        return _to_float(source, target, value, toward_zero)
    if source.kind == "f":
        return saturate(target, value)
    return value.astype(held_dtype(target))


def _to_float(source: Element, target: ScalarType, value: Array, toward_zero: bool) -> Array:
    """Rounds once: ints of more than 53 bits go to float64 with their low bits folded into a sticky
    one."""
    if source.kind not in ("i", "u") or source.bits < 64 or target.bits == 64:
        return round_to(target, value, toward_zero)
    negative = value < 0
    size = np.where(negative, np.uint64(0) - value.astype(np.uint64), value.astype(np.uint64))
    low = np.uint64(2047)
    sticky = (size & ~low) | ((size & low) != 0).astype(np.uint64) << np.uint64(11)
    wide = np.where(size >> np.uint64(53) != 0, sticky, size).astype(np.float64)
    return round_to(target, np.where(negative, -wide, wide), toward_zero)


def bitcast(source: Element, target: Element, value: Array) -> Array:
    """The same bits read as another type of the same width."""
    bits = np.ascontiguousarray(encode(source, value))
    return decode(target, bits.view(memory_dtype(target)))


def _to_odd(value: int) -> float:
    """The int in float64, one that needs more than 53 bits rounded to odd.

    Of the two neighbours of an inexact value the one with an odd last bit is taken; rounding it
    again to a format of at most 51 bits gives what rounding the int itself gives (Boldo and
    Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
    """
    size, excess = abs(value), value.bit_length() - 53
    if excess <= 0:
        return float(value)
    kept = size >> excess | ((size & (1 << excess) - 1) != 0)
    return math.copysign(math.ldexp(kept, excess), value)


def canonical(element: ScalarType, value: bool | int | float) -> bool | int | float:
    """The Python number that a constant of this type holds: wrapped, or rounded to the format."""
    if element.kind == "b":
        return bool(value)
    if element.kind == "f":
        with np.errstate(all="ignore"):
            wide = _to_odd(value) if isinstance(value, int) and element.bits < 64 else value
            return float(round_to(element, np.float64(wide))[()])
    wrapped = int(value) & (1 << element.bits) - 1
    high = element.kind == "i" and wrapped >> element.bits - 1
    return wrapped - (1 << element.bits) if high else wrapped
