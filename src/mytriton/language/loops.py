"""What a kernel may loop over, beyond Python's `range`.

These only hold their arguments. The frontend reads a `range` or `condition` where a `for`
or `while` uses it; `static_range` is a Python iterable, so its loop is unrolled by Python itself.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from .arguments import ConstBool, ConstInt, TensorLike, constant_int
from .constexpr import unwrap
from .scalars import python_value

__all__ = ["condition", "range", "static_range"]


class range:
    """`for i in tl.range(start, stop, step, …)`: `range` with advice for the compiler.

    arg1 alone is the stop. num_stages (software pipelining), loop_unroll_factor, flatten,
    warp_specialize, disallow_acc_multi_buffer and disable_licm are kept in `hints`; none changes a
    result.
    """

    def __init__(
        self,
        arg1: TensorLike,
        arg2: TensorLike | None = None,
        step: TensorLike | None = None,
        num_stages: ConstInt | None = None,
        loop_unroll_factor: ConstInt | None = None,
        disallow_acc_multi_buffer: ConstBool = False,
        flatten: ConstBool = False,
        warp_specialize: ConstBool = False,
        disable_licm: ConstBool = False,
    ) -> None:
        given = unwrap(arg2) is not None
        self.start = unwrap(arg1) if given else 0
        self.end = self.stop = unwrap(arg2 if given else arg1)
        self.step = 1 if unwrap(step) is None else unwrap(step)
        asked = {
            "num_stages": num_stages,
            "loop_unroll_factor": loop_unroll_factor,
            "disallow_acc_multi_buffer": disallow_acc_multi_buffer,
            "flatten": flatten,
            "warp_specialize": warp_specialize,
            "disable_licm": disable_licm,
        }
        known = {key: python_value(value) for key, value in asked.items()}
        self.hints: dict[str, Any] = {key: value for key, value in known.items() if value}

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("tl.range can only be used in a `for` of a @jit function")


class static_range:
    """`for i in tl.static_range(start, stop, step)`: a loop unrolled while the kernel is compiled.

    All three are known while compiling; arg1 alone is the stop; `i` is a plain int. Raises
    CompileTypeError otherwise.
    """

    def __init__(
        self, arg1: ConstInt, arg2: ConstInt | None = None, step: ConstInt | None = None
    ) -> None:
        start, stop = (0, arg1) if arg2 is None or unwrap(arg2) is None else (arg1, arg2)
        self.start = constant_int(start, "static_range's start")
        self.end = self.stop = constant_int(stop, "static_range's stop")
        known = 1 if step is None or unwrap(step) is None else step
        self.step = constant_int(known, "static_range's step")

    def __iter__(self) -> Iterator[int]:
        return iter(builtins.range(self.start, self.end, self.step))

    def __len__(self) -> int:
        return len(builtins.range(self.start, self.end, self.step))


class condition:
    """`while tl.condition(arg1, disable_licm=…)`: a condition with advice for the compiler."""

    def __init__(self, arg1: TensorLike, disable_licm: ConstBool = False) -> None:
        self.condition = unwrap(arg1)
        self.disable_licm = unwrap(disable_licm)
