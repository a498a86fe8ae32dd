"""Names that need a kernel around them: memory, windows, the grid, loops, debugging."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import mytriton as triton
import mytriton.language as tl

from .shown import Launched, Shown

I = np.array([3, 1, 4, 1, -5, 9, 2, 6], np.int32)  # noqa: E741
X = np.array([0.5, 1.5, -2.25, 3.0, -0.75, 8.0, 0.125, -1.0], np.float32)
GRID = np.arange(12, dtype=np.float32).reshape(3, 4)


def zeros(*shape: int, dtype: Any = np.int32) -> Any:
    return np.zeros(shape, dtype)


# -- loads, stores, atomics


@triton.jit
def copy_kernel(x, out, METHOD: tl.constexpr):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes, mask=lanes < 6, other=7, cache_modifier=".ca", volatile=True)
    if METHOD:
        (out + lanes).store(value, eviction_policy="evict_first")
    else:
        tl.store(out + lanes, value, cache_modifier=".wb")


COPIED = [*I[:6], 7, 7]


@triton.jit
def atomic_kernel(memory, value, olds, KIND: tl.constexpr, METHOD: tl.constexpr):
    lanes = tl.arange(0, 8)
    name = f"atomic_{KIND}"
    given = tl.load(value + lanes)
    if METHOD:
        old = getattr(memory + lanes, name)(given, mask=lanes > 0, sem="relaxed", scope="gpu")
    else:
        old = getattr(tl, name)(memory + lanes, given, mask=lanes > 0)
    if KIND != "store":
        tl.store(olds + lanes, old)


@triton.jit
def cas_kernel(memory, value, olds, METHOD: tl.constexpr):
    lanes = tl.arange(0, 8)
    new = tl.load(value + lanes)
    if METHOD:
        old = (memory + lanes).atomic_cas(1, new)
    else:
        old = tl.atomic_cas(memory + lanes, 1, new)
    tl.store(olds + lanes, old)


@triton.jit
def atomic_load_kernel(memory, olds, METHOD: tl.constexpr):
    lanes = tl.arange(0, 8)
    if METHOD:
        tl.store(olds + lanes, (memory + lanes).atomic_load())
    else:
        tl.store(olds + lanes, tl.atomic_load(memory + lanes, sem="acquire"))


@triton.jit
def poll_kernel(flag, out, METHOD: tl.constexpr):
    """The second program waits for the first."""
    if tl.program_id(0) == 0:
        tl.store(out + 1, 5)
        tl.atomic_store(flag, 1)
    else:
        if METHOD:
            flag.atomic_poll(1)
        else:
            tl.atomic_poll(flag, 1)
        tl.store(out, tl.load(out + 1, volatile=True) + 1)


GIVEN = np.arange(8, dtype=np.int32) + 1


def atomics() -> dict[str, Shown]:
    steps: dict[str, Any] = {
        "add": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "xchg": lambda old, new: new,
        "store": lambda old, new: new,
    }
    on = np.arange(8) > 0
    made: dict[str, Shown] = {}
    for method in (False, True):
        front = "tensor." if method else ""
        for kind, step in steps.items():
            olds = zeros(8) if kind == "store" else np.where(on, I, 0)
            made[f"{front}atomic_{kind}"] = Launched(
                atomic_kernel,
                (I, GIVEN, zeros(8)),
                {"memory": np.where(on, step(I, GIVEN), I), "olds": olds},
                {"KIND": kind, "METHOD": method},
            )
        made[f"{front}atomic_cas"] = Launched(
            cas_kernel,
            (I, GIVEN, zeros(8)),
            {"memory": np.where(I == 1, GIVEN, I), "olds": I},
            {"METHOD": method},
        )
        made[f"{front}atomic_load"] = Launched(
            atomic_load_kernel, (I, zeros(8)), {"olds": I}, {"METHOD": method}
        )
        made[f"{front}atomic_poll"] = Launched(
            poll_kernel, (zeros(1), zeros(2)), {"out": [6, 5]}, {"METHOD": method}, (2,)
        )
    return made


# -- windows


@triton.jit
def block_pointer_kernel(x, out, METHOD: tl.constexpr):
    window = tl.make_block_ptr(x, (3, 4), (4, 1), (0, 0), (2, 2), (1, 0))
    window = window.advance((2, 1)) if METHOD else tl.advance(window, (2, 1))
    value = tl.load(window, boundary_check=(0, 1), padding_option="zero")
    tl.store(tl.make_block_ptr(out, (2, 2), (2, 1), (0, 0), (2, 2), (1, 0)), value)


@triton.jit
def descriptor_kernel(x, out, whole, WAY: tl.constexpr, KIND: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [3, 4], [4, 1], [2, 2])
    target = tl.make_tensor_descriptor(out, [3, 4], [4, 1], [2, 2])
    corner = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    if WAY == "method":
        target.store([2, 3], source.load([1, 1]))
    elif WAY == "function":
        tl.store_tensor_descriptor(target, [2, 3], tl.load_tensor_descriptor(source, [1, 1]))
    elif WAY == "rows":
        target.scatter(source.gather(tl.arange(0, 2) * 2, 1) + 1, tl.arange(0, 2) + 1, 2)
    elif WAY == "atomic":
        getattr(target, f"atomic_{KIND}")([2, 2], source.load([1, 1]).to(target.dtype) + 1)
    else:
        tl.static_assert(source.block_shape == [2, 2] or source.block_shape == (2, 2))
        tl.static_assert(source.block_type.shape == (2, 2))
        tl.static_assert(source.dtype == tl.float32)
        tl.static_assert(isinstance(source, tl.tensor_descriptor))
        tl.static_assert(source.type == tl.tensor_descriptor_type(source.block_type, None, None))
        tl.static_assert(source.type.mangle() == "TDfp32S2_2S")
        tl.store(whole + corner, source.load([2, 3]))


def descriptors() -> dict[str, Shown]:
    moved, scattered = zeros(3, 4, dtype=np.float32), zeros(3, 4, dtype=np.float32)
    moved[2, 3] = GRID[1, 1]
    scattered[1:, 2:] = GRID[[0, 2], 1:3] + 1
    padded = [[GRID[2, 3], 0], [0, 0]]
    made: dict[str, Shown] = {}

    def entry(way: str, out: Any, expected: Any, kind: str = "") -> Shown:
        arguments = (GRID, out, zeros(2, 2, dtype=np.float32))
        return Launched(descriptor_kernel, arguments, expected, {"WAY": way, "KIND": kind})

    blank = zeros(3, 4, dtype=np.float32)
    for name in ("load", "store"):
        made[f"tensor_descriptor.{name}"] = entry("method", blank, {"out": moved})
        made[f"{name}_tensor_descriptor"] = entry("function", blank, {"out": moved})
    for name in ("gather", "scatter"):
        made[f"tensor_descriptor.{name}"] = entry("rows", blank, {"out": scattered})
    of_type = ("block_shape", "block_type", "dtype")
    for key in (
        "make_tensor_descriptor",
        "tensor_descriptor",
        "tensor_descriptor_type",
        "tensor_descriptor_type.mangle",
        *(f"tensor_descriptor.{name}" for name in of_type),
    ):
        made[key] = entry("", blank, {"whole": padded})
    steps: dict[str, Any] = {
        "add": np.add,
        "max": np.maximum,
        "min": np.minimum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    for kind, step in steps.items():
        out = np.full((3, 4), 7, np.int32)
        wanted = out.copy()
        wanted[2:, 2:] = step(7, GRID[1:2, 1:3].astype(np.int32) + 1)
        made[f"tensor_descriptor.atomic_{kind}"] = entry("atomic", out, {"out": wanted}, kind)
    return made


# -- the grid, loops, control


@triton.jit
def grid_kernel(out):
    place = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    tl.store(out + place, tl.num_programs(1) * 100 + place)


@triton.jit
def loops_kernel(out, n):
    total = n * 0
    for i in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2, flatten=True):
        total += i
    for i in tl.static_range(1, 4):
        total += 100 * i
    while tl.condition(total < 1000, disable_licm=True):
        total += 500
    tl.store(out, total)


@triton.jit
def debugging_kernel(x, out, n):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes)
    tl.static_assert(value.shape[0] == 8, "eight lanes")
    tl.static_print("compiled for", value.type)
    tl.device_assert(value > -10, "small", mask=lanes < 8)
    tl.assume(n > 0)
    tl.debug_barrier()
    tl.store(out + lanes, value)


@triton.jit
def printing_kernel(out, n):
    tl.device_print("n is", n, hex=True)
    tl.store(out, n)


# -- values that are no tensors


class Pair(NamedTuple):
    left: Any
    right: Any


SCALE = tl.constexpr(3)


@tl.constexpr_function if hasattr(tl, "constexpr_function") else (lambda f: f)
def doubled(number):
    return number * 2


@triton.jit
def tuples_kernel(out, n):
    pair = tl.aggregate_replace(Pair(n, n + 1), right=n * SCALE)
    both = tl.tuple([pair.left, pair.right, 5])
    tl.static_assert(len(both) == 3 and both.type.types[0] == tl.int32)
    lanes = tl.arange(0, 8)
    part = tl.slice(1, 3, None)
    tl.static_assert(part.start == 1 and part.stop == 3)
    picked = tl.where(lanes < doubled(2), both[1], both[2])
    limit = SCALE.logical_and(4).logical_or(0)
    tl.store(out + lanes, picked + limit)


@triton.jit
def const_kernel(x: tl.const, out):
    lanes = tl.arange(0, 8)
    tl.static_assert(x.dtype.is_const())
    tl.store(out + lanes, tl.load(x + lanes))


@triton.jit
def tensor_kernel(x, out):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes)
    tl.static_assert(isinstance(value, tl.tensor))
    tl.static_assert(value.type == tl.block_type(tl.int32, [8]))
    tl.static_assert(value.numel == 8 and value.shape == (8,))
    tl.store(out + lanes, tl.tensor(value.handle, value.type) + 1)


BOUND = {"out": [6 + 4 * 0] * 4 + [5] * 4}


def placed() -> Any:
    return Launched(grid_kernel, (zeros(6),), {"out": 200 + np.arange(6)}, grid=(3, 2))


def debugged() -> Any:
    return Launched(debugging_kernel, (I, zeros(8), 3), {"out": I})


def looped() -> Any:
    return Launched(loops_kernel, (zeros(1), 8), {"out": [12 + 600 + 500]})


def tupled() -> Any:
    return Launched(tuples_kernel, (zeros(8), 2), {"out": [6 + 4] * 4 + [5 + 4] * 4})


IN_KERNELS: dict[str, Shown] = {
    "load": Launched(copy_kernel, (I, zeros(8)), {"out": COPIED}, {"METHOD": False}),
    "store": Launched(copy_kernel, (I, zeros(8)), {"out": COPIED}, {"METHOD": False}),
    "tensor.store": Launched(copy_kernel, (I, zeros(8)), {"out": COPIED}, {"METHOD": True}),
    **atomics(),
    **descriptors(),
    **{
        key: Launched(
            block_pointer_kernel,
            (GRID, zeros(2, 2, dtype=np.float32)),
            {"out": [[GRID[2, 1], GRID[2, 2]], [0, 0]]},
            {"METHOD": key.startswith("tensor")},
        )
        for key in ("make_block_ptr", "tensor.advance")
    },
    **{key: placed() for key in ("program_id", "num_programs")},
    **{key: looped() for key in ("range", "static_range", "condition")},
    **{
        key: debugged()
        for key in ("static_assert", "static_print", "device_assert", "assume", "debug_barrier")
    },
    "device_print": Launched(printing_kernel, (zeros(1), 10), {"out": [10]}),
    **{
        key: tupled()
        for key in (
            "tuple",
            "slice",
            "aggregate_replace",
            "constexpr",
            "constexpr.logical_and",
            "constexpr.logical_or",
            "standard.constexpr_function",
            "target_info.constexpr_function",
        )
    },
    "const": Launched(const_kernel, (I, zeros(8)), {"out": I}),
    "tensor": Launched(tensor_kernel, (I, zeros(8)), {"out": I + 1}),
}
