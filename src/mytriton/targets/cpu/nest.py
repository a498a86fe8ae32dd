"""A loop nest under construction, and the forms a value takes at one point of it.

At a point of the nest a value of the block is a `Form`: one scalar for all lanes (`Reg` of 0
lanes), an affine run along the lane axis (`Run`), a vector of lanes (`Reg`), or, for pointers, a
base and an offset (`Pointer`). Addresses stay scalars and runs as long as they can, so that a
contiguous access is recognised; `wide` makes a vector when an instruction needs one.

    arange(0, 256) + pid*256   is   Run(base=pid*256, step=1)       one scalar, outside the loop
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...ir.nodes import Op, Operand, Param, Value
from ...ir.text import SSAPrinter
from ...ir.types import Element
from .code import Code, Module, Names, Reg, const
from .host import Host
from .lowering import Lowerings
from .schedule.plan import Root
from .types import full, literal


@dataclass(frozen=True, eq=False)
class Run:
    """base + step * i, where i is the index along the nest's lane axis; ints that wrap at their
    width.
    """

    base: Reg
    step: Reg

    @property
    def type(self) -> str:
        return self.base.type


@dataclass(frozen=True, eq=False)
class Pointer:
    """Addresses: `offset` (i64, counted in elements of LLVM type `unit`) past `base`, a scalar or a
    vector.
    """

    base: Reg
    offset: Reg | Run | None
    unit: str
    strided: bool = False
    """Whether a step that only the run will tell is not taken to be 1."""
    under: tuple[Reg, Pointer] | None = None
    """A condition, known before the lane loop, and the same addresses in the contiguous form that
    they have where it holds.
    """


Form = Reg | Run | Pointer


def is_vector(form: Form) -> bool:
    """Whether a form holds vectors, so that it belongs to versions of one width."""
    if isinstance(form, Pointer):
        return is_vector(form.base) or (form.offset is not None and is_vector(form.offset))
    return isinstance(form, Reg) and bool(form.lanes)


ZERO = const("i64", 0)
ONE = const("i64", 1)
TRUE = const("i1", True)


@dataclass(frozen=True, eq=False)
class Home:
    """Where a block lies in the arena: row-major elements of `arena(element)` from `address`."""

    address: Reg
    element: Element
    shape: tuple[int, ...]

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, an axis each."""
        strides, step = [], 1
        for extent in reversed(self.shape):
            strides.append(step)
            step *= extent
        return tuple(reversed(strides))

    def reshaped(self, shape: tuple[int, ...]) -> Home:
        """The same elements under another shape."""
        return Home(self.address, self.element, shape)


@dataclass
class Writer:
    """What is shared by all nests of one LLVM function."""

    module: Module
    names: Names
    entry: Code
    """The function's first block: addresses of arena buffers."""
    host: Host
    numbers: dict[Value | Param, int]
    lowerings: Lowerings
    loops: list[Any] = field(default_factory=list)
    """The loops of every nest so far (`segments.NestLoops`)."""
    scalars: dict[Value | Param, Reg] = field(default_factory=dict)
    """The registers of scalar values, bound as the region's code is made."""
    homes: dict[Value | Param, Home] = field(default_factory=dict)
    """Where blocks that are stored lie."""
    unread: frozenset[Op] = frozenset()
    """The atomics whose old values nothing uses."""
    summed: frozenset[Op] = frozenset()
    """Those that are added up in the thread's table (`atomic_sums`)."""
    entry_registers: dict[str, Reg] = field(default_factory=dict)
    """Registers that the entry block defines when they are first asked for, by purpose."""

    def line(self, op: Op) -> str:
        """The op in SSA text, and the kernel's line that it came from."""
        where = f"  # {op.where[0]}" if op.where else ""
        return SSAPrinter(self.numbers).head(op) + where

    def hint(self, value: Value | Param) -> str:
        """The register name of a value: `v4` for `%4`."""
        number = self.numbers.get(value)
        return "t" if number is None else f"v{number}"


@dataclass(frozen=True, eq=False)
class Bound:
    """A mask that is not tested: it is true for the lanes below `below`, and false for sure from
    lane `above` on.
    """

    mask: Operand
    below: Reg
    above: Reg


@dataclass(frozen=True, eq=False)
class Access:
    """How a version makes one access: "load" or "store" of memory, "read" or "write" of a buffer.

    `kind` is its class: "one address", "contiguous", "stride n" or "any addresses"; `bounds` stand
    for the parts of its mask that are not tested.
    """

    verb: str
    place: Operand
    kind: str
    masked: bool
    bounds: tuple[Bound, ...] = ()


