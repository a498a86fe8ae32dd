"""Matrix products by fused multiply-adds, the operands in shared memory.

Any types, any extents: every thread holds some elements of the result and walks along K. Both
operands lie in shared memory in row-major order, the left one with its rows one element longer than
they are, so that lanes of different rows read different banks.
"""

from __future__ import annotations

from ....ir.nodes import Op
from ....ir.types import F32, F64, Element, element_of, shape_of
from ....layouts.linear import Layout
from ..spelling import local_type
from . import mma
from .emitter import Emitter, Rule
from .linear import Register, enclosed
from .mma import instruction_of
from .text import rounded

PRECISIONS = ("tf32", "tf32x3", "bf16x3", "bf16x6")
"""The input precisions that cut an f32 operand into parts, each a function of the prelude."""


def dot(emitter: Emitter, op: Op) -> None:
    """Prints a product: by tensor cores where they take its types."""
    instruction = instruction_of(op) if op in emitter.distribution.dots else None
    if instruction is not None:
        mma.dot(emitter, op, instruction)
    else:
        _dot(emitter, op)


def _dot(emitter: Emitter, op: Op) -> None:
    left, right, acc = op.operands
    assert left is not None and right is not None and acc is not None
    value, layout = op.results[0], emitter.home(op.results[0])
    element, target = element_of(left.ty), element_of(acc.ty)
    *batch, m, k = shape_of(left.ty)
    n = shape_of(right.ty)[-1]
    count = batch[0] if batch else 1
    size = emitter.scratch.size(element)
    second = -(-count * m * (k + 1) * size // 16) * 16
    start = emitter.get(acc, layout)
    emitter.bring_home(left, right)
    emitter.scratch.reserve(second + count * k * n * size)
    _stage(emitter, op, 0, 0, k + 1)
    _stage(emitter, op, 1, second, n)
    emitter.scratch.share()
    wide = _sum_type(element, target)
    held = emitter.array(emitter.local(value), wide, layout, start.at)
    with emitter.printer.block(f"for (int k = 0; k < {k}; k++)"), emitter.registers(layout) as r:
        *places, row, column = [
            emitter.coordinate(layout, axis, r) for axis in range(len(layout.shape))
        ]
        row = _clamped(enclosed(row), m, layout.shape[-2])
        column = _clamped(enclosed(column), n, layout.shape[-1])
        if places:
            whole = _clamped(enclosed(places[0]), count, layout.shape[0])
            row, above = f"({whole} * {m} + {row})", f"({whole} * {k} + k)"
        else:
            above = "k"
        a = emitter.scratch.read(element, 0, f"{row} * {k + 1} + k")
        b = emitter.scratch.read(element, second, f"{above} * {n} + {column}")
        total = held.at(r)
        emitter.put(f"{total} = {_product(op, element, target, a, b, total)};")
    if rounded("x", target) != "x":
        with emitter.registers(layout) as r:
            emitter.put(f"{held.at(r)} = {rounded(held.at(r), target)};")
    emitter.define(value, held, layout)


def _clamped(at: str, extent: int, padded: int) -> str:
    """A coordinate that stays inside the extent."""
    return at if extent == padded else f"({at} < {extent} ? {at} : 0)"


def _sum_type(element: Element, target: Element) -> str:
    """The C type that products are added up in."""
    return "double" if F64 in (element, target) else local_type(target)


def _stage(emitter: Emitter, op: Op, place: int, start: int, stride: int) -> None:
    """Writes an operand to shared memory, its rows `stride` elements apart."""
    operand = op.operands[place]
    assert operand is not None
    layout, shape, element = emitter.home(operand), shape_of(operand.ty), element_of(operand.ty)
    held = emitter.get(operand, layout)
    with emitter.registers(layout) as r:
        conditions = [*emitter.valid(shape, layout, r), *emitter.owner(layout)]
        with emitter.guarded(conditions):
            at = _index(emitter, layout, shape, stride, r)
            emitter.scratch.write(element, start, at, held.at(r))


def _index(
    emitter: Emitter, layout: Layout, shape: tuple[int, ...], stride: int, r: Register
) -> str:
    *places, row, column = [
        enclosed(emitter.coordinate(layout, axis, r)) for axis in range(len(shape))
    ]
    if places:
        row = f"({places[0]} * {shape[1]} + {row})"
    return f"{row} * {stride} + {column}"


def _product(op: Op, element: Element, target: Element, a: str, b: str, total: str) -> str:
    """The sum with one more product."""
    precision = op.attribute("precision")
    if element == F32 and target.kind == "f" and target != F64 and precision in PRECISIONS:
        return f"multiply_add_{precision}({a}, {b}, {total})"
    if element.kind == "f":
        wide = F64 in (element, target)
        return f"fma{'' if wide else 'f'}({a}, {b}, {total})"
    unsigned = "unsigned long long" if target.bits == 64 else "unsigned int"
    c_type = local_type(target)
    return (
        f"({c_type})(({unsigned}){total} + ({unsigned})({c_type}){a} * ({unsigned})({c_type}){b})"
    )


RULES: dict[str, Rule] = {"dot": dot}
