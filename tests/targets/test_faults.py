"""What is wrong with a run is said at the kernel's own line."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import KernelAssertionError, KernelError, KernelMemoryError
from tests.support.backends import available, launch

CHECKED = [name for name in ("traced", "interpret", "eager") if name in available()]


@triton.jit
def shifted(x, lanes):
    return tl.load(x + lanes + 1)  # reads one too far


@triton.jit
def outside_kernel(x, out, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = shifted(x, lanes)  # calls it
    tl.store(out + lanes, value)


@pytest.mark.parametrize("target", CHECKED)
def test_an_access_outside_names_line_callers_program_lane_and_element(target):
    x, out = np.zeros(32, np.float32), np.zeros(32, np.float32)
    with pytest.raises(KernelMemoryError) as caught:
        launch(target, outside_kernel, (2,), x, out, BLOCK=16)
    text = str(caught.value)
    assert "load: lane 15 of program (1, 0, 0) reads 4 bytes at element 32 of `x`" in text
    lines = [frame.text for frame in caught.value.where]
    assert [line.split("  # ")[1] for line in lines] == ["reads one too far", "calls it"]
    assert isinstance(caught.value, KernelError) and isinstance(caught.value, IndexError)


@triton.jit
def assert_kernel(x, limit, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + lanes)
    tl.device_assert(value < limit, "too large", mask=lanes != 5)  # here


@pytest.mark.parametrize("target", available(skip=["cudasim"]))
def test_a_device_assertion_fires_with_message_line_and_program(target):
    x = np.arange(64, dtype=np.int32)
    launch(target, assert_kernel, (4,), x, 64, BLOCK=16)
    x[5] = 1000  # masked off
    launch(target, assert_kernel, (4,), x, 1000, BLOCK=16)
    with pytest.raises(KernelAssertionError, match="too large") as caught:
        launch(target, assert_kernel, (4,), x, 40, BLOCK=16)
    assert caught.value.where[0].text.endswith("# here")
    assert "(2, 0, 0)" in str(caught.value)


@triton.jit
def waiting_kernel(flag):
    while tl.load(flag, volatile=True) == 0:  # waits
        pass


@pytest.mark.parametrize("target", [name for name in CHECKED if name != "eager"])
def test_a_deadlock_is_an_error_at_the_loop(target):
    with pytest.raises(KernelError, match="3 programs wait") as caught:
        launch(target, waiting_kernel, (3,), np.zeros(1, np.int32))
    assert caught.value.where[0].text.endswith("# waits")


@triton.jit
def print_kernel(x):
    tl.device_print("row: ", tl.load(x + tl.arange(0, 4)))


@pytest.mark.parametrize("target", CHECKED)
def test_device_print_shows_a_block_once_a_program(target, capsys):
    launch(target, print_kernel, (2,), np.arange(4, dtype=np.int32))
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"pid ({pid}, 0, 0) row: [0 1 2 3]" for pid in range(2)]
