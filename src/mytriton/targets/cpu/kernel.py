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

from ...ir.nodes import Function
from ...ir.types import Type, element_of
from ..memory import Argument, Buffer
from .expand import expand
from .host import host
from .jit import Code, assembly, compile_text
from .module import kernel_text

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
        letters = "".join(letter(param.ty) for param in function.params)
        self._pack = struct.Struct(f"<qqqiii4xq16x{letters}").pack

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
        job = ctypes.create_string_buffer(self._pack(0, total, 1, nx, ny, nz, 0, *values))
        arena = ctypes.create_string_buffer(self.source.arena_bytes + 64)
        base = ctypes.addressof(arena)
        self._run(ctypes.addressof(job), base + -base % 64)
