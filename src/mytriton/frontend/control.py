"""What rewritten kernel code calls: decisions between Python and regions, made while it runs.

One idea: the rewritten source asks at each statement; the answer may be "this is Python's" (the
condition is known: only the branch taken runs) or an object that opens regions around the very
same statements. `branches.py` and `loops.py` are those objects.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from ..errors import CompileError, CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.nodes import Const, Operand
from ..ir.triton_types import TritonType
from ..ir.types import BOOL, I32, element_of, shape_of
from ..language.constexpr import unwrap
from ..language.debug import StaticAssertionError
from ..language.loops import condition as advised_condition
from ..language.loops import range as advised_range
from ..language.promotion import (
    Given,
    Handle,
    cast,
    known,
    natural,
    number_as,
    number_type,
    operand,
    promote,
    reshape,
    truth,
)
from ..language.scalars import assigned
from ..language.tensor import given, tensor
from .branches import KernelIf
from .builtins import BUILTINS
from .jumps import RESULT
from .loops import KernelFor, KernelWhile, PythonLoop
from .pytree import UNBOUND, Undefined
from .rewrite import Site
from .signature import constexpr_argument
from .unchanged import Unchanged

PLAIN = (bool, int, float, str, tuple, type(None), TritonType)
"""What a constexpr may hold, beside functions."""


def decide(value: Any) -> bool | Operand:
    """A condition as a Python bool where it is known, else as an i1 operand.

    Raises CompileTypeError for a block of more than one element.
    """
    if value is True or value is False:
        return value
    value = unwrap(value)
    if isinstance(value, advised_condition):
        value = value.condition
    if not isinstance(value, tensor):
        return bool(value)
    if value.numel != 1:
        raise CompileTypeError(
            f"a block of type {value.type} cannot be a condition; a condition is one value: reduce"
            " it (tl.sum, tl.max), or choose element by element with tl.where or a mask"
        )
    handle = reshape(value.handle, ()) if value.shape else value.handle
    known = current().known(handle)
    return truth(handle) if known is None else bool(known)


class Known:
    """A branch that Python takes."""

    symbolic = False

    def __init__(self, then: bool) -> None:
        self.then, self.orelse = then, not then

    def first(self, value: Any) -> Any:
        return value

    def second(self, value: Any) -> Any:
        return value


class Chosen:
    """A conditional expression that Python decides. typed: the condition is known only because the
    kernel runs eagerly, so a number is typed as the join of two regions would type it."""

    def __init__(self, then: bool, typed: bool = False) -> None:
        self.then, self.orelse, self.typed = then, not then, typed
        self.value: Any = None

    def first(self, value: Any) -> None:
        self.value = value

    def second(self, value: Any) -> Any:
        chosen = self.value if self.then else value
        return assigned(chosen, alias=True) if self.typed else chosen


class EagerIf:
    """An `if` of a function that returns a value in it, on a condition that the eager driver knows:
    Python takes the branch, and the returned number is typed as the join would type it."""

    symbolic = True

    def __init__(self, site: Site, then: bool, frame: FrameType) -> None:
        self.site, self.frame = site, frame
        self.then, self.orelse = then, not then

    def values(self) -> dict[str, Any]:
        found = self.frame.f_locals
        return {name: found.get(name, UNBOUND) for name in self.site.names}

    def other(self) -> tuple[Any, ...]:
        return tuple(self.values().values())

    def join(self) -> tuple[Any, ...]:
        return tuple(
            assigned(value, alias=True) if name == RESULT else value
            for name, value in self.values().items()
        )


TRUE, FALSE = Known(True), Known(False)


class KernelRange:
    """`range(…)` in the header of a `for`: a loop of the kernel; elsewhere Python's."""

    def __init__(self, *arguments: Any) -> None:
        given = [unwrap(argument) for argument in arguments]
        if not 1 <= len(given) <= 3:
            raise CompileTypeError(f"range() takes 1 to 3 arguments, got {len(given)}")
        start, stop = (0, given[0]) if len(given) == 1 else given[:2]
        self.start, self.stop, self.step = start, stop, given[2] if len(given) == 3 else 1
        self.hints: Mapping[str, Any] = {}

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self.start, self.stop, self.step))


