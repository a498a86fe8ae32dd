"""What a caller may ask of the CUDA text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """debug: device asserts stop the launch. comments: each op stands under its SSA line.
    lineinfo: `#line` of the Python kernel. overlap: arguments may share memory. wraps: numbers of
    elements may leave 32 bits. num_warps: the tiled lowering with so many warps; None for the lane
    rule where it is defined, else 4 warps. num_stages: the stages of software pipelines, unless a
    loop says; None for the default. maxnreg: the most registers a thread may have. fp_fusion:
    a * b + c may round once. f32_dot: the input precision of f32 products that say none. aligned,
    ones: the parameters whose pointer or int is a multiple of 16, and those that are 1.
    """

    debug: bool = False
    comments: bool = False
    lineinfo: bool = False
    overlap: bool = False
    wraps: bool = False
    num_warps: int | None = None
    num_stages: int | None = None
    maxnreg: int | None = None
    fp_fusion: bool = True
    f32_dot: str = "ieee"
    aligned: frozenset[str] = frozenset()
    ones: frozenset[str] = frozenset()
