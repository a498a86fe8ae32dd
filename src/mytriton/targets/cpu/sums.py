"""The accumulators of reductions whose order is free.

Each lane sums its own elements, and the lanes are combined at the end. A maximum of
floats is accumulated as ints that order as the floats do (`KEYS`): one instruction a turn depends
on the one before, not five, and NaN is the int that never wins.

    1.5 → 0x3fc00000    -1.5 → 0xc03fffff    -0.0 → -1 < 0.0 → 0    NaN → the least int
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.nodes import Op, Value
from ...ir.types import element_of
from .code import Code, Reg, const
from .combine import apply, combine_one, identities
from .nest import Form, Nest
from .schedule.plan import Root
from .types import full

KEYS = {"llvm.maximumnum": ("llvm.smax", 0), "llvm.minimumnum": ("llvm.smin", -1)}
"""Float instructions that are accumulated as ordered ints: by which instruction, and the sign fill
of NaN's key.
"""


@dataclass(eq=False)
class Sums:
    """The accumulators of one reduction in one version of the lane loop: vectors, one per
    operand.
    """

    op: Op | None
    names: list[str]
    types: list[str]
    lanes: int
    starts: list[Reg]
    keys: list[str] = field(default_factory=list)
    """The float instruction of each accumulator that holds ordered ints; "" for the others."""
    nexts: list[Reg] = field(default_factory=list)
    totals: list[Reg] = field(default_factory=list)
    incoming: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def start_from(self, before: Sums | None) -> None:
        """Sets what the loop begins with: the identities, or what an earlier loop left."""
        self.incoming = [reg.text for reg in (before.totals if before else self.starts)]

    def head(self, code: Code, entry: str, latch: str) -> None:
        for name, type_, start, following in zip(self.names, self.types, self.incoming, self.nexts):
            whole = full(type_, self.lanes)
            code.add(f"%{name} = phi {whole} [ {start}, %{entry} ], [ {following.text}, %{latch} ]")

    def foot(self, code: Code, entry: str | None, latch: str) -> None:
        """What the sum is after the loop."""
        self.results = [following.text for following in self.nexts]
        if entry is None:
            return
        for number, (name, type_) in enumerate(zip(self.names, self.types)):
            whole, end = full(type_, self.lanes), f"%{name}.end"
            ways = f"[ {self.incoming[number]}, %{entry} ], [ {self.results[number]}, %{latch} ]"
            code.add(f"{end} = phi {whole} {ways}")
            self.results[number] = end

    def settle(self, level: int) -> None:
        self.totals = [
            Reg(text, type_, self.lanes, level) for text, type_ in zip(self.results, self.types)
        ]

    def merge(self, nest: Nest, code: Code, label: str, other: Sums, other_label: str) -> None:
        """Joins the sums of two ways through the nest."""
        for number, (mine, theirs) in enumerate(zip(self.totals, other.totals)):
            ways = f"[ {mine.text}, %{label} ], [ {theirs.text}, %{other_label} ]"
            name = nest.writer.names.fresh("sum")
            code.add(f"%{name} = phi {mine.full} {ways}")
            self.totals[number] = Reg(f"%{name}", mine.type, mine.lanes, mine.level)


def _op(total: Sums) -> Op:
    assert total.op is not None
    return total.op


def sums_of(nest: Nest, roots: Sequence[Root]) -> list[Sums]:
    """Fresh accumulators for the reductions among a nest's roots."""
    found = []
    for root in roots:
        if root.kind == "reduce":
            assert root.op is not None
            keys = [_key_of(result) for result in root.op.regions[0].results]
            starts = [
                nest.wide(_first_key(start, key) if key else start)
                for start, key in zip(identities(root.op.regions[0]), keys, strict=True)
            ]
            names = [nest.writer.names.fresh("acc") for _ in starts]
            types = [start.type for start in starts]
            found.append(Sums(root.op, names, types, nest.lanes, starts, keys))
    return found


def _key_of(result: object) -> str:
    assert isinstance(result, Value)
    element = result.op.row.element
    instruction = element.llvm.get(element_of(result.ty).kind, "") if element else ""
    return instruction if instruction in KEYS else ""


def _int_type(float_type: str) -> str:
    return "i64" if float_type == "double" else "i32"


