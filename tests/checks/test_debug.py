"""`debug=True`: every access is checked against the launch's arrays, on every target, and nothing
is where it is off."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelError, KernelMemoryError
from tests.support.backends import missing

TARGETS = [
    "interpret",
    "cpu",
    pytest.param(
        "cudasim", marks=pytest.mark.skipif(bool(missing("cudasim")), reason=missing("cudasim"))
    ),
]


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(out + i, a + b, mask=i < n)


@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def walk(x, out, steps, stride, BLOCK: tl.constexpr):
    at = x + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for _ in range(steps):
        total += tl.load(at)
        at += stride
    tl.store(out + tl.arange(0, BLOCK), total)


@triton.jit
def choose(x, y, out, which, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    base = x if which > 0 else y
    tl.store(out + i, tl.load(base + i))


@triton.jit
def bump(counts, at):
    tl.atomic_add(counts + at, 1)


def arrays(*sizes: int) -> list[np.ndarray]:
    return [np.arange(size, dtype=np.float32) for size in sizes]


@pytest.mark.parametrize("target", TARGETS)
def test_a_right_kernel_computes_what_it_computes_without(target: str) -> None:
    x, y, out = arrays(1000, 1000, 1000)
    add[(4,)](x, y, out, 1000, BLOCK=256, target=target, debug=True)
    np.testing.assert_array_equal(out, np.arange(1000) * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_a_mask_that_is_too_long_is_reported_at_the_first_load(target: str) -> None:
    x, y, out = arrays(1000, 2000, 2000)
    with pytest.raises(KernelError) as caught:
        add[(4,)](x, y, out, 1003, BLOCK=256, target=target, debug=True)
    line = inspect.getsourcelines(add.fn)[1] + 3
    assert f"{__file__}:{line} in add" in str(caught.value)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_the_message_names_lane_program_element_array_and_line(target: str) -> None:
    x, y, out = arrays(1000, 2000, 2000)
    with pytest.raises(KernelMemoryError) as caught:
        add[(4,)](x, y, out, 1003, BLOCK=256, target=target, debug=True)
    text = str(caught.value)
    assert "lane 232 of program (3, 0, 0) reads 4 bytes at element 1000 of `x`" in text
    assert "; so do 2 more lanes" in text
    assert "a = tl.load(x + i, mask=i < n)" in text


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_an_array_is_known_by_provenance_not_by_address(target: str) -> None:
    """The element past x is y's first: no other memory is touched, and it is wrong all the same."""
    both, out = np.zeros(2000, np.float32), np.zeros(2000, np.float32)
    x, y = both[:1000], both[1000:]
    with pytest.raises(KernelMemoryError, match="outside it, in `y`"):
        add[(4,)](x, y, out, 1003, BLOCK=256, target=target, debug=True)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_the_storage_around_a_tensor_may_be_touched(target: str) -> None:
    whole = torch.arange(2000, dtype=torch.float32)
    out = torch.zeros(2000)
    add[(4,)](whole[:1000], whole[:1000], out, 1003, BLOCK=256, target=target, debug=True)
    assert torch.equal(out[:1003], 2 * whole[:1003])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bad", [-1, 50, 2**31 - 1])
def test_a_gathered_index_is_looked_at_lane_by_lane(target: str, bad: int) -> None:
    x, out = arrays(50, 64)
    index = np.arange(40, dtype=np.int32)
    gather[(1,)](x, index, out, 40, BLOCK=64, target=target, debug=True)
    np.testing.assert_array_equal(out[:40], np.arange(40))
    index[7] = bad
    with pytest.raises(KernelError) as caught:
        gather[(1,)](x, index, out, 40, BLOCK=64, target=target, debug=True)
    if target != "cudasim":
        assert f"lane 7 of program (0, 0, 0) reads 4 bytes at element {bad} of" in str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("steps", "stride"), [(5, 16), (1, 1000), (5, -1)])
def test_a_pointer_that_a_loop_moves(target: str, steps: int, stride: int) -> None:
    x, out = arrays(16 * 4, 16)
    walk[(1,)](x, out, 4, 16, BLOCK=16, target=target, debug=True)
    np.testing.assert_array_equal(out, x.reshape(4, 16).sum(0))
    if steps == 1:
        return
    with pytest.raises(KernelError, match="load"):
        walk[(1,)](x, out, steps, stride, BLOCK=16, target=target, debug=True)


@pytest.mark.parametrize("target", TARGETS)
def test_a_pointer_to_one_of_two_arrays(target: str) -> None:
    x, y, out = arrays(64, 32, 64)
    choose[(1,)](x, y, out, 1, BLOCK=64, target=target, debug=True)
    with pytest.raises(KernelError):
        choose[(1,)](x, y, out, 0, BLOCK=64, target=target, debug=True)


@pytest.mark.parametrize("target", TARGETS)
def test_an_atomic_on_a_scalar(target: str) -> None:
    counts = np.zeros(4, np.int32)
    bump[(3,)](counts, 3, target=target, debug=True)
    assert counts.tolist() == [0, 0, 0, 3]
    with pytest.raises(KernelError, match="atomic"):
        bump[(3,)](counts, 4, target=target, debug=True)


def test_a_launch_after_a_fault_is_as_before() -> None:
    x, y, out = arrays(1000, 1000, 1000)
    for _ in range(3):
        with pytest.raises(KernelMemoryError):
            add[(4,)](x, y, out, 1003, BLOCK=256, target="cpu", debug=True)
        add[(4,)](x, y, out, 1000, BLOCK=256, target="cpu", debug=True)


def test_a_launch_without_it_has_no_check() -> None:
    x, y, out = arrays(1000, 1000, 1000)
    plain = add[(4,)](x, y, out, 1000, BLOCK=256, target="cpu")
    checked = add[(4,)](x, y, out, 1000, BLOCK=256, target="cpu", debug=True)
    assert "check_access" not in str(plain.ssa_ops)
    assert str(checked.ssa_ops).count("check_access") == 3


def test_the_environment_and_the_command_turn_it_on(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(
        "import numpy as np\n"
        "import mytriton as triton\n"
        "import mytriton.language as tl\n"
        "@triton.jit\n"
        "def kernel(x, N: tl.constexpr):\n"
        "    tl.store(x + tl.arange(0, N), 1.0)\n"
        "kernel[(1,)](np.zeros(100, np.float32), N=128)\n"
    )
    ways: list[tuple[list[str], dict[str, str]]] = [
        ([str(file)], {"MYTRITON_DEBUG": "1", "MYTRITON_TARGET": "cpu"}),
        (["-m", "mytriton", "run", "--debug", str(file)], {}),
    ]
    for arguments, environment in ways:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 1
        assert "element 100 of `x` (100 elements of f32)" in done.stderr
        assert "tl.store(x + tl.arange(0, N), 1.0)" in done.stderr
