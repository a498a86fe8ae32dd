"""A tensor descriptor made on the host: what `tl.make_tensor_descriptor` makes in a kernel.

A launch passes a descriptor as a tuple of its parts: base, shape, strides, block_shape, padding.
The block's shape and the padding are compile-time constants. Tracing turns the tuple into the
descriptor of the language.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import CompileValueError
from ..language.constexpr import constexpr
from ..language.descriptors import make_tensor_descriptor
from ..language.tensor import tensor

PADDINGS = ("zero", "nan")


@dataclass
class TensorDescriptor:
    """An array and the blocks that kernels load from it and store to it.

    base: the array (NumPy, torch, CuPy); shape, strides: in elements, the last stride 1;
    block_shape: the extents of a block, which may be set until the launch; padding: "zero" or
    "nan", what a load outside the shape gives. round_f32_to_tf32 is a hint.
    Raises CompileValueError for ranks that differ, a last stride other than 1, another padding.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        ranks = {len(self.shape), len(self.strides), len(self.block_shape)}
        if len(ranks) != 1 or 0 in ranks:
            raise CompileValueError(
                "a tensor descriptor needs shape, strides and block_shape of one rank, got"
                f" {list(self.shape)}, {list(self.strides)} and {list(self.block_shape)}"
            )
        if self.strides[-1] != 1:
            raise CompileValueError(
                f"the last stride of a tensor descriptor must be 1, got {list(self.strides)}"
            )
        if self.padding not in PADDINGS:
            raise CompileValueError(
                f"the padding of a tensor descriptor must be one of {PADDINGS}, got"
                f" {self.padding!r}"
            )

    @staticmethod
    def from_tensor(
        tensor: Any,
        block_shape: Sequence[int],
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """The descriptor of a whole array."""
        if callable(getattr(tensor, "stride", None)):
            strides = list(tensor.stride())
        else:
            strides = [step // tensor.itemsize for step in tensor.strides]
        return TensorDescriptor(
            tensor, list(tensor.shape), strides, block_shape, padding, round_f32_to_tf32
        )


class Parts(tuple[Any, ...]):
    """A descriptor as a launch passes it: base, shape, strides, block_shape, padding.

    Tracing rebuilds tuples by `type._make`, as named tuples are built; this one returns a
    descriptor of the language when its base is a tensor.
    """

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Any:
        parts = cls(values)
        return make_tensor_descriptor(*parts) if isinstance(parts[0], tensor) else parts


def parts_of(value: Any) -> Any:
    """The parts of a descriptor; any other argument itself."""
    if not isinstance(value, TensorDescriptor):
        return value
    numbers = (tuple(map(int, given)) for given in (value.shape, value.strides))
    block_shape = tuple(constexpr(int(extent)) for extent in value.block_shape)
    return Parts((value.base, *numbers, block_shape, value.padding))
