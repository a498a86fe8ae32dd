"""Element-wise rows as LLVM instructions.

`row.element.llvm[kind]` is the instruction, or the intrinsic where it starts with
`llvm.`; ints that LLVM leaves undefined (division by zero, shifts by the width) are guarded as
`ir/elementwise.py` says, unless a constant shows that they cannot happen. A small float is computed
in `float` and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.ops import Elementwise
from ...ir.types import BOOL, ScalarType
from . import affine
from .casts import rounded
from .code import Reg, const
from .nest import Form, Nest, Run


def has_instruction(row: Elementwise, element: ScalarType) -> bool:
    """Whether LLVM has an instruction for the row at this element type; else the row is
    expanded.
    """
    return element.kind in row.llvm


def elementwise(
    nest: Nest, row: Elementwise, element: ScalarType, forms: Sequence[Form], hint: str
) -> Form:
    """The row's meaning on operands of an element type."""
    instruction = row.llvm[element.kind]
    if any(isinstance(form, Run) for form in forms) and instruction in RUNS:
        kept = RUNS[instruction](nest, forms)
        if kept is not None:
            return kept
    scalars = all(isinstance(form, Reg) and not form.lanes for form in forms)
    if scalars and instruction in RUNS and element.kind in "iu":
        kept = RUNS[instruction](nest, forms)
        if kept is not None:
            return kept
    operands = nest.same_width(forms)
    if instruction in GUARDS:
        return GUARDS[instruction](nest, instruction, element, operands, hint)
    if instruction.startswith("llvm."):
        value = nest.call(hint, instruction, operands)
    else:
        value = nest.inst(hint, instruction, operands, "i1" if row.boolean else "")
    if row.boolean or element == BOOL:
        return value
    return rounded(nest, element, value) if element.kind == "f" else value


def _run_add(nest: Nest, forms: Sequence[Form]) -> Form | None:
    return affine.add(nest, forms[0], forms[1])


def _run_sub(nest: Nest, forms: Sequence[Form]) -> Form | None:
    left, right = forms
    if isinstance(right, Reg) and right.lanes:
        return None
    return affine.add(nest, left, affine.negate(nest, right))


def _run_mul(nest: Nest, forms: Sequence[Form]) -> Form | None:
    left, right = forms
    if isinstance(left, Run) and isinstance(right, Run):
        return None
    return affine.mul(nest, left, right)


def _run_shl(nest: Nest, forms: Sequence[Form]) -> Form | None:
    left, right = forms
    count = right.constant if isinstance(right, Reg) and not right.lanes else None
    if (
        count is None
        or not isinstance(left, (Run, Reg))
        or not 0 <= count < affine.bits_of(left.type)
    ):
        return None
    return affine.mul(nest, left, const(left.type, affine.wrap(left.type, 1 << int(count))))


def _run_remainder(nest: Nest, forms: Sequence[Form]) -> Form | None:
    """i % n is i on a run that lies in 0 … n-1, which is checked before the loop."""
    left, right = forms
    if not isinstance(left, Run) or not isinstance(right, Reg) or right.lanes:
        return None
    if left.step.constant != 1 or not nest.version.contiguous:
        return None
    if not affine.stays_in_range(nest, left, True):
        return None
    last = affine.add_scalars(nest, left.base, const(left.type, nest.extent - 1))
    low = nest.inst("inside", "icmp sge", [left.base, const(left.type, 0)], "i1")
    high = nest.inst("inside", "icmp slt", [last, right], "i1")
    inside = nest.inst("inside", "and", [low, high])
    return left if affine.assume(nest, inside) else None


RUNS: dict[str, Callable[[Nest, Sequence[Form]], Form | None]] = {
    "add": _run_add,
    "sub": _run_sub,
    "mul": _run_mul,
    "shl": _run_shl,
    "srem": _run_remainder,
}
"""Instructions that keep runs runs; None where this one does not."""


