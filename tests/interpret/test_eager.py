"""The kernel's own Python on real blocks: what it prints, sees, computes and refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton.language as tl
from mytriton.errors import CompileTypeError, KernelError, KernelMemoryError
from mytriton.ir.build import current
from mytriton.ir.types import I32, PointerType
from mytriton.targets.interpret.eager import RunTime, run_eager
from tests.support.build import ptr
from tests.support.memory import buffer


def eager(
    function: Callable[..., Any], *arguments: Any, grid: tuple[int, int, int] = (1, 1, 1)
) -> None:
    """Runs the function; arrays are pointers to their dtype, Python ints i32, pairs as they are."""
    names = function.__code__.co_varnames
    bound: dict[str, Any] = {}
    for name, argument in zip(names, arguments):
        if isinstance(argument, np.ndarray):
            ty = ptr(argument.dtype.kind + str(8 * argument.itemsize))
            bound[name] = RunTime(ty, buffer(argument, ty))
        elif isinstance(argument, int):
            bound[name] = RunTime(I32, argument)
        else:
            bound[name] = argument
    run_eager(function, bound, grid)


def test_a_print_shows_the_program_and_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x: Any) -> None:
        pid = tl.program_id(0)
        print(tl.arange(0, 4) + pid)
        print("twice", tl.load(x) * 2, "is", sep="|", end="!\n")
        print(f"{tl.load(x) * 2} of {x.dtype}")
        print(pid.to(tl.int8) - 1, hex=True)

    eager(kernel, np.array([1.25], np.float32), grid=(2, 1, 1))
    assert capsys.readouterr().out.splitlines() == [
        "pid (0, 0, 0) [0 1 2 3]",
        "pid (0, 0, 0) twice|2.5|is!",
        "pid (0, 0, 0) f32 2.5 of ptr<f32>",
        "pid (0, 0, 0) 0xff",
        "pid (1, 0, 0) [1 2 3 4]",
        "pid (1, 0, 0) twice|2.5|is!",
        "pid (1, 0, 0) f32 2.5 of ptr<f32>",
        "pid (1, 0, 0) 0x00",
    ]


def test_a_block_is_an_array_for_numpy() -> None:
    def kernel(x: Any, out: Any) -> None:
        value = tl.load(x + tl.arange(0, 4))
        seen.append((value.numpy(), np.asarray(value), np.asarray(value, np.float64)))
        value.numpy()[:] = 7  # a copy
        tl.store(out + tl.arange(0, 4), value * 2)

    seen: list[Any] = []
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    eager(kernel, x, out)
    for array, dtype in zip(seen[0], (np.float32, np.float32, np.float64)):
        assert array.dtype == dtype and array.tolist() == [0, 1, 2, 3]
    assert out.tolist() == [0, 2, 4, 6]


STOPS = """
import numpy as np, mytriton as triton, mytriton.language as tl

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets) + 1
    breakpoint()
    tl.store(x + offsets, value)

