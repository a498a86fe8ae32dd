"""The lane rule for what tells a person or the compiler something: asserts, prints, assumptions.

One idea: all of them end in calls of the prelude or of CUDA itself, with the kernel's own file and
line.
"""

from __future__ import annotations

from ...ir.nodes import Op, Operand
from ...ir.types import element_of, shape_of
from .lane import Lane, rule


def quoted(text: str) -> str:
    """A C string literal."""
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    )
    return f'"{escaped}"'


@rule("assert")
def device_assert(lane: Lane, op: Op) -> None:
    """With `debug`, the first thread whose condition is false says so and stops the launch."""
    if not lane.options.debug:
        return
    condition, mask = op.operands
    file, line, function = "?", 0, lane.function.name
    if op.where:
        file, line, function = op.where[0].file, op.where[0].line, op.where[0].function
    test = f"!{lane.expression(condition)}"
    if mask is not None:
        test = f"{lane.expression(mask)} && {test}"
    message = f"device assertion failed: {op.attribute('message') or 'the condition is false'}"
    with lane.block(f"if ({test})"):
        lane.put(f"fail({quoted(message)}, {quoted(file)}, {line}, {quoted(function)});")


@rule("print")
def device_print(lane: Lane, op: Op) -> None:
    """One line a value, from each lane of a block, from thread 0 of a scalar."""
    prefix = op.attribute("prefix").replace("%", "%%")
    for operand in op.operands or (None,):
        block = operand is not None and shape_of(operand.ty) not in ((), (1,))
        _print(lane, prefix, operand, op.attribute("hex"), block)


def _print(lane: Lane, prefix: str, operand: Operand, hexadecimal: bool, block: bool) -> None:
    text, arguments = "pid (%u, %u, %u)", ["blockIdx.x", "blockIdx.y", "blockIdx.z"]
    if block:
        text, arguments = f"{text} idx (%u)", [*arguments, "threadIdx.x"]
    text = f"{text} {prefix}"
    if operand is not None:
        conversion, value = printed(lane, operand, hexadecimal)
        text, arguments = f"{text}{conversion}", [*arguments, value]
    line = f"printf({', '.join([quoted(text + chr(10)), *arguments])});"
    if block or lane.threads == 1:
        lane.put(line)
    else:
        with lane.block("if (threadIdx.x == 0)"):
            lane.put(line)


def printed(lane: Lane, operand: Operand, hexadecimal: bool) -> tuple[str, str]:
    """The printf conversion of a value, and the argument for it."""
    assert operand is not None
    element, text = element_of(operand.ty), lane.expression(operand)
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


@rule("assume")
def assume(lane: Lane, op: Op) -> None:
    lane.put(f"__builtin_assume({lane.expression(op.operands[0])});")