def _nan_key(type_: str, key: str) -> Reg:
    """The int that loses against every number's."""
    low = -(1 << int(type_[1:]) - 1)
    return const(type_, low ^ KEYS[key][1])


def _first_key(start: Reg, key: str) -> Reg:
    return _nan_key(_int_type(start.type), key)


def accumulate(nest: Nest, total: Sums, forms: Sequence[Form]) -> None:
    """Adds the values of an index to the accumulators."""
    level = len(nest.codes) - 1
    olds = [
        Reg(f"%{name}", type_, nest.lanes, level) for name, type_ in zip(total.names, total.types)
    ]
    values = [
        _as_key(nest, nest.wide(form), key) if key else nest.wide(form)
        for form, key in zip(forms, total.keys, strict=True)
    ]
    news = combine(nest, total, olds, values)
    if nest.version.tail_mask is not None:
        valid = nest.version.tail_mask
        news = [nest.select("acc", valid, new, old) for new, old in zip(news, olds)]
    total.nexts = news


def combine(nest: Nest, total: Sums, olds: list[Reg], values: list[Reg]) -> list[Reg]:
    """Two sets of accumulators as one."""
    region = _op(total).regions[0]
    if not any(total.keys):
        return [nest.wide(form) for form in apply(nest, region, [*olds, *values])]
    return [
        nest.call("best", KEYS[key][0], [old, value])
        if key
        else nest.wide(combine_one(nest, result, old, value))
        for result, key, old, value in zip(region.results, total.keys, olds, values, strict=True)
    ]


def _as_key(nest: Nest, value: Reg, key: str) -> Reg:
    """A float as an int that orders alike."""
    type_ = _int_type(value.type)
    bits = _flip(nest, nest.convert("bits", "bitcast", value, type_))
    nan = nest.inst("nan", "fcmp uno", [value, nest.wide(const(value.type, 0.0))], "i1")
    return nest.select("key", nan, nest.wide(_nan_key(type_, key)), bits)


def _flip(nest: Nest, bits: Reg) -> Reg:
    """Negative floats order backwards as ints: all bits but the sign are flipped. Its own
    inverse.
    """
    width = int(bits.type[1:])
    sign = nest.inst("sign", "ashr", [bits, _like(nest, bits, width - 1)])
    mask = nest.inst("mask", "and", [sign, _like(nest, bits, (1 << width - 1) - 1)])
    return nest.inst("flipped", "xor", [bits, mask])


def _like(nest: Nest, like: Reg, value: int) -> Reg:
    number = const(like.type, value)
    return nest.wide(number) if like.lanes else number


def _from_key(nest: Nest, value: Reg, key: str) -> Reg:
    type_ = "double" if value.type == "i64" else "float"
    number = nest.convert("number", "bitcast", _flip(nest, value), type_)
    lost = _like(nest, value, int(_nan_key(value.type, key).constant or 0))
    none = nest.inst("none", "icmp eq", [value, lost], "i1")
    nan = const(type_, float("nan"))
    return nest.select("best", none, nest.wide(nan) if value.lanes else nan, number)


def across(nest: Nest, total: Sums) -> list[Reg]:
    """Combines the lanes of the accumulators; the values as scalars."""
    narrow(nest, total, 1)
    total.totals = [nest.extract(value, 0) for value in total.totals]
    return finished(nest, total)


def finished(nest: Nest, total: Sums) -> list[Reg]:
    """The accumulators as values of the reduced type."""
    return [
        _from_key(nest, value, key) if key else value
        for value, key in zip(total.totals, total.keys, strict=True)
    ]


def narrow(nest: Nest, total: Sums, lanes: int) -> None:
    """Combines the lanes of the accumulators half with half until so many are left."""
    width, wide = nest.lanes, total.lanes
    while wide > lanes:
        wide //= 2
        left, right = (
            [_half(nest, value, wide, part) for value in total.totals] for part in (0, 1)
        )
        nest.lanes = wide
        total.totals = combine(nest, total, left, right)
    total.lanes, nest.lanes = wide, width


def _half(nest: Nest, value: Reg, lanes: int, part: int) -> Reg:
    numbers = ", ".join(f"i32 {part * lanes + lane}" for lane in range(lanes))
    text = f"shufflevector {value.typed}, {value.full} poison, <{lanes} x i32> <{numbers}>"
    return nest.put(value.level, "half", text, value.type, lanes)
