"""The message of a wrong kernel or launch says what was given and what was probably meant.

A row is a kernel, its arguments and the whole message without its place; the wrong line is the one
that ends in `# wrong`.
"""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError

X = np.zeros(64, np.float32)


@dataclass(frozen=True)
class Wrong:
    kernel: Any
    message: str
    args: tuple[Any, ...]


ROWS: list[Wrong] = []


def wrong(message: str, *args: Any) -> Callable[[Any], Any]:
    """Makes a row of the kernel below, launched with these arguments after x."""

    def add(fn: Any) -> Any:
        ROWS.append(Wrong(triton.jit(fn), message, args))
        return fn

    return add


# -- names


@wrong("tl has no `strore`; did you mean `tl.store`?")
def function_of_tl(x):
    tl.strore(x, 1.0)  # wrong


@wrong("tl.math has no `expp`; did you mean `tl.math.exp`?")
def function_of_tl_math(x):
    tl.store(x, tl.math.expp(1.0))  # wrong


@wrong("tl has no `flaot16`; did you mean `tl.float16`?")
def dtype_of_tl(x):
    tl.store(x, tl.load(x).to(tl.flaot16))  # wrong


@wrong("a tensor has no attribute `summ`; did you mean `sum`?")
def method_of_a_tensor(x):
    tl.store(x, tl.load(x + tl.arange(0, 8)).summ())  # wrong


@wrong("name `offstes` is not defined; did you mean `offsets`?")
def local_name(x):
    offsets = tl.arange(0, 8)
    tl.store(x + offstes, offsets)  # wrong  # noqa: F821


@wrong("name `cdiv` is not defined; did you mean `tl.cdiv`?")
def name_of_tl(x):
    tl.store(x, cdiv(5, 2))  # wrong  # noqa: F821


@wrong("name `something` is not defined")
def name_of_nothing(x):
    tl.store(x, something)  # wrong  # noqa: F821


@wrong("load: got an unexpected keyword argument 'msk'; did you mean `mask`?")
def keyword_of_load(x):
    tl.store(x, tl.load(x, msk=True))  # wrong


@wrong(
    "store: missing a required argument: 'value'; the parameters are (pointer, value, mask,"
    " boundary_check, cache_modifier, eviction_policy)"
)
def missing_argument(x):
    tl.store(x)  # wrong


@triton.jit
def scaled(value, factor):
    return value * factor


@wrong("scaled(): got an unexpected keyword argument 'facotr'; did you mean `factor`?")
def keyword_of_a_helper(x):
    tl.store(x, scaled(tl.load(x), facotr=2))  # wrong


# -- NumPy and math


@wrong("np.exp works on numbers and arrays, not on tensors: use tl.exp")
def function_of_numpy(x):
    tl.store(x, np.exp(tl.load(x)))  # wrong


@wrong("np.arctan works on numbers and arrays, not on tensors: use tl.extra.libdevice.atan")
def function_named_otherwise(x):
    tl.store(x, np.arctan(tl.load(x)))  # wrong


@wrong(
    "a value of type f32, known only at run time, cannot be used as a Python float;"
    " math.exp works on numbers and arrays, not on tensors: use tl.exp"
)
def function_of_math(x):
    tl.store(x, math.exp(tl.load(x)))  # wrong


# -- pointers


@wrong(
    "a pointer has no shape: a kernel is given an array's address alone; pass its sizes and strides"
    " as arguments"
)
def shape_of_a_pointer(x):
    tl.store(x, x.shape[0])  # wrong


@wrong(
    "a pointer (ptr<f32>) has no `strides`: a kernel is given an array's address alone; pass its"
    " sizes and strides as arguments"
)
def strides_of_a_pointer(x):
    tl.store(x, x.strides)  # wrong


@wrong(
    "store: the value is a pointer (ptr<f32>), but numbers of fp32 are stored here; did you forget"
    " tl.load?"
)
def stored_pointer(x):
    tl.store(x, x + 1)  # wrong


@wrong("*: numbers are needed, got ptr<f32>; did you forget tl.load?")
def pointer_times_number(x):
    tl.store(x, (x + 1) * 2.0)  # wrong


# -- values that only the run knows


@wrong(
    "arange's end must be an int known when the kernel is compiled (a tl.constexpr), got `BLOCK`,"
    " an argument of type i32 known only at run time; annotate its parameter `BLOCK: tl.constexpr`",
    64,
)
def forgotten_constexpr(x, BLOCK):
    tl.store(x + tl.arange(0, BLOCK), 1.0)  # wrong


@wrong(
    "a shape's extent must be an int known when the kernel is compiled (a tl.constexpr), got a"
    " value of type i32, known only at run time; make it a tl.constexpr",
    64,
)
def computed_extent(x, n):
    tl.store(x, tl.sum(tl.zeros((n * 2,), tl.float32)))  # wrong


@wrong(
    "`n`, an argument of type i32 known only at run time, cannot be used as a Python int; a"
    " comprehension runs while the kernel is compiled, so what it runs over must be known: write a"
    " `for` loop, or annotate its parameter `n: tl.constexpr`",
    3,
)
def comprehension(x, n):
    values = [tl.load(x + i) for i in range(n)]  # wrong
    tl.store(x, values[0])


# -- helpers


@triton.jit
def forgets(value):
    doubled = value * 2  # noqa: F841


@wrong("a tensor or a number is needed, got None; `forgets` returns nothing: it has no `return`")
def stored_result_of_nothing(x):
    tl.store(x, forgets(tl.load(x)))  # wrong


