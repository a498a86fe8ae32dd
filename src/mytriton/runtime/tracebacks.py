"""Tracebacks that show a kernel's author the kernel's own lines."""

from __future__ import annotations

import os
from types import FrameType, TracebackType

from ..errors import KernelFault, is_user_code

PACKAGE = __name__.partition(".")[0] + "."


def kernel_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames; with MYTRITON_FULL_TRACEBACK=1 as it is."""
    if os.environ.get("MYTRITON_FULL_TRACEBACK") == "1":
        return trace
    kept = None
    frames = []
    rest = trace
    while rest is not None:
        if _is_users(rest.tb_frame):
            frames.append(rest)
        rest = rest.tb_next
    for found in reversed(frames):
        kept = TracebackType(kept, found.tb_frame, found.tb_lasti, found.tb_lineno)
    return kept


def at_kernel(error: KernelFault) -> KernelFault:
    """The fault, to be raised: its traceback and that of its cause show the user's lines."""
    cause = error.__cause__
    if cause is not None:
        cause.__traceback__ = kernel_frames(cause.__traceback__)
    return error.with_traceback(kernel_frames(error.__traceback__))


def _is_users(frame: FrameType) -> bool:
    """Whether a frame runs the user's code; what this package generates runs in its modules."""
    module = str(frame.f_globals.get("__name__"))
    return is_user_code(frame.f_code.co_filename) and not module.startswith(PACKAGE)
