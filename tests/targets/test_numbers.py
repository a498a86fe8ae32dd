"""Integer corners, hostile floats and casts of every value, on every target."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.support.backends import blocks, run_everywhere
from tests.support.values import edge_values, pairs

INTS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
FLOATS = ["f2", ml_dtypes.bfloat16, "f4", "f8"]


@triton.jit
def binary_kernel(x, y, out, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    left = tl.load(x + offsets, mask=mask)
    right = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, OP(left, right), mask=mask)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def minus(a, b):
    return a - b


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def quotient(a, b):
    return a // b


@triton.jit
def remainder(a, b):
    return a % b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def differing(a, b):
    return a ^ b


@triton.jit
def less(a, b):
    return a < b


@triton.jit
def equal(a, b):
    return a == b


@triton.jit
def least(a, b):
    return tl.minimum(a, b)


@triton.jit
def greatest(a, b):
    return tl.maximum(a, b)


@triton.jit
def greatest_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


def exact_quotient(a, b):
    """C's: toward zero; here 0 for a divisor of 0."""
    wide = a.astype(object), np.where(b == 0, 1, b).astype(object)
    made = [abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in zip(*wide)]
    return np.where(b == 0, 0, np.array(made, object))


def exact_remainder(a, b):
    return a.astype(object) - exact_quotient(a, b) * b.astype(object)


INT_OPS = [
    (plus, lambda a, b: a.astype(object) + b),
    (minus, lambda a, b: a.astype(object) - b),
    (times, lambda a, b: a.astype(object) * b.astype(object)),
    (quotient, exact_quotient),
    (remainder, exact_remainder),
    (both, np.bitwise_and),
    (either, np.bitwise_or),
    (differing, np.bitwise_xor),
    (less, np.less),
    (equal, np.equal),
    (least, np.minimum),
    (greatest, np.maximum),
]


def wrapped(values, dtype):
    """Exact ints modulo the width of the dtype."""
    info = np.iinfo(dtype)
    span = int(info.max) - int(info.min) + 1
    exact = [(int(v) - int(info.min)) % span + int(info.min) for v in values]
    return np.array(exact, dtype)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize(
    ("function", "reference"), INT_OPS, ids=lambda f: getattr(f, "__name__", "")
)
def test_ints_wrap(function, reference, dtype):
    x, y = pairs(edge_values(dtype))
    made = reference(x, y)
    boolean = made.dtype == bool
    expected = made if boolean else wrapped(made, np.dtype(dtype))
    out = np.zeros(x.size, bool if boolean else dtype)
    run_everywhere(
        binary_kernel,
        blocks(x.size, 128),
        x,
        y,
        out,
        x.size,
        OP=function,
        BLOCK=128,
        expected={"out": expected},
    )


FLOAT_OPS = [
    (plus, np.add),
    (minus, np.subtract),
    (times, np.multiply),
    (less, np.less),
    (equal, np.equal),
    (least, np.fmin),
    (greatest, np.fmax),
    (greatest_nan, np.maximum),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("function", "reference"), FLOAT_OPS, ids=lambda f: getattr(f, "__name__", "")
)
def test_floats_round_once(function, reference, dtype):
    """Below 32 bits: computed in f32, rounded once, as NumPy and ml_dtypes do too."""
    x, y = pairs(edge_values(dtype))
    with np.errstate(all="ignore"):
        wide = [a.astype(np.float32) if a.itemsize < 4 else a for a in (x, y)]
        made = reference(*wide)
        expected = made if made.dtype == bool else made.astype(x.dtype)
    out = np.zeros(x.size, expected.dtype)
    run_everywhere(
        binary_kernel,
        blocks(x.size, 128),
        x,
        y,
        out,
        x.size,
        OP=function,
        BLOCK=128,
        expected={"out": expected},
    )


# -- casts


@triton.jit
def cast_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def check_cast(x, target, expected, **options):
    out = np.zeros(x.size, target)
    run_everywhere(
        cast_kernel,
        blocks(x.size, 4096),
        x,
        out,
        x.size,
        BLOCK=4096,
        expected={"out": expected},
        **options,
    )


SMALL = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}


def every(dtype):
    """All the values of a float type of at most 16 bits."""
    return np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)


