"""A wrong program is told what was given, what is allowed and what to do."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, CompileTypeError, CompileValueError, KernelAssertionError
from mytriton.language.debug import StaticAssertionError
from mytriton.tools.signature import SignatureError, complete, parse_signature

WRONG: list[Any] = []


def wrong(*words: str) -> Any:
    """A kernel that must fail on the line marked `# wrong`, with a message that has the words."""

    def mark(function: Any) -> Any:
        WRONG.append(pytest.param(triton.jit(function), words, id=function.__name__))
        return function

    return mark


@wrong("i32", "known only at run time")
def a_range_of_a_number_known_late(x, n):
    tl.store(x + tl.arange(0, n), 1.0)  # wrong


@wrong("i32", "known only at run time")
def a_shape_of_a_number_known_late(x, n):
    tl.store(x, tl.sum(tl.zeros([n], tl.float32)))  # wrong


@wrong("ptr<f32>", "tl.load")
def a_pointer_read_by_index(x, n):
    y = x[1]  # wrong
    tl.store(x, y)


@wrong("ptr<f32>", "tl.store")
def a_pointer_written_by_index(x, n):
    x[1] = 2.0  # wrong


@wrong("vector<8 x f32>", "tl.where")
def a_block_written_by_index(x, n):
    v = tl.load(x + tl.arange(0, 8))
    v[0] = 2.0  # wrong
    tl.store(x + tl.arange(0, 8), v)


@wrong("np.exp", "use tl.exp")
def a_function_of_numpy(x, n):
    tl.store(x, np.exp(tl.load(x)))  # wrong


@wrong("np.sum", "use tl.sum")
def a_reduction_of_numpy(x, n):
    tl.store(x, np.sum(tl.load(x + tl.arange(0, 8))))  # wrong


@wrong("assert failed: 8 is not 9")
def an_assert_while_compiling(x, n, BLOCK: tl.constexpr = 8):
    assert BLOCK == 9, f"{BLOCK} is not 9"  # wrong


@pytest.mark.parametrize("target", ["cpu", "eager"])
@pytest.mark.parametrize("kernel, words", WRONG)
def test_the_message_says_what_to_do(kernel: Any, words: tuple[str, ...], target: str) -> None:
    if target == "eager" and "known only at run time" in words:
        pytest.skip("the eager driver runs the kernel's Python: it knows every number")
    with pytest.raises(CompileError) as caught:
        kernel[(1,)](np.ones(8, np.float32), 3, target=target)
    assert "# wrong" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_function_of_torch() -> None:
    torch = pytest.importorskip("torch")

    @triton.jit
    def kernel(x):
        tl.store(x, torch.exp(tl.load(x)))

    with pytest.raises(CompileTypeError, match=r"torch\.exp works on.*: use tl\.exp"):
        kernel[(1,)](np.ones(1, np.float32), target="cpu")


def test_a_number_of_numpy_on_the_left() -> None:
    two = tl.constexpr(np.float32(2))

    @triton.jit
    def kernel(x):
        tl.store(x, two * tl.load(x))

    x = np.ones(1, np.float32)
    kernel[(1,)](x, target="cpu")
    assert x == 2


@triton.jit
def checked(x, n):
    assert n > 5, "n is small"
    tl.store(x, n)


@pytest.mark.parametrize("target", ["cpu", "interpret", "eager"])
def test_an_assert_of_a_run_time_value(target: str) -> None:
    """Every target raises the same error, which names the program."""
    with pytest.raises(KernelAssertionError, match=r"n is small, in program \(0, 0, 0\)") as caught:
        checked[(1,)](np.zeros(1, np.float32), 3, target=target)
    assert 'assert n > 5, "n is small"' in str(caught.value)


def test_an_assert_while_compiling_is_a_static_one() -> None:
    assert issubclass(StaticAssertionError, AssertionError)


@triton.jit
def printing(x):
    print("value", tl.load(x), hex=True)


@pytest.mark.parametrize("target", ["cpu", "interpret", "eager"])
def test_print_takes_hex_everywhere(target: str, capsys: Any) -> None:
    printing[(1,)](np.full(1, 255, np.int32), target=target)
    shown = capsys.readouterr().out
    assert "value" in shown
    assert target == "eager" or "ff" in shown


@pytest.mark.parametrize("grid", [(2**31,), (1, 2**40)])
def test_a_grid_too_large(grid: tuple[int, ...]) -> None:
    message = re.escape(f"invalid launch grid: {grid}; {max(grid)} programs do not fit int32")
    with pytest.raises(CompileValueError, match=message):
        checked[grid](np.zeros(1, np.float32), 3, target="cpu")


@pytest.mark.parametrize("option", [{"num_warps": 3}, {"num_warps": "x"}, {"num_stages": -1}])
def test_launch_options_no_target_has(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(CompileValueError, match=f"{name}=.* on cpu: must be"):
        checked[(1,)](np.zeros(1, np.float32), 9, target="cpu", **option)


def test_a_sparse_tensor() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(CompileTypeError, match="x: a tensor with plain memory is needed"):
        checked[(1,)](torch.ones(4, dtype=torch.int32).to_sparse(), 9)
    checked[(1,)](torch.ones(4), 9)
    with pytest.raises(CompileTypeError, match="a tensor with plain memory is needed"):
        checked[(1,)](torch.ones(4).to_sparse(), 9)  # the quick way of a second launch


def test_a_word_that_is_no_type() -> None:
    with pytest.raises(SignatureError, match=r"x: there is no type '\*fp99'"):
        complete(checked.fn, set(), parse_signature("x=*fp99"))


def test_output_whose_reader_has_left() -> None:
    """`mytriton show … | head -1` ends without a traceback."""
    path = __file__ + "::checked"
    shown = subprocess.Popen(
        [sys.executable, "-m", "mytriton", "show", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert shown.stdout is not None and shown.stderr is not None
    shown.stdout.close()
    assert shown.stderr.read() == ""
    assert shown.wait() == 1
