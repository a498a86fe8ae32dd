"""Asserts and prints: how a program tells the launch something.

Each has a number. A failed assert writes its number and its program into the launch record and
empties the launch's counter, so that no more programs start; a print calls back into Python with
the addresses of its values.
"""

from __future__ import annotations

from ...ir.nodes import Op, Operand, Value
from ...ir.types import element_of, shape_of
from .code import Code, Reg
from .launch.record import TAKEN_BY_NOBODY, offset
from .nest import Nest
from .operands import present
from .region import FunctionEmitter
from .types import arena, register

FAILED = f"""define internal void
@failed(ptr %record, i64 %number, i32 %x, i32 %y, i32 %z) cold noinline {{
  %error.at = getelementptr i8, ptr %record, i64 {offset("error")}
  %pair = cmpxchg ptr %error.at, i64 0, i64 %number acq_rel monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %first, label %done
first:
  %program = getelementptr i8, ptr %record, i64 {offset("error_program")}
  store i32 %x, ptr %program
  %program.y = getelementptr i32, ptr %program, i64 1
  store i32 %y, ptr %program.y
  %program.z = getelementptr i32, ptr %program, i64 2
  store i32 %z, ptr %program.z
  %next.at = getelementptr i8, ptr %record, i64 {offset("next")}
  %all = atomicrmw or ptr %next.at, i64 {TAKEN_BY_NOBODY} monotonic
  br label %done
done:
  ret void
}}"""
"""The first assert that fails is the one reported."""

PROGRAM = ", ".join(f"i32 %program_id.{axis}" for axis in range(3))


def number_of(emitter: FunctionEmitter, op: Op) -> int:
    """The number an op reports under, from 1 on."""
    return emitter.messages.index(op) + 1


def scalar_assert(emitter: FunctionEmitter, nest: Nest, op: Op) -> None:
    fail_unless(emitter, nest.codes[0], emitter.register(nest, op.operands[0]), op)


def fail_unless(emitter: FunctionEmitter, code: Code, condition: Reg, op: Op) -> None:
    """Where the condition is false the program reports the op, and ends."""
    emitter.writer.module.helpers["failed"] = FAILED
    fresh = emitter.writer.names.fresh
    fine, failed = fresh("fine"), fresh("failed")
    code.add(f"br i1 {condition.text}, label %{fine}, label %{failed}")
    code.start(failed)
    code.add(f"call void @failed(ptr %record, i64 {number_of(emitter, op)}, {PROGRAM})")
    code.add("ret void")
    code.start(fine)


def call_back(emitter: FunctionEmitter, code: Code, op: Op) -> None:
    """Calls `callback(record, number, program, addresses)` of the launch: a print, or a check that
    has found something. An absent operand has the address 0."""
    fresh, count = emitter.writer.names.fresh, len(op.operands)
    table = fresh("shown")
    emitter.writer.entry.add(f"%{table} = alloca [{max(count, 1)} x ptr]")
    for position, operand in enumerate(op.operands):
        place = fresh("slot")
        address = Reg("null", "ptr") if operand is None else _address(emitter, code, operand)
        code.add(f"%{place} = getelementptr ptr, ptr %{table}, i64 {position}")
        code.add(f"store {address.typed}, ptr %{place}")
    name, number = fresh(op.name), number_of(emitter, op)
    code.add(f"%{name}.at = getelementptr i8, ptr %record, i64 {offset('callback')}")
    code.add(f"%{name} = load ptr, ptr %{name}.at")
    code.add(f"call void %{name}(ptr %record, i64 {number}, {PROGRAM}, ptr %{table})")
    leave_if_stopped(emitter, code)


def leave_if_stopped(emitter: FunctionEmitter, code: Code) -> None:
    """Ends the program where the launch has been stopped."""
    fresh = emitter.writer.names.fresh
    error, stop, gone, on = fresh("error"), fresh("stop"), fresh("gone"), fresh("on")
    code.add(f"%{error}.at = getelementptr i8, ptr %record, i64 {offset('error')}")
    code.add(f"%{error} = load atomic i64, ptr %{error}.at monotonic, align 8")
    code.add(f"%{stop} = icmp ne i64 %{error}, 0")
    code.add(f"br i1 %{stop}, label %{gone}, label %{on}")
    code.start(gone)
    code.add("ret void")
    code.start(on)


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
