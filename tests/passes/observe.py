"""What every op of a program gives when it runs, and random programs about indices to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from unittest import mock

from mytriton.ir.build import emit, using
from mytriton.ir.fold import constant
from mytriton.ir.nodes import Const, Function, Op, Operand, Param, Value
from mytriton.ir.ops import Mismatch, RegionKind
from mytriton.ir.types import (
    BOOL,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    PointerType,
    element_of,
    shape_of,
)
from mytriton.targets.interpret.program import Program
from tests.ir.corpus import program, run
from tests.passes.programs import RawBuilder


def observe(function: Function, look: Callable[[Value | Param, Any], None]) -> None:
    """Runs the program; `look` gets each result, and each param an op uses, with its array."""
    define = Program.define

    def watched(self: Program, op: Op, results: Sequence[Any]) -> None:
        define(self, op, results)
        seen = [(v, self.values[v]) for v in op.operands if isinstance(v, Param)]
        for value, array in [*zip(op.results, results), *seen]:
            if tuple(getattr(array, "shape", ())) == shape_of(value.ty):
                look(value, array)  # the others are those of a combine function, run on arrays

    with mock.patch.object(Program, "define", watched):
        run(function)


INTS = (I8, U8, I16, U16, I32, I32, I32, U32, I64)
SHAPES = ((512,), (256,), (16,), (16, 1), (1, 16), (16, 16), (8, 32), (1,), (4, 4, 16))
CONSTANTS = (0, 1, -1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 100, 128, 255, 256, -256, 1 << 16, 1 << 30)
ARITHMETIC = ("add", "sub", "mul", "add", "mul", "div", "mod", "and", "or", "xor", "shl", "shr")
ARITHMETIC += ("minimum", "maximum", "cmp_lt", "cmp_ge", "cmp_gt", "cmp_le", "cmp_eq")


class IndexWriter:
    """Writes a program that computes ints and addresses of many shapes and stores nothing."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.builder = RawBuilder(where=())
        self.params = program("").params
        self.pool: list[Operand] = [self.params[4]]

    def function(self, size: int) -> Function:
        with using(self.builder):
            self.pool.append(emit("program_id", axis=0))
            self.arange()
            self.block(size, 2)
        return self.builder.function("indices", self.params)

    def block(self, size: int, depth: int) -> None:
        plain = [self.arange, self.cast, self.shape, self.shape, self.choice, self.address]
        for _ in range(size):
            step = self.random.choice([*[self.arithmetic] * 6, *plain])
            if depth and self.random.random() < 0.1:
                self.random.choice((self.loop, self.branch))(depth - 1)
            else:
                step()

    def value(self, element: Any = None, shape: Any = None) -> Any:
        fits = [
            v
            for v in self.pool
            if v is not None
            and (element is None or element_of(v.ty) == element)
            and (shape is None or shape_of(v.ty) in (shape, ()))
        ]
        element = element or self.random.choice(INTS)
        if isinstance(element, PointerType):
            return self.random.choice(fits or [self.params[element == self.params[1].ty]])
        if not fits or self.random.random() < 0.3:
            return constant(self.random.choice(CONSTANTS), element)
        return self.random.choice(fits[-8:] if self.random.random() < 0.6 else fits)

    def add(self, name: str, *operands: Any, **attrs: Any) -> None:
        try:
            self.pool.append(emit(name, *operands, **attrs))
        except (Mismatch, AttributeError):
            return

    def arange(self) -> None:
        start, size = self.random.choice((0, 0, 16, -8, 100)), self.random.choice((16, 256, 512))
        self.add("arange", start=start, end=start + size)

    def arithmetic(self) -> None:
        left = self.value()
        right = self.value(element_of(left.ty), shape_of(left.ty))
        pair = [left, right] if self.random.random() < 0.8 else [right, left]
        self.add(self.random.choice(ARITHMETIC), *pair)

    def cast(self) -> None:
        self.add("cast", self.value(), to=self.random.choice((*INTS, BOOL)))

    def shape(self) -> None:
        value = self.value()
        rank = len(shape_of(value.ty))
        if rank > 1 and self.random.random() < 0.3:
            return self.add("trans", value, order=tuple(reversed(range(rank))))
        name = self.random.choice(("reshape", "broadcast"))
        self.add(name, value, shape=self.random.choice(SHAPES))

    def choice(self) -> None:
        left = self.value()
        right = self.value(element_of(left.ty), shape_of(left.ty))
        self.add("select", self.value(BOOL, shape_of(left.ty)), left, right)

    def address(self) -> None:
        pointers = [
            v for v in self.pool if v is not None and isinstance(element_of(v.ty), PointerType)
        ]
        base = self.random.choice([self.params[0], self.params[1], *pointers])
        self.add("addptr", base, self.value(self.random.choice((I32, I64, U8))))

    # -- regions

    def inside(self, kind: RegionKind, params: Sequence[Param], body: Callable[[], Any]) -> Any:
        def write(*given: Param) -> Any:
            kept = list(self.pool)
            self.pool += given
            results = body()
            self.pool = kept
            return results

        return self.builder.region(kind, params, write)

    def again(self, like: Sequence[Any]) -> list[Operand]:
        """Values of the same types, often of this very block."""
        found: list[Operand] = []
        for wanted in like:
            fits = [v for v in self.pool if v is not None and v.ty == wanted.ty]
            found.append(self.random.choice(fits[-2:] if fits else [wanted]))
        return found

    def loop(self, depth: int) -> None:
        """Often with a chain of carried values, each given on to the next."""
        starts: list[Any] = [v for v in self.random.sample(self.pool, 1) if v is not None]
        starts *= self.random.choice((1, 1, 2, 12, 40))
        params = [Param(f"c{k}", v.ty) for k, v in enumerate(starts)]

        def body() -> list[Operand]:
            self.block(4, depth)
            first = self.again(params[:1])
            return [*first, *params[:-1]] if len(params) > 2 else self.again(params)

        index = Param("i", I32)
        region = self.inside(RegionKind.LOOP, [index, *params], body)
        low, high, step = self.random.choice(((0, 64, 1), (0, 3, 1), (48, 0, -16), (5, 5, 1)))
        bounds = [Const(low, I32), Const(high, I32), Const(step, I32)]
        self.pool += self.builder.emit("for", [*bounds, *starts], {}, (region,))

    def branch(self, depth: int) -> None:
        given = self.random.sample(self.pool, 1)

        def body() -> list[Operand]:
            self.block(3, depth)
            return self.again(given)

        regions = tuple(self.inside(RegionKind.BRANCH, [], body) for _ in range(2))
        self.pool += self.builder.emit("if", [self.value(BOOL, ())], {}, regions)


def index_program(seed: int, size: int = 40) -> Function:
    """A random program about indices."""
    return IndexWriter(seed).function(size)
