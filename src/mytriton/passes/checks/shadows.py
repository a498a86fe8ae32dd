"""Shadow values: beside each value that may be tainted, a block of i32 that says which op did it.

An element of a shadow is 0 where the value's element is clean, else the number of the op that
tainted it: its place in `origins`, counted from 1. Ops hand shadows on (`propagate.py`): an
addition takes the larger of its operands' two, a select the chosen one's, a transposition
transposes it, a loop carries it beside the value. What the analysis `Tainted` finds clean has no
shadow and costs nothing.

    %2 = load p, m, none         the shadow is    select m, 0, 1       undefined where m is off
    %3 = add %2, 1.0                              the same
    store q, %3, n               reported where n is on and the shadow is not 0

What taints, what clears and where it matters differ by kind of fault: an object of `Rules`. The
idea is MemorySanitizer's (E. Stepanov and K. Serebryany, CGO 2015), a lane at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ...elementary.term import IrTerm
from ...errors import Where
from ...ir.build import Builder
from ...ir.fold import constant
from ...ir.nodes import Function, Op, Operand, Param, Region, Value
from ...ir.recursion import Walk
from ...ir.types import I32, Type, shape_of, with_shape
from .. import loop_values
from ..dataflow import Analysis
from ..rebuild import Rebuild
from .findings import Finding, emit_findings, first_lane, stretched
from .insert import mask_of

Shadow = IrTerm | None
"""The shadow of a value; None: it is clean."""
Handed = Callable[["Shadows", Op, Sequence[Operand], Sequence[Shadow]], Sequence[Shadow]]
"""How an op hands on the shadows of its operands: from its new operands and their shadows."""


@dataclass(frozen=True)
class Sink:
    """Where a taint matters: the operand of an op. role: what it is used as. early: told before the
    op, which may crash; else at the end of the region, so that stores stay next to each other."""

    operand: str
    role: str
    masked: bool = True
    early: bool = False


@dataclass(frozen=True)
class Rules:
    """One kind of fault.

    taints: whether an op may taint its results. lanes: in which lanes it does, from its new
    operands and its result; None: in none after all. clears: whether the results are clean whatever
    they are made of. kept: the shadow of a result that gets its operands' taint. sinks: by op.
    handed: how ops hand shadows on where that is not by `PROPAGATE`. checks: what else is looked at
    before an op.
    """

    kind: str
    taints: Callable[[Op], bool]
    lanes: Callable[[Op, Sequence[Operand], IrTerm], IrTerm | None]
    sinks: Mapping[str, Sequence[Sink]]
    clears: Callable[[Op], bool] = lambda op: False
    kept: Callable[[Op, IrTerm, IrTerm], IrTerm] = lambda op, result, shadow: shadow
    handed: Mapping[str, Handed] = field(default_factory=dict)
    checks: Mapping[str, Callable[[Shadows, Op, Sequence[Shadow]], None]] = field(
        default_factory=dict
    )


class Tainted(Analysis[bool]):
    """Whether a value may be tainted."""

    def __init__(self, function: Function, rules: Rules) -> None:
        self.rules = rules
        super().__init__(function)

    def top(self, ty: Type) -> bool:
        return True

    def constant(self, constant: object) -> bool:
        return False

    def parameter(self, param: Param) -> bool:
        return False

    def index(self, op: Op) -> bool:
        return False

    def join(self, left: bool, right: bool) -> bool:
        return left or right

    def transfer(self, op: Op) -> Sequence[bool]:
        given = any(self.of(operand) for operand in op.operands if operand is not None)
        found = self.rules.taints(op) or (given and not self.rules.clears(op))
        return [found] * len(op.types)


class Shadows(Rebuild):
    """A rebuild of a function with the shadows of one kind, and its reports."""

    def __init__(self, function: Function, rules: Rules, propagate: Mapping[str, Handed]) -> None:
        super().__init__({}, Builder(where=()))
        self.kind = rules
        self.propagate = propagate
        self.tainted = Tainted(function, rules)
        self.shadows: dict[Value | Param, IrTerm] = {}
        self.origins: list[Op] = []
        self.pending: list[list[Finding]] = []
        self.inside_function = 0

    def of(self, operand: Operand) -> Shadow:
        """The shadow of an operand of the old function."""
        return self.shadows.get(operand) if isinstance(operand, (Value, Param)) else None

    # -- regions

    def ops(self, region: Region) -> Walk[None]:
        if self.inside_function:
            yield super().ops(region)
            return
        self.pending.append([])
        yield super().ops(region)
        found = self.pending.pop()
        if found:
            emit_findings(self.kind.kind, found)

    def with_regions(self, op: Op) -> Walk[Sequence[Operand]]:
        self.before(op)
        if op.row.has_control_flow and not self.inside_function:
            results: Sequence[Operand] = yield self.carried(op)
            return results
        self.inside_function += 1
        results = yield super().with_regions(op)
        self.inside_function -= 1
        self.after(op, self.operands(op), results)
        return results

    def carried(self, op: Op) -> Walk[Sequence[Operand]]:
        """A loop or branch, with the shadows of its tainted results as results besides."""
        places = [k for k, value in enumerate(op.results) if self.tainted.of(value)]
        operands = list(self.operands(op))
        if op.row.is_loop:
            operands += [self.full(loop_values.init(op, k), op.types[k]).value for k in places]
        regions = []
        for region in op.regions:
            regions.append((yield self.carrying(op, region, places)))
        self.builder.where = op.where
        results = self.builder.make(op.row, operands, op.attrs, tuple(regions))
        count = len(op.types)
        made = zip(places, results[count:], strict=True)
        self.shadows.update((op.results[k], IrTerm(value)) for k, value in made)
        return results[:count]

    def carrying(self, op: Op, region: Region, places: Sequence[int]) -> Walk[Region]:
        """A region of such an op."""
        params, number = list(region.params), op.regions.index(region)
        for k in places if op.row.is_loop else ():
            params.append(Param("", with_shape(I32, shape_of(op.types[k]))))
            self.shadows[loop_values.iter_args(op, k)[number]] = IrTerm(params[-1])
        self.builder.open(op.row.region_kind, params)
        yield self.ops(region)
        results = [self.operand(result) for result in region.results]
        self.builder.where = region.ops[-1].where
        if op.row.is_loop and region is not op.regions[-1]:
            self.find(region.results[0], Sink("test", "the condition of a loop", early=True), op)
        else:
            results += [self.full(region.results[k], op.types[k]).value for k in places]
        return self.builder.close(results)

    def full(self, operand: Operand, ty: Type) -> IrTerm:
        """The shadow of an operand at the shape of a type, zeros where it is clean."""
        return stretched(self.of(operand) or IrTerm(constant(0, I32)), shape_of(ty))

    # -- ops

    def op(self, op: Op) -> Sequence[Operand]:
        if self.inside_function:
            return super().op(op)
        self.before(op)
        results = super().op(op)
        self.after(op, self.operands(op), results)
        return results

    def before(self, op: Op) -> None:
        """Looks at the operands of an op that is about to use them."""
        if self.inside_function:
            return
        given = [self.of(operand) for operand in op.operands]
        if not any(given):
            return
        check = self.kind.checks.get(op.name)
        if check is not None:
            check(self, op, given)
        for sink in self.kind.sinks.get(op.name, ()):
            for place, operand in enumerate(op.operands):
                if op.row.operand_name(place) == sink.operand:
                    self.find(operand, sink, op)

    def find(self, operand: Operand, sink: Sink, op: Op) -> None:
        """Reports the tainted lanes of an operand."""
        shadow = self.of(operand)
        if shadow is None:
            return
        mask = self.operand(mask_of(op)) if sink.masked else None
        assert operand is not None
        self.tell(shadow, mask, shape_of(operand.ty), sink, op.where)

    def tell(
        self, shadow: IrTerm, mask: Operand, shape: tuple[int, ...], sink: Sink, where: Where
    ) -> None:
        """Reports the lanes of a shadow that the mask has on."""
        whole = shape if mask is None else max(shape, shape_of(mask.ty), key=len)
        key = first_lane(shadow, mask, whole)
        finding = Finding(key, (sink.role,), whole, where)
        if sink.early:
            emit_findings(self.kind.kind, [finding])
            self.builder.where = where
        else:
            self.pending[-1].append(finding)

    def after(self, op: Op, operands: Sequence[Operand], results: Sequence[Operand]) -> None:
        """Gives the results of an op their shadows."""
        given = [self.of(operand) for operand in op.operands]
        made: Sequence[Shadow] = [None] * len(results)
        if any(given) and not self.kind.clears(op):
            handed = self.kind.handed.get(op.name) or self.propagate.get(op.name, joined)
            made = handed(self, op, operands, given)
        number: Shadow = None
        for value, result, shadow in zip(op.results, results, made, strict=True):
            term = IrTerm(result)
            if shadow is not None:
                shadow = self.kind.kept(op, term, shadow)
            bad = self.kind.lanes(op, operands, term) if self.kind.taints(op) else None
            if bad is not None:
                number = number or self.origin(op)
                shadow = bad.where(number, 0 if shadow is None else shadow)
            if shadow is not None:
                self.shadows[value] = shadow

    def origin(self, op: Op) -> IrTerm:
        """The number of an op that taints."""
        self.origins.append(op)
        return IrTerm(constant(len(self.origins), I32))


def joined(
    shadows: Shadows, op: Op, operands: Sequence[Operand], given: Sequence[Shadow]
) -> Sequence[Shadow]:
    """Every result has the taints of all operands."""
    return [union(given)] * len(op.types)


def union(given: Sequence[Shadow]) -> Shadow:
    """The taint of what is made of several, element by element."""
    found: Shadow = None
    for shadow in given:
        if shadow is not None:
            found = shadow if found is None or found is shadow else found.maximum(shadow)
    return found
