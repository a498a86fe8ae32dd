"""A compiled kernel: packs a launch's arguments into a job and runs its programs.

One idea: all that a launch repeats is prepared once (the packing format, the entry point, the size
of the arena), so a small launch costs a pack and a call.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from ctypes import addressof
from functools import cached_property
from time import perf_counter_ns
from typing import Any

from ...errors import KernelAssertionError
from ...ir.nodes import Function, Op
from ...ir.types import Type, element_of
from ..memory import Argument, Buffer
from .host import host
from .jit import Code, assembly, compile_text
from .lower.expand import expand
from .module import ARGUMENTS, JOB, kernel_text
from .pool import local, pool, thread_count, yield_address
from .printing import Shower
from .waiting import Watch, deadlock, run_waiting

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


WORTH = 30_000
"""Nanoseconds of work from which on a launch is shared with the pool."""


class CpuKernel:
    """Machine code of one function; `launch` runs a grid of its programs."""

    def __init__(self, function: Function, overlap: bool) -> None:
        self.function = function
        self.source = kernel_text(expand(function), overlap, host())
        self._code: Code = compile_text(self.source.text, ("run",))
        self._address = self._code.addresses["run"]
        self._run: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._address)
        self._shower = Shower(self.source.messages) if self.source.in_order else None
        self._show = self._shower.address if self._shower else 0
        letters = "".join(letter(param.ty) for param in function.params)
        self._pack = struct.Struct(f"<qqqiii4xq16xQQ24x{letters}").pack
        self._per_program = 0.0
        """Nanoseconds a program takes, as last measured; 0.0: not known."""
        self._job = ctypes.c_char * (ARGUMENTS + 8 * len(function.params))

    @property
    def llvm(self) -> str:
        """The LLVM IR as emitted, before LLVM's own passes."""
        return self.source.text

    @cached_property
    def asm(self) -> str:
        """The machine code."""
        return assembly(self.source.text)

    def launch(self, grid: tuple[int, int, int], arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid; returns when all are done.

        Raises KernelAssertionError where a device assert fails, KernelError where all programs wait
        for ever.
        """
        values = [a.address if isinstance(a, Buffer) else a for a in arguments]
        nx, ny, nz = grid
        total = nx * ny * nz
        job: Any
        if self.source.waits or (total > 1 and total * self._per_program > WORTH):
            job = self._launch_wide(grid, total, values)
        else:
            start = perf_counter_ns()
            packed = self._pack(0, total, 1, nx, ny, nz, 0, self._show, 0, *values)
            job = self._job.from_buffer_copy(packed)
            self._run(addressof(job), local.arena.at_least(self.source.arena_bytes))
            self._per_program = (perf_counter_ns() - start) / total
        if self.source.messages:
            self._check(job.raw)

    def _launch_wide(self, grid: tuple[int, int, int], total: int, values: list[Any]) -> Any:
        """On several threads: those of the pool, or its own where programs wait for each other."""
        threads, size = thread_count(), self.source.arena_bytes
        shared = None if self._shower is not None or self.source.waits else pool()
        if shared is not None and not shared.lock.acquire(blocking=False):
            shared = None
        share = 2 * threads if shared is not None else total
        packed = self._pack(0, total, share, *grid, 0, self._show, yield_address(), *values)
        job = self._job.from_buffer_copy(packed)
        start = perf_counter_ns()
        if shared is not None:
            try:
                shared.run(self._address, addressof(job), size)
            finally:
                shared.lock.release()
            self._per_program = (perf_counter_ns() - start) * threads / total
        elif self.source.waits:
            left = run_waiting(self._run, job, Watch(job, JOB), size, threads)
            if left:
                raise deadlock(self.function, left)
        else:
            self._run(addressof(job), local.arena.at_least(size))
        return job

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
    message = op.attribute("message") or "the condition is false"
    text = f"device assertion failed: {message}, in program {tuple(program)}"
    return KernelAssertionError(text, op.where)
