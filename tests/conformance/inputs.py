"""Inputs that break things: for each element type the values at which implementations differ.

One idea: corners (zeros, ends, infinities, NaN, denormals, powers of two and their neighbours,
ties), then random bit patterns and ordinary numbers, all in the type's held dtype. In pairs and
triples corners meet corners.
"""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from mytriton.ir.numeric import Array, decode, held_dtype, memory_dtype, round_to
from mytriton.ir.types import ScalarType

RANDOM = 250


def generator(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


@cache
def corners(element: ScalarType) -> Array:
    """The values of a type at which something changes."""
    if element.kind == "b":
        return np.array([False, True])
    if element.kind == "f":
        return _float_corners(element)
    low, high, bits = element.min_int, element.max_int, element.bits
    numbers = {low, low + 1, high, high - 1, *range(-5 if low else 0, 12), bits - 1, bits, bits + 1}
    numbers |= {sign * (1 << k) + d for k in range(bits) for d in (-1, 0, 1) for sign in (-1, 1)}
    inside = sorted(n for n in numbers if low <= n <= high)
    return np.array(inside, held_dtype(element))


def _float_corners(element: ScalarType) -> Array:
    least = 1 - element.bias - element.mantissa
    top = int(np.frexp(element.max_finite)[1]) - 1
    powers = np.ldexp(1.0, np.unique(np.r_[least : least + 3, -30:31, top - 2 : top + 1]))
    step = 2.0**-element.mantissa
    whole = np.r_[0:40, 0.5:10, 63.0, 64, 127, 128, 150, 255, 256]
    smallest = np.ldexp(1.0, 1 - element.bias)
    special = [element.max_finite, smallest, 0.1, 1e-3, np.pi, np.pi / 2, np.e, np.inf, np.nan]
    limits = [87.0, 88.7, 89.5, 103.5, 104.5, 709.5, 710.5, 745.0, 746.5, 1e5, 1e10, 3e38]
    near = [powers, powers * (1 + step), powers * (1 - step / 2)]
    positive = np.concatenate([*near, whole, special, limits])
    with np.errstate(all="ignore"):
        values = round_to(element, np.concatenate([positive, -positive]))
    return np.unique(values.view(_unsigned(element))).view(held_dtype(element))


def _unsigned(element: ScalarType) -> str:
    return f"u{held_dtype(element).itemsize}"


@cache
def patterns(element: ScalarType) -> Array:
    """Random bit patterns, and, of floats, numbers of ordinary size."""
    random = generator(element.ir)
    if element.kind == "b":
        return random.integers(0, 2, RANDOM).astype(bool)
    bits = random.integers(0, 256, RANDOM * element.itemsize, dtype=np.uint8)
    values = decode(element, bits.view(memory_dtype(element)))
    if element.kind != "f":
        return values
    ordinary = random.normal(size=RANDOM) * np.exp2(random.integers(-6, 7, RANDOM))
    fractions = random.uniform(-1, 1, RANDOM // 2)
    return np.concatenate([values, round_to(element, np.append(ordinary, fractions))])


@cache
def operands(element: ScalarType, arity: int) -> list[Array]:
    """`arity` arrays of equal length, at least 500 elements of hostile values of the type."""
    base = np.concatenate([corners(element), patterns(element)])
    base = np.resize(base, max(len(base), 500))
    if arity == 1:
        return [base]
    random = generator(element.ir, arity)
    edge = corners(element)
    few = edge if len(edge) ** 2 <= 900 else random.choice(edge, 30, replace=False)
    grid = [part.ravel() for part in np.meshgrid(few, few)]
    first, second = (np.concatenate([part, random.permutation(base)]) for part in grid)
    columns = [first, second]
    while len(columns) < arity:
        columns.append(random.permutation(np.resize(base, len(first))))
    return columns
