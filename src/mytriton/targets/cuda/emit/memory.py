"""Loads and stores, atomics, and what orders them.

Every thread makes the accesses of its own registers, where the mask is true and the element is not
padding; a store or an atomic of an element that several threads hold is made by one of them. Under
the lane rule a scalar load or store is made by all threads alike; an atomic of a scalar, which must
happen once, is made by thread 0, and its old value is shared with the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.nodes import Op, Operand, Value
from ....ir.types import Element, PointerType, element_of, shape_of
from ....layouts.linear import Layout
from ..spelling import local_type, memory_type, zero
from .emitter import Emitter, Rule
from .held import Address, Held
from .linear import Register
from .scratch import aligned
from .text import bare, from_memory, rounded


def pointee(pointer: Operand) -> Element:
    assert pointer is not None
    ty = element_of(pointer.ty)
    assert isinstance(ty, PointerType)
    return ty.element


def ordered(emitter: Emitter, pointer: Operand, layout: Layout, writes: bool) -> None:
    """A barrier, where the access must wait for other threads' earlier ones."""
    access = emitter.order.access(pointer, layout, writes)
    if emitter.order.must_wait(access):
        emitter.barrier()
    emitter.order.record(access)


def inside(emitter: Emitter, op: Op, layout: Layout, mask: Held | None, r: Register) -> list[str]:
    """The conditions under which register r is accessed."""
    (pointer, *_) = op.operands
    assert pointer is not None
    conditions = emitter.valid(shape_of(pointer.ty), layout, r)
    return [*conditions, mask.at(r)] if mask is not None else conditions


def load(emitter: Emitter, op: Op) -> None:
    pointer, mask, other = op.operands
    value = op.results[0]
    if op in emitter.copied:
        c_type, name = memory_type(element_of(value.ty)), emitter.local(value)
        emitter.put(f"{c_type}* {name} = {emitter.copied[op]};")
        return
    layout = emitter.distribution.access(op)
    address = emitter.address(pointer, layout)
    masks = None if mask is None else emitter.get(mask, layout)
    others = None if other is None else emitter.get(other, layout)
    ordered(emitter, pointer, layout, writes=False)
    element = pointee(pointer)
    volatile = op.attribute("volatile") or op.attribute("cache") == ".cv"

    def compute(r: Register) -> str:
        conditions = inside(emitter, op, layout, masks, r)
        default = zero(element) if others is None else others.at(r)
        where = address.at(r)
        text = f"volatile_load({where.reference})" if volatile else where.element
        text = from_memory(text, element)
        if not conditions and not emitter.distribution.lane_rule:
            return text
        return f"({' && '.join(conditions) or 'true'} ? {text} : {default})"

    vector = 1 if volatile else emitter.distribution.vectors.get(op, 1)
    if vector > 1:
        held = load_vectors(emitter, op, layout, vector, address, masks, others)
        emitter.define(value, held, layout)
    elif volatile and layout.is_uniform and layout.registers == 1:
        once(emitter, value, layout, compute(0))
    else:
        emitter.define(value, emitter.assign(value, layout, compute), layout)


def load_vectors(
    emitter: Emitter,
    op: Op,
    layout: Layout,
    vector: int,
    address: Address,
    masks: Held | None,
    others: Held | None,
) -> Held:
    """The load in accesses of several neighbours at once."""
    value, element = op.results[0], pointee(op.operands[0])
    name, c_type = emitter.local(value, layout), local_type(value.ty)
    guarded = masks is not None or emitter.valid(shape_of(value.ty), layout, 0)
    if value in emitter.distribution.raw:
        held = Held.array(name, layout)
        zeros = " = {}" if guarded else ""
        emitter.put(f"__align__(16) {memory_type(element)} {name}[{held.count}]{zeros};")
        _load_each(emitter, op, layout, vector, address, held, masks)
        return held
    default = zero(element)
    first = (lambda r: default if others is None else others.at(r)) if guarded else None
    held = emitter.array(name, c_type, layout, first)
    _load_each(emitter, op, layout, vector, address, held, masks)
    return held


def _load_each(
    emitter: Emitter,
    op: Op,
    layout: Layout,
    vector: int,
    address: Address,
    held: Held,
    masks: Held | None,
) -> None:
    """The accesses themselves, each under its mask."""
    with emitter.registers(layout, vector) as r:
        conditions = inside(emitter, op, layout, masks, r)
        with emitter.guarded(conditions):
            emitter.put(f"load_vector<{vector}>(&{held.at(r)}, {address.at(r).reference});")


def store_vectors(
    emitter: Emitter,
    op: Op,
    layout: Layout,
    vector: int,
    address: Address,
    held: Held,
    masks: Held | None,
) -> None:
    """The store in accesses of several neighbours at once."""
    if held != Held.array(held.name, layout):
        value = op.operands[1]
        assert value is not None
        name, raw = emitter.fresh("stored"), value in emitter.distribution.raw
        c_type = aligned(emitter.c_type(value), raw)
        held = emitter.array(name, c_type, layout, held.at)
    with emitter.registers(layout, vector) as r:
        conditions = [*emitter.owner(layout), *inside(emitter, op, layout, masks, r)]
        with emitter.guarded(conditions):
            emitter.put(f"store_vector<{vector}>({address.at(r).reference}, &{held.at(r)});")


