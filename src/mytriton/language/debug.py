"""Assertions, prints, and what the kernel's author knows that the compiler does not.

None of these changes a value. `static_*` happen while the kernel is compiled, `device_*`
while it runs, and hints are facts that passes may use and the sanitizer may check.
"""

from __future__ import annotations

import builtins
import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ..errors import CompileError, CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.types import shape_of
from . import promotion
from .arguments import Axes, ConstBool, ConstStr, TensorLike, constant_int
from .constexpr import builtin
from .math import where
from .promotion import emit, operand, truth
from .tensor import given, tensor, to_tensor

__all__ = [
    "assume",
    "debug_barrier",
    "device_assert",
    "device_print",
    "expect_zero",
    "max_constancy",
    "max_contiguous",
    "multiple_of",
    "static_assert",
    "static_print",
]


@dataclass
class StaticOutput:
    """What `tl.static_print` wrote in parts of a kernel that may have to be traced again: it is
    shown once the part is kept, and forgotten if it is thrown away.

    open: how many such parts are open. silent: nothing is ever shown.
    """

    open: int = 0
    silent: bool = False
    lines: list[tuple[str, Any, bool]] = field(default_factory=list)

    def write(self, text: str, file: Any, flush: bool) -> None:
        self.lines.append((text, file, flush))
        if not self.open:
            self.show()

    def show(self) -> None:
        """Shows what is held back."""
        lines, self.lines = self.lines, []
        for text, file, flush in () if self.silent else lines:
            builtins.print(text, end="", file=file, flush=flush)

    def begin(self) -> int:
        """Opens a part; the mark that ends it."""
        self.open += 1
        return len(self.lines)

    def end(self, mark: int, keep: bool) -> None:
        """Ends a part, kept or thrown away."""
        self.open -= 1
        if not keep:
            del self.lines[mark:]
        elif not self.open:
            self.show()


static_output: ContextVar[StaticOutput] = ContextVar("static_output")


@contextmanager
def printing() -> Iterator[None]:
    """Shows what `tl.static_print` writes, also before an error, for the extent of a `with`."""
    outer = static_output.get(None)
    output = StaticOutput(silent=outer is not None and outer.silent)
    token = static_output.set(output)
    try:
        yield
    finally:
        output.show()
        static_output.reset(token)


class StaticAssertionError(CompileError, AssertionError):
    """A `tl.static_assert` of the kernel that does not hold."""


@builtin
def static_assert(cond: Any, msg: Any = "") -> None:
    """Stops compilation unless the condition, known while compiling, holds.

    Raises StaticAssertionError with the message; CompileTypeError if the condition is known only at
    run time (use tl.device_assert).
    """
    if not builtins.bool(cond):
        raise StaticAssertionError(f"static_assert failed{f': {msg}' if msg else ''}")


@builtin
def static_print(
    *values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False
) -> None:
    """Prints while the kernel is compiled, once for each place of the code, though the body of a
    loop may be traced more than once; tensors show their type."""
    text = io.StringIO()
    builtins.print(*values, sep=sep, end=end, file=text)
    static_output.get(StaticOutput()).write(text.getvalue(), file, flush)


@builtin
def device_assert(cond: TensorLike, msg: ConstStr = "", mask: TensorLike | None = None) -> None:
    """Stops the launch where the condition is false (and the mask true), with the message, the
    kernel's line and the program."""
    guard = None
    condition = truth(given(cond))
    if mask is not None:
        shape = shape_of(condition.ty)
        guard = promotion.fit(truth(given(mask)), shape, "device_assert: the mask")
    current().emit("assert", [condition, guard], {"message": str(msg)})


@builtin
def device_print(prefix: ConstStr, *args: TensorLike, hex: ConstBool = False) -> None:
    """Shows blocks and scalars once a program, as `pid (0, 0, 0) prefix: value`; ints in base 16
    with hex. A prefix that ends in no colon gets one."""
    if not isinstance(prefix, str):
        raise CompileTypeError(f"device_print: the prefix must be a string, got {prefix!r}")
    if prefix.strip() and args:
        prefix = f"{prefix.rstrip().removesuffix(':')}: "
    values = [operand(given(value)) for value in args]
    current().emit("print", values, {"prefix": prefix, "hex": builtins.bool(hex)})


@builtin
def assume(cond: TensorLike) -> None:
    """Tells the compiler that a scalar condition holds wherever the kernel gets to here."""
    condition = truth(given(cond))
    if shape_of(condition.ty):
        raise CompileValueError(f"assume: a scalar condition is needed, got {condition.ty}")
    known = current().known(condition)
    if known is not None and not known:
        raise CompileValueError("assume: the condition is known to be false")
    if known is None:
        current().emit("assume", [condition])


@builtin
def debug_barrier() -> None:
    """Orders the memory accesses of the program's threads before it against those after it."""
    current().emit("barrier", [])


def _hint(name: str, input: TensorLike, values: Axes) -> tensor:
    value = to_tensor(input)
    listed = values if isinstance(values, (tuple, list)) else (values,)
    counts = tuple(constant_int(v, name) for v in listed)
    rank = max(1, len(value.shape))
    if len(counts) != rank or any(count < 1 for count in counts):
        raise CompileValueError(
            f"{name}: {rank} positive values are needed, one an axis, got {counts}"
        )
    return tensor(emit("hint", value.handle, **{name: counts}))


@builtin
def multiple_of(input: TensorLike, values: Axes) -> tensor:
    """The input, known to begin each run of consecutive elements with a multiple of values[axis];
    of a scalar, to be one."""
    return _hint("multiple", input, values)


@builtin
def max_contiguous(input: TensorLike, values: Axes) -> tensor:
    """The input, known to rise by 1 within each group of values[axis] elements."""
    return _hint("contiguous", input, values)


@builtin
def max_constancy(input: TensorLike, values: Axes) -> tensor:
    """The input, known to be constant within each group of values[axis] elements."""
    return _hint("constant", input, values)


@builtin
def expect_zero(x: TensorLike, mask: TensorLike) -> tensor:
    """The input, known to be zero where the mask is false; it is made so."""
    return where(mask, x, 0)
