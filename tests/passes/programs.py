"""Random programs: valid IR with loops, branches, reductions, loads and stores, without folding.

A program has the parameters of the corpus, ends, and stays inside its buffers, so it can be run
before and after a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from mytriton.ir.build import BRANCH, LOOP, Builder, emit, using
from mytriton.ir.fold import constant
from mytriton.ir.nodes import Const, Function, Op, Operand, Param
from mytriton.ir.ops import TABLE, Mismatch
from mytriton.ir.types import (
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    U8,
    U32,
    ScalarType,
    element_of,
    shape_of,
)
from tests.ir.corpus import program

NUMBERS: dict[str, tuple[Any, ...]] = {
    "i": (0, 1, -1, 2, 3, 7, 8, 16, 31, -(2**31)),
    "u": (0, 1, 2, 16, 255),
    "b": (False, True),
    "f": (0.0, -0.0, 1.0, -1.0, 2.5, 1e30, float("inf"), float("nan")),
}
ELEMENTS = (I32, I32, I32, F32, F32, BOOL, I8, U8, I64, U32, F16, F64)
SHAPES = ((), (8,), (8,), (4, 2), (4, 1), (1, 2), (2, 4), (1, 1))
ROWS = [name for name, row in TABLE.items() if row.element and row.element.ulp == 0]


class RawBuilder(Builder):
    """Makes each op where it is asked for, without folding, sharing or hoisting."""

    def emit(
        self,
        name: str,
        operands: Sequence[Operand],
        attrs: dict[str, Any] | None = None,
        regions: Any = (),
    ) -> tuple[Operand, ...]:
        row, given = TABLE[name], attrs or {}
        types = row.rule(
            [None if v is None else v.ty for v in operands], {**row.attrs, **given}, regions
        )
        op = Op(name, tuple(operands), types, given, regions)
        self.scopes[-1].ops.append(op)
        return op.results


class Writer:
    """Writes one program; `pick(low, high)` makes its choices, `pool` holds the values in scope."""

    def __init__(self, pick: Callable[[int, int], int]) -> None:
        self.pick = pick
        self.builder = RawBuilder(where=())
        self.params = program("").params
        self.pool: list[Operand] = [self.params[4]]

    def choose(self, items: Sequence[Any]) -> Any:
        return items[self.pick(0, len(items) - 1)]

    def function(self, size: int) -> Function:
        with using(self.builder):
            lanes = emit("arange", start=0, end=8)
            loaded = emit("load", emit("addptr", self.params[0], lanes), None, None)
            shaped = [emit("reshape", v, shape=(4, 2)) for v in (lanes, loaded)]
            self.pool += [emit("program_id", axis=0), lanes, loaded, *shaped]
            self.block(size, depth=2)
            for value in self.pool[-3:]:
                self.store(value)
        return self.builder.function("random", self.params)

    def block(self, size: int, depth: int) -> None:
        """Some statements; their values stay in the pool."""
        statements = [self.arithmetic] * 6 + [self.cast, self.shape, self.load, self.choice]
        statements += [self.shape, self.shape, self.store_one, self.arange, self.reduction]
        if depth:
            statements += [self.loop, self.branch, self.wait]
        for _ in range(self.pick(1, size)):
            statement = self.choose(statements)
            if statement in (self.loop, self.branch, self.wait):
                statement(depth - 1)
            else:
                statement()

    # -- values

    def number(self, element: ScalarType) -> Const:
        return constant(self.choose(NUMBERS[element.kind]), element)

    def value(self, element: ScalarType, shape: tuple[int, ...] | None = None) -> Operand:
        """A value of the element type, of that shape, or (None) a scalar or block of any."""
        fits = [
            v
            for v in self.pool
            if v is not None
            and element_of(v.ty) == element
            and (shape is None or shape_of(v.ty) == shape)
        ]
        if fits and self.choose((True, True, False)):
            return self.choose(fits)  # type: ignore[no-any-return]
        number = self.number(element)
        return emit("broadcast", number, shape=shape) if shape else number

    def add(self, name: str, *operands: Operand, **attrs: Any) -> None:
        """An op on these operands, unless its rule refuses them."""
        try:
            self.pool.append(emit(name, *operands, **attrs))
        except Mismatch:
            return

    def arithmetic(self) -> None:
        row, element = TABLE[self.choose(ROWS)], self.choose(ELEMENTS)
        assert row.element is not None
        self.add(row.name, *(self.value(element) for _ in range(row.element.arity)))

    def choice(self) -> None:
        element = self.choose(ELEMENTS)
        self.add("select", self.value(BOOL), self.value(element), self.value(element))

    def cast(self) -> None:
        self.add("cast", self.value(self.choose(ELEMENTS)), to=self.choose(ELEMENTS))

    def shape(self) -> None:
        value, shape = self.value(self.choose(ELEMENTS)), self.choose(SHAPES)
        rank = len(shape_of(value.ty))  # type: ignore[union-attr]
        if rank == 2 and self.choose((True, False)):
            return self.add("trans", value, order=(1, 0))
        self.add(self.choose(("reshape", "broadcast")), value, shape=shape)

    def arange(self) -> None:
        start = self.choose((0, 8, -3))
        self.add("arange", start=start, end=start + 8)

    def reduction(self) -> None:
        blocks = [v for v in self.pool if v is not None and shape_of(v.ty)]
        value = self.choose(blocks)
        element = element_of(value.ty)
        row = self.choose([r for r in ("maximum", "add", "xor") if _allows(r, element)] or ["or"])
        params = [Param("a", element), Param("b", element)]
        region = self.builder.region(BRANCH, params, lambda a, b: [emit(row, a, b)])
        self.pool += self.builder.emit("reduce", [value], {"axis": 0}, (region,))

    # -- memory

    def pointer(self, base: Param) -> Operand:
        """Somewhere inside the buffer."""
        index = emit("and", self.value(I32), Const(63, I32))
        return emit("addptr", base, index)

    def mask(self, pointer: Any) -> Operand:
        if self.choose((True, False)):
            return None
        shape = shape_of(pointer.ty)
        return self.value(BOOL, self.choose((shape, ())))

    def load(self) -> None:
        base = self.choose(self.params[:4])
        pointer = self.pointer(base)
        element = base.ty.element
        other = self.choose((None, self.number(element)))
        self.add("load", pointer, self.mask(pointer), other)

    def store_one(self) -> None:
        self.store(self.choose(self.pool))

    def store(self, value: Any) -> None:
        """Writes a value where its type can go, as f32 or i32."""
        real = element_of(value.ty).kind == "f"
        value = emit("cast", value, to=F32 if real else I32)
        base = self.params[self.choose((2, 0)) if real else self.choose((3, 1))]
        shape = shape_of(value.ty)
        index = emit("and", self.value(I32, shape), Const(63, I32))
        pointer = emit("addptr", base, index)
        self.builder.emit("store", [pointer, value, self.mask(pointer)])

    # -- regions

    def inside(self, kind: str, params: Sequence[Param], body: Callable[[], Any]) -> Any:
        """A region whose values leave the pool with it."""

        def write(*given: Param) -> Any:
            kept = list(self.pool)
            self.pool += given
            results = body()
            self.pool = kept
            return results

        return self.builder.region(kind, params, write)

    def carried(self) -> list[Operand]:
        return [self.choose(self.pool) for _ in range(self.pick(0, 2))]

    def again(self, values: Sequence[Any]) -> list[Operand]:
        """Values of the same types, to yield."""
        return [self.value(element_of(v.ty), shape_of(v.ty)) for v in values]  # type: ignore[arg-type]

    def loop(self, depth: int) -> None:
        starts = self.carried()
        low, high, step = self.choose(((0, 3, 1), (5, 0, -2), (1, 2, 1), (0, 0, 1), (0, None, 40)))
        bounds = [Const(low, I32), self.params[4] if high is None else Const(high, I32)]
        params = [Param(f"c{i}", v.ty) for i, v in enumerate(starts) if v is not None]
        region = self.inside(
            LOOP, [Param("i", I32), *params], lambda: (self.block(3, depth), self.again(params))[1]
        )
        self.pool += self.builder.emit("for", [*bounds, Const(step, I32), *starts], {}, (region,))

    def branch(self, depth: int) -> None:
        given = self.carried()

        def body() -> list[Operand]:
            self.block(3, depth)
            return self.again(given)

        regions = tuple(self.inside(BRANCH, [], body) for _ in range(2))
        self.pool += self.builder.emit("if", [self.value(BOOL, ())], {}, regions)

    def wait(self, depth: int) -> None:
        """A while that counts a number of its own down."""
        starts = [Const(self.choose((0, 1, 3)), I32), *self.carried()]

        def params() -> list[Param]:
            return [Param(f"w{i}", v.ty) for i, v in enumerate(starts) if v is not None]

        tested, looped = params(), params()
        test = self.inside(LOOP, tested, lambda: [emit("cmp_gt", tested[0], Const(0, I32))])

        def body() -> list[Operand]:
            self.block(3, depth)
            return [emit("sub", looped[0], Const(1, I32)), *self.again(looped[1:])]

        region = self.inside(LOOP, looped, body)
        self.pool += self.builder.emit("while", starts, {}, (test, region))


def _allows(name: str, element: Any) -> bool:
    row = TABLE[name].element
    return row is not None and element.kind in row.kinds


@st.composite
def programs(draw: Any, size: int = 8) -> Function:
    """A random program of at most `size` statements at top level, that can be made smaller."""
    return Writer(lambda low, high: draw(st.integers(low, high))).function(size)


def large_program(seed: int, size: int = 40) -> Function:
    """A random program of `size` or so statements at top level."""
    random = Random(seed)
    return Writer(random.randint).function(size)
