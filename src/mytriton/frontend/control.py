"""What rewritten kernel code calls: decisions between Python and regions, made while it runs.

The rewritten source asks at each statement. The answer may be "this is Python's" (the condition is
known: only the branch taken runs, `conditions.py`) or an object that opens regions around the very
same statements (`branches.py`, `loops.py`).
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import CompileError, CompileTypeError
from ..ir.build import current
from ..ir.triton_types import TritonType
from ..ir.types import BOOL, element_of
from ..language.constexpr import unwrap
from ..language.debug import StaticAssertionError
from ..language.portable import check_logical
from ..language.promotion import (
    number_as,
    truth,
)
from ..language.scalars import assigned
from ..language.tensor import tensor
from .branches import KernelIf
from .builtins import BUILTINS
from .conditions import FALSE, TRUE, EagerIf, PythonIfExp, as_condition, is_runtime
from .jumps import RESULT
from .leaves import UNBOUND, Undefined
from .loops import KernelFor, KernelWhile, PythonLoop
from .ranges import KernelRange, as_range, bounds
from .rewrite import Site
from .signature import constexpr_argument
from .unchanged import Unchanged

PLAIN = (bool, int, float, str, tuple, type(None), TritonType)
"""What a constexpr may hold, beside functions."""


class Control:
    """The `$ctl` of one rewritten function: its sites, and what its code calls."""

    def __init__(self, sites: Sequence[Site], name: str) -> None:
        self.sites, self.name = sites, name

    # -- statements

    def if_(self, value: Any, site: int) -> Any:
        condition = as_condition(value)
        if not isinstance(condition, bool):
            return KernelIf(self.sites[site], condition, sys._getframe(1))
        if is_runtime(value) and RESULT in self.sites[site].names:
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
        return KernelWhile(self.sites[site], sys._getframe(1))

    def no_jump_taken(self, flags: Sequence[Any]) -> Any:
        """Whether no jump was taken: a bool, or a tensor where only the run will tell."""
        unknown = []
        for flag in flags:
            value = as_condition(flag)
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
        taken = as_condition(returned)
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
        condition = as_condition(value)
        if isinstance(condition, bool):
            return PythonIfExp(condition, is_runtime(value))
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
        check_logical((left, right), "and")
        return left.logical_and(_logical(right))

    def or_(self, left: Any, right: Any) -> Any:
        """`left or right` where the left does not end it; see `and_`."""
        if _is_python(left):
            return right
        if not left.shape and _is_python(right) and _truth(right):
            return True
        check_logical((left, right), "or")
        return left.logical_or(_logical(right))

    def not_(self, value: Any) -> Any:
        if not isinstance(value, tensor):
            return not unwrap(value)
        check_logical((value,), "not")
        return value.logical_not()

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


def _is_python(value: Any) -> bool:
    """Whether the truth of the value is known before any run."""
    return not is_runtime(value)


def _truth(value: Any) -> bool:
    return bool(value if isinstance(value, tensor) else unwrap(value))


_BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def _is_condition(value: Any) -> bool:
    return value.dtype == BOOL if isinstance(value, tensor) else isinstance(value, bool)


def _logical(value: Any) -> Any:
    value = unwrap(value)
    return value if isinstance(value, (tensor, bool, int, float)) else bool(value)
