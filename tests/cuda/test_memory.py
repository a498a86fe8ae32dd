"""Pointers, masks, atomics, and the barriers that keep statements in order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import KernelError, KernelRaceError
from mytriton.ir.numeric import memory_dtype
from mytriton.ir.ops import TABLE
from mytriton.ir.structural import ATOMICS
from mytriton.ir.types import SCALARS
from mytriton.targets import interpret
from mytriton.targets.cuda import generate, sim
from mytriton.targets.cuda.emit import RULES
from tests.support.cuda import check_simulated, element, simulate, ssa, traced
from tests.support.memory import arguments_of


def barriers(source) -> int:
    return source.kernel.count("__syncthreads();")


# -- pointers


def table(pointers, out, n, BLOCK: tl.constexpr):
    which = tl.program_id(0)
    source = tl.load(pointers + which).to(tl.pointer_type(tl.float32))
    lane = tl.arange(0, BLOCK)
    tl.store(out + which * BLOCK + lane, tl.load(source + lane, mask=lane < n, other=-1.0))


def test_pointers_out_of_memory(nvrtc):
    function = traced(table, pointers="*i64", out="*f32", n="i32", BLOCK=8)
    nvrtc(generate(function))
    rows = [np.arange(8, dtype=np.float32) + 10 * i for i in range(3)]
    addresses = np.array([row.ctypes.data for row in rows], np.int64)
    out = np.zeros(24, np.float32)
    simulate(function, addresses, out, 5, grid=(3, 1, 1))
    want = np.full((3, 8), -1, np.float32)
    want[:, :5] = [row[:5] for row in rows]
    assert np.array_equal(out, want.ravel())


def test_pointers_to_pointers():
    function = ssa("""
        k(p: ptr<ptr<f32>>, q: ptr<ptr<f32>>, out: ptr<f32>) {
            %0 = arange {start=0, end=2} : vector<2 x i32>
            %1 = addptr p, %0 : vector<2 x ptr<ptr<f32>>>
            %2 = load %1, none, none : vector<2 x ptr<f32>>
            %3 = addptr q, %0 : vector<2 x ptr<ptr<f32>>>
            store %3, %2, none
            %4 = addptr %2, 1 : vector<2 x ptr<f32>>
            %5 = load %4, none, none : vector<2 x f32>
            %6 = addptr out, %0 : vector<2 x ptr<f32>>
            store %6, %5, none
        }
    """)
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    p = np.array([row.ctypes.data for row in rows], np.int64)
    q, out = np.zeros(2, np.int64), np.zeros(2, np.float32)
    simulate(function, p, q, out)
    assert np.array_equal(q, p)
    assert out.tolist() == [1, 4]


def test_a_select_of_pointers_is_a_pointer(nvrtc):
    function = ssa("""
        k(x: ptr<f32>, y: ptr<f32>, out: ptr<f32>) {
            %0 = arange {start=0, end=4} : vector<4 x i32>
            %1 = cmp_lt %0, 2 : vector<4 x bool>
            %2 = addptr x, %0 : vector<4 x ptr<f32>>
            %3 = addptr y, %0 : vector<4 x ptr<f32>>
            %4 = select %1, %2, %3 : vector<4 x ptr<f32>>
            %5 = load %4, none, none : vector<4 x f32>
            %6 = addptr out, %0 : vector<4 x ptr<f32>>
            store %6, %5, none
        }
    """)
    source = generate(function)
    assert "float* v4 = (v1 ? (x + v0) : (y + v0));" in source.text
    nvrtc(source)
    x, y = np.arange(4, dtype=np.float32), np.arange(10, 14, dtype=np.float32)
    *_, out = check_simulated(function, x, y, np.zeros(4, np.float32))
    assert out.tolist() == [0, 1, 12, 13]


def test_a_pointer_as_a_number_and_back():
    function = ssa("""
        k(x: ptr<f32>) {
            %0 = cast x {to=i64} : i64
            %1 = add %0, 4:i64 : i64
            %2 = cast %1 {to=ptr<f32>} : ptr<f32>
            store %2, 5.0, none
        }
    """)
    x = np.zeros(2, np.float32)
    simulate(function, x)
    assert x.tolist() == [0, 5]


@pytest.mark.parametrize(
    ("first", "second", "index"),
    [
        ("1", "2", "(1 + 2)"),
        ("-1", "2", "(-1 + 2)"),
        ("i", "2", "((long long)i + 2)"),
        ("i", "j", "((long long)i + j)"),
        ("2147483647", "1", "((long long)2147483647 + 1)"),
        ("k", "i", "(k + i)"),
    ],
)
def test_offsets_add_as_addresses_do(first, second, index, nvrtc):
    """In 64 bits: an i32 sum could wrap where two additions to a pointer do not."""
    source = generate(
        ssa(f"""
            k(x: ptr<i8>, i: i32, j: i32, k: i64) {{
                %0 = addptr x, {first} : ptr<i8>
                %1 = addptr %0, {second} : ptr<i8>
                store %1, 1:i8, none
            }}
        """)
    )
    assert f"x[{index}] = 1;" in source.text
    nvrtc(source)


def test_offsets_past_32_bits():
    function = ssa("""
        k(x: ptr<i8>, i: i32, j: i32) {
            %0 = addptr x, i : ptr<i8>
            %1 = addptr %0, j : ptr<i8>
            store %1, 1:i8, none
        }
    """)
    x = np.zeros(4, np.int8)
    given = arguments_of(function, (x, 2**31 - 1, 2**31 - 1))
    away = given[0].address - 2 * (2**31 - 1) + 2
    far = dataclasses.replace(given[0], address=away, nbytes=None)
    sim.run(generate(function), (1, 1, 1), [far, *given[1:]])
    assert x.tolist() == [0, 0, 1, 0]


# -- masks


def test_bools_in_memory_are_not_zero():
    function = ssa("""
        k(x: ptr<bool>, out: ptr<i32>) {
            %0 = arange {start=0, end=4} : vector<4 x i32>
            %1 = addptr x, %0 : vector<4 x ptr<bool>>
            %2 = load %1, none, none : vector<4 x bool>
            %3 = cast %2 {to=i32} : vector<4 x i32>
            %4 = addptr out, %0 : vector<4 x ptr<i32>>
            store %4, %3, none
        }
    """)
    _, out = check_simulated(function, np.array([0, 1, 2, 255], np.uint8), np.zeros(4, np.int32))
    assert out.tolist() == [0, 1, 1, 1]


def test_a_scalar_store_obeys_its_mask():
    function = ssa("k(x: ptr<i32>, n: i32) {\n%0 = cmp_gt n, 0 : bool\nstore x, n, %0\n}")
    for n, want in ((3, 3), (-3, 7)):
        x, _ = check_simulated(function, np.array([7], np.int32), n)
        assert x[0] == want


def test_a_block_of_one_element_goes_with_any_width(nvrtc):
    """Every thread holds it, as it does a scalar; so its range is its start, not the thread's
    number."""
    function = ssa("""
        k(out: ptr<i32>, one: ptr<i32>) {
            %0 = arange {start=5, end=6} : vector<1 x i32>
            %1 = arange {start=0, end=8} : vector<8 x i32>
            %2 = add %0, %1 : vector<8 x i32>
            %3 = addptr out, %1 : vector<8 x ptr<i32>>
            store %3, %2, none
            %4 = addptr one, %0 : vector<1 x ptr<i32>>
            store %4, %0, none
            %5 = atomic %4, 2, none {kind="add"} : vector<1 x i32>
        }
    """)
    source = generate(function)
    assert "int v0 = 5;" in source.text and source.threads_per_block == 8
    nvrtc(source)
    out, one = check_simulated(function, np.zeros(8, np.int32), np.zeros(6, np.int32))
    assert out.tolist() == list(range(5, 13))
    assert one.tolist() == [0, 0, 0, 0, 0, 7]


# -- order


def shift(x, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(x + lane + 1, tl.load(x + lane))


def reverse_twice(x, y, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(x + lane, lane)
    value = tl.load(x + (BLOCK - 1 - lane))
    tl.store(y + lane, value)


def count_up(x, out, BLOCK: tl.constexpr):
    c = tl.load(x)
    tl.store(x, c + 1)
    tl.store(out + tl.arange(0, BLOCK), c)


def slide(x, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for i in range(n):
        tl.store(x + i + lane, lane * 0 + i)


def in_place(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def scatter(x, where, BLOCK: tl.constexpr):
    at = x + tl.load(where + tl.arange(0, BLOCK))
    tl.store(at, tl.load(at) + 1)


@pytest.mark.parametrize(
    ("kernel", "types", "given", "due"),
    [
        (shift, {"x": "*i32", "n": "i32"}, (np.arange(65, dtype=np.int32), 0), 1),
        (reverse_twice, {"x": "*i32", "y": "*i32"}, (np.zeros(64, np.int32),) * 2, 1),
        (
            count_up,
            {"x": "*i32", "out": "*i32"},
            (np.zeros(1, np.int32), np.zeros(64, np.int32)),
            1,
        ),
        (slide, {"x": "*i32", "n": "i32"}, (np.zeros(80, np.int32), 9), 1),
        (in_place, {"x": "*i32", "n": "i32"}, (np.arange(64, dtype=np.int32), 60), 0),
        (
            scatter,
            {"x": "*i32", "where": "*i32"},
            (np.zeros(8, np.int32), np.arange(64, dtype=np.int32) % 8),
            1,
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_statement_waits_for_what_other_lanes_did_before(kernel, types, given, due):
    function = traced(kernel, **types, BLOCK=64)
    assert barriers(generate(function)) == due
    check_simulated(function, *given)


def test_without_its_barrier_such_a_kernel_is_wrong():
    """So cudasim does show what a missing barrier breaks, and says it where it is asked to."""
    function = traced(shift, x="*i32", n="i32", BLOCK=64)
    source = generate(function)
    broken = dataclasses.replace(source, kernel=source.kernel.replace("__syncthreads();", ""))
    x = np.arange(65, dtype=np.int32)
    sim.run(broken, (1, 1, 1), arguments_of(function, (x, 0)), checks="none")
    assert x.tolist() == [0] * 65
    x = np.arange(65, dtype=np.int32)
    with pytest.raises(KernelRaceError, match=r"element 1 of `x`, which has 65 of i32"):
        sim.run(broken, (1, 1, 1), arguments_of(function, (x, 0)), checks="global")


def test_a_kernel_of_one_thread_needs_no_barrier():
    assert barriers(generate(traced(count_up, x="*i32", out="*i32", BLOCK=1))) == 0


# -- atomics


def atomic_kernel(kind: str, name: str) -> str:
    return f"""
        k(x: ptr<{name}>, value: ptr<{name}>, at: ptr<i32>, old: ptr<{name}>) {{
            %0 = arange {{start=0, end=32}} : vector<32 x i32>
            %1 = addptr at, %0 : vector<32 x ptr<i32>>
            %2 = load %1, none, none : vector<32 x i32>
            %3 = addptr value, %0 : vector<32 x ptr<{name}>>
            %4 = load %3, none, none : vector<32 x {name}>
            %5 = cmp_lt %0, 30 : vector<32 x bool>
            %6 = addptr x, %2 : vector<32 x ptr<{name}>>
            %7 = atomic %6, %4, %5 {{kind="{kind}"}} : vector<32 x {name}>
            %8 = addptr old, %0 : vector<32 x ptr<{name}>>
            store %8, %7, none
        }}
    """


PAIRS = [(kind, row) for kind, kinds in ATOMICS.items() for row in SCALARS if row.kind in kinds]


@pytest.mark.parametrize(("kind", "row"), PAIRS, ids=lambda v: str(v))
def test_atomics_of_every_kind_and_type(kind, row):
    """Repeated addresses all land; lanes run in order here, so the old values are exact too."""
    function = ssa(atomic_kernel(kind, row.ir))
    dtype = memory_dtype(row)
    random = np.random.default_rng(0)
    at = random.integers(0, 7, 32).astype(np.int32)
    one = {"bf16": 0x3F80, "f8e4m3fn": 0x38, "f8e5m2": 0x3C}.get(row.ir, 0x30)
    numbers = random.integers(0, 9, 32) if row.kind != "f" or dtype.kind == "f" else None
    value = np.full(32, one, dtype) if numbers is None else numbers.astype(dtype)
    source = generate(function)
    arrays = [np.zeros(8, dtype), value, at, np.zeros(32, dtype)]
    simulate(function, *arrays)
    want = [np.zeros(8, dtype), value, at, np.zeros(32, dtype)]
    interpret.run(function, arguments_of(function, tuple(want)), (1, 1, 1))
    for got, wanted in zip(arrays, want):
        np.testing.assert_array_equal(got, wanted, err_msg=source.text)


def test_float_atomic_maximum_with_nan_and_zeros():
    function = ssa(atomic_kernel("max", "f32"))
    value = np.full(32, -1, np.float32)
    value[[0, 3, 5, 11, 13]] = np.nan, -0.0, 2.5, 0.0, np.nan
    at = np.arange(32, dtype=np.int32) % 8
    for order in sim.ORDERS:
        x = np.full(8, -np.inf, np.float32)
        simulate(function, x, value, at, np.zeros(32, np.float32), order=order)
        assert x.tolist() == [-1, -1, -1, 0, -1, 2.5, -1, -1]
        assert not np.signbit(x[3])


@pytest.mark.parametrize("name", [row.ir for row in SCALARS if row.kind in "iuf"])
def test_compare_and_swap_compares_bits(name):
    function = ssa(f"""
        k(x: ptr<{name}>, expected: ptr<{name}>, value: ptr<{name}>, old: ptr<{name}>) {{
            %0 = arange {{start=0, end=8}} : vector<8 x i32>
            %1 = addptr expected, %0 : vector<8 x ptr<{name}>>
            %2 = load %1, none, none : vector<8 x {name}>
            %3 = addptr value, %0 : vector<8 x ptr<{name}>>
            %4 = load %3, none, none : vector<8 x {name}>
            %5 = addptr x, %0 : vector<8 x ptr<{name}>>
            %6 = atomic_cas %5, %2, %4 : vector<8 x {name}>
            %7 = addptr old, %0 : vector<8 x ptr<{name}>>
            store %7, %6, none
        }}
    """)
    dtype = memory_dtype(element(name))
    x = np.arange(8).astype(dtype)
    expected = np.where(np.arange(8) % 2, x, x + 1).astype(dtype)
    got, *_ = check_simulated(function, x, expected, x[::-1].copy(), np.zeros(8, dtype))
    assert np.array_equal(got, np.where(np.arange(8) % 2, x[::-1], x))


def add_scalar(x, out, BLOCK: tl.constexpr):
    old = tl.atomic_add(x, 1)
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), old)


def test_a_scalar_atomic_happens_once_and_all_threads_know_the_old_value(expected, nvrtc):
    function = traced(add_scalar, x="*i32", out="*i32", BLOCK=32)
    source = generate(function)
    expected("cuda_scalar_atomic.cu", source.text)
    nvrtc(source)
    x, out = np.zeros(1, np.int32), np.zeros(96, np.int32)
    sim.run(source, (3, 1, 1), arguments_of(function, (x, out)), order="shuffle")
    assert x[0] == 3
    assert sorted(out.tolist()) == sorted([0, 1, 2] * 32)
    assert all(len(set(row)) == 1 for row in out.reshape(3, 32))


def test_an_unused_scalar_atomic_shares_nothing():
    function = ssa("""
        k(x: ptr<i32>, n: i32) {
            %0 = arange {start=0, end=8} : vector<8 x i32>
            %1 = cmp_gt n, 0 : bool
            %2 = atomic x, n, %1 {kind="add"} : i32
        }
    """)
    assert "__shared__" not in generate(function).text
    for n in (5, -5):
        x, _ = check_simulated(function, np.ones(1, np.int32), n)
        assert x[0] == 1 + max(n, 0)


@pytest.mark.parametrize(
    ("sem", "before", "after"),
    [("relaxed", 0, 0), ("acquire", 0, 1), ("release", 1, 0), ("acq_rel", 1, 1)],
)
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_fences(sem, before, after, scope, nvrtc):
    source = generate(
        ssa(f"""
            k(x: ptr<i32>) {{
                %0 = atomic x, 1, none {{kind="add", sem="{sem}", scope="{scope}"}} : i32
            }}
        """)
    )
    head, _, tail = source.kernel.partition("atomicAdd(x, 1);")
    assert head.count(f"fence_{scope}();") == before
    assert tail.count(f"fence_{scope}();") == after
    ptx = nvrtc(source)
    assert (f"fence.acq_rel.{scope}" in ptx) == (before + after > 0)


# -- programs that wait for each other


def locked(lock, x, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(x + lane, tl.load(x + lane) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("order", sim.ORDERS)
def test_a_lock_between_programs(order):
    function = traced(locked, lock="*i32", x="*i32", BLOCK=32)
    lock, x = np.zeros(1, np.int32), np.zeros(32, np.int32)
    simulate(function, lock, x, grid=(6, 1, 1), order=order)
    assert (x == 6).all() and lock[0] == 0


def relay(flag, x):
    """Every program waits for the one after it."""
    me = tl.program_id(0)
    while tl.load(flag + me + 1, volatile=True) == 0:
        pass
    tl.store(x + me, tl.load(x + me + 1) + 1)
    tl.atomic_xchg(flag + me, 1)


@pytest.mark.parametrize("order", sim.ORDERS)
def test_programs_that_wait_for_later_ones(order):
    function = traced(relay, flag="*i32", x="*i32")
    flag, x = np.zeros(6, np.int32), np.zeros(6, np.int32)
    flag[5] = 1
    simulate(function, flag, x, grid=(5, 1, 1), order=order)
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


def test_threads_that_part_before_a_barrier_are_reported():
    function = traced(shift, x="*i32", n="i32", BLOCK=8)
    source = generate(function)
    parted = source.kernel.replace("__syncthreads();", "if (v0 < 4) __syncthreads();")
    broken = dataclasses.replace(source, kernel=parted)
    x = np.zeros(9, np.int32)
    with pytest.raises(KernelError, match=r"4 of 8 threads wait at the barrier of line 5"):
        sim.run(broken, (1, 1, 1), arguments_of(function, (x, 0)), checks="none")


def test_every_structural_op_has_a_rule():
    assert RULES.rules.keys() | RULES.remake.keys() == TABLE.keys() - {"yield"}
