"""The verifier: what every function must satisfy between any two passes.

It trusts nobody and knows little: types are checked by running the rows' rules again. The
invariants, by the name an `InvalidIR` carries:

- row: every op is a row of the table, with as many regions as the row has;
- attributes: only the row's, each required one given, defaults not stored;
- operands: constants, `none`, or values in scope;
- scope: a value is used only after its definition, in the same region or one inside;
- definition: an op stands in one place, a param is bound once, no two parameters share a name;
- types: the row's rule on the operands' types gives the op's types, and each result is the op's
  own, at its index, of its type;
- constants: of the type's Python kind, and representable in it;
- yield: each region ends in one and has no other; it gives values, not `none`;
- body: a function's body has no params and yields nothing;
- effects: regions that are functions (of reduce, scan, map) neither read nor write memory; an op
  that is pure gives a result.
"""

from __future__ import annotations

from ..errors import describe
from .nodes import Const, Function, Op, Operand, Param, Region, Value, walk
from .numeric import canonical
from .ops import REQUIRED, TABLE, Effect, Mismatch
from .recursion import Walk, run
from .text import SSAPrinter
from .types import ScalarType


class InvalidIR(AssertionError):
    """A function breaks an invariant of the IR: a mistake of this package, not of a kernel."""

    def __init__(self, invariant: str, message: str, stage: str = "") -> None:
        self.invariant = invariant
        super().__init__(f"{stage}{': ' * bool(stage)}[{invariant}] {message}")


def check(function: Function, stage: str = "") -> Function:
    """Raises InvalidIR, with the op and the invariant, unless all invariants hold; the function.

    stage: what to say before the message, such as the pass that made the function.
    """
    _Check(stage).function(function)
    return function


class _Check:
    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.scope: set[Value | Param] = set()
        self.defined: set[Op | Param] = set()

    def fail(self, op: Op | None, invariant: str, message: str) -> None:
        text = message
        if op is not None:
            text = "\n".join(
                filter(None, (f"{SSAPrinter({}).head(op)}: {message}", describe(op.where)))
            )
        raise InvalidIR(invariant, text, self.stage)

    def need(self, condition: bool, op: Op | None, invariant: str, message: str) -> None:
        if not condition:
            self.fail(op, invariant, message)

    def function(self, function: Function) -> None:
        names = [param.name for param in function.params]
        twice = sorted({name for name in names if names.count(name) > 1})
        self.need(not twice, None, "definition", f"two parameters named {', '.join(twice)}")
        self.bind(function.params, None)
        plain = not function.body.params
        self.need(plain, None, "body", f"the body of {function.name} has params")
        run(self.region(function.body, None))
        results = function.body.results
        self.need(not results, None, "body", f"the body of {function.name} yields {results}")

    def bind(self, params: tuple[Param, ...], op: Op | None) -> None:
        for param in params:
            self.need(param not in self.defined, op, "definition", f"{param.name} is bound twice")
            self.defined.add(param)
        self.scope.update(params)

    def region(self, region: Region, owner: Op | None) -> Walk[None]:
        """Checks a region; what it defines leaves the scope with it."""
        ends = [op.name == "yield" for op in region.ops]
        last = bool(ends) and ends[-1] and sum(ends) == 1
        self.need(last, owner, "yield", "a region must end in its one yield")
        for op in region.ops:
            yield self.op(op)
        for op in region.ops:
            self.scope.difference_update(op.results)
        self.scope.difference_update(region.params)

    def op(self, op: Op) -> Walk[None]:
        self.row(op)
        self.need(op not in self.defined, op, "definition", "the op stands in two places")
        self.defined.add(op)
        for operand in op.operands:
            self.operand(op, operand)
        for region in op.regions:
            self.bind(region.params, op)
            yield self.region(region, op)
        self.types(op)
        self.effects(op)
        self.scope.update(op.results)

    def row(self, op: Op) -> None:
        row = op.row
        if TABLE.get(row.name) is not row:
            return self.fail(op, "row", f"there is no op {row.name!r}")
        self.need(len(op.regions) == len(row.region_names), op, "row", f"{len(op.regions)} regions")
        for name, value in op.attrs.items():
            known = name in row.attrs and value != row.attrs[name]
            self.need(known, op, "attributes", f"attribute {name} is unknown or the default")
        missing = [k for k, v in row.attrs.items() if v is REQUIRED and k not in op.attrs]
        self.need(not missing, op, "attributes", f"missing: {', '.join(missing)}")
        given = op.name != "yield" or None not in op.operands
        self.need(given, op, "yield", "a region gives values")

    def operand(self, op: Op, operand: Operand) -> None:
        if isinstance(operand, (Value, Param)):
            known = operand in self.scope
            self.need(known, op, "scope", f"{_named(operand)} is not defined here")
        elif isinstance(operand, Const):
            self.constant(op, operand)
        else:
            self.need(operand is None, op, "operands", f"{operand!r} is no operand")

    def constant(self, op: Op, constant: Const) -> None:
        value, ty = constant.value, constant.ty
        self.need(isinstance(ty, ScalarType), op, "constants", f"a constant of type {ty}")
        wanted = {"b": bool, "f": float}.get(ty.kind, int)
        self.need(type(value) is wanted, op, "constants", f"{value!r} as a constant of {ty}")
        same = Const(canonical(ty, value), ty) == constant
        self.need(same, op, "constants", f"{value!r} is not a value of {ty}")

    def types(self, op: Op) -> None:
        row = op.row
        given = [None if operand is None else operand.ty for operand in op.operands]
        attrs = {**row.attrs, **op.attrs} if op.attrs else row.attrs
        try:
            types = row.result_types(given, attrs, op.regions)
        except Mismatch as mismatch:
            return self.fail(op, "types", str(mismatch))
        self.need(types == op.types, op, "types", f"the rule gives {types}")
        own = all(v.op is op and v.index == i for i, v in enumerate(op.results))
        right = tuple(v.ty for v in op.results) == types
        self.need(own and right, op, "types", "the results are not the op's own")

    def effects(self, op: Op) -> None:
        row = op.row
        if row.region_names and not row.has_control_flow:
            for inner in (inner for region in op.regions for inner in walk(region)):
                pure = inner.row.effect is Effect.PURE
                self.need(pure, op, "effects", f"{inner.name} inside a {op.name}")
        useful = op.results or op.regions or row.effect is not Effect.PURE or op.name == "yield"
        self.need(bool(useful), op, "effects", "a pure op without a result")


def _named(operand: Value | Param) -> str:
    return operand.name if isinstance(operand, Param) else f"a result of {operand.op.name}"
