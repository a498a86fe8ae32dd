"""Random programs: valid IR with loops, branches, reductions, loads and stores, without folding.

A program has the parameters of the corpus, ends, and stays inside its buffers, so it can be run
before and after a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from mytriton.ir.build import Builder, emit, using
from mytriton.ir.fold import constant
from mytriton.ir.nodes import Const, Function, Op, Operand, Param
from mytriton.ir.ops import TABLE, Mismatch, RegionKind
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
BOUNDS = ((0, 3, 1), (5, 0, -2), (1, 2, 1), (0, 0, 1), (0, None, 40), (None, 0, 1))
"""Of loops; None is the parameter n, which is above 0, so the last never runs."""
FINAL = 12
"""About how many of the values that are left in the end are stored."""
ROWS = [name for name, row in TABLE.items() if row.element and row.element.llvm]
"""The element-wise ops that are machine instructions, whose results are exact."""


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
        types = row.result_types(
            [None if v is None else v.ty for v in operands], {**row.attrs, **given}, regions
        )
        op = Op(row, tuple(operands), types, given, regions)
        self._append(op, self.level)
        return op.results


class Writer:
    """Writes one program; `pick(low, high)` makes its choices, `pool` holds the values in scope."""

    def __init__(self, pick: Callable[[int, int], int]) -> None:
        self.pick = pick
        self.builder = RawBuilder(where=())
        self.params = program("").params
        self.pool: list[Operand] = [self.params[4]]
        self.pointers: list[Operand] = [self.params[0], self.params[1]]
        self.writes = True
        """Whether statements may store; a loop that only reads is another thing to a pass."""
        self.runs = True
        """False inside a loop that never runs, where pointers may lead anywhere."""

    def choose(self, items: Sequence[Any]) -> Any:
        return items[self.pick(0, len(items) - 1)]

    def function(self, size: int) -> Function:
        with using(self.builder):
            lanes = emit("arange", start=0, end=8)
            loaded = emit("load", emit("addptr", self.params[0], lanes), None, None)
            shaped = [emit("reshape", v, shape=(4, 2)) for v in (lanes, loaded)]
            self.pool += [emit("program_id", axis=0), lanes, loaded, *shaped]
            self.block(size, depth=2)
            for place, value in enumerate(self.pool[-1:-FINAL:-1]):
                self.show(place, value)
        return self.builder.function("random", self.params)

    def block(self, size: int, depth: int) -> None:
        """Some statements; their values stay in the pool."""
        statements = [self.arithmetic] * 6 + [self.cast, self.choice, self.arange, self.reduction]
        statements += [self.shape] * 3 + [self.load] * 2 + [self.store_one] * 2 + [self.reload]
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
        operands = [self.value(element) for _ in range(row.element.arity)]
        if self.choose((True, False, False, False)):
            operands = operands[:1] * row.element.arity
        self.add(row.name, *operands)

    def choice(self) -> None:
        element = self.choose(ELEMENTS)
        self.add("select", self.value(BOOL), self.value(element), self.value(element))

    def cast(self) -> None:
        """One after the other, often there and back."""
        value = self.value(self.choose(ELEMENTS))
        for _ in range(self.choose((1, 2))):
            self.add("cast", value, to=self.choose(ELEMENTS))
            value = self.pool[-1]

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
        region = self.builder.region(RegionKind.BRANCH, params, lambda a, b: [emit(row, a, b)])
        self.pool += self.builder.emit("reduce", [value], {"axis": 0}, (region,))

    # -- memory

    def pointer(self, base: Param) -> Operand:
        """Somewhere inside the buffer."""
        index = self.value(I32)
        if self.runs or self.choose((True, False)):
            index = emit("and", index, Const(63, I32))
        else:
            index = emit("or", index, Const(1 << 20, I32))
        return emit("addptr", base, index)

    def mask(self, pointer: Any) -> Operand:
        if self.choose((True, True, True, False)):
            return None
        shape = shape_of(pointer.ty)
        return self.value(BOOL, self.choose((shape, ())))

    def load(self) -> None:
        """From a new place, or one that another load may have read."""
        if self.choose((True, False)):
            self.pointers.append(self.pointer(self.choose(self.params[:4])))
        pointer = self.choose(self.pointers)
        element = element_of(pointer.ty).element
        other = self.choose((None, None, None, self.number(element)))
        self.add("load", pointer, self.mask(pointer), other)

    def reload(self) -> None:
        """Loads a place again, before and (where it may) after a store there."""
        pointer = self.choose(self.pointers)
        self.add("load", pointer, None, None)
        element, shape = element_of(pointer.ty).element, shape_of(pointer.ty)
        if self.writes and self.choose((True, False)):
            self.builder.emit("store", [pointer, self.value(element, shape), None])
        self.add("load", pointer, None, None)

    def store_one(self) -> None:
        if self.writes:
            self.store(self.choose(self.pool))

    def store(self, value: Any) -> None:
        """Writes a value where its type can go, as f32 or i32."""
        real = element_of(value.ty).kind == "f"
        value = emit("cast", value, to=F32 if real else I32)
        shape = shape_of(value.ty)
        fits = [p for p in self.pointers if _takes(p, value) and self.runs]
        if fits and self.choose((True, False)):
            pointer = self.choose(fits)
        else:
            base = self.params[self.choose((2, 0)) if real else self.choose((3, 1))]
            index = emit("and", self.value(I32, shape), Const(63, I32))
            pointer = emit("addptr", base, index)
            self.pointers.append(pointer)
        self.builder.emit("store", [pointer, value, self.mask(pointer)])

    def show(self, place: int, value: Any) -> None:
        """Writes a value, or as much as fits, to eight elements of its own."""
        real = element_of(value.ty).kind == "f"
        value = emit("cast", value, to=F32 if real else I32)
        shape = shape_of(value.ty)
        if len(shape) == 2:
            value = emit("reshape", value, shape=(shape[0] * shape[1],))
        size = shape_of(value.ty)[0] if shape else 1
        start = place * 8 % 64
        lanes = emit("arange", start=start, end=start + size)
        pointer = emit("addptr", self.params[2 if real else 3], lanes)
        self.builder.emit("store", [pointer, value, None])

    # -- regions

    def inside(self, kind: RegionKind, params: Sequence[Param], body: Callable[[], Any]) -> Any:
        """A region whose values leave the pool with it."""

        def write(*given: Param) -> Any:
            kept = list(self.pool), list(self.pointers), self.writes, self.runs
            self.pool += given
            results = body()
            self.pool, self.pointers, self.writes, self.runs = kept
            return results

        return self.builder.region(kind, params, write)

    def carried(self) -> list[Operand]:
        return [self.choose(self.pool) for _ in range(self.pick(0, 2))]

    def again(self, values: Sequence[Any]) -> list[Operand]:
        """Values of the same types, to yield."""
        return [self.value(element_of(v.ty), shape_of(v.ty)) for v in values]  # type: ignore[arg-type]

    def loop(self, depth: int) -> None:
        starts = self.carried()
        bounds = [self.params[4] if end is None else Const(end, I32) for end in self.choose(BOUNDS)]
        params = [Param(f"c{i}", v.ty) for i, v in enumerate(starts) if v is not None]

        def body() -> list[Operand]:
            self.writes = self.writes and self.choose((True, False))
            self.runs = self.runs and bounds[0] is not self.params[4]
            if not self.runs:
                self.load()
            self.block(3, depth)
            return self.again(params)

        region = self.inside(RegionKind.LOOP, [Param("i", I32), *params], body)
        self.pool += self.builder.emit("for", [*bounds, *starts], {}, (region,))

    def branch(self, depth: int) -> None:
        given = self.carried()

        def body() -> list[Operand]:
            self.block(3, depth)
            return self.again(given)

        regions = tuple(self.inside(RegionKind.BRANCH, [], body) for _ in range(2))
        self.pool += self.builder.emit("if", [self.value(BOOL, ())], {}, regions)

    def wait(self, depth: int) -> None:
        """A while that counts a number of its own down."""
        starts = [Const(self.choose((0, 1, 3)), I32), *self.carried()]

        def params() -> list[Param]:
            return [Param(f"w{i}", v.ty) for i, v in enumerate(starts) if v is not None]

        tested, looped = params(), params()
        test = self.inside(
            RegionKind.LOOP, tested, lambda: [emit("cmp_gt", tested[0], Const(0, I32))]
        )

        def body() -> list[Operand]:
            self.block(3, depth)
            return [emit("sub", looped[0], Const(1, I32)), *self.again(looped[1:])]

        region = self.inside(RegionKind.LOOP, looped, body)
        self.pool += self.builder.emit("while", starts, {}, (test, region))


def _takes(pointer: Any, value: Any) -> bool:
    """Whether the value can be stored through the pointer."""
    same = element_of(pointer.ty).element == element_of(value.ty)
    return same and shape_of(pointer.ty) == shape_of(value.ty)


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
