"""Integer arithmetic on forms: constants fold, runs stay runs, powers of two are followed.

The form base + step*i is closed under addition, and under multiplication by what does not depend
on i, also where ints wrap (it is arithmetic modulo 2**bits). Only widening a run to more bits asks
whether it wrapped: that is proved from the divisor (a multiple of 256 plus 0 … 255 cannot cross
2**31), or assumed and checked once before the loop.
"""

from __future__ import annotations

from math import gcd

from .code import Reg, const
from .nest import TRUE, Form, Nest, Run


def bits_of(type_: str) -> int:
    return int(type_[1:])


def wrap(type_: str, value: int) -> int:
    """The signed int of this width that is congruent to the value."""
    bits = bits_of(type_)
    low = value & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _folded(type_: str, value: int) -> Reg:
    return const(type_, wrap(type_, value))


def _with_divisor(reg: Reg, divisor: int) -> Reg:
    return Reg(reg.text, reg.type, reg.lanes, reg.level, reg.constant, min(divisor, 1 << 62))


def add(nest: Nest, a: Form, b: Form) -> Form:
    """a + b of ints."""
    if isinstance(a, Run) or isinstance(b, Run):
        if (isinstance(a, Reg) and a.lanes) or (isinstance(b, Reg) and b.lanes):
            return nest.inst("sum", "add", [nest.wide(a), nest.wide(b)])
        return _add_runs(nest, a, b)
    assert isinstance(a, Reg) and isinstance(b, Reg)
    if a.lanes or b.lanes:
        return nest.inst("sum", "add", [nest.wide(a), nest.wide(b)])
    return add_scalars(nest, a, b)


def add_scalars(nest: Nest, a: Reg, b: Reg) -> Reg:
    if a.constant is not None and b.constant is not None:
        return _folded(a.type, int(a.constant) + int(b.constant))
    if a.constant == 0:
        return b
    if b.constant == 0:
        return a
    return _with_divisor(nest.inst("sum", "add", [a, b]), gcd(a.divisor, b.divisor))


def _add_runs(nest: Nest, a: Form, b: Form) -> Run:
    left, right = _as_run(a), _as_run(b)
    base = add_scalars(nest, left.base, right.base)
    return Run(base, add_scalars(nest, left.step, right.step))


def _as_run(form: Form) -> Run:
    if isinstance(form, Run):
        return form
    assert isinstance(form, Reg) and not form.lanes
    return Run(form, const(form.type, 0))


def mul(nest: Nest, a: Form, b: Form) -> Form:
    """a * b of ints."""
    if isinstance(b, Run):
        a, b = b, a
    if isinstance(a, Run) and isinstance(b, Reg) and not b.lanes:
        return Run(mul_scalars(nest, a.base, b), mul_scalars(nest, a.step, b))
    if isinstance(a, Reg) and isinstance(b, Reg) and not a.lanes and not b.lanes:
        return mul_scalars(nest, a, b)
    return nest.inst("product", "mul", [nest.wide(a), nest.wide(b)])


def mul_scalars(nest: Nest, a: Reg, b: Reg) -> Reg:
    if a.constant is not None and b.constant is not None:
        return _folded(a.type, int(a.constant) * int(b.constant))
    if b.constant is not None:
        a, b = b, a
    if a.constant == 0:
        return a
    if a.constant == 1:
        return b
    return _with_divisor(nest.inst("product", "mul", [a, b]), a.divisor * b.divisor)


def negate(nest: Nest, a: Form) -> Form:
    assert not isinstance(a, Reg) or not a.lanes
    assert isinstance(a, (Reg, Run))
    return mul(nest, a, const(a.type, -1))


