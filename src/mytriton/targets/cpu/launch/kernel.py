"""A compiled kernel: packs a launch's arguments into a record and runs its programs.

All that a launch repeats is prepared once (the packing format, the entry point, the size of the
scratch memory), so a small launch costs a pack and a call.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from ctypes import addressof
from functools import cached_property
from time import perf_counter_ns
from typing import Any

from ....errors import KernelAssertionError, KernelError
from ....ir.nodes import Const, Function, Op, walk
from ....ir.recursion import deeply
from ....ir.text import print_function
from ....ir.types import Type, element_of
from ... import Device, Launcher
from ...memory import Argument, Buffer
from ..host import Host, host
from ..line_table import located
from ..lower.expand import expand
from ..module import KernelText, kernel_text, messages
from .callback import Callback
from .cooperative_launch import Cooperative, deadlock
from .interrupt import Guard, guard_here, run_guarded
from .machine_code import assembly, load, object_code
from .objects import Header, kept
from .pool import pool
from .record import INTERRUPTED, LaunchRecord, packing
from .threads import own_scratch, sleep_address, thread_count, yield_address

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


PARALLEL_THRESHOLD_NS = 30_000
"""Nanoseconds of work from which on a launch is shared with the pool."""
LAUNCHES_PER_TIMING = 15
"""How many quick launches follow one whose time is taken."""
INTERRUPT_THRESHOLD_NS = 1_000_000
"""Nanoseconds of work from which on Ctrl-C must not wait for the launch's end."""