def bounds(loop: KernelRange) -> tuple[Operand, Operand, Operand]:
    """The loop's bounds as operands of one int type, at least i32."""
    limits = [given(value) for value in (loop.start, loop.stop, loop.step)]
    for value in limits:
        ty = value.ty if isinstance(value, Handle) else number_type(value)
        if shape_of(ty) or element_of(ty).kind not in ("b", "i", "u"):
            raise CompileTypeError(f"range() takes scalar ints, got {ty}")
    if known(limits[2]) == 0:
        raise CompileValueError("range() step must not be zero")
    low, high, step = promote(*map(_bound, limits), symbol="range()")
    return low, high, step


def _bound(value: Given) -> Given:
    """A bound of at least 32 bits; a number beyond i32 is i64, so that a step may be negative."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        element = natural(value)
        return value if element == I32 else number_as(value, element)
    bound = operand(value)
    return cast(bound, I32) if element_of(bound.ty).bits < 32 else bound


class Control:
    """The `$ctl` of one rewritten function: its sites, and what its code calls."""

    def __init__(self, sites: Sequence[Site], name: str) -> None:
        self.sites, self.name = sites, name

    # -- statements

    def if_(self, value: Any, site: int) -> Any:
        condition = decide(value)
        if not isinstance(condition, bool):
            return KernelIf(self.sites[site], condition, sys._getframe(1))
        if _is_runtime(value) and RESULT in self.sites[site].names:
            return EagerIf(self.sites[site], condition, sys._getframe(1))
        return TRUE if condition else FALSE

    def for_(self, iterable: Any, site: int) -> Any:
        loop = as_range(iterable)
        if loop is None:
            return PythonLoop(unwrap(iterable))
        builder = current()
        low, high, step = bounds(loop)
        known = [builder.known(value) for value in (low, high, step)]
        if builder.eager:
            element = element_of(low.ty)  # type: ignore[union-attr]
            counts = range(*(int(value or 0) for value in known))
            return PythonLoop(tensor(number_as(i, element)) for i in counts)
        if None not in known and not range(*map(int, known)):  # type: ignore[arg-type]
            return PythonLoop(())
        return KernelFor(self.sites[site], (low, high, step), loop.hints, sys._getframe(1))

    def while_(self, site: int) -> Any:
        return KernelWhile(self.sites[site], decide, sys._getframe(1))

    def clear(self, flags: Sequence[Any]) -> Any:
        """Whether no jump was taken: a bool, or a tensor where only the run will tell."""
        unknown = []
        for flag in flags:
            value = decide(flag)
            if value is True:
                return False
            if value is not False:
                unknown.append(tensor(value))
        if not unknown:
            return True
        taken = unknown[0]
        for flag in unknown[1:]:
            taken = taken.logical_or(flag)
        return taken.logical_not()

    def nothing(self) -> Undefined:
        return UNBOUND

    def result(self, returned: Any, value: Any) -> Any:
        """What a function with early returns returns."""
        taken = decide(returned)
        nothing = value is None or isinstance(value, Undefined)
        if taken is False or nothing:
            return None
        if taken is not True:
            raise CompileTypeError(
                f"{self.name} returns a value on some paths and ends without one on others;"
                " return a value of the same type at its end"
            )
        return value

    def assert_(self, value: Any, message: Any) -> None:
        value = unwrap(value)
        if isinstance(value, tensor):
            known = current().known(value.handle)
            if known is None or current().eager:
                handle = truth(value.handle)
                current().emit("assert", [handle, None], {"message": str(unwrap(message))})
                return
            value = known
        if not value:
            given = unwrap(message)
            raise StaticAssertionError(f"assert failed{f': {given}' if given != '' else ''}")

    def refuse(self, what: str, instead: str) -> None:
        raise CompileError(f"`{what}` is not supported in a kernel: {instead}")

    # -- expressions

    def use(self, value: Any, name: str) -> Any:
        """A name that may not be bound."""
        if isinstance(value, Undefined):
            raise CompileError(value.reason or f"`{name}` is not bound here")
        return value

    def assign(self, value: Any, alias: bool = False) -> Any:
        """What a name is bound to by `name = value`: a number becomes a typed scalar."""
        return value if type(value) is tensor else assigned(value, alias)

    def constexpr(self, value: Any) -> Any:
        """The value of `name: tl.constexpr = value`; what is known late stays, as in Triton."""
        return constexpr_argument(value)

    def value(self, owner: Any) -> Any:
        """`owner.value`: a constexpr is its plain value here, which holds itself."""
        return getattr(owner, "value", owner) if isinstance(owner, PLAIN) else owner.value

    def choice(self, value: Any, names: tuple[str, ...] = ()) -> Any:
        """names: those that the two expressions bind."""
        condition = decide(value)
        if isinstance(condition, bool):
            return Chosen(condition, _is_runtime(value))
        frame = sys._getframe(1)
        return KernelIf(Site(frame.f_lineno, names), condition, frame)

    def and_ends(self, value: Any) -> bool:
        return _is_python(value) and not _truth(value)

    def or_ends(self, value: Any) -> bool:
        return _is_python(value) and bool(_truth(value))

    def unchanged(self, value: Any, names: tuple[str, ...]) -> Any:
        """What `both` checks after the right operand; names: those that it binds."""
        return None if _is_python(value) else Unchanged.take(sys._getframe(1), names)

    def both(self, before: Unchanged | None, value: Any) -> Any:
        """The right operand of an `and` or `or` that a kernel evaluates whatever the left is."""
        if before is not None:
            before.check("an operand of `and` or `or`")
        return value

    def and_(self, left: Any, right: Any) -> Any:
        """`left and right` where the left does not end it; a known false ends it from the right
        too, so that `if i == n - 1 and FLAG:` is Python's when FLAG is false."""
        if _is_python(left):
            return right
        if not left.shape and _is_python(right) and not _truth(right):
            return False
        return left.logical_and(_logical(right))

    def or_(self, left: Any, right: Any) -> Any:
        """`left or right` where the left does not end it; see `and_`."""
        if _is_python(left):
            return right
        if not left.shape and _is_python(right) and _truth(right):
            return True
        return left.logical_or(_logical(right))

    def not_(self, value: Any) -> Any:
        return value.logical_not() if isinstance(value, tensor) else not unwrap(value)

    def bare_bitwise(self, left: Any, right: Any, symbol: str, place: str) -> Any:
        """`left & right` as an operand of a comparison, without parentheses of its own. Between two
        comparisons, or of a condition and a number, it is not what was meant."""
        left, right = unwrap(left), unwrap(right)
        odd = place == "middle" or _is_condition(left) != _is_condition(right)
        if odd and (isinstance(left, tensor) or isinstance(right, tensor)):
            raise CompileError(
                f"`{symbol}` binds tighter than a comparison: `a < b {symbol} c > d` means"
                f" `a < (b {symbol} c) > d`; write parentheses around each comparison, as in"
                f" `(a < b) {symbol} (c > d)`, or around `(b {symbol} c)` where that is meant"
            )
        return _BITWISE[symbol](left, right)

    def builtin(self, function: Any) -> Callable[..., Any]:
        """The kernel's version of a Python builtin; anything else that has its name as it is."""
        return BUILTINS.get(function, function) if callable(function) else function

    def range_(self, function: Any) -> Any:
        return KernelRange if function is builtins.range else function


def _is_runtime(value: Any) -> bool:
    """Whether only a run tells the value (the eager driver, which runs, knows it all the same)."""
    return isinstance(value, tensor) and not isinstance(value.handle, Const)


def _is_python(value: Any) -> bool:
    """Whether the truth of the value is known before any run."""
    return not _is_runtime(value)


def _truth(value: Any) -> bool:
    return bool(value if isinstance(value, tensor) else unwrap(value))


_BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def _is_condition(value: Any) -> bool:
    return value.dtype == BOOL if isinstance(value, tensor) else isinstance(value, bool)


def _logical(value: Any) -> Any:
    value = unwrap(value)
    return value if isinstance(value, (tensor, bool, int, float)) else bool(value)


def as_range(iterable: Any) -> KernelRange | None:
    """`range` and `tl.range` as loops of the kernel; None for any other iterable."""
    if isinstance(iterable, KernelRange):
        return iterable
    if isinstance(iterable, advised_range):
        loop = KernelRange(iterable.start, iterable.end, iterable.step)
        loop.hints = iterable.hints
        return loop
    return None