@pytest.mark.parametrize("name", SMALL)
def test_every_small_float_widens_exactly(name):
    x = every(SMALL[name])
    check_cast(x, np.float32, x.astype(np.float32), signs=True)


@pytest.mark.parametrize("target", SMALL)
@pytest.mark.parametrize("source", SMALL)
def test_every_small_float_to_every_other(source, target):
    x = every(SMALL[source])
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32).astype(SMALL[target])
    check_cast(x, SMALL[target], expected, signs=True)


@pytest.mark.parametrize("target", SMALL)
def test_floats_round_to_nearest_even_at_every_boundary(target):
    """Between each two neighbours: the midpoint, and the f32 numbers just below and above it."""
    dtype = SMALL[target]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values = np.unique(every(dtype).astype(np.float64))
    values = values[np.isfinite(values)]
    top = values[-1] + (values[-1] - values[-2]) / 2
    middle = np.concatenate([(values[1:] + values[:-1]) / 2, [top, -top]]).astype(np.float32)
    around = [np.nextafter(middle, np.float32(side)) for side in (-np.inf, np.inf)]
    x = np.concatenate([middle, *around, edge_values(np.float32)])
    with np.errstate(all="ignore"):
        expected = x.astype(dtype)
    check_cast(x, dtype, expected, signs=True)


@pytest.mark.parametrize("target", INTS)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_floats_to_ints_saturate(source, target):
    info = np.iinfo(target)
    edges = [float(info.min), float(info.max), float(info.max) / 2, 0.5, 1.5, 2.5, 1e10, 1e20]
    with np.errstate(all="ignore"):
        some = np.array([*edges, *(-e for e in edges)]).astype(source)
        x = np.concatenate([some, edge_values(source)])
    exact = [0 if np.isnan(v) else v for v in x.astype(np.float64).tolist()]
    expected = [
        int(min(max(v, -1e300), 1e300)) if abs(v) < np.inf else int(np.copysign(1e300, v))
        for v in exact
    ]
    check_cast(x, target, np.array([min(max(v, info.min), info.max) for v in expected], target))


@pytest.mark.parametrize("target", FLOATS, ids=str)
@pytest.mark.parametrize("source", INTS)
def test_ints_to_floats_round_once(source, target):
    values = [int(v) for v in edge_values(source)]
    info = np.iinfo(source)
    for bits in (8, 11, 24, 25, 53, 60):  # on and beside the ties of each format
        values += [
            s * (2**bits + 2 ** max(bits - k, 0) + d)
            for k in (8, 9, 11, 12, 24, 25)
            for d in (-1, 0, 1)
            for s in (1, -1)
        ]
    x = np.array([v for v in values if info.min <= v <= info.max], source)
    expected = np.array([nearest(int(v), np.dtype(target)) for v in x])
    check_cast(x, target, expected)


def nearest(value, dtype):
    """An int rounded to nearest even in the precision of the dtype; inf past its end."""
    precision = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[dtype.name]
    excess = max(abs(value).bit_length() - precision, 0)
    whole, rest = divmod(abs(value), 1 << excess)
    half = 1 << excess >> 1
    whole += excess > 0 and (rest > half or (rest == half and whole & 1))
    top = float(ml_dtypes.finfo(dtype).max)
    size = float(whole << excess)
    return (size if size <= top else np.inf) * (-1 if value < 0 else 1)


@pytest.mark.parametrize("target", INTS)
@pytest.mark.parametrize("source", INTS)
def test_ints_to_ints_keep_the_low_bits(source, target):
    x = edge_values(source)
    check_cast(x, target, x.astype(target))


@pytest.mark.parametrize("source", [*INTS, *FLOATS], ids=str)
def test_anything_but_zero_is_true(source):
    x = edge_values(source)
    check_cast(x, bool, x != 0)


@triton.jit
def stored_as_bool_kernel(x, out, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes, mask=lanes < n), mask=lanes < n)


def test_an_int_stored_as_a_bool_is_not_its_low_byte():
    x = np.array([0, 1, 2, 256, 65536, -256], np.int32)
    run_everywhere(
        stored_as_bool_kernel, (1,), x, np.zeros(6, bool), 6, BLOCK=8, expected={"out": x != 0}
    )
