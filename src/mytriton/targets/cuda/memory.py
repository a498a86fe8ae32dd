"""The lane rule for memory: guarded loads and stores, atomics, and what orders them.

One idea: every thread makes its own lane's access, and only where the mask is true. A scalar load
or store is made by all threads alike; a scalar atomic, which must happen once, by thread 0, and its
old value is shared with the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.nodes import Op, Operand, Value
from ...ir.types import Element, PointerType, element_of
from .lane import CudaPtrRef, Lane, rule
from .spelling import local_type, zero
from .values import bare, rounded


def pointee(pointer: Operand) -> Element:
    assert pointer is not None
    ty = element_of(pointer.ty)
    assert isinstance(ty, PointerType)
    return ty.element


def from_memory(text: str, element: Element) -> str:
    """An element of memory as a value: the byte of a bool is true where it is not zero."""
    return f"({text} != 0)" if element.kind == "b" else text


def ordered(lane: Lane, pointer: Operand, writes: bool) -> None:
    """A barrier, where the access must wait for other lanes' earlier ones."""
    if lane.order.before(pointer, writes):
        lane.barrier()


@rule("load")
def load(lane: Lane, op: Op) -> None:
    pointer, mask, other = op.operands
    ordered(lane, pointer, writes=False)
    element, address = pointee(pointer), lane.pointer(pointer)
    condition = "true" if mask is None else lane.expression(mask)
    default = zero(element) if other is None else lane.expression(other)
    volatile = op.attribute("volatile") or op.attribute("cache") == ".cv"
    place = f"volatile_load({reference(address)})" if volatile else address.element
    text = f"({condition} ? {from_memory(place, element)} : {default})"
    if volatile and lane.is_uniform(op.results[0]):
        once(lane, op.results[0], text)
    else:
        lane.assign(op.results[0], text)


def reference(address: CudaPtrRef) -> str:
    """The address as an argument of a function."""
    return address.base if address.index == "0" else f"&{address.element}"


@rule("store")
def store(lane: Lane, op: Op) -> None:
    pointer, value, mask = op.operands
    ordered(lane, pointer, writes=True)
    text = rounded(lane.expression(value), pointee(pointer))
    with lane.guarded(mask):
        lane.put(f"{lane.pointer(pointer).element} = {text};")


# -- atomics


INTS = ("i32", "u32", "u64")
NATIVE = {
    "add": ("atomicAdd", (*INTS, "f32", "f64")),
    "max": ("atomicMax", (*INTS, "i64")),
    "min": ("atomicMin", (*INTS, "i64")),
    "and": ("atomicAnd", INTS),
    "or": ("atomicOr", INTS),
    "xor": ("atomicXor", INTS),
    "xchg": ("atomicExch", (*INTS, "f32")),
    "cas": ("atomicCAS", INTS),
}
"""CUDA's own atomic of each kind, and the types that it takes; the prelude's takes all others."""


def atomic_call(kind: str, element: Element, address: str, values: Sequence[str]) -> str:
    """The call that does it: CUDA's own where there is one, for i64 that of u64."""
    name, types = NATIVE[kind]
    if element.ir in types:
        return f"{name}({', '.join([address, *values])})"
    if element.ir == "i64":
        unsigned = [f"(unsigned long long){value}" for value in values]
        given = ", ".join([f"(unsigned long long*){address}", *unsigned])
        return f"(long long){name}({given})"
    return f"atomic_{kind}({', '.join([address, *values])})"


@rule("atomic")
def atomic(lane: Lane, op: Op) -> None:
    _, value, mask = op.operands
    _atomic(lane, op, op.attribute("kind"), [value], mask)


@rule("atomic_cas")
def atomic_cas(lane: Lane, op: Op) -> None:
    _atomic(lane, op, "cas", op.operands[1:], None)


def _atomic(lane: Lane, op: Op, kind: str, values: Sequence[Operand], mask: Operand) -> None:
    """The call, between the fences that `sem` asks for; a scalar one by thread 0."""
    pointer, result = op.operands[0], op.results[0]
    alone = lane.is_uniform(result) and lane.threads > 1
    if not alone:
        ordered(lane, pointer, writes=True)
    texts = [lane.expression(value) for value in values]
    element = pointee(pointer)
    call = atomic_call(kind, element, reference(lane.pointer(pointer)), texts)
    if mask is not None and result in lane.used:
        call = f"({lane.expression(mask)} ? {call} : {zero(element)})"
    fence, sem = f"fence_{op.attribute('scope')}();", op.attribute("sem")
    before = [fence] if sem in ("release", "acq_rel") else []
    after = [fence] if sem in ("acquire", "acq_rel") else []
    if alone:
        once(lane, result, call, mask, before, after)
        return
    for line in before:
        lane.put(line)
    _call(lane, result, call, mask)
    for line in after:
        lane.put(line)


def _call(lane: Lane, result: Value, call: str, mask: Operand) -> None:
    """The call in this thread, its value named where it is used."""
    if result in lane.used:
        lane.assign(result, call)
    else:
        with lane.guarded(mask):
            lane.put(f"{call};")


def once(
    lane: Lane,
    result: Value,
    call: str,
    mask: Operand = None,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> None:
    """What must happen once a program: thread 0 does it between two barriers, and shares the
    value."""
    if lane.threads == 1:
        lane.assign(result, call)
        return
    used = result in lane.used
    shared = f"shared{lane.numbers[result]}"
    if used:
        lane.put(f"__shared__ {local_type(result.ty)} {shared};")
    lane.barrier()
    with lane.block("if (threadIdx.x == 0)"):
        for line in before:
            lane.put(line)
        if used:
            lane.put(f"{shared} = {bare(call)};")
        else:
            with lane.guarded(mask):
                lane.put(f"{call};")
        for line in after:
            lane.put(line)
    lane.barrier()
    lane.order.clear()
    if used:
        lane.assign(result, shared)


@rule("barrier")
def barrier(lane: Lane, op: Op) -> None:
    if lane.threads > 1:
        lane.barrier()
        lane.order.clear()
