"""Control flow and names, rule by rule; docs/semantics.md says which rule is which test.

Elsewhere: random programs in tests/properties/test_control_flow.py; sixty wrong kernels in
tests/frontend/test_errors.py; captured values in tests/runtime/test_guards.py; device_assert and
device_print in tests/targets/test_faults.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError, KernelAssertionError
from mytriton.language.debug import StaticAssertionError
from tests.support.backends import refused_everywhere, run_everywhere


@triton.jit
def ranges_kernel(out, low, high, step, wide: tl.int64):
    count = low * 0
    total = wide * 0
    for i in range(low, high, step):
        tl.static_assert(i.dtype == tl.int32)
        count += 1
        total += i
    for j in range(wide, wide + 2):
        tl.static_assert(j.dtype == tl.int64)
        total += j
    tl.store(out, count)
    tl.store(out + 1, total)


@pytest.mark.parametrize("bounds", [(0, 5, 1), (5, -5, -3), (3, 3, 1), (-4, 9, 4), (2, -2, 1)])
def test_ranges_of_any_width_and_step(bounds):
    r = range(*bounds)
    wanted = [len(r), sum(r) + 2 * 2**40 + 1]
    run_everywhere(
        ranges_kernel, (1,), np.zeros(2, np.int64), *bounds, 2**40, expected={"out": wanted}
    )


@triton.jit
def exits_kernel(out, n):
    total = n * 0
    for i in range(100):
        if i % 3 == 1:
            continue
        if i > n:
            break
        for j in range(i):
            if j == 4:
                break
            total += 1
        if total > 20:
            tl.store(out, total)
            return
    tl.store(out, -total)


@pytest.mark.parametrize("n", [0, 3, 5, 50])
def test_break_continue_and_return_inside_loops(n):
    total, wanted = 0, None
    for i in range(100):
        if i % 3 == 1:
            continue
        if i > n:
            break
        total += min(i, 4)
        if total > 20:
            wanted = total
            break
    run_everywhere(
        exits_kernel, (1,), np.zeros(1, np.int32), n,
        expected={"out": [-total if wanted is None else wanted]},
    )  # fmt: skip


@triton.jit
def while_kernel(out, n):
    steps = n * 0
    left = n
    while left:
        left = left & (left - 1)
        steps += 1
    while tl.condition(steps < 10):
        steps += 4
    tl.store(out, steps)


def test_while_on_an_int_is_whether_it_is_zero():
    run_everywhere(while_kernel, (1,), np.zeros(1, np.int32), 0b1011, expected={"out": [11]})
    run_everywhere(while_kernel, (1,), np.zeros(1, np.int32), 0, expected={"out": [12]})


@triton.jit
def changing_kernel(out, n):
    total = 0
    for i in range(n):
        total = total + 0.5 * i
    tl.store(out, total)


@triton.jit
def unbound_kernel(out, n):
    if n > 3:
        late = 1
    tl.store(out, late)


@triton.jit
def differing_kernel(out, n):
    if n > 3:
        value = n
    else:
        value = n * 0.5
    tl.store(out, value)


@pytest.mark.parametrize(
    ("kernel", "name", "shown"),
    [
        (changing_kernel, "`total`", ("i32", "f32")),
        (unbound_kernel, "`late`", ("one branch only",)),
        (differing_kernel, "`value`", ("i32", "f32")),
    ],
    ids=["changed by a loop", "bound in one branch", "two types after an if"],
)
def test_a_name_that_changes_its_type_is_an_error_that_names_it(kernel, name, shown):
    with pytest.raises(CompileError) as caught:
        kernel[(1,)](np.zeros(1, np.float32), 5, target="interpret")
    text = str(caught.value)
    assert name in text and all(part in text for part in shown), text
    assert "line" in text


@triton.jit
def tripled(x):
    return x * 3


def scaled(factor):
    @triton.jit
    def scale(x):
        return x * factor

    return scale


@triton.jit
def constexprs_kernel(
    out, F: tl.constexpr, DTYPE: tl.constexpr, NONE: tl.constexpr, PAIR: tl.constexpr
):
    lanes = tl.arange(0, 4)
    value = F(lanes).to(DTYPE) + PAIR[0]
    if NONE is None:
        value = value + PAIR[1]
    tl.store(out + lanes, value)


def test_constexprs_may_be_functions_dtypes_none_and_tuples():
    lanes = np.arange(4)
    for function, factor in ((tripled, 3), (scaled(5), 5), (scaled(7), 7)):
        run_everywhere(
            constexprs_kernel, (1,), np.zeros(4, np.int32), F=function, DTYPE=tl.int32, NONE=None,
            PAIR=(10, 100), expected={"out": lanes * factor + 110},
        )  # fmt: skip
    run_everywhere(
        constexprs_kernel, (1,), np.zeros(4, np.float32), F=tripled, DTYPE=tl.float16, NONE=1,
        PAIR=(0.5, 1), expected={"out": lanes * 3 + 0.5},
    )  # fmt: skip


LIMIT = tl.constexpr(4)


@triton.jit
def captured_kernel(out):
    tl.store(out, LIMIT + 1)


def test_a_captured_value_that_changes_is_noticed(monkeypatch):
    run_everywhere(captured_kernel, (1,), np.zeros(1, np.int32), expected={"out": [5]})
    monkeypatch.setitem(globals(), "LIMIT", tl.constexpr(40))
    run_everywhere(captured_kernel, (1,), np.zeros(1, np.int32), expected={"out": [41]})


@triton.jit
def static_kernel(out, BLOCK: tl.constexpr):
    tl.static_print("block", BLOCK)
    tl.static_assert(BLOCK % 4 == 0, "BLOCK must be a multiple of 4")
    tl.store(out, BLOCK)


def test_static_checks_happen_while_compiling(capsys):
    run_everywhere(static_kernel, (1,), np.zeros(1, np.int32), BLOCK=8, expected={"out": [8]})
    assert "block 8" in capsys.readouterr().out
    refused_everywhere(
        static_kernel, (1,), np.zeros(1, np.int32), BLOCK=6, error=StaticAssertionError,
        match="multiple of 4",
    )  # fmt: skip


@triton.jit
def words_of_python_kernel(x, n):
    value = tl.load(x + tl.arange(0, 4))
    print("value", value)
    assert n > 2, "n is small"


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_print_and_assert_are_those_of_the_running_kernel(target, capfd):
    words_of_python_kernel[(2,)](np.arange(4, dtype=np.int32), 5, target=target)
    shown = [line for line in capfd.readouterr().out.splitlines() if "value" in line]
    assert len(shown) == 2 and all("0 1 2 3" in line for line in shown)
    with pytest.raises(KernelAssertionError, match="n is small"):
        words_of_python_kernel[(2,)](np.arange(4, dtype=np.int32), 1, target=target)
