"""Ops that tell a person or the compiler something: asserts, prints, assumptions.

All of them end in calls of the prelude or of CUDA itself, with the kernel's own file and line.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.nodes import Op, Operand
from ....ir.structural import pointee
from ....ir.types import element_of, shape_of
from ....layouts.linear import Layout
from ...lanes import FIRST_PAGE
from .emitter import Emitter, Rule
from .linear import Register, enclosed


def quoted(text: str) -> str:
    """A C string literal."""
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    )
    return f'"{escaped}"'


def device_assert(emitter: Emitter, op: Op) -> None:
    """With `debug`, the first thread whose condition is false says so and stops the launch."""
    if not emitter.options.debug:
        return
    condition, mask = op.operands
    assert condition is not None
    message = f"device assertion failed: {op.attribute('message') or 'the condition is false'}"
    layout, shape = emitter.home(condition), shape_of(condition.ty)
    held = emitter.get(condition, layout)
    masks = None if mask is None else emitter.get(mask, layout)
    with emitter.registers(layout) as r:
        tests = [*emitter.valid(shape, layout, r), *([] if masks is None else [masks.at(r)])]
        with emitter.printer.block(f"if ({' && '.join([*tests, f'!{held.at(r)}'])})"):
            emitter.put(failure(emitter, op, message))


def failure(emitter: Emitter, op: Op, message: str) -> str:
    """The statement that says what is wrong at the op's line, and stops the launch."""
    file, line, function = "?", 0, emitter.function.name
    if op.where:
        file, line, function = op.where[0].file, op.where[0].line, op.where[0].function
    return f"fail({quoted(message)}, {quoted(file)}, {line}, {quoted(function)});"


def device_print(emitter: Emitter, op: Op) -> None:
    """One line an element of a block, from a thread that holds it; one of a scalar, from thread
    0."""
    prefix = op.attribute("prefix").replace("%", "%%")
    for operand in op.operands or (None,):
        block = operand is not None and shape_of(operand.ty) not in ((), (1,))
        if block:
            _print_block(emitter, prefix, operand, op.attribute("hex"))
        else:
            _print_scalar(emitter, prefix, operand, op.attribute("hex"))


PROGRAM = ["blockIdx.x", "blockIdx.y", "blockIdx.z"]


def _print_scalar(emitter: Emitter, prefix: str, operand: Operand, hexadecimal: bool) -> None:
    text, arguments = f"pid (%u, %u, %u) {prefix}", [*PROGRAM]
    if operand is not None:
        held = emitter.get(operand, emitter.home(operand))
        conversion, value = printed(operand, held.at(0), hexadecimal)
        text, arguments = f"{text}{conversion}", [*arguments, value]
    line = f"printf({', '.join([quoted(text + chr(10)), *arguments])});"
    alone = emitter.distribution.threads == 1
    with emitter.guarded([] if alone else [f"{emitter.thread} == 0"]):
        emitter.put(line)


def _print_block(emitter: Emitter, prefix: str, operand: Operand, hexadecimal: bool) -> None:
    assert operand is not None
    layout, shape = emitter.home(operand), shape_of(operand.ty)
    held = emitter.get(operand, layout)
    places = ", ".join(["%u"] * len(shape))
    with emitter.registers(layout) as r:
        at = [_place(emitter, layout, axis, r) for axis in range(len(shape))]
        conversion, value = printed(operand, held.at(r), hexadecimal)
        text = quoted(f"pid (%u, %u, %u) idx ({places}) {prefix}{conversion}\n")
        with emitter.guarded([*emitter.valid(shape, layout, r), *emitter.owner(layout)]):
            emitter.put(f"printf({', '.join([text, *PROGRAM, *at, value])});")


def _place(emitter: Emitter, layout: Layout, axis: int, r: Register) -> str:
    if emitter.distribution.lane_rule:
        return emitter.thread
    return enclosed(emitter.coordinate(layout, axis, r))


def printed(operand: Operand, text: str, hexadecimal: bool) -> tuple[str, str]:
    """The printf conversion of a value, and the argument for it."""
    assert operand is not None
    element = element_of(operand.ty)
    if element.kind == "p":
        return "%p", f"(void*){text}"
    if element.kind == "f":
        return ("%a" if hexadecimal else "%f"), text
    size = "ll" if element.bits == 64 else ""
    if hexadecimal:
        return f"0x%0{max(2, element.bits // 4)}{size}x", _masked(text, element.bits)
    return f"%{size}{'u' if element.kind == 'u' else 'd'}", text


def _masked(text: str, bits: int) -> str:
    """A narrow negative int without the sign bits that promotion adds."""
    return f"{text} & 0x{(1 << bits) - 1:x}" if 1 < bits < 32 else text


def assume(emitter: Emitter, op: Op) -> None:
    condition = emitter.get(op.operands[0], emitter.scalar)
    emitter.put(f"__builtin_assume({condition.name});")


def check_access(emitter: Emitter, op: Op) -> None:
    """The first thread whose address lies in none of the arrays says so and stops the launch."""
    pointer, mask, *bounds = op.operands
    assert pointer is not None
    layout, shape = emitter.home(pointer), shape_of(pointer.ty)
    held = emitter.get(pointer, layout)
    masks = None if mask is None else emitter.get(mask, layout)
    ends = [emitter.get(bound, emitter.scalar).at(0) for bound in bounds]
    verb = "reads" if op.attribute("access") == "load" else "writes"
    with emitter.registers(layout) as r:
        address = f"(long long)({held.at(r)})"
        tests = [*emitter.valid(shape, layout, r), *([] if masks is None else [masks.at(r)])]
        test = " && ".join([*tests, *_outside(address, ends, pointee(pointer.ty).itemsize)])
        with emitter.printer.block(f"if ({test})"):
            emitter.put(failure(emitter, op, f"{op.attribute('access')}: {verb} outside its array"))


def _outside(address: str, ends: Sequence[str], size: int) -> list[str]:
    """Conditions by which an address lies in none of the ranges."""
    pairs = zip(ends[::2], ends[1::2])
    tests = [f"({address} < {start} || {address} + {size} > {end})" for start, end in pairs]
    return tests or [f"{address} < {FIRST_PAGE}"]


def reports(emitter: Emitter, op: Op) -> None:
    """The first thread that finds something says what, and stops the launch."""
    bad, *_ = op.operands
    assert bad is not None
    layout, shape = emitter.home(bad), shape_of(bad.ty)
    held = emitter.get(bad, layout)
    with emitter.registers(layout) as r:
        tests = [*emitter.valid(shape, layout, r), held.at(r)]
        with emitter.printer.block(f"if ({' && '.join(tests)})"):
            emitter.put(failure(emitter, op, f"{op.attribute('kind')}: found by the sanitizer"))


RULES: dict[str, Rule] = {
    "assert": device_assert,
    "assume": assume,
    "check_access": check_access,
    "print": device_print,
    "report": reports,
}
