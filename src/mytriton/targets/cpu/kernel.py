"""A compiled kernel: packs a launch's arguments into a job and runs its programs.

One idea: all that a launch repeats is prepared once (the packing format, the entry point, the size of the arena), so a small
launch costs a pack and a call.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ...errors import KernelAssertionError
from ...ir.nodes import Function, Op
from ...ir.ops import attribute
from ...ir.types import Type, element_of
from ..memory import Argument, Buffer
from .expand import expand
from .host import host
from .jit import Code, assembly, compile_text
from .module import JOB, kernel_text
from .printing import Shower

LETTERS = {"b": "?7x", "i8": "b7x", "u8": "B7x", "i16": "h6x", "u16": "H6x"}
LETTERS |= {"i32": "i4x", "u32": "I4x", "i64": "q", "u64": "Q", "f64": "d"}


def letter(ty: Type) -> str:
    """How one argument is packed into eight bytes; small floats go as the f32 they are held in."""
    element = element_of(ty)
    if element.kind == "p":
        return "Q"
    if element.kind == "b":
        return LETTERS["b"]
    return LETTERS.get(element.ir, "f4x")


class CpuKernel:
    """Machine code of one function; `launch` runs a grid of its programs."""

    def __init__(self, function: Function, overlap: bool) -> None:
        self.function = function
        self.source = kernel_text(expand(function), overlap, host())
        self._code: Code = compile_text(self.source.text, ("run",))
        self._run: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
            self._code.addresses["run"]
        )
        self._shower = Shower(self.source.messages) if self.source.in_order else None
        letters = "".join(letter(param.ty) for param in function.params)
        self._pack = struct.Struct(f"<qqqiii4xq16xQ{letters}").pack

    @property
    def llvm(self) -> str:
        """The LLVM IR as emitted, before LLVM's own passes."""
        return self.source.text

    @cached_property
    def asm(self) -> str:
        """The machine code."""
        return assembly(self.source.text)

    def launch(self, grid: tuple[int, int, int], arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid; returns when all are done."""
        values = [a.address if isinstance(a, Buffer) else a for a in arguments]
        nx, ny, nz = grid
        total = nx * ny * nz
        show = self._shower.address if self._shower else 0
        job = ctypes.create_string_buffer(self._pack(0, total, 1, nx, ny, nz, 0, show, *values))
        arena = ctypes.create_string_buffer(self.source.arena_bytes + 64)
        base = ctypes.addressof(arena)
        self._run(ctypes.addressof(job), base + -base % 64)
        if self.source.messages:
            self._check(job.raw)

    def _check(self, job: bytes) -> None:
        """Raises what an assert has reported, or what a print's callback has raised."""
        if self._shower is not None:
            self._shower.check()
        (status,) = struct.unpack_from("<q", job, JOB["status"])
        if status:
            failed = self.source.messages[status - 1]
            raise failure(failed, struct.unpack_from("<iii", job, JOB["who"]))


def failure(op: Op, program: tuple[int, ...]) -> KernelAssertionError:
    """What a failed assert raises: its message and program, at the kernel's line."""
    message = attribute(op, "message") or "the condition is false"
    text = f"device assertion failed: {message}, in program {tuple(program)}"
    return KernelAssertionError(text, op.where)