def resize(nest: Nest, form: Form, signed: bool, to: str) -> Form:
    """An int of another width: narrower ones wrap, wider ones keep the number."""
    assert isinstance(form, (Reg, Run))
    if form.type == to:
        return form
    if isinstance(form, Run):
        return _resize_run(nest, form, signed, to)
    if form.constant is not None and not form.lanes:
        value = int(form.constant)
        if not signed and value < 0:
            value += 1 << bits_of(form.type)
        return _folded(to, value)
    narrower = bits_of(to) < bits_of(form.type)
    opcode = "trunc" if narrower else "sext" if signed else "zext"
    divisor = min(form.divisor, 1 << bits_of(to) - 1)
    return _with_divisor(nest.convert("wide" if not narrower else "low", opcode, form, to), divisor)


def _resize_run(nest: Nest, form: Run, signed: bool, to: str) -> Form:
    if bits_of(to) < bits_of(form.type):
        return Run(_scalar(nest, form.base, True, to), _scalar(nest, form.step, True, to))
    if stays_in_range(nest, form, signed):
        return Run(_scalar(nest, form.base, signed, to), _scalar(nest, form.step, True, to))
    return resize(nest, nest.wide(form), signed, to)


def _scalar(nest: Nest, reg: Reg, signed: bool, to: str) -> Reg:
    result = resize(nest, reg, signed, to)
    assert isinstance(result, Reg)
    return result


def never_wraps(nest: Nest, form: Run) -> bool:
    """Whether it is certain that no element of the run wraps, signed or unsigned."""
    if form.step.constant is None:
        return False
    reach = int(form.step.constant) * (nest.extent - 1)
    if form.base.constant is not None:
        low, high = sorted((int(form.base.constant), int(form.base.constant) + reach))
        return low >= 0 and high < 1 << bits_of(form.type) - 1
    return 0 <= reach < form.base.divisor


def wraps_not(nest: Nest, form: Run, signed: bool) -> Reg:
    """A scalar: whether no element of the run wraps in this launch. Computed before the lane
    loop.
    """
    if never_wraps(nest, form):
        return TRUE
    if form.type == "i64":
        return _long_wraps_not(nest, form, signed)
    key = ("wraps", form.base, form.step, signed)
    found = nest.find(key)
    if found is None:
        last = add_scalars(
            nest,
            _scalar(nest, form.base, signed, "i64"),
            mul_scalars(nest, _scalar(nest, form.step, True, "i64"), const("i64", nest.extent - 1)),
        )
        back = _scalar(nest, _scalar(nest, last, signed, form.type), signed, "i64")
        found = nest.inst("fits", "icmp eq", [last, back], "i1")
        nest.remember(key, found)
    assert isinstance(found, Reg)
    return found


def _long_wraps_not(nest: Nest, form: Run, signed: bool) -> Reg:
    """The same of 64 bits, which nothing wider can check; only known steps are looked at."""
    step = form.step.constant
    if step is None or abs(reach := int(step) * (nest.extent - 1)) >= 1 << 62:
        return const("i1", False)
    top = (1 << 63) - 1 if signed else (1 << 64) - 1
    least = top - (1 << 64) + 1 if signed else 0
    sign = "s" if signed else "u"
    if reach < 0:
        lowest = const("i64", wrap("i64", least - reach))
        return nest.inst("fits", f"icmp {sign}ge", [form.base, lowest], "i1")
    highest = const("i64", wrap("i64", top - reach))
    return nest.inst("fits", f"icmp {sign}le", [form.base, highest], "i1")


def stays_in_range(nest: Nest, form: Run, signed: bool) -> bool:
    """Whether the run may be taken not to wrap: proved, or assumed with a note of the condition."""
    if form.type == "i64" or never_wraps(nest, form):
        return True
    return assume(nest, wraps_not(nest, form, signed))


def assume(nest: Nest, condition: Reg) -> bool:
    """Takes a condition for granted in this version of the loop, where that is allowed."""
    if condition.constant is not None:
        return bool(condition.constant)
    version = nest.version
    if not version.contiguous or condition.level >= nest.lane_level:
        return False
    if condition not in version.checks:
        version.checks.append(condition)
    return True