@dataclass(eq=False)
class LoopVersion:
    """One copy of the part of a nest that lies in the lane loop.

    `unmasked`: masks that give a `Bound` are taken to be true. `contiguous`: addresses are taken to
    be contiguous and not to wrap; what that takes is in `checks`, one list for all such versions,
    and tested before the loop. `tail_mask` masks lanes past the extent. `assumes`: a mask stands
    for true in `inner`; what is made of it may look the same for all lanes, and is not.
    """

    unmasked: bool = False
    contiguous: bool = False
    checks: list[Reg] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)
    """The bounds in the order in which accesses rely on them, some several times."""
    accesses: list[Access] = field(default_factory=list)
    masks: dict[Any, tuple[Reg | None, tuple[Bound, ...]]] = field(default_factory=dict)
    """What is left to test of each mask at an index, and the bounds that stand for the rest."""
    tail_mask: Reg | None = None
    assumes: bool = False
    by_access: bool = False
    """Whether each access asks again whether its addresses are contiguous."""


class Nest:
    """Buffers of code by loop level, and instructions that find their level from their operands.

    Level 0 is the code around the nest. `lane_level` is the level of the lane loop's body, `lane`
    its index (a scalar), `lanes` the width, `extent` the number of elements along the lane axis.
    """

    def __init__(self, writer: Writer, codes: list[Code], lanes: int = 0, extent: int = 1) -> None:
        self.writer = writer
        self.codes = codes
        self.lanes = lanes
        self.extent = extent
        self.lane_level = len(codes)
        self.lane: Reg = ZERO
        self.version = LoopVersion()
        self.outer: dict[Any, Form] = {}
        self.inner: dict[Any, Form] = {}
        self.loads = "load"
        """The instruction of plain loads: "load", or "load volatile" while a volatile one is
        made.
        """
        self.memory_level = 0
        """The level of the code that loads stand in, at least: that of a branch around them."""
        self.places: Mapping[Value | Param, Home] = {}
        """Where the nest puts the blocks it makes."""
        self.targets: Mapping[Root, Home] = {}
        """The buffer that each materialising root writes."""
        self.strided: frozenset[Operand] = frozenset()
        """Pointers whose addresses are not taken to be contiguous where only the run will tell."""
        self.store_bounds: dict[Root, tuple[Bound, ...]] = {}
        """What each store relies on in the main version instead of its mask."""

    def pointer(self, place: Operand, form: Form, unit: str) -> Pointer:
        """The form of an access's pointer operand as addresses."""
        if not isinstance(form, Pointer):
            assert isinstance(form, Reg)
            form = Pointer(form, None, unit)
        return replace(form, strided=True) if place in self.strided else form

    def note(self, access: Access) -> None:
        """Records how an access is made."""
        self.version.accesses.append(access)

    # -- what is known already

    def level_of(self, form: Form) -> int:
        if isinstance(form, Reg):
            return form.level
        if isinstance(form, Run):
            return self.lane_level
        return max(form.base.level, self.level_of(form.offset) if form.offset else 0)

    def find(self, key: Any) -> Form | None:
        return self.inner.get(key) or self.outer.get(key)

    def remember(self, key: Any, form: Form) -> None:
        """Keeps a form: for all versions if it depends on neither the lane loop nor this one's
        assumptions, nor on its width.
        """
        fixed = not isinstance(form, Run) and self.level_of(form) < self.lane_level
        shared = fixed and not self.version.assumes and not is_vector(form)
        (self.outer if shared else self.inner)[key] = form

    def claim(self, op: Op | None, marks: Sequence[int]) -> None:
        """Says that what was added since is of the op; `marks`: how many lines each level had."""
        for code, mark in zip(self.codes, marks):
            if op is not None:
                code.claim(op, mark)

    def explain(self, op: Op, form: Form, marks: Sequence[int]) -> None:
        """Puts the op's SSA line over the instructions that `form` took; `marks`: how many lines
        each level had before.
        """
        self.claim(op, marks)
        level = self.level_of(form)
        lines = self.codes[level].lines if level < len(self.codes) else []
        if level < len(marks) and len(lines) > marks[level]:
            self.codes[level].insert(marks[level], f"  ; {self.writer.line(op)}", op)

    # -- instructions

    def put(self, level: int, hint: str, text: str, type_: str, lanes: int = 0) -> Reg:
        """An instruction with a result, at a level."""
        name = self.writer.names.fresh(hint)
        self.codes[level].add(f"%{name} = {text}")
        return Reg(f"%{name}", type_, lanes, level)

    def inst(self, hint: str, opcode: str, operands: Sequence[Reg], result: str = "") -> Reg:
        """`opcode type a, b`; the result has the operands' type unless another is named."""
        first, level = operands[0], max(reg.level for reg in operands)
        text = f"{opcode} {first.full} {', '.join(reg.text for reg in operands)}"
        return self.put(level, hint, text, result or first.type, first.lanes)

    def convert(self, hint: str, opcode: str, operand: Reg, to: str) -> Reg:
        """A conversion instruction such as sext."""
        text = f"{opcode} {operand.typed} to {full(to, operand.lanes)}"
        return self.put(operand.level, hint, text, to, operand.lanes)

    def call(self, hint: str, name: str, operands: Sequence[Reg]) -> Reg:
        """An intrinsic overloaded on the one type of its operands."""
        first, level = operands[0], max(reg.level for reg in operands)
        callee = self.writer.module.overloaded(name, first.type, first.lanes, len(operands))
        text = f"call {first.full} @{callee}({', '.join(reg.typed for reg in operands)})"
        return self.put(level, hint, text, first.type, first.lanes)

    def select(self, hint: str, condition: Reg, left: Reg, right: Reg) -> Reg:
        if condition.constant is not None and not condition.lanes:
            return left if condition.constant else right
        level = max(condition.level, left.level, right.level)
        text = f"select {condition.typed}, {left.typed}, {right.typed}"
        return self.put(level, hint, text, left.type, left.lanes)

    def same_width(self, forms: Sequence[Form]) -> list[Reg]:
        """Scalars if all are scalars, else vectors."""
        scalars = [form for form in forms if isinstance(form, Reg) and not form.lanes]
        return scalars if len(scalars) == len(forms) else [self.wide(form) for form in forms]

    # -- vectors

    def wide(self, form: Form) -> Reg:
        """The form as a vector of lanes."""
        if isinstance(form, Reg) and form.lanes:
            return form
        key = ("wide", form, self.lanes)
        found = self.find(key)
        if found is None:
            found = self._splat(form) if isinstance(form, Reg) else self._spread(form)
            self.remember(key, found)
        assert isinstance(found, Reg)
        return found

    def _splat(self, reg: Reg) -> Reg:
        assert self.lanes, "a vector outside a nest"
        if reg.constant is not None:
            return Reg(f"splat ({reg.typed})", reg.type, self.lanes, 0, reg.constant, reg.divisor)
        whole = full(reg.type, self.lanes)
        one = self.put(
            reg.level,
            "one",
            f"insertelement {whole} poison, {reg.typed}, i64 0",
            reg.type,
            self.lanes,
        )
        mask = f"<{self.lanes} x i32> zeroinitializer"
        text = f"shufflevector {whole} {one.text}, {whole} poison, {mask}"
        return self.put(reg.level, "splat", text, reg.type, self.lanes)

    def _spread(self, form: Run | Pointer) -> Reg:
        from .affine import add, mul  # the arithmetic is built on this class

        if isinstance(form, Pointer):
            return self.addresses(form)
        start = add(self, form.base, mul(self, self.lane_as(form.type), form.step))
        assert isinstance(start, Reg)
        return self.inst("run", "add", [self.wide(start), self._steps(form)])

    def lane_as(self, type_: str) -> Reg:
        """The lane loop's index as an int of another width."""
        if self.lane.constant is not None:
            return const(type_, self.lane.constant)
        if type_ == "i64":
            return self.lane
        key = ("lane", type_)
        found = self.find(key)
        if found is None:
            found = self.convert("lane", "trunc", self.lane, type_)
            self.remember(key, found)
        assert isinstance(found, Reg)
        return found

    def iota(self, type_: str) -> Reg:
        """The vector 0, 1, 2, …"""
        numbers = ", ".join(f"{type_} {_wrapped(type_, i)}" for i in range(self.lanes))
        return Reg(f"<{numbers}>", type_, self.lanes)

    def addresses(self, form: Pointer) -> Reg:
        """A vector of addresses."""
        if form.offset is None:
            return self.wide(form.base)
        if not form.base.lanes and isinstance(form.offset, Run):
            return self._stepped(form.base, form.offset, form.unit)
        return self._at(form.unit, self.wide(form.base), self.wide(form.offset))

    def _at(self, unit: str, base: Reg, offset: Reg) -> Reg:
        text = f"getelementptr {unit}, {base.typed}, {offset.typed}"
        return self.put(max(base.level, offset.level), "at", text, "ptr", offset.lanes)

    def _stepped(self, base: Reg, run: Run, unit: str) -> Reg:
        """The addresses of a run: that of the first lane, plus steps that do not change along the
        lane loop.
        """
        from .affine import add, mul  # the arithmetic is built on this class

        start = add(self, run.base, mul(self, self.lane, run.step))
        assert isinstance(start, Reg)
        return self._at(unit, self._at(unit, base, start), self._steps(run))

    def _steps(self, run: Run) -> Reg:
        """0, step, 2 * step, … as a vector."""
        iota = self.iota(run.type)
        if run.step.constant == 1:
            return iota
        key = ("steps", run.step, self.lanes)
        found = self.find(key)
        if found is None:
            found = self.inst("steps", "mul", [iota, self.wide(run.step)])
            self.remember(key, found)
        assert isinstance(found, Reg)
        return found

    def extract(self, vector: Reg, lane: int) -> Reg:
        """One lane of a vector as a scalar."""
        text = f"extractelement {vector.typed}, i64 {lane}"
        return self.put(vector.level, "lane", text, vector.type)

    def zero(self, type_: str, lanes: int = 0) -> Reg:
        """A zero (null) of a type."""
        if lanes:
            return Reg("zeroinitializer", type_, lanes)
        return Reg("null", "ptr") if type_ == "ptr" else const(type_, 0)


def _wrapped(type_: str, value: int) -> str:
    return literal(type_, value & 1 if type_ == "i1" else value)
