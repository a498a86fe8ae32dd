"""What the CUDA target makes of a function: the text, and what a launch must know of it.

One idea: the text is the artifact. A person reads it, NVRTC compiles it, cudasim compiles the very
same kernel for the host; nothing that decides what the kernel does is kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Where
from ...ir.nodes import Function
from ...ir.numeric import Array, canonical, held_dtype
from ...ir.types import F32, F64, PointerType, Type, element_of
from ..memory import Argument, Buffer
from .options import Options
from .prelude import device_text, needed

if TYPE_CHECKING:
    from .emit.record import Record


@dataclass(frozen=True)
class Parameter:
    """A parameter of the printed kernel: its C name and type, and the IR type it came from."""

    name: str
    c_type: str
    type: Type

    def pack(self, argument: Argument) -> Array:
        """An argument as an array of one element that has the bytes of the kernel's parameter."""
        given = argument.address if isinstance(argument, Buffer) else argument
        return np.array([self.value(given)])

    @cached_property
    def value(self) -> Callable[[Any], Any]:
        """What makes of a number, or an address, the NumPy scalar with the parameter's bytes."""
        element = element_of(self.type)
        if isinstance(element, PointerType):
            return np.uint64
        held = np.dtype(held_dtype(element)).type
        if element.kind in "iub" or element in (F32, F64):
            return held
        return lambda given: held(canonical(element, given))


@dataclass(frozen=True)
class CudaSource:
    """A kernel as CUDA C++.

    `name` is what the driver calls it (the Python name, unless CUDA C++ cannot have that); `kernel`
    the text from `extern "C" __global__` to the closing brace.
    """

    name: str
    kernel: str
    parameters: tuple[Parameter, ...]
    threads_per_block: int
    shared_bytes: int = 0
    """Dynamic shared memory, which a launch must ask for."""
    tiled: bool = False
    function: Function | None = field(default=None, compare=False, repr=False)
    options: Options = field(default=Options(), compare=False)
    """What it was printed from, so that it can be printed again for other arguments."""
    places: tuple[Where, ...] = field(default=(), compare=False, repr=False)
    """For each line of `kernel` the kernel lines that it came from."""
    record: Record | None = field(default=None, compare=False, repr=False)
    """Where its values are, and how they moved."""

    shared_total: int = 0
    """All shared memory that a program takes, in bytes."""

    @cached_property
    def prelude(self) -> tuple[str, ...]:
        """The names of the prelude's sections that the kernel calls, dependencies first."""
        return needed(self.kernel)

    @cached_property
    def text(self) -> str:
        """The complete text: the device functions that the kernel calls, then the kernel."""
        functions = device_text(self.prelude)
        return f"{functions}\n\n{self.kernel}" if functions else self.kernel

    @property
    def flags(self) -> tuple[str, ...]:
        """What NVRTC is asked for besides the text."""
        asked = self.options
        most = () if asked.maxnreg is None else (f"--maxrregcount={asked.maxnreg}",)
        return (*most, *(() if asked.fp_fusion else ("--fmad=false",)))

    def __str__(self) -> str:
        return self.text
