"""Launches of kernels with checks: the values of the hidden parameters, and what is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import KernelMemoryError, Where
from ..ir.nodes import Op, Param
from ..ir.types import PointerType
from ..passes.checks.hidden import Hidden
from ..passes.checks.races import PROGRAM_BITS
from ..targets import Executable, Grid
from ..targets.memory import Argument, Buffer
from ..targets.reports import Listener, listening
from .checks import session
from .orders import IN_ORDER, Order, Orders, Stored

EVERYWHERE = (0, 1 << 62)
"""The bounds of an array whose size is not known."""


@dataclass(frozen=True)
class Checked:
    """An executable that takes hidden parameters after the kernel's own.

    origins: the ops that its reports name by number, by kind. written: the names of the arrays that
    it may store to, with a line that does.
    """

    executable: Executable
    kernel: str
    params: tuple[Param, ...]
    hidden: tuple[Hidden, ...]
    origins: Mapping[str, tuple[Op, ...]]
    written: Mapping[str, Where]

    def launch(self, grid: Grid, arguments: Sequence[Argument]) -> None:
        """Runs every program of the grid, and gives what is found to the session at hand. Raises
        KernelMemoryError for an access outside its array, and what the executable raises."""
        again = Orders(grid, self._stored(arguments)) if "order" in self.origins else None
        with listening() as heard:
            try:
                self._run(grid, arguments, IN_ORDER)
            except KernelMemoryError as error:
                self._tell(heard, error)
                raise
        self._tell(heard, None)
        found = session()
        if again is not None and found is not None:
            for finding in again.differences(partial(self._run, grid, arguments)):
                found.add(replace(finding, kernel=self.kernel))

    def _run(self, grid: Grid, arguments: Sequence[Argument], order: Order) -> None:
        provided = Provided(self.params, arguments, grid, order)
        values = list(map(provided.value, self.hidden))
        self.executable.launch(grid, [*arguments, *values])

    def _stored(self, arguments: Sequence[Argument]) -> list[Stored]:
        """The arrays that the kernel stores to."""
        named = zip(self.params, arguments)
        return [
            Stored(param.name, argument, self.written[param.name])
            for param, argument in named
            if isinstance(argument, Buffer) and param.name in self.written
        ]

    def _tell(self, heard: Listener, error: KernelMemoryError | None) -> None:
        found = session()
        if found is None or not (heard.told or error):
            return
        from .explain_reports import findings_of, out_of_bounds

        for finding in findings_of(heard, self.origins, self.kernel):
            found.add(finding)
        if error is not None:
            found.add(out_of_bounds(error, self.kernel))


class Provided:
    """What one launch provides for hidden parameters, by their role.

    Arrays that share memory share the words about its elements, if these are of one size.
    """

    def __init__(
        self, params: Sequence[Param], arguments: Sequence[Argument], grid: Grid, order: Order
    ) -> None:
        self.order = {"order_stride": order[0], "order_offset": order[1]}
        self.buffers = {p: a for p, a in zip(params, arguments) if isinstance(a, Buffer)}
        self.programs = grid[0] * grid[1] * grid[2]
        self.words: dict[tuple[str, int, int], tuple[int, Any]] = {}

    def value(self, param: Hidden) -> Argument:
        """The value of a hidden parameter."""
        if param.role in self.order:
            return self.order[param.role]
        if param.of is None:
            count = 1 if param.role == "clock" else min(self.programs, 1 << PROGRAM_BITS)
            return self._array(param, np.zeros(count, np.int32))
        start, end = self._span(param.of)
        if param.role == "shared":
            others = [b.span for p, b in self.buffers.items() if p is not param.of]
            return int(any(low < end and start < high for low, high in others))
        if param.role in ("start", "end"):
            return start if param.role == "start" else end
        return self._words(param, self.buffers[param.of], (start, end))

    def _span(self, param: Param) -> tuple[int, int]:
        buffer = self.buffers[param]
        return EVERYWHERE if buffer.nbytes is None else buffer.span

    def _words(self, param: Hidden, buffer: Buffer, span: tuple[int, int]) -> Argument:
        """The words about an array's elements, from its first byte on."""
        size, (start, end) = buffer.type.element.itemsize, span
        for (role, low, bytes_), (high, words) in self.words.items():
            if (role, bytes_) == (param.role, size) and low <= start and end <= high:
                return self._array(param, words[(start - low) // size :])
        low, high = self._around(span, size)
        words = np.zeros((high - low) // size + 1, np.int32)
        self.words[param.role, low, size] = high, words
        return self._array(param, words[(start - low) // size :])

    def _around(self, span: tuple[int, int], size: int) -> tuple[int, int]:
        """The memory of all arrays of that element size that share some of a span's."""
        low, high = span
        others = [b.span for b in self.buffers.values() if b.type.element.itemsize == size]
        grown = True
        while grown:
            grown = False
            for start, end in others:
                if start < high and low < end and (start < low or end > high):
                    low, high, grown = min(low, start), max(high, end), True
        return low, high

    def _array(self, param: Hidden, words: Any) -> Argument:
        assert isinstance(param.ty, PointerType)
        return Buffer(param.ty, words.ctypes.data, words.nbytes, words)
