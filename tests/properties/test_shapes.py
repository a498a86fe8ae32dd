"""Random chains of rearrangements: what a block looks like after several of them.

One idea: each step is written twice, in the language and in NumPy, and picks its own parameters
from the shape it finds; hypothesis draws which steps and a number that each of them reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import mytriton.language as tl
from tests.support.block_functions import check_everywhere
from tests.support.compare import Array
from tests.support.dtypes import FLOATS, INTS

from .inputs import LARGEST, anything, dtypes, examples, seeds, shapes

Shape = tuple[int, ...]
Step = tuple[Callable[[Any], Any], Callable[[Array], Array]]


def factors(size: int, random: np.random.Generator) -> Shape:
    """A shape with so many elements."""
    shape = []
    while size > 1 and len(shape) < 3:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        shape.append(int(random.choice(divisors)))
        size //= shape[-1]
    return (*shape, size) if size > 1 or not shape else tuple(shape)


def reshape(shape: Shape, random: np.random.Generator) -> Step:
    new = factors(math.prod(shape), random)
    return (lambda x: tl.reshape(x, new)), (lambda x: x.reshape(new))


def ravel(shape: Shape, random: np.random.Generator) -> Step:
    return tl.ravel, np.ravel


def permute(shape: Shape, random: np.random.Generator) -> Step:
    order = tuple(int(a) for a in random.permutation(len(shape)))
    return (lambda x: tl.permute(x, *order)), (lambda x: x.transpose(order))


def trans(shape: Shape, random: np.random.Generator) -> Step:
    if len(shape) < 2:
        return reshape(shape, random)
    return tl.trans, (lambda x: x.swapaxes(-1, -2))


def expand(shape: Shape, random: np.random.Generator) -> Step:
    axis = int(random.integers(-len(shape) - 1, len(shape) + 1))
    return (lambda x: tl.expand_dims(x, axis)), (lambda x: np.expand_dims(x, axis))


def broadcast(shape: Shape, random: np.random.Generator) -> Step:
    repeat = int(random.integers(1, 6))
    new = (repeat, *(repeat if extent == 1 else extent for extent in shape))
    return (lambda x: tl.broadcast_to(x, new)), (lambda x: np.broadcast_to(x, new))


def join(shape: Shape, random: np.random.Generator) -> Step:
    return (lambda x: tl.join(x, tl.flip(x, 0))), (lambda x: np.stack([x, np.flip(x, 0)], -1))


def interleave(shape: Shape, random: np.random.Generator) -> Step:
    new = (*shape[:-1], 2 * shape[-1])
    return (
        lambda x: tl.interleave(x, tl.flip(x)),
        lambda x: np.stack([x, np.flip(x, -1)], -1).reshape(new),
    )


def cat(shape: Shape, random: np.random.Generator) -> Step:
    axis = int(random.integers(len(shape)))
    return (
        lambda x: tl.cat(x, tl.flip(x, axis), dim=axis),
        lambda x: np.concatenate([x, np.flip(x, axis)], axis),
    )


def split(shape: Shape, random: np.random.Generator) -> Step:
    """Of pairs along the last axis, one half."""
    if shape[-1] % 2:
        return flip(shape, random)
    half = int(random.integers(2))
    pairs = (*shape[:-1], shape[-1] // 2, 2)
    return (lambda x: tl.split(x.reshape(pairs))[half]), (lambda x: x.reshape(pairs)[..., half])


def flip(shape: Shape, random: np.random.Generator) -> Step:
    axis = int(random.integers(len(shape)))
    return (lambda x: tl.flip(x, axis)), (lambda x: np.flip(x, axis))


def index(shape: Shape, random: np.random.Generator) -> Step:
    """Constant indices, ranges and new axes; at least one axis stays."""
    parts: list[Any] = []
    for axis, extent in enumerate(shape):
        low = int(random.integers(extent))
        whole = slice(low, int(random.integers(low + 1, extent + 1)))
        kind = int(random.integers(4 if axis else 2))
        parts += [[whole], [slice(None)], [low], [None, whole]][kind]
    item = tuple(parts)
    return (lambda x: x[item]), (lambda x: x[item])


def gather(shape: Shape, random: np.random.Generator) -> Step:
    axis = int(random.integers(len(shape)))
    extent, step = shape[axis], int(random.integers(1, 50))
    places = (np.arange(extent) * step + 1) % extent
    along = tuple(extent if i == axis else 1 for i in range(len(shape)))

    def body(x: Any) -> Any:
        index = (tl.arange(0, extent) * step + 1) % extent
        return tl.gather(x, tl.broadcast_to(tl.reshape(index, along), shape), axis)

    def reference(x: Array) -> Array:
        return np.take_along_axis(x, np.broadcast_to(places.reshape(along), shape), axis)

    return body, reference


def keep(shape: Shape, random: np.random.Generator) -> Step:
    """Something that is computed, so that the chain is not all views."""
    return (lambda x: tl.where(x == x, x, x)), (lambda x: x)


STEPS = [
    reshape,
    ravel,
    permute,
    trans,
    expand,
    broadcast,
    join,
    interleave,
    cat,
    split,
    flip,
    index,
    gather,
    keep,
]


def chain(shape: Shape, names: list[Any], seed: int) -> list[Step]:
    """The steps with their parameters; those that would make too much or too many axes are left
    out."""
    random = np.random.default_rng(seed)
    made: list[Step] = []
    for step in names:
        pair = step(shape, random)
        after = pair[1](np.zeros(shape, np.int8)).shape
        if after and math.prod(after) <= LARGEST and len(after) <= 5:
            made.append(pair)
            shape = after
    return made


@examples(60)
@given(
    shapes(),
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=6),
    dtypes(["int1", *INTS, *FLOATS]),
    seeds,
)
def test_chains_of_rearrangements(shape, steps, name, seed):
    pairs = chain(shape, steps, seed)

    def body(x: Any) -> Any:
        for step, _ in pairs:
            x = step(x)
        return x

    def reference(x: Array) -> Array:
        for _, step in pairs:
            x = step(x)
        return np.ascontiguousarray(x)

    check_everywhere(body, reference, [anything(name, shape, seed)])


@examples(15)
@given(shapes(most=2, largest=256), st.integers(0, 3), st.integers(0, 3), seeds)
def test_broadcasting_of_operands(shape, left, right, seed):
    """Extents of 1 and missing leading axes on either side of an operator."""

    def cut(which: int) -> Shape:
        kept = tuple(1 if which >> i & 1 else extent for i, extent in enumerate(shape))
        return kept[1:] if which == 3 and len(kept) > 1 else kept

    x, y = anything("int32", cut(left), seed), anything("int32", cut(right), seed + 1)

    def reference(x: Array, y: Array) -> list[Array]:
        both = np.broadcast_arrays(x, y)
        return [x * y, np.where(x > y, x, y), *map(np.ascontiguousarray, both)]

    def body(x: Any, y: Any) -> Any:
        return x * y, tl.where(x > y, x, y), *tl.broadcast(x, y)

    check_everywhere(body, reference, [x, y])


@examples(12)
@given(shapes(), st.integers(0, 2), dtypes(["int32", "int64", "uint8"]), seeds)
def test_gather_by_any_index(shape, axis, name, seed):
    axis %= len(shape)
    index = np.random.default_rng(seed).integers(0, min(shape[axis], 128), shape)
    x = anything("fp16", shape, seed)
    check_everywhere(
        lambda x, i: tl.gather(x, i, axis),
        lambda x, i: np.take_along_axis(x, i.astype(np.int64), axis),
        [x, index.astype(np.dtype(name))],
    )
