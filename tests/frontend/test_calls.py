"""Calls between jit functions, and what may travel through calls and control flow."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError
from mytriton.ir.nodes import walk


def run(kernel: Any, *args: Any, **kwargs: Any) -> list[float]:
    """What a kernel stores into eight floats, the same on finished IR and eagerly."""
    results = []
    for target in ("interpret", "eager"):
        out = np.zeros(8, np.float32)
        kernel[(1,)](out, *args, target=target, **kwargs)
        results.append(out.tolist())
    assert results[0] == results[1]
    return results[0]


@triton.jit
def scaled(x, scale=2.0, *, offset: tl.constexpr = 1):
    return x * scale + offset


@triton.jit
def two(x, y):
    return x + y, x - y


@triton.jit
def total(*values):
    result = 0.0
    for value in values:
        result += value
    return result


def test_defaults_and_keywords() -> None:
    @triton.jit
    def kernel(out, v):
        tl.store(out, scaled(v))
        tl.store(out + 1, scaled(v, 3.0))
        tl.store(out + 2, scaled(scale=v, x=v, offset=5))

    assert run(kernel, 4.0)[:3] == [9, 13, 21]


def test_tuples_and_stars() -> None:
    @triton.jit
    def kernel(out, v):
        a, b = two(v, 1.0)
        pair = two(y=a, x=b)
        tl.store(out, total(a, b, *pair, **{}))
        tl.store(out + 1, total())

    assert run(kernel, 4.0)[:2] == [5 + 3 + 8 - 2, 0]


def test_closures_lambdas_and_functions_in_containers() -> None:
    factor = 3.0
    table = {"scaled": scaled, "square": lambda x: x * x}

    @triton.jit
    def kernel(out, v, WHICH: tl.constexpr):
        f = table[WHICH]
        tl.store(out, f(v) * factor)

    assert run(kernel, 4.0, WHICH="scaled")[0] == 27
    assert run(kernel, 4.0, WHICH="square")[0] == 48


def test_comprehensions_and_python_containers() -> None:
    @triton.jit
    def kernel(out, v, N: tl.constexpr):
        parts = [v * i for i in range(N) if i != 1]
        named = {"a": parts[0], "b": sum(parts)}
        for i, part in enumerate(parts):
            tl.store(out + i, part)
        tl.store(out + len(parts), named["b"])

    assert run(kernel, 4.0, N=4)[:4] == [0, 8, 12, 20]


Point = namedtuple("Point", "x y")


class Typed(NamedTuple):
    x: Any
    y: Any


@triton.aggregate
class Accumulator:
    total: Any
    count: Any

    def add(self, value):
        return Accumulator(self.total + value, self.count + 1)


@dataclass(frozen=True)
class Plain:
    low: Any
    high: Any


@pytest.mark.parametrize("kind", [Point, Typed, Plain], ids=lambda k: k.__name__)
def test_records_through_control_flow(kind: Any) -> None:
    @triton.jit
    def kernel(out, n):
        state = kind(n, 0)
        for i in range(n):
            a, b = fields(state)
            state = kind(a + i, b + 1)
            if i > 2:
                state = kind(a, b)
        a, b = fields(state)
        tl.store(out, a)
        tl.store(out + 1, b)

    def fields(value):
        return (value.low, value.high) if kind is Plain else (value.x, value.y)

    assert run(kernel, 5)[:2] == [5 + 0 + 1 + 2, 3]


def test_aggregates_through_control_flow() -> None:
    @triton.jit
    def kernel(out, n):
        state = Accumulator(0.0, 0)
        while state.count < n:
            if state.count % 2 == 0:
                state = state.add(10.0)
            else:
                state.total = state.total + 1.0
                state.count = state.count + 1
        tl.store(out, state.total)
        tl.store(out + 1, state.count)

    assert run(kernel, 5)[:2] == [32, 5]


def test_a_number_that_only_a_known_branch_would_change_stays_python() -> None:
    @triton.jit
    def kernel(out, n, GROW: tl.constexpr):
        width = 4
        acc = 0.0
        for i in range(n):
            if GROW:
                width = width * 2
            acc += tl.sum(tl.arange(0, width))
        tl.store(out, acc)
        tl.store(out + width, 1.0)

    assert run(kernel, 3, GROW=False)[0] == 18
    with pytest.raises(CompileError, match="constexpr"):
        run(kernel, 3, GROW=True)


def test_known_branches_run_alone() -> None:
    @triton.jit
    def kernel(out, p, N: tl.constexpr):
        if p is not None and N > 3:
            tl.store(out, tl.load(p))
        elif p is None:
            tl.store(out, 5.0)
        x = tl.load(p) if p is not None else 6.0
        tl.store(out + 1, x)

    assert run(kernel, None, N=5)[:2] == [5, 6]
    assert run(kernel, np.full(1, 7, np.float32), N=5)[:2] == [7, 7]


def test_untaken_side_of_a_conditional_expression_is_not_evaluated() -> None:
    @triton.jit
    def kernel(out, p, n):
        tl.store(out, tl.load(p + n) if n < 4 else -1.0)
        y = n > 1 and n < 3
        tl.store(out + 1, 1.0 if y else 0.0)

    p = np.arange(4, dtype=np.float32)
    assert run(kernel, p, 2)[:2] == [2, 1]
    assert run(kernel, p, 10**6)[:2] == [-1, 0]


def test_hints_of_loops_are_kept() -> None:
    @triton.jit
    def kernel(out, n):
        for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
            tl.store(out + i, 1.0)

    assert run(kernel, 3) == [1, 1, 1, 0, 0, 0, 0, 0]
    function = kernel[(1,)](np.zeros(8, np.float32), 3).traced
    (loop,) = [op for op in walk(function.body) if op.name == "for"]
    assert dict(loop.attrs["hints"]) == {"num_stages": 3, "loop_unroll_factor": 2}


@pytest.mark.parametrize(("bounds", "ty"), [((3,), "i32"), ((2**40,), "i64"), ((3, 2**33), "i64")])
def test_loop_variables_have_the_promoted_type(bounds: tuple[int, ...], ty: str) -> None:
    @triton.jit
    def kernel(out, low, high):
        for i in range(low, high):
            tl.store(out, i.to(tl.float32))

    launched = kernel[(1,)](np.zeros(8, np.float32), *((0, *bounds)[-2:]))
    (loop,) = [op for op in walk(launched.traced.body) if op.name == "for"]
    assert str(loop.regions[0].params[0].ty) == ty


def test_loop_range_chosen_by_a_constexpr() -> None:
    @triton.jit
    def kernel(out, STATIC: tl.constexpr):
        for i in (tl.static_range if STATIC else range)(4):
            tl.store(out + i, i)
        for i in tl.static_range(2) if STATIC else tl.range(2):
            tl.store(out + 4 + i, i)

    assert run(kernel, STATIC=True) == run(kernel, STATIC=False) == [0, 1, 2, 3, 0, 1, 0, 0]


def test_a_function_without_source_is_traced_as_it_is() -> None:
    space: dict[str, Any] = {"tl": tl}
    exec("def kernel(out, n, N):\n    if N > 3: tl.store(out, n + sum(range(N)))", space)
    assert run(triton.jit(space["kernel"]), 3, N=tl.constexpr(4))[0] == 9
    exec("def kernel(out, n):\n    if n > 3: tl.store(out, n)", space)
    with pytest.raises(CompileError, match="known only at run time"):
        run(triton.jit(space["kernel"]), 3)


def test_methods_and_nested_indentation() -> None:
    class Library:
        @staticmethod
        @triton.jit
        def kernel(out, n):
            if n > 3 and n < 9:
                tl.store(
                    out,
                    n)  # fmt: skip

    assert run(Library.kernel, 5)[0] == 5


def test_where_ops_come_from() -> None:
    @triton.jit
    def inner(x):
        return x * 3.0

    @triton.jit
    def kernel(out, v):
        tl.store(out, inner(v))

    function = kernel[(1,)](np.zeros(1, np.float32), 2.0).traced
    (multiply,) = [op for op in walk(function.body) if op.name == "mul"]
    assert [place.text for place in multiply.where] == [
        "return x * 3.0",
        "tl.store(out, inner(v))",
    ]
    assert [place.function for place in multiply.where] == ["inner", "kernel"]


def test_locals_of_the_kernel_are_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    def look() -> None:
        import sys

        print(*sorted(name for name in sys._getframe(1).f_locals if name[0] != "$"))

    @triton.jit
    def kernel(out, n):
        a = 1
        for i in range(n):
            look()
            a = a + i
        tl.store(out, a)

    kernel[(1,)](np.zeros(1, np.float32), 3)
    assert capsys.readouterr().out.split("\n")[0] == "a i look n out"


def test_many_branches_in_a_row() -> None:
    text = "def kernel(out, n):\n" + "".join(
        f"    if n == {i}:\n        tl.store(out, {i}.0)\n        return\n" for i in range(30)
    )
    import linecache

    lines = text.splitlines(True)
    linecache.cache["<many>"] = (len(text), None, lines, "<many>")
    space: dict[str, Any] = {"tl": tl}
    exec(compile(text, "<many>", "exec"), space)
    assert run(triton.jit(space["kernel"]), 27)[0] == 27


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    @triton.jit
    def kernel(out, n):
        print("n is", n, "and", 3)
        tl.store(out, n)

    kernel[(2,)](np.zeros(1, np.float32), 5, target="interpret")
    shown = [f"pid ({i}, 0, 0) {text}" for i in (0, 1) for text in ("n is 5", "and 3")]
    assert capsys.readouterr().out.splitlines() == shown


def test_asserts() -> None:
    @triton.jit
    def kernel(out, n, N: tl.constexpr):
        assert N == 4, "N must be 4"
        assert n > 2, f"n too small for {N}"
        tl.store(out, n)

    assert run(kernel, 3, N=4)[0] == 3
    with pytest.raises(AssertionError, match="N must be 4"):
        run(kernel, 3, N=5)
    with pytest.raises(AssertionError, match="n too small for 4"):
        run(kernel, 1, N=4)


def test_block_pointers_are_carried() -> None:
    @triton.jit
    def kernel(out, x):
        p = tl.make_block_ptr(x, (8,), (1,), (0,), (2,), (0,))
        acc = tl.zeros((2,), tl.float32)
        for _ in range(0, 4):
            acc += tl.load(p)
            p = tl.advance(p, (2,))
        tl.store(out + tl.arange(0, 2), acc)

    assert run(kernel, np.arange(8, dtype=np.float32))[:2] == [12, 16]


def test_spin_loops() -> None:
    @triton.jit
    def kernel(out, lock):
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(out, tl.load(out) + 1)
        tl.atomic_xchg(lock, 0)

    out, lock = np.zeros(1, np.float32), np.zeros(1, np.int32)
    kernel[(5,)](out, lock, target="interpret")
    assert out[0] == 5


def test_calls_nest_to_a_limit() -> None:
    def chain(length: int) -> Any:
        function = triton.jit(lambda_identity)
        for _ in range(length):
            function = caller_of(function)
        return function

    @triton.jit
    def kernel(out, F: tl.constexpr):
        tl.store(out, F(1.0))

    assert run(kernel, F=chain(50))[0] == 51
    with pytest.raises(CompileError, match="nest deeper than 100"):
        run(kernel, F=chain(120))


def lambda_identity(x):
    return x


def caller_of(function: Any) -> Any:
    @triton.jit
    def caller(x):
        return function(x) + 1.0

    return caller