class CpuKernel:
    """Machine code of one function; `launch` runs a grid of its programs."""

    def __init__(self, function: Function, overlap: bool) -> None:
        self.function = function
        self.overlap = overlap
        self._host: Host = host()
        text = f"{overlap}\n{print_function(function)}\n{constant_types(function)}"
        header, code = kept("kernel", text, self._host, self._compile)
        self._arena_bytes: int = header["arena_bytes"]
        self._waits: bool = header["waits"]
        self._in_order: bool = header["in_order"]
        self._reports: bool = header["reports"]
        self._loops: bool = header["loops"]
        self._code = load(code, ("run",))
        self._address = self._code.addresses["run"]
        self._run: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._address)
        self._callback = Callback(lambda: self.messages) if header["calls_back"] else None
        letters = "".join(letter(param.ty) for param in function.params)
        self._pack = struct.Struct(packing(letters)).pack
        self._record = record_with(len(function.params))
        self._system = (yield_address(), sleep_address()) if self._waits else (0, 0)
        self._no_counts = (0, 0, 0, 0)
        self._per_program = 0.0
        """Nanoseconds a program takes, as last measured; 0.0: not known."""

    def _compile(self) -> tuple[Header, bytes]:
        made = self._lowered()
        return made.header(), object_code(made.text, self._host)

    @cached_property
    def source(self) -> KernelText:
        """The kernel as text, and what its launch must know."""
        return self._lowered()

    def _lowered(self) -> KernelText:
        """The text, whose emission recurses into regions: a chain of `elif` nests them."""
        return deeply(lambda: kernel_text(expand(self.function), self.overlap, self._host))

    @property
    def llvm(self) -> str:
        """The LLVM IR as emitted, before LLVM's own passes."""
        return self.source.text

    @cached_property
    def asm(self) -> str:
        """The machine code."""
        return assembly(self.source.text, self._host)

    @cached_property
    def located_asm(self) -> list[tuple[str, int]]:
        """The lines of the machine code, each with the line of `source.text` that it came from."""
        return located(self.source.text, self._host)

    @cached_property
    def messages(self) -> tuple[Op, ...]:
        """The ops that report, by number from 1."""
        return messages(expand(self.function))

    def launch(self, grid: tuple[int, int, int], arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid; returns when all are done.

        Raises KernelAssertionError where a device assert fails, KernelError where all programs wait
        for ever, KeyboardInterrupt when that comes while it runs.
        """
        values = [a.address if isinstance(a, Buffer) else a for a in arguments]
        named = zip(self.function.params, arguments)
        arrays = [(param.name, a) for param, a in named if isinstance(a, Buffer)]
        self._launch(self._new_record(*grid, *values), arrays)

    def _new_record(self, nx: int, ny: int, nz: int, *values: Any) -> Any:
        called = self._callback.address if self._callback else 0
        fixed = (0, 0, 0, 0, called, *self._system, *self._no_counts)
        packed = self._pack(0, nx * ny * nz, 1, nx, ny, nz, *fixed, *values)
        return self._record.from_buffer_copy(packed)

    def _launch(self, record: Any, arrays: Sequence[tuple[str, Buffer]]) -> None:
        if self._callback is None:
            self._execute(record, record.total)
        else:
            with self._callback.serving(addressof(record), arrays):
                self._execute(record, record.total)
        if self._reports:
            self._check(record)

    def launcher(self, device: Device | None) -> Launcher:
        """`launch` on addresses; see `QuickExecutable`."""
        if self._callback is not None:
            return lambda *given: self._launch(self._new_record(*given), ())
        pack, new = self._pack, self._record.from_buffer_copy
        run = on_bytes(self._address)
        fixed = (0, 0, 0, 0, 0, *self._system, *self._no_counts)
        inline = not (self._waits or self._loops or self._arena_bytes or self._reports)
        untimed = 0

        def launch(nx: int, ny: int, nz: int, *values: Any) -> None:
            nonlocal untimed
            total = nx * ny * nz
            packed = pack(0, total, 1, nx, ny, nz, *fixed, *values)
            if inline and untimed and 0 < total * self._per_program < PARALLEL_THRESHOLD_NS:
                untimed -= 1
                run(packed, 0)
            else:
                untimed = LAUNCHES_PER_TIMING
                self._launch(new(packed), ())

        return launch

    def _execute(self, record: Any, total: int) -> None:
        expected = total * self._per_program
        if self._waits:
            self._run_cooperatively(record)
        elif 0 < expected < PARALLEL_THRESHOLD_NS and not self._loops:
            self._run_inline(record, total, None)
        else:
            self._run_long(record, total, guard_here())
            if record.error == INTERRUPTED:
                raise KeyboardInterrupt

    def _run_inline(self, record: Any, programs: int, guard: Guard | None) -> None:
        """In this thread, which is timed."""
        start = perf_counter_ns()
        if self._arena_bytes:
            scratch = own_scratch.enter(self._arena_bytes)
            try:
                self._call(record, scratch, guard)
            finally:
                own_scratch.leave()
        else:
            self._call(record, 0, guard)
        self._per_program = (perf_counter_ns() - start) / programs

    def _call(self, record: Any, scratch: int, guard: Guard | None) -> None:
        if guard is None:
            self._run(addressof(record), scratch)
        else:
            run_guarded()(*guard, self._address, addressof(record), scratch)

    def _run_long(self, record: Any, total: int, guard: Guard | None) -> None:
        """With the pool, if what is left is worth it; the first program tells where nothing is
        known."""
        if self._per_program == 0.0 and total > 1:
            record.total = 1
            self._run_inline(record, 1, guard)
            record.total = total
        left = total - record.next
        if left <= 0:
            return
        shared = None
        if left > 1 and left * self._per_program > PARALLEL_THRESHOLD_NS and not self._in_order:
            shared = pool()
        if shared is None or not shared.lock.acquire(blocking=False):
            self._run_inline(record, left, guard)
            return
        try:
            record.chunk_divisor = 2 * shared.threads
            start = perf_counter_ns()
            shared.run(self._address, addressof(record), self._arena_bytes, guard)
            self._per_program = (perf_counter_ns() - start) * shared.threads / left
        finally:
            shared.lock.release()

    def _run_cooperatively(self, record: Any) -> None:
        record.chunk_divisor = record.total
        launch = Cooperative(self._address, record, self._arena_bytes)
        left = launch.launch(thread_count())
        if left:
            raise deadlock(self.function, left)

    def _check(self, record: Any) -> None:
        """Raises what an assert has reported."""
        if record.error > 0:
            raise failure(self.messages[record.error - 1], tuple(record.error_program))


def on_bytes(address: int) -> Callable[[bytes, int], None]:
    """The entry point as a function of a packed record, which it writes to: bytes that `struct` has
    just made, and that nothing else sees."""
    kind: Any = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
    call: Callable[[bytes, int], None] = kind(address)
    return call


def constant_types(function: Function) -> str:
    """The types of the constants, which the function's text leaves to its reader."""
    operands = (operand for op in walk(function.body) for operand in op.operands)
    return " ".join(str(operand.ty) for operand in operands if isinstance(operand, Const))


def record_with(arguments: int) -> type[LaunchRecord]:
    """The record of a launch with room for so many arguments behind it."""
    fields = [("arguments", ctypes.c_int64 * arguments)]
    return type("Record", (LaunchRecord,), {"_fields_": fields})


def failure(op: Op, program: tuple[int, ...]) -> KernelError:
    """What a failed assert, or a loop that never ends, raises: at the kernel's line."""
    if op.name == "for":
        return KernelError(f"range() with a step of 0, in program {program}", op.where)
    message = op.attribute("message") or "the condition is false"
    text = f"device assertion failed: {message}, in program {program}"
    return KernelAssertionError(text, op.where)
