"""Loads and stores at one point of a nest: contiguous, uniform, strided; user memory and the arena.

The form of the address decides the instruction. A run of step 1 is a vector load, one scalar is a
scalar load, anything else a gather; where only the run will tell which, both stand behind a branch
on a condition that is known before the lane loop (`Pointer.under`). A masked-off lane must touch
nothing: contiguous accesses use LLVM's masked intrinsics where the machine has them, the others
send masked-off lanes to a dummy address, which needs no branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ...ir.types import Element
from . import affine
from .casts import decode, encode
from .code import Reg, const
from .nest import Form, Home, Nest, Pointer, Run
from .types import SIZES, arena, full, memory, suffix

Result = TypeVar("Result")


def offset_in(nest: Nest, home: Home, index: tuple[Form, ...]) -> Form:
    """The place of an element in its home, in elements."""
    total: Form = const("i64", 0)
    for part, stride, extent in zip(index, home.strides, home.shape, strict=True):
        if extent > 1:
            total = affine.add(nest, total, affine.mul(nest, part, const("i64", stride)))
    return total


def both(nest: Nest, a: Reg | None, b: Reg | None) -> Reg | None:
    """The conjunction of two masks, None being true."""
    if a is None or b is None:
        return b if a is None else a
    return nest.inst("mask", "and", nest.same_width([a, b]))


def dummy(nest: Nest) -> Reg:
    """An address that masked-off scalar accesses may touch."""
    writer = nest.writer
    if "dummy" not in writer.entry_registers:
        name = writer.names.fresh("dummy")
        writer.entry.add(f"%{name} = alloca [16 x i8], align 16")
        writer.entry.add(f"store <4 x i32> zeroinitializer, ptr %{name}, align 16")
        writer.entry_registers["dummy"] = Reg(f"%{name}", "ptr")
    return writer.entry_registers["dummy"]


def never(nest: Nest) -> Reg:
    """A false that LLVM cannot see through: it is read back from volatile memory."""
    writer = nest.writer
    if "never" not in writer.entry_registers:
        name = writer.names.fresh("never")
        writer.entry.add(f"%{name}.at = alloca i8")
        writer.entry.add(f"store volatile i8 0, ptr %{name}.at")
        writer.entry.add(f"%{name}.byte = load volatile i8, ptr %{name}.at")
        writer.entry.add(f"%{name} = icmp ne i8 %{name}.byte, 0")
        writer.entry_registers["never"] = Reg(f"%{name}", "i1")
    return writer.entry_registers["never"]


def store_mask(nest: Nest, mask: Reg, type_: str) -> Reg:
    """The mask of a masked store, never a constant for LLVM where the stored ints may be a
    truncation.

    LLVM 22.1 for AVX-512 folds the truncation into the masked store, and then, where the mask is a
    constant of one lane, turns that into a scalar store of the element as it was *before* the
    truncation, which writes past the lane.
    """
    mask = nest.wide(mask)
    if type_ not in ("i8", "i16", "i32"):
        return mask
    return nest.inst("mask", "or", [mask, nest.wide(never(nest))])


def at(nest: Nest, base: Reg, offset: Form | None, type_: str) -> Reg:
    """The scalar address `offset` elements past a scalar base."""
    if offset is None:
        return base
    assert isinstance(offset, Reg) and not offset.lanes
    if offset.constant == 0:
        return base
    level = max(base.level, offset.level)
    text = f"getelementptr {type_}, {base.typed}, {offset.typed}"
    return nest.put(level, "at", text, "ptr")


def first_of(nest: Nest, base: Reg, run: Run, type_: str) -> Reg:
    """The address of a contiguous run's element at the nest's lane index."""
    start = at(nest, base, run.base, type_)
    return at(nest, start, nest.lane, type_)


def classify(nest: Nest, pointer: Pointer) -> str:
    """ "one" address for all lanes, "contiguous" ones, or "many"."""
    offset = pointer.offset
    if pointer.base.lanes or (isinstance(offset, Reg) and offset.lanes):
        return "many"
    if not isinstance(offset, Run) or offset.step.constant == 0:
        return "one"
    if offset.step.constant is not None:
        return "contiguous" if offset.step.constant == 1 else "many"
    if pointer.strided:
        return "many"
    return "contiguous" if affine.assume(nest, _is_one(nest, offset.step)) else "many"


def _is_one(nest: Nest, step: Reg) -> Reg:
    """Whether a step that only the run will tell is 1."""
    found = nest.find(("is one", step))
    if found is None:
        found = nest.inst("unit", "icmp eq", [step, const("i64", 1)], "i1")
        nest.remember(("is one", step), found)
    assert isinstance(found, Reg)
    return found


def class_of(nest: Nest, pointer: Pointer) -> str:
    """The class of an access in words, as `Access.kind` has it."""
    kind, offset = classify(nest, pointer), pointer.offset
    if pointer.under is not None:
        otherwise = class_of(nest, replace(pointer, under=None))
        return f"contiguous if {pointer.under[0].text}, else {otherwise}"
    if kind == "one":
        return "one address"
    known = isinstance(offset, Run) and not pointer.base.lanes
    if kind == "many" and known and isinstance(offset, Run) and offset.step.constant is not None:
        return f"stride {offset.step.constant}"
    return "contiguous" if kind == "contiguous" else "any addresses"


def class_in(nest: Nest, home: Home, offset: Form) -> str:
    """The class of an access at an offset of a buffer."""
    assert isinstance(offset, (Reg, Run))
    return class_of(nest, Pointer(home.address, offset, ""))


def read(
    nest: Nest, pointer: Pointer, type_: str, mask: Reg | None, passthru: Reg | None = None
) -> Reg:
    """The elements of an LLVM type at a pointer; where the mask is false, `passthru` or
    anything.
    """
    kind = classify(nest, pointer)
    if pointer.under is not None:
        return _read_either(nest, pointer, type_, mask, passthru)
    if kind == "one" and (mask is None or not mask.lanes):
        return _read_one(nest, pointer, type_, mask, passthru)
    if kind == "contiguous":
        return _read_run(nest, pointer, type_, both(nest, mask, nest.version.tail_mask), passthru)
    return _gather(nest, pointer, type_, both(nest, mask, nest.version.tail_mask), passthru)


def _read_either(
    nest: Nest, pointer: Pointer, type_: str, mask: Reg | None, passthru: Reg | None
) -> Reg:
    """A vector load where the condition holds, else a gather."""
    assert pointer.under is not None
    condition, run = pointer.under
    forms = [form for form in (pointer, run, mask, passthru) if form is not None]
    level = max(nest.lane_level, *map(nest.level_of, forms))
    before, nest.memory_level = nest.memory_level, level
    ways = _branch(
        nest,
        level,
        condition,
        lambda: nest.wide(read(nest, run, type_, mask, passthru)),
        lambda: nest.wide(read(nest, replace(pointer, under=None), type_, mask, passthru)),
    )
    nest.memory_level = before
    joined = ", ".join(f"[ {value.text}, %{label} ]" for value, label in ways)
    return nest.put(level, "load", f"phi {ways[0][0].full} {joined}", type_, nest.lanes)


def _write_either(nest: Nest, pointer: Pointer, type_: str, value: Reg, mask: Reg | None) -> None:
    """A vector store where the condition holds, else a scatter."""
    assert pointer.under is not None
    condition, run = pointer.under
    _branch(
        nest,
        len(nest.codes) - 1,
        condition,
        lambda: write(nest, run, type_, value, mask),
        lambda: write(nest, replace(pointer, under=None), type_, value, mask),
    )


def _branch(
    nest: Nest,
    level: int,
    condition: Reg,
    holds: Callable[[], Result],
    fails: Callable[[], Result],
) -> list[tuple[Result, str]]:
    """Two ways through the code of a level, the first where the condition holds; what each gives,
    and the basic block that it ends in. What one way computes is not known after it.
    """
    code, fresh, found = nest.codes[level], nest.writer.names.fresh, list[tuple[Result, str]]()
    first, second, end = fresh("run"), fresh("apart"), fresh("joined")
    code.add(f"br i1 {condition.text}, label %{first}, label %{second}")
    for label, way in ((first, holds), (second, fails)):
        code.start(label)
        inner, nest.inner = nest.inner, dict(nest.inner)
        found.append((way(), code.label))
        nest.inner = inner
        code.add(f"br label %{end}")
    code.start(end)
    return found


def _scalar_offset(pointer: Pointer) -> Reg | None:
    offset = pointer.offset
    return offset.base if isinstance(offset, Run) else offset


def _read_one(
    nest: Nest, pointer: Pointer, type_: str, mask: Reg | None, passthru: Reg | None
) -> Reg:
    address = at(nest, pointer.base, _scalar_offset(pointer), type_)
    if mask is not None:
        address = nest.select("safe", mask, address, dummy(nest))
    text = f"{nest.loads} {type_}, {address.typed}, align {SIZES[type_]}"
    value = nest.put(address.level, "load", text, type_)
    if mask is None:
        return value
    other = passthru or nest.zero(type_)
    return (
        nest.select("read", mask, value, other)
        if not other.lanes
        else _mixed(nest, mask, value, other)
    )


def _mixed(nest: Nest, mask: Reg, value: Reg, other: Reg) -> Reg:
    return nest.select("read", mask, nest.wide(value), other)


def _read_run(
    nest: Nest, pointer: Pointer, type_: str, mask: Reg | None, passthru: Reg | None
) -> Reg:
    assert isinstance(pointer.offset, Run)
    whole, align = full(type_, nest.lanes), SIZES[type_]
    if mask is not None and not nest.writer.host.can_mask(align):
        return _gather(nest, pointer, type_, mask, passthru)
    address = first_of(nest, pointer.base, pointer.offset, type_)
    level = max(nest.lane_level, nest.memory_level)
    if mask is None:
        text = f"{nest.loads} {whole}, {address.typed}, align {align}"
        return nest.put(max(level, address.level), "load", text, type_, nest.lanes)
    mask, other = nest.wide(mask), nest.wide(passthru or nest.zero(type_, nest.lanes))
    name = nest.writer.module.intrinsic(
        f"llvm.masked.load.{suffix(type_, nest.lanes)}.p0",
        whole,
        ["ptr", "i32", mask.full, whole],
    )
    text = f"call {whole} @{name}({address.typed}, i32 {align}, {mask.typed}, {other.typed})"
    level = max(level, address.level, mask.level, other.level)
    return nest.put(level, "load", text, type_, nest.lanes)


def _gather(
    nest: Nest, pointer: Pointer, type_: str, mask: Reg | None, passthru: Reg | None
) -> Reg:
    addresses, align = nest.addresses(pointer), SIZES[type_]
    whole = full(type_, nest.lanes)
    other = nest.wide(passthru or nest.zero(type_, nest.lanes))
    lane_mask = nest.wide(mask) if mask is not None else nest.wide(const("i1", True))
    use, direct = lane_mask, nest.writer.host.can_gather(align)
    if mask is not None and not direct:
        addresses = nest.select("safe", lane_mask, addresses, nest.wide(dummy(nest)))
        use = nest.wide(const("i1", True))
    name = nest.writer.module.intrinsic(
        f"llvm.masked.gather.{suffix(type_, nest.lanes)}.v{nest.lanes}p0",
        whole,
        [addresses.full, "i32", use.full, whole],
    )
    text = f"call {whole} @{name}({addresses.typed}, i32 {align}, {use.typed}, {other.typed})"
    level = max(nest.lane_level, nest.memory_level, addresses.level, use.level, other.level)
    value = nest.put(level, "gather", text, type_, nest.lanes)
    if mask is not None and not direct:
        return nest.select("read", lane_mask, value, other)
    return value


def write(nest: Nest, pointer: Pointer, type_: str, value: Reg, mask: Reg | None) -> None:
    """Stores a vector of lanes at the innermost level of the nest."""
    if pointer.under is not None:
        return _write_either(nest, pointer, type_, value, mask)
    kind, level = classify(nest, pointer), len(nest.codes) - 1
    mask, value = both(nest, mask, nest.version.tail_mask), nest.wide(value)
    align = SIZES[type_]
    if kind != "contiguous" or (mask is not None and not nest.writer.host.can_mask(align)):
        return _scatter(nest, pointer, type_, value, mask)
    assert isinstance(pointer.offset, Run)
    address = first_of(nest, pointer.base, pointer.offset, type_)
    if mask is None:
        return nest.codes[level].add(f"store {value.typed}, {address.typed}, align {align}")
    mask = store_mask(nest, mask, type_)
    name = nest.writer.module.intrinsic(
        f"llvm.masked.store.{suffix(type_, nest.lanes)}.p0",
        "void",
        [value.full, "ptr", "i32", mask.full],
    )
    nest.codes[level].add(
        f"call void @{name}({value.typed}, {address.typed}, i32 {align}, {mask.typed})"
    )


def _scatter(nest: Nest, pointer: Pointer, type_: str, value: Reg, mask: Reg | None) -> None:
    addresses, align = nest.addresses(pointer), SIZES[type_]
    use = nest.wide(mask if mask is not None else const("i1", True))
    if mask is not None and not nest.writer.host.can_gather(align):
        addresses = nest.select("safe", use, addresses, nest.wide(dummy(nest)))
        use = nest.wide(const("i1", True))
    name = nest.writer.module.intrinsic(
        f"llvm.masked.scatter.{suffix(type_, nest.lanes)}.v{nest.lanes}p0",
        "void",
        [value.full, addresses.full, "i32", use.full],
    )
    nest.codes[-1].add(
        f"call void @{name}({value.typed}, {addresses.typed}, i32 {align}, {use.typed})"
    )


def load(
    nest: Nest, pointer: Pointer, element: Element, mask: Reg | None, other: Form | None
) -> Reg:
    """Values of an IR element type at a pointer; zero, or `other`, where the mask is false."""
    type_ = memory(element)
    zero = other is None or (isinstance(other, Reg) and other.constant == 0 and _plain(other))
    value = decode(nest, element, read(nest, pointer, type_, mask))
    if mask is None or zero or other is None:
        return value
    rest = other if isinstance(other, Reg) else nest.wide(other)
    if mask.lanes or value.lanes or rest.lanes:
        return nest.select("read", nest.wide(mask), nest.wide(value), nest.wide(rest))
    return nest.select("read", mask, value, rest)


def _plain(other: Reg) -> bool:
    """Whether a zero constant is not -0.0."""
    return str(other.constant) != "-0.0"


def store(nest: Nest, pointer: Pointer, element: Element, value: Reg, mask: Reg | None) -> None:
    """Stores values of an IR element type through a block of pointers."""
    write(nest, pointer, memory(element), encode(nest, element, value), mask)


def store_scalar(nest: Nest, address: Reg, element: Element, value: Reg, mask: Reg | None) -> None:
    """A scalar store at the current place; a masked-off one goes to the dummy."""
    if mask is not None:
        address = nest.select("safe", mask, address, dummy(nest))
    held, align = encode(nest, element, value), SIZES[memory(element)]
    nest.codes[-1].add(f"store {held.typed}, {address.typed}, align {align}")


def fetch(nest: Nest, home: Home, index: tuple[Form, ...]) -> Reg:
    """The value at an index of a block in the arena."""
    return fetch_at(nest, home, offset_in(nest, home, index))


def fetch_at(nest: Nest, home: Home, offset: Form) -> Reg:
    """The value at a row-major offset of a block in the arena."""
    assert isinstance(offset, (Reg, Run))
    type_ = arena(home.element)
    value = read(nest, Pointer(home.address, offset, type_), type_, None)
    return _truth(nest, value) if home.element.kind == "b" else value


def _truth(nest: Nest, value: Reg) -> Reg:
    return nest.inst("true", "icmp ne", [value, nest.zero("i8", value.lanes)], "i1")


def keep(nest: Nest, address: Reg, element: Element, offset: Form, value: Form) -> None:
    """Puts the value of the current lanes into the arena."""
    assert isinstance(offset, (Reg, Run)) and isinstance(value, (Reg, Run, Pointer))
    held = _pointer_value(nest, value)
    if element.kind == "b":
        held = nest.convert("byte", "zext", held, "i8")
    type_ = arena(element)
    if nest.lanes:
        write(nest, Pointer(address, offset, type_), type_, held, None)
        return
    place = at(nest, address, offset, type_)
    nest.codes[-1].add(f"store {held.typed}, {place.typed}, align {SIZES[type_]}")


def _pointer_value(nest: Nest, value: Form) -> Reg:
    return nest.wide(value) if nest.lanes else _only_reg(value)


def _only_reg(value: Form) -> Reg:
    assert isinstance(value, Reg)
    return value
