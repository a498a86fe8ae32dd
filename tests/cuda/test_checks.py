"""What the checks of cudasim find, each in a text of its own with one fault, and in a neighbour of
it without one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from mytriton.errors import CompileError, KernelError, KernelMemoryError, KernelRaceError
from mytriton.ir.types import F32, PointerType
from mytriton.targets.cuda import CudaSource, sim
from mytriton.targets.cuda.source import Parameter
from tests.support.memory import buffer

ALL = "all"


def source(body: str, threads: int = 64) -> CudaSource:
    """A kernel `k(x, y)` over arrays of floats, with these lines; the first one is number 3."""
    lines = "\n".join(f"    {line.strip()}" for line in body.strip().splitlines())
    head = 'extern "C" __global__\nvoid k(float* x, float* y) {'
    pointer = PointerType(F32)
    parameters = (Parameter("x", "float*", pointer), Parameter("y", "float*", pointer))
    return CudaSource("k", f"{head}\n{lines}\n}}", parameters, threads)


def run(
    text: str, threads: int = 64, size: int = 64, checks: str | None = ALL, **options: Any
) -> Any:
    """Runs a kernel over x (numbers from 1 on) and y (zeros); y afterwards."""
    x, y = np.arange(1, size + 1, dtype=np.float32), np.zeros(size, np.float32)
    sim.run(source(text, threads), (1, 1, 1), [buffer(x), buffer(y)], checks=checks, **options)
    return y


SHARED = "__shared__ float s[64];\nint t = threadIdx.x;\n"
EXCHANGE = SHARED + "s[t] = x[t];\n__syncthreads();\ny[t] = s[63 - t];"


@pytest.mark.parametrize("order", sim.ORDERS)
def test_a_barrier_orders_what_stands_before_and_after_it(order):
    assert run(EXCHANGE, order=order).tolist() == list(range(64, 0, -1))


@pytest.mark.parametrize("order", sim.ORDERS)
def test_a_race_names_both_lines_threads_and_bytes(order):
    with pytest.raises(KernelRaceError) as caught:
        run(EXCHANGE.replace("__syncthreads();", ""), order=order)
    text = str(caught.value)
    assert re.search(r"no barrier between two accesses of bytes \d+ to \d+ of .*`s`", text)
    assert re.search(r"writes: line 5 of the CUDA text, thread \d+ \(warp \d, lane \d+\)", text)
    assert "reads: line 7 of the CUDA text" in text
    assert "s[t] = x[t];" in text and "y[t] = s[63 - t];" in text
    assert "more alike" in text and text.count("data race") <= 2


def test_writes_of_one_value_are_no_race_and_of_two_are():
    assert run(SHARED + "s[0] = 5.0f;\n__syncthreads();\ny[t] = s[0];").tolist() == [5.0] * 64
    with pytest.raises(KernelRaceError, match=r"writes: line 5[^\0]*writes: line 5"):
        run(SHARED + "s[0] = (float)t;\n__syncthreads();\ny[t] = s[0];")


def test_a_write_races_with_an_earlier_read():
    text = SHARED + "s[t] = 0;\n__syncthreads();\ny[t] = s[63 - t];\ns[t] = 1;"
    with pytest.raises(KernelRaceError, match=r"reads: line 7[^\0]*writes: line 8"):
        run(text)
    run(text.replace("s[t] = 1;", "__syncthreads();\ns[t] = 1;"))


def test_lanes_are_ordered_by_a_barrier_of_their_warp_only():
    lanes = SHARED + "s[t] = x[t];\n__syncwarp();\ny[t] = s[t ^ 31];"
    assert run(lanes).tolist() == [float((t ^ 31) + 1) for t in range(64)]
    with pytest.raises(KernelRaceError):
        run(lanes.replace("t ^ 31", "t ^ 32"))
    with pytest.raises(KernelRaceError):
        run(lanes.replace("__syncwarp();", "y[t] = __shfl_xor_sync(0xffffffffU, x[t], 1);"))


def test_atomics_do_not_race_with_each_other_but_with_others():
    counted = SHARED + (
        "if (t == 0) s[0] = 0;\n__syncthreads();\natomicAdd(&s[0], 1.0f);\n__syncthreads();\n"
        "y[t] = s[0];"
    )
    assert run(counted).tolist() == [64.0] * 64
    with pytest.raises(KernelRaceError):
        run(counted.replace("1.0f);\n__syncthreads();", "1.0f);"))
    with pytest.raises(KernelRaceError):
        run(counted.replace("= 0;\n__syncthreads();", "= 0;"))


def test_shared_memory_that_nobody_wrote_is_not_read():
    with pytest.raises(KernelMemoryError, match=r"what nobody wrote: bytes 128 to 131 of .*`s`"):
        run(SHARED + "if (t < 32) s[t] = 1;\n__syncthreads();\ny[t] = s[t];")
    run(SHARED + "if (t < 32) s[t] = 1;\n__syncthreads();\ny[t] = s[t % 32];")


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("y[t] = x[t + 1];", "reads element 64 of `x`, which has 64 of f32"),
        ("y[t - 1] = x[t];", "writes element -1 of `y`"),
        ("s[t + 1] = x[t];", "bytes 256 to 259 of the shared memory `s`, which has 256"),
        ("s[t - 1] = x[t];", "bytes -4 to -1 of the shared memory `s`"),
    ],
)
def test_out_of_bounds(statement, match):
    with pytest.raises(KernelMemoryError, match=f"out of bounds.*{match}"):
        run(SHARED + statement)


def test_an_access_past_one_array_is_not_saved_by_the_next_one():
    memory = np.zeros(128, np.float32)
    arrays = [buffer(memory[:64]), buffer(memory[64:])]
    text = source(SHARED + "float v = x[t + 60];\ny[t] = v;")
    with pytest.raises(KernelMemoryError, match=r"reads element 64 of `x`.*line 5"):
        try:
            sim.run(text, (1, 1, 1), arrays)
        except KernelMemoryError as error:
            raise KernelMemoryError(str(error).replace("\n", " "), ()) from None


def test_an_array_that_is_read_only_is_not_written():
    x, y = np.zeros(64, np.float32), np.zeros(64, np.float32)
    given = [buffer(x), buffer(y, writable=False)]
    with pytest.raises(KernelMemoryError, match="read-only array: element 0 of `y`"):
        sim.run(source("y[threadIdx.x] = x[threadIdx.x];"), (1, 1, 1), given)


@pytest.mark.parametrize(
    ("access", "bytes_"),
    [
        ("*(float*)((char*)x + 2) = 1;", 4),
        ("*(short*)((char*)x + 1) = 1;", 2),
        ("*(long long*)(x + 1) = 1;", 8),
        ("float two[2] = {1, 2}; store_vector<2>(x + 1, two);", 8),
        ("float four[4]; load_vector<4>(four, x + 2); y[0] = four[0];", 16),
    ],
)
def test_misaligned_accesses(access, bytes_):
    with pytest.raises(KernelMemoryError, match=f"misaligned: .* {bytes_} bytes .* of `x`"):
        run(f"int t = threadIdx.x;\n{access}", threads=1)


def test_a_barrier_that_some_do_not_reach():
    with pytest.raises(KernelError, match="32 of 64 threads wait at the barrier of line 4"):
        run("int t = threadIdx.x;\nif (t < 32) __syncthreads();\ny[t] = x[t];")
    with pytest.raises(KernelError, match="meet in the barrier of different lines"):
        run("int t = threadIdx.x;\nif (t < 32) {\n__syncthreads();\n} else {\n__syncthreads();\n}")


def shuffled(mask: str, condition: str = "", lane: str = "t ^ 1") -> str:
    call = f"y[t] = __shfl_sync({mask}, x[t], {lane});"
    return f"int t = threadIdx.x;\n{condition}{call}"


def test_a_shuffle_of_lanes_that_its_mask_names():
    assert run(shuffled("0xffffffffU"), 32, 32)[:4].tolist() == [2, 1, 4, 3]
    assert run(shuffled("0xffU", "if (t < 8) "), 32, 32)[:9].tolist() == [2, 1, 4, 3, 6, 5, 8, 7, 0]


def test_a_shuffle_whose_mask_is_wrong():
    with pytest.raises(KernelError, match="8 of 32 lanes of the warp wait at the shuffle of line"):
        run(shuffled("0xffffffffU", "if (t < 8) "), 32, 32)
    with pytest.raises(KernelError, match="whose mask 0x000000ff does not name it"):
        run(shuffled("0xffU"), 32, 32)
    with pytest.raises(KernelError, match="reads lane 8, which its mask 0x000000ff leaves out"):
        run(shuffled("0xffU", "if (t < 8) ", "t + 8"), 32, 32)


def test_tensor_cores_are_called_by_whole_warps():
    product = "unsigned int a[4] = {}, b[2] = {};\nfloat sum[4] = {};\n"
    with pytest.raises(KernelError, match="16 of 32 lanes of the warp wait at the mma of line 5"):
        run(product + "if (threadIdx.x < 16) mma_f16(sum, a, b);", 32, 32)
    matrices = "__shared__ __align__(16) float s[128];\nunsigned int a[4];\n"
    rows = f"{matrices}for (int i = 0; i < 4; i++) s[4 * threadIdx.x + i] = 1;\n__syncthreads();\n"
    with pytest.raises(KernelError, match="lanes of the warp wait at the ldmatrix of line 7"):
        run(rows + "if (threadIdx.x < 31) load_matrices(a, &s[4 * threadIdx.x]);", 32, 32)


def test_global_memory_is_checked_where_that_is_asked_for():
    text = "int t = threadIdx.x;\ny[t] = 1;\nx[t] = y[63 - t];"
    run(text, checks="races,unwritten,bounds,alignment")
    with pytest.raises(KernelRaceError, match=r"accesses of element \d+ of `y`, which has 64"):
        run(text, checks="global")
    run(text.replace("x[t] = y", "__syncthreads();\nx[t] = y"), checks="global")


def test_an_unknown_check_is_refused(monkeypatch):
    monkeypatch.setenv("MYTRITON_CUDASIM", "racing")
    with pytest.raises(CompileError, match="no check `racing`; there are races, unwritten"):
        run(EXCHANGE, checks=None)


COPY = (
    "__shared__ __align__(16) float s[128];\nint t = threadIdx.x;\n"
    "copy_async<4>(&s[t], &x[t]);\ncommit_copies();\n"
    "copy_async<4>(&s[64 + t], &x[63 - t]);\ncommit_copies();\n"
    "await_copies<1>();\n__syncthreads();\ny[t] = s[63 - t];"
)


def test_an_asynchronous_copy_is_there_after_its_wait_and_a_barrier():
    assert run(COPY).tolist() == list(range(64, 0, -1))
    with pytest.raises(KernelRaceError, match="what an asynchronous copy may still be writing"):
        run(COPY.replace("await_copies<1>", "await_copies<2>"))
    with pytest.raises(KernelRaceError, match="what an asynchronous copy may still be writing"):
        run(COPY.replace("s[63 - t];", "s[127 - t];"))
    with pytest.raises(KernelRaceError, match="data race"):
        run(COPY.replace("__syncthreads();", ""))
