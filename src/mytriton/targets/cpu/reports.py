"""Asserts and prints: how a program tells the launch something.

One idea: an op that speaks has a number. A failed assert writes its number and its program into the
job and empties the launch's counter, so that no more programs start; a print calls back into Python
with the addresses of its values.
"""

from __future__ import annotations

from ...ir.nodes import Op, Operand, Value
from ...ir.types import element_of, shape_of
from .code import Code, Reg
from .nest import Nest
from .operands import present
from .region import FunctionEmitter
from .types import arena, register

FAILED = """define internal void
@failed(ptr %job, i64 %number, i32 %x, i32 %y, i32 %z) cold noinline {
  %status = getelementptr i8, ptr %job, i64 40
  %pair = cmpxchg ptr %status, i64 0, i64 %number acq_rel monotonic
  %won = extractvalue { i64, i1 } %pair, 1
  br i1 %won, label %first, label %done
first:
  %who = getelementptr i8, ptr %job, i64 48
  store i32 %x, ptr %who
  %who.y = getelementptr i8, ptr %job, i64 52
  store i32 %y, ptr %who.y
  %who.z = getelementptr i8, ptr %job, i64 56
  store i32 %z, ptr %who.z
  %all = atomicrmw or ptr %job, i64 4611686018427387904 monotonic
  br label %done
done:
  ret void
}"""
"""Offsets are those of `module.JOB`; the counter becomes larger than any grid."""

PROGRAM = ", ".join(f"i32 %program_id.{axis}" for axis in range(3))


def number_of(emitter: FunctionEmitter, op: Op) -> int:
    """The number an op reports under, from 1 on."""
    emitter.messages.append(op)
    return len(emitter.messages)


def scalar_assert(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    condition = emitter.register(nest, op.operands[0])
    emitter.writer.module.helpers["failed"] = FAILED
    fresh, code = emitter.writer.names.fresh, nest.codes[0]
    fine, failed = fresh("fine"), fresh("failed")
    code.add(f"br i1 {condition.text}, label %{fine}, label %{failed}")
    code.start(failed)
    code.add(f"call void @failed(ptr %job, i64 {number_of(emitter, op)}, {PROGRAM})")
    code.add("ret void")
    code.start(fine)


def show(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """Calls `show(number, program, addresses)` of the job."""
    fresh, count = emitter.writer.names.fresh, len(op.operands)
    table = fresh("shown")
    emitter.writer.entry.add(f"%{table} = alloca [{max(count, 1)} x ptr]")
    for position, operand in enumerate(op.operands):
        assert operand is not None
        place = fresh("slot")
        address = _address(emitter, code, operand)
        code.add(f"%{place} = getelementptr ptr, ptr %{table}, i64 {position}")
        code.add(f"store {address.typed}, ptr %{place}")
    name = fresh("show")
    code.add(f"%{name}.at = getelementptr i8, ptr %job, i64 64")
    code.add(f"%{name} = load ptr, ptr %{name}.at")
    code.add(f"call void %{name}(i64 {number_of(emitter, op)}, {PROGRAM}, ptr %{table})")


def _address(emitter: FunctionEmitter, code: Code, operand: Operand) -> Reg:
    """Where a value lies: a block's home, a scalar's slot."""
    if isinstance(operand, Value) and shape_of(operand.ty):
        return emitter.writer.homes[operand].address
    nest = Nest(emitter.writer, [code])
    reg = emitter.register(nest, operand)
    element = element_of(present(operand).ty)
    if register(element) != arena(element):
        reg = nest.convert("byte", "zext", reg, arena(element))
    name = emitter.writer.names.fresh("slot")
    emitter.writer.entry.add(f"%{name} = alloca i64")
    code.add(f"store {reg.typed}, ptr %{name}")
    return Reg(f"%{name}", "ptr")