x = np.arange(4, dtype=np.float32)
kernel[(2,)](x, BLOCK=4, target="eager")
print("after", x)
"""


@pytest.mark.parametrize(
    ("commands", "status", "shown"),
    [
        ("p value.numpy().sum()\nc\nc\n", 0, ["10.0", "after [2. 3. 4. 5.]"]),
        ("p value\nq\ny\n", 1, ["vector<4 x f32> [1. 2. 3. 4.]"]),
    ],
)
def test_the_first_stop_has_values_and_quitting_quits(
    tmp_path: Path, commands: str, status: int, shown: list[str]
) -> None:
    script = tmp_path / "stops.py"
    script.write_text(STOPS)
    done = subprocess.run(
        [sys.executable, str(script)], input=commands, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status
    assert all(text in done.stdout for text in shown), done.stdout
    assert "Traceback" not in done.stderr, done.stderr


def test_plain_python_follows_the_numbers() -> None:
    """Trial division: a loop, a branch and a return on what the kernel computed."""

    def kernel(out: Any, n: Any) -> None:
        number = n + tl.program_id(0)
        factor = 2
        while number % factor:
            factor += 1
        tl.store(out + tl.program_id(0), factor)

    out = np.zeros(12, np.int32)
    eager(kernel, out, 25, grid=(12, 1, 1))
    assert out.tolist() == [5, 2, 3, 2, 29, 2, 31, 2, 3, 2, 5, 2]


def test_blocks_masks_and_reductions() -> None:
    def kernel(x: Any, out: Any, n: Any) -> None:
        lanes = tl.arange(0, 16)
        value = tl.load(x + lanes, mask=lanes < n, other=-1.0)
        largest = tl.reduce(value, 0, lambda a, b: tl.where(a > b, a, b))
        tl.store(out + tl.arange(0, 2), tl.join(tl.sum(value), largest))

    x, out = np.arange(10, dtype=np.float32), np.zeros(2, np.float32)
    eager(kernel, x, out, 10)
    assert out.tolist() == [45 - 6, 9]


def test_a_print_in_a_combine_function_shows_what_it_combines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def kernel(out: Any) -> None:
        def add(a: Any, b: Any) -> Any:
            print(a)
            return a + b

        tl.store(out, tl.reduce(tl.arange(0, 5), 0, add))

    out = np.zeros(1, np.int32)
    eager(kernel, out)
    assert out[0] == 10
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"pid (0, 0, 0) {left}" for left in ("[0 2]", "[1]", "[6]")]


def test_the_builder_knows_scalars_only() -> None:
    def kernel(n: Any) -> None:
        assert current().eager
        assert current().known((n + 1).handle) == 42
        assert current().known(tl.arange(0, 4).handle) is None
        if tl.arange(0, 4) < n:
            tl.static_print("never")

    with pytest.raises(CompileTypeError, match="cannot be a condition"):
        eager(kernel, 41)


def test_a_fault_is_at_the_kernels_own_line() -> None:
    def kernel(x: Any) -> None:
        lanes = tl.arange(0, 8)
        tl.load(x + lanes)  # outside

    with pytest.raises(KernelMemoryError) as caught:
        eager(kernel, np.zeros(5, np.int32))
    assert "element 5 of `x`" in str(caught.value)
    assert caught.value.where[0].text.endswith("# outside")
    assert caught.value.where[0].function == "kernel"


def test_programs_that_wait_for_one_another() -> None:
    def kernel(lock: Any, total: Any, flags: Any) -> None:
        pid = tl.program_id(0)
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(total, tl.load(total) + 1)
        tl.atomic_xchg(lock, 0)
        while tl.load(flags + pid + 1, volatile=True) == 0:
            pass
        tl.store(flags + pid, 1)

    lock, total, flags = np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(9, "i4")
    flags[8] = 1
    eager(kernel, lock, total, flags, grid=(8, 1, 1))
    assert total[0] == 8
    assert flags.all()


def test_a_deadlock_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel(flag: Any) -> None:
        while tl.load(flag, volatile=True) == 0:
            pass

    monkeypatch.setattr("mytriton.targets.interpret.eager.PATIENCE", 20)
    with pytest.raises(KernelError, match="deadlock"):
        eager(kernel, np.zeros(1, np.int32), grid=(2, 1, 1))


def test_pointers_out_of_memory() -> None:
    def kernel(table: Any, out: Any) -> None:
        tl.store(out, tl.load(tl.load(table) + 1))

    data, out = np.array([3, 4], np.int32), np.zeros(1, np.int32)
    table = np.array([data.ctypes.data], np.int64)
    pointers = PointerType(PointerType(I32))
    bound = {
        "table": RunTime(pointers, buffer(table, pointers)),
        "out": RunTime(ptr("i32"), buffer(out, ptr("i32"))),
    }
    run_eager(kernel, bound, (1, 1, 1))
    assert out[0] == 4