@wrong(
    "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'; `forgets` returns nothing:"
    " it has no `return`"
)
def sum_with_nothing(x):
    tl.store(x, forgets(tl.load(x)) + 1)  # wrong


@wrong("a tensor or a number is needed, got None; `forgets` returns nothing: it has no `return`")
def named_result_of_nothing(x):
    doubled = forgets(tl.load(x))
    if doubled is None:
        pass
    tl.store(x, doubled)  # wrong


# -- functions and operators that a tensor has not


@wrong("@ is not an operator of tensors; write tl.dot(a, b)")
def matrix_product(x):
    block = tl.zeros((16, 16), tl.float32)
    tl.store(x, block @ block)  # wrong


@wrong("@ is not an operator of tensors; write tl.dot(a, b)")
def number_times_block(x):
    tl.store(x, 2 @ tl.load(x))  # wrong


@wrong("a tensor has no attribute `load`; there is the function `tl.load`")
def method_of_a_pointer(x):
    tl.store(x, x.load())  # wrong


def test_a_name_of_the_package() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'autotun'; did you mean `triton\.auto"):
        triton.autotun


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kernel.__name__)
def test_the_message(row: Wrong) -> None:
    with pytest.raises(CompileError) as raised:
        row.kernel[(1,)](X, *row.args, target="cpu")
    assert raised.value.message == row.message
    lines, start = inspect.getsourcelines(row.kernel.fn)
    (place,) = (start + i for i, line in enumerate(lines) if "# wrong" in line)
    assert raised.value.where[0].line == place
    assert raised.value.__cause__ is None


# -- launches


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n)


def message_of(launch: Callable[[], Any]) -> str:
    """The message of a launch that is refused, in whose traceback one frame is not the user's."""
    with pytest.raises(CompileError) as raised:
        launch()
    frames = [frame.filename for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert not any("/mytriton/" in file for file in frames)
    assert len([file for file in frames if file.startswith("<launch of ")]) == 1
    return raised.value.message


def test_arguments_of_a_launch() -> None:
    def refused(*args: Any, **named: Any) -> str:
        return message_of(lambda: kernel[(1,)](*args, **named))

    parameters = "the parameters are (x, n, BLOCK)"
    assert (
        refused(X, 3, 4, 5)
        == f"kernel() takes 3 positional arguments but 4 were given; {parameters}"
    )
    assert (
        refused(X, 3) == f"kernel() missing 1 required positional argument: 'BLOCK'; {parameters}"
    )
    unexpected = "kernel() got an unexpected keyword argument"
    assert refused(X, 3, BLOK=8) == f"{unexpected} 'BLOK'; did you mean `BLOCK`?"
    assert (
        refused(X, 3, BLOCK=8, num_warp=4) == f"{unexpected} 'num_warp'; did you mean `num_warps`?"
    )
    assert refused(X, "three", BLOCK=8) == (
        "n: a string is known when the kernel is compiled, got 'three' for a run-time argument;"
        " annotate the parameter `n: tl.constexpr`"
    )


def test_the_name_of_a_target() -> None:
    known = "there is no target 'cuds'; there are cpu, interpret, eager, cudasim, cuda"
    assert message_of(lambda: kernel[(1,)](X, 3, 8, target="cuds")).startswith(known)
    assert message_of(lambda: kernel[(1,)](X, 3, 8, target="cudasin")).endswith(
        "; did you mean `cudasim`?"
    )


def test_a_name_in_the_grid() -> None:
    text = "the grid asks for {}, which is no argument of this launch; {}"
    for name, end in (
        ("BLOK", "did you mean `BLOCK`?"),
        ("rows", "there are x, n, BLOCK"),
    ):
        grid = {"BLOK": lambda meta: (meta["BLOK"],), "rows": lambda meta: (meta["rows"],)}[name]
        assert message_of(lambda g=grid: kernel[g](X, 3, BLOCK=8)) == text.format(repr(name), end)


NO_SOURCE = """
import numpy as np, mytriton as triton, mytriton.language as tl
space = {"tl": tl}
exec("def kernel(x, n):\\n    if n > 2:\\n        tl.store(x, 1.0)\\n", space)
triton.jit(space["kernel"])[(1,)](np.zeros(4, np.float32), 3, target="cpu")
"""


def test_a_kernel_whose_source_cannot_be_had() -> None:
    done = subprocess.run([sys.executable, "-c", NO_SOURCE], capture_output=True, text=True)
    assert (
        "the source text of `kernel` cannot be had, so a run-time `if` or loop in it cannot be"
        " compiled: put the kernel in a file" in done.stderr
    )


@triton.jit
def f_string(x, n, QUIET: tl.constexpr):
    value = tl.load(x)
    if QUIET:
        tl.static_print(f"traced {value}")
    else:
        print(f"value {value:>12} {n} {QUIET}")


def test_an_f_string_of_a_run_time_value(capsys: Any) -> None:
    """Refused where it is printed by the run; the eager driver, which runs, has the value."""
    x = np.full(1, 2.5, np.float32)
    assert message_of(lambda: f_string[(1,)](x, 3, False, target="cpu")) == (
        "a value of type f32, known only at run time, has no text while the kernel is compiled;"
        ' give it to print as an argument, print("x =", x), instead of in an f-string'
    )
    f_string[(1,)](x, 3, True, target="cpu")
    assert "traced tensor<f32>" in capsys.readouterr().out
    f_string[(1,)](x, 3, False, target="eager")
    assert re.match(r"pid \(0, 0, 0\) value .*2\.5 .*3 False", capsys.readouterr().out)