def _like(nest: Nest, reg: Reg, type_: str, value: int) -> Reg:
    number = const(type_, value)
    return nest.wide(number) if reg.lanes else number


def _divide(
    nest: Nest, instruction: str, element: ScalarType, operands: Sequence[Reg], hint: str
) -> Reg:
    """Quotient and remainder; dividing by zero or the least int by -1 is replaced by dividing by
    one.
    """
    left, right = operands
    if right.constant is not None and right.constant not in (0, -1):
        return nest.inst(hint, instruction, operands)
    signed, remainder = instruction[0] == "s", instruction.endswith("rem")
    zero, one = _like(nest, left, left.type, 0), _like(nest, left, left.type, 1)
    bad = none = nest.inst("none", "icmp eq", [right, zero], "i1")
    if signed:
        minus = nest.inst("minus", "icmp eq", [right, _like(nest, left, left.type, -1)], "i1")
        bad = nest.inst("bad", "or", [none, minus])
    value = _quotient(
        nest, instruction, element, [left, nest.select("safe", bad, one, right)], hint
    )
    if remainder:  # of -1 the remainder is 0, as it is of 1
        return nest.select(hint, none, left, value)
    if signed:
        value = nest.select(hint, minus, nest.inst("neg", "sub", [zero, left]), value)
    return nest.select(hint, none, zero, value)


def _quotient(
    nest: Nest, instruction: str, element: ScalarType, operands: Sequence[Reg], hint: str
) -> Reg:
    """Vectors of at most 32 bits divide as doubles, which is exact: a quotient is never within
    2**-53 of another.
    """
    left, right = operands
    if not left.lanes or element.bits > 32:
        return nest.inst(hint, instruction, operands)
    to, back = ("sitofp", "fptosi") if instruction[0] == "s" else ("uitofp", "fptoui")
    reals = [nest.convert("real", to, operand, "double") for operand in operands]
    if right.level < left.level:
        real = _by_reciprocal(nest, reals[0], reals[1])
    else:
        real = nest.inst("quotient", "fdiv", reals)
    quotient = nest.convert("quotient", back, real, left.type)
    if instruction.endswith("div"):
        return quotient
    return nest.inst(hint, "sub", [left, nest.inst("whole", "mul", [quotient, right])])


def _by_reciprocal(nest: Nest, left: Reg, right: Reg) -> Reg:
    """A quotient of ints of 32 bits whose whole part is right, by the reciprocal of a divisor that
    stands before the loop.

    Half a unit is added to the dividend, away from zero. So the exact quotient is at least 0.5 / d
    from the next int on either side, and the two roundings move it by less than 2**-20 / d.
    """
    one = Reg("splat (double 1.0)", "double", left.lanes)
    inverse = nest.inst("inverse", "fdiv", [one, right])
    half = Reg("splat (double 0.5)", "double", left.lanes)
    more = nest.call("half", "llvm.copysign", [half, left])
    return nest.inst("quotient", "fmul", [nest.inst("more", "fadd", [left, more]), inverse])


def _shift(
    nest: Nest, instruction: str, element: ScalarType, operands: Sequence[Reg], hint: str
) -> Reg:
    """Shifts by the width or more give 0, or the sign."""
    left, right = operands
    last = element.bits - 1
    if right.constant is not None and 0 <= right.constant <= last:
        return nest.inst(hint, instruction, operands)
    end = _like(nest, left, left.type, last)
    over = nest.inst("over", "icmp ugt", [right, end], "i1")
    count = nest.select("count", over, end, right)
    value = nest.inst(hint, instruction, [left, count])
    if instruction == "ashr":
        return value
    return nest.select(hint, over, _like(nest, left, left.type, 0), value)


GUARDS: dict[str, Callable[..., Reg]] = {
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), _divide),
    **dict.fromkeys(("shl", "ashr", "lshr"), _shift),
}
