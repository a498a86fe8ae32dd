"""The methods of tensors: the language functions that are also called as `x.f(…)`, in one table.

`Methods` is the table, and what a type checker knows of them: each entry is a function whose first
parameter is the tensor. The functions' modules import `tensor`, so the class cannot inherit from
the table when it is made; `language/__init__.py` loads this module, which puts the entries on it.
A public row of the op table that has no line here becomes a method too.
"""

from __future__ import annotations

from typing import Any

from . import block_pointers, creation, library, math, memory, reductions, shapes
from .arguments import ConstBool, ConstStr, DTypeLike
from .tensor import tensor


class Methods:
    """The table."""

    abs, ceil, cos, erf = math.abs, math.ceil, math.cos, math.erf
    exp, exp2, floor, fma = math.exp, math.exp2, math.floor, math.fma
    log, log2, rsqrt, sin = math.log, math.log2, math.rsqrt, math.sin
    sqrt, sqrt_rn, umulhi = math.sqrt, math.sqrt_rn, math.umulhi

    cast = creation.cast

    def to(
        self: Any,
        dtype: DTypeLike,
        fp_downcast_rounding: ConstStr | None = None,
        bitcast: ConstBool = False,
        _semantic: Any = None,
    ) -> tensor:
        """`x.to(dtype)`: see `cast`."""
        return creation.cast(self, dtype, fp_downcast_rounding, bitcast)

    broadcast_to, expand_dims, flip = shapes.broadcast_to, shapes.expand_dims, shapes.flip
    gather, item, permute = shapes.gather, shapes.item, shapes.permute
    ravel, reshape, split = shapes.ravel, shapes.reshape, shapes.split
    trans, view = shapes.trans, shapes.view

    associative_scan, histogram = reductions.associative_scan, reductions.histogram
    reduce = reductions.reduce

    argmax, argmin, cdiv = library.argmax, library.argmin, library.cdiv
    cumprod, cumsum = library.cumprod, library.cumsum
    max, min, reduce_or = library.max, library.min, library.reduce_or
    sigmoid, softmax, sort = library.sigmoid, library.softmax, library.sort
    sum, xor_sum = library.sum, library.xor_sum

    advance, store = block_pointers.advance, memory.store
    atomic_add, atomic_and, atomic_cas = memory.atomic_add, memory.atomic_and, memory.atomic_cas
    atomic_load, atomic_max, atomic_min = memory.atomic_load, memory.atomic_max, memory.atomic_min
    atomic_or, atomic_poll = memory.atomic_or, memory.atomic_poll
    atomic_store, atomic_xchg = memory.atomic_store, memory.atomic_xchg
    atomic_xor = memory.atomic_xor


for _name, _function in {**math.FUNCTIONS, **vars(Methods)}.items():
    if not _name.startswith("__"):
        setattr(tensor, _name, _function)
