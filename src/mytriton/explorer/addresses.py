"""How the addresses of an access run along each axis of its block, and why no better is known.

A block of ints or pointers has, along each axis, a step from one element to the next: a number, a
uniform value that only the run will tell (named as the kernel names it), or none that can be said,
with the reason:

    x + rows[:, None] * stride + cols[None, :]      steps (stride, 1)
    x + tl.load(index + i)                          no step: "comes from the load at line 7"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.nodes import Const, Function, Op, Operand, Param, Region, Value
from ..ir.recursion import Walk, run
from ..ir.types import Type, element_of, shape_of
from ..passes.algebra import constant_of

Step = int | str
"""Elements from one to the next; a name where only the run will tell."""


@dataclass(frozen=True)
class Steps:
    """The step along each axis, () of a scalar. name: of a uniform value, as an expression, in
    which … stands for what has no name."""

    axes: tuple[Step, ...]
    name: str = "…"


@dataclass(frozen=True)
class NoSteps:
    """There are none: why, in words that follow "its index", and the op that is to blame."""

    reason: str
    op: Op | None


Form = Steps | NoSteps
Rule = Callable[["Forms", Op], Form]


class Forms:
    """The form of every int and pointer of a function."""

    def __init__(self, function: Function) -> None:
        self.made: dict[Value | Param, Form] = {}
        for param in function.params:
            self.made[param] = Steps((), param.name)
        run(self._region(function.body))

    def of(self, operand: Operand) -> Form:
        """The form of an operand."""
        if isinstance(operand, Const):
            return Steps((), str(operand.value))
        assert operand is not None
        return self.made[operand]

    def _region(self, region: Region) -> Walk[None]:
        for op in region.ops:
            for inner in op.regions:
                self._enter(op, inner)
                yield self._region(inner)
            for value in op.results:
                self.made[value] = self._result(op, value)

    def _enter(self, op: Op, region: Region) -> None:
        """What a region is entered with: of a loop, what it starts with, as long as its body keeps
        the steps (checked when it ends)."""
        inits: Sequence[Operand] = op.operands[3:] if op.name == "for" else op.operands
        own = len(region.params) - len(op.results) if op.name == "for" else 0
        for at, param in enumerate(region.params):
            carried = op.row.is_loop and at >= own
            init = inits[at - own] if carried and at - own < len(inits) else None
            form = self.of(init) if init is not None else _unknown(param.ty, param.name, op)
            self.made[param] = Steps(form.axes, param.name) if isinstance(form, Steps) else form

    def _result(self, op: Op, value: Value) -> Form:
        if op.row.is_loop and op.regions:
            return self._carried(op, value)
        if not op.regions and all(self._uniform(operand) for operand in op.operands if operand):
            if op.name in RULES:
                return RULES[op.name](self, op)
            return Steps((0,) * len(shape_of(value.ty)), _uniform_name(self, op))
        if op.name in RULES and not op.regions:
            return RULES[op.name](self, op)
        return _blame(op, value.ty)

    def _carried(self, op: Op, value: Value) -> Form:
        """What a loop leaves: what it starts with, where a round keeps the steps."""
        params = op.regions[-1].params
        param = params[len(params) - len(op.results) + value.index]
        before = self.made.get(param)
        after = self.of(op.regions[-1].results[value.index])
        if isinstance(before, Steps) and isinstance(after, Steps) and before.axes == after.axes:
            return Steps(before.axes, param.name)
        return NoSteps("changes from round to round of a loop", op)

    def _uniform(self, operand: Operand) -> bool:
        form = self.of(operand)
        return isinstance(form, Steps) and not any(form.axes)


def _unknown(ty: Type, name: str, op: Op) -> Form:
    return Steps((), name) if not shape_of(ty) else NoSteps("is carried by a loop", op)


def _blame(op: Op, ty: Type) -> Form:
    if not shape_of(ty):
        return Steps((), "a value")
    return NoSteps(
        BLAME.get(op.name, f"is computed by `{_symbol(op) or op.name}`"),
        op,
    )


BLAME = {
    "load": "comes from memory",
    "select": "is chosen lane by lane by `where`",
    "gather": "is gathered from another block",
    "sort": "is sorted",
    "scan": "is scanned",
    "if": "depends on a condition",
}


def _symbol(op: Op) -> str | None:
    """How Python writes an op on ints; None where it has no sign."""
    return "//" if op.name == "div" else op.row.symbol


def _uniform_name(forms: Forms, op: Op) -> str:
    names = [named(forms.of(operand)) for operand in op.operands if operand is not None]
    symbol = _symbol(op)
    if symbol and len(names) == 2:
        return f"({names[0]} {symbol} {names[1]})"
    if op.name in ("broadcast", "reshape", "cast", "hint") and names:
        return names[0]
    return f"{op.name}({', '.join(names)})"


def named(form: Form) -> str:
    """A uniform value as the kernel would write it."""
    return form.name if isinstance(form, Steps) else "…"


# -- rules


def _stretched(forms: Forms, operand: Operand, rank: int) -> Form:
    form = forms.of(operand)
    if isinstance(form, Steps) and not form.axes:
        return Steps((0,) * rank, form.name)
    return form


def _plus(left: Step, right: Step, sign: int = 1) -> Step:
    if isinstance(left, int) and isinstance(right, int):
        return left + sign * right
    if right == 0:
        return left
    if left == 0 and sign == 1:
        return right
    return f"({left} {'+' if sign == 1 else '-'} {right})"


def _sum(sign: int) -> Rule:
    def rule(forms: Forms, op: Op) -> Form:
        rank = len(shape_of(op.types[0]))
        left, right = (_stretched(forms, operand, rank) for operand in op.operands[:2])
        if isinstance(left, NoSteps) or isinstance(right, NoSteps):
            return left if isinstance(left, NoSteps) else right
        axes = tuple(_plus(a, b, sign) for a, b in zip(left.axes, right.axes))
        if any(left.axes) or any(right.axes):
            return Steps(axes)
        return Steps(axes, f"({left.name} {'+' if sign == 1 else '-'} {right.name})")

    return rule


def _times(step: Step, factor: Step) -> Step:
    if isinstance(step, int) and isinstance(factor, int):
        return step * factor
    if 0 in (step, factor):
        return 0
    if 1 in (step, factor):
        return factor if step == 1 else step
    return f"{step} * {factor}" if isinstance(step, int) else f"{factor} * {step}"


def _product(forms: Forms, op: Op) -> Form:
    rank = len(shape_of(op.types[0]))
    sides = [_stretched(forms, operand, rank) for operand in op.operands]
    for (one, other), operand in zip((sides, sides[::-1]), reversed(op.operands)):
        if isinstance(one, NoSteps):
            return one
        if isinstance(other, Steps) and not any(other.axes):
            known = constant_of(operand)
            factor: Step = int(known.value) if known is not None else other.name
            axes = tuple(_times(step, factor) for step in one.axes)
            return Steps(axes) if any(one.axes) else Steps(axes, f"({one.name} * {other.name})")
    if isinstance(sides[1], NoSteps):
        return sides[1]
    return NoSteps("is a product of two that vary", op)


def _shift(forms: Forms, op: Op) -> Form:
    form, count = forms.of(op.operands[0]), constant_of(op.operands[1])
    if isinstance(form, NoSteps):
        return form
    if count is None:
        return NoSteps("is shifted by a value", op)
    factor = 1 << int(count.value)
    axes = tuple(_times(step, factor) for step in form.axes)
    return Steps(axes) if any(form.axes) else Steps(axes, f"({form.name} * {factor})")


def _same(forms: Forms, op: Op) -> Form:
    return _stretched(forms, op.operands[0], len(shape_of(op.types[0])))


def _cast(forms: Forms, op: Op) -> Form:
    element = element_of(op.types[0])
    form = forms.of(op.operands[0])
    if isinstance(form, Steps) and any(form.axes) and element.kind not in "iup":
        return NoSteps("is no int", op)
    return form


def _reshape(forms: Forms, op: Op) -> Form:
    (value,) = op.operands
    form = forms.of(value)
    assert value is not None
    if isinstance(form, NoSteps):
        return form
    old, new = shape_of(value.ty), shape_of(op.types[0])
    if not any(form.axes):
        return Steps((0,) * len(new), form.name)
    if [n for n in old if n > 1] != [n for n in new if n > 1]:
        return NoSteps("is reshaped", op)
    wide = iter([step for step, n in zip(form.axes, old) if n > 1])
    return Steps(tuple(next(wide) if n > 1 else 0 for n in new), form.name)


def _broadcast(forms: Forms, op: Op) -> Form:
    (value,) = op.operands
    assert value is not None
    form = _stretched(forms, value, len(shape_of(op.types[0])))
    if isinstance(form, NoSteps) or not shape_of(value.ty):
        return form
    axes = tuple(0 if n == 1 else step for step, n in zip(form.axes, shape_of(value.ty)))
    return Steps(axes, form.name)


def _trans(forms: Forms, op: Op) -> Form:
    form = forms.of(op.operands[0])
    if isinstance(form, NoSteps):
        return form
    return Steps(tuple(form.axes[axis] for axis in op.attrs["order"]), form.name)


def _arange(forms: Forms, op: Op) -> Form:
    return Steps((1,))


RULES: dict[str, Rule] = {
    "add": _sum(1),
    "addptr": _sum(1),
    "arange": _arange,
    "bitcast": _same,
    "broadcast": _broadcast,
    "cast": _cast,
    "hint": _same,
    "mul": _product,
    "reshape": _reshape,
    "shl": _shift,
    "slice": _same,
    "sub": _sum(-1),
    "trans": _trans,
}
__all__ = ["Form", "Forms", "NoSteps", "Steps", "named"]
