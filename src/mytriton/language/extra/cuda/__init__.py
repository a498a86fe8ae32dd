"""`tl.extra.cuda`: questions about the GPU, answered as well as each can be on every target.

One idea: what orders programs of dependent launches is a no-op, since launches here run one after
the other; what measures time or names a processor has no meaning for a block, and says so.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ....errors import CompileValueError
from ...constexpr import builtin
from ...creation import cast
from ...tensor import tensor, to_tensor
from .. import libdevice

WARPS = 4
"""The warps of a program where the launch does not say: what num_warps() answers."""


@builtin
def num_warps() -> int:
    """The warps of a program, as a constant: 4, the default of a launch."""
    return WARPS


@builtin
def num_threads() -> int:
    """The threads of a program, as a constant: 32 a warp."""
    return 32 * WARPS


@builtin
def gdc_wait() -> None:
    """Waits for the launches this one depends on; launches run in order here, so nothing is left
    to wait for."""


@builtin
def gdc_launch_dependents() -> None:
    """Lets dependent launches begin; they begin when this one has ended."""


def _no(what: str, instead: str) -> NoReturn:
    raise CompileValueError(f"{what} is not supported: {instead}")


@builtin
def globaltimer() -> NoReturn:
    """Refused: a block has no clock. Raises CompileValueError."""
    _no("tl.extra.cuda.globaltimer", "time launches with triton.testing.do_bench")


@builtin
def smid() -> NoReturn:
    """Refused: a block does not know its processor. Raises CompileValueError."""
    _no("tl.extra.cuda.smid", "use tl.program_id to tell programs apart")


@builtin
def convert_custom_float8_sm80(
    arg: Any, dst_ty: Any, fp_downcast_rounding: str | None = None
) -> tensor:
    """A cast from or to fp8e4b15: `x.to(dst_ty)`."""
    return cast(to_tensor(arg), dst_ty, fp_downcast_rounding)


convert_custom_float8_sm70 = convert_custom_float8_sm80

__all__ = [
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "gdc_launch_dependents",
    "gdc_wait",
    "globaltimer",
    "libdevice",
    "num_threads",
    "num_warps",
    "smid",
]