def store(emitter: Emitter, op: Op) -> None:
    pointer, value, mask = op.operands
    layout = emitter.distribution.access(op)
    element = pointee(pointer)
    held = emitter.get(value, layout)
    address = emitter.address(pointer, layout)
    masks = None if mask is None else emitter.get(mask, layout)
    ordered(emitter, pointer, layout, writes=True)
    vector = emitter.distribution.vectors.get(op, 1)
    if vector > 1:
        store_vectors(emitter, op, layout, vector, address, held, masks)
        return
    with emitter.registers(layout) as r:
        conditions = [*emitter.owner(layout), *inside(emitter, op, layout, masks, r)]
        with emitter.guarded(conditions):
            text = held.at(r) if value in emitter.distribution.raw else rounded(held.at(r), element)
            emitter.put(f"{address.at(r).element} = {text};")


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


def atomic(emitter: Emitter, op: Op) -> None:
    _, value, mask = op.operands
    _atomic(emitter, op, op.attribute("kind"), [value], mask)


def atomic_cas(emitter: Emitter, op: Op) -> None:
    _atomic(emitter, op, "cas", op.operands[1:], None)


def _atomic(emitter: Emitter, op: Op, kind: str, values: Sequence[Operand], mask: Operand) -> None:
    """The call, between the fences that `sem` asks for; that of a scalar by thread 0."""
    pointer, result = op.operands[0], op.results[0]
    layout = emitter.distribution.access(op)
    alone = layout.is_uniform and layout.registers == 1 and emitter.distribution.threads > 1
    address = emitter.address(pointer, layout)
    held = [emitter.typed(value, emitter.get(value, layout)) for value in values]
    masks = None if mask is None else emitter.get(mask, layout)
    element = pointee(pointer)
    fence, sem = f"fence_{op.attribute('scope')}();", op.attribute("sem")
    before = [fence] if sem in ("release", "acq_rel") else []
    after = [fence] if sem in ("acquire", "acq_rel") else []

    def call(r: Register) -> str:
        texts = [one.at(r) for one in held]
        return atomic_call(kind, element, address.at(r).reference, texts)

    if alone:
        used = mask is not None and result in emitter.used
        text = f"({_at(masks, 0)} ? {call(0)} : {zero(element)})" if used else call(0)
        once(emitter, result, layout, text, masks, before, after)
        return
    ordered(emitter, pointer, layout, writes=True)
    for line in before:
        emitter.put(line)
    _calls(emitter, op, layout, call, masks)
    for line in after:
        emitter.put(line)


def _at(held: Held | None, r: Register) -> str:
    return "true" if held is None else held.at(r)


def _calls(emitter: Emitter, op: Op, layout: Layout, call: object, masks: Held | None) -> None:
    """The call for each register; the old values are named where they are used."""
    assert callable(call)
    result, element = op.results[0], pointee(op.operands[0])
    if result not in emitter.used:
        with emitter.registers(layout) as r:
            conditions = [*emitter.owner(layout), *inside(emitter, op, layout, masks, r)]
            with emitter.guarded(conditions):
                emitter.put(f"{call(r)};")
        return

    def compute(r: Register) -> str:
        conditions = [*emitter.owner(layout), *inside(emitter, op, layout, masks, r)]
        test = " && ".join(conditions)
        return f"({test} ? {call(r)} : {zero(element)})" if conditions else str(call(r))

    held = emitter.assign(result, layout, compute)
    if emitter.owner(layout):
        held = emitter.scratch.from_owners(held, result)
    emitter.define(result, held, layout)


def once(
    emitter: Emitter,
    result: Value,
    layout: Layout,
    call: str,
    mask: Held | None = None,
    before: Sequence[str] = (),
    after: Sequence[str] = (),
) -> None:
    """What must happen once a program: thread 0 does it between two barriers, and shares the
    value."""
    if emitter.distribution.threads == 1:
        emitter.define(result, emitter.assign(result, layout, lambda r: call), layout)
        return
    used = result in emitter.used
    shared = f"shared{emitter.numbers[result]}"
    if used:
        emitter.put(f"__shared__ {local_type(result.ty)} {shared};")
    emitter.barrier()
    with emitter.printer.block(f"if ({emitter.thread} == 0)"):
        for line in before:
            emitter.put(line)
        if used:
            emitter.put(f"{shared} = {bare(call)};")
        else:
            with emitter.guarded([] if mask is None else [mask.at(0)]):
                emitter.put(f"{call};")
        for line in after:
            emitter.put(line)
    emitter.barrier()
    if used:
        emitter.define(result, emitter.assign(result, layout, lambda r: shared), layout)


def barrier(emitter: Emitter, op: Op) -> None:
    if emitter.distribution.threads > 1:
        emitter.barrier()


RULES: dict[str, Rule] = {
    "load": load,
    "store": store,
    "atomic": atomic,
    "atomic_cas": atomic_cas,
    "barrier": barrier,
}
__all__ = ["RULES", "Address", "atomic_call", "from_memory", "once", "pointee"]
