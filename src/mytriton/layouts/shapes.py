"""The layouts that kernels use, as functions that return one: blocked, mma operands and results.

Each hands out the bits of the coordinates in turn. `tiled` takes a list of parts (input, axis,
extent), innermost first; what they leave of the shape goes to registers, what they have in excess
holds copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .linear import Layout, Shape, log2, ravel

Part = tuple[str, int, int]


def tiled(shape: Shape, parts: Sequence[Part]) -> Layout:
    """The layout that gives each axis's bits to the parts in turn, innermost first."""
    taken = [0] * len(shape)
    bases: dict[str, list[int]] = {"register": [], "lane": [], "warp": []}

    def take(name: str, axis: int, extent: int) -> None:
        for _ in range(log2(extent)):
            fits = taken[axis] < log2(shape[axis])
            unit = [0] * len(shape)
            unit[axis] = 1 << taken[axis] if fits else 0
            bases[name].append(ravel(unit, shape))
            taken[axis] += fits

    for part in parts:
        take(*part)
    for axis in reversed(range(len(shape))):
        take("register", axis, shape[axis] >> taken[axis])
    return Layout(shape, *(tuple(bases[name]) for name in ("register", "lane", "warp")))


def blocked(
    shape: Shape, warps: int, vector: int = 1, order: Sequence[int] | None = None
) -> Layout:
    """Neighbouring elements along the fastest axis go to `vector` registers, then lanes, then
    warps; the rest to registers.

    order: the axes, fastest first; row-major order where it is not given. Lanes that find no
    element left hold copies.
    """
    axes = tuple(order) if order is not None else tuple(reversed(range(len(shape))))
    room = list(shape)
    parts: list[Part] = []
    for name, count in (("register", vector), ("lane", 32), ("warp", warps)):
        for axis in axes:
            extent = min(count, room[axis])
            parts.append((name, axis, extent))
            count //= extent
            room[axis] //= extent
            if name == "register":
                break
        if name != "register" and shape:
            parts.append((name, axes[0], count))
    layout = tiled(shape, parts) if shape else scalar(warps)
    return _with_copies(layout, warps)


def _with_copies(layout: Layout, warps: int) -> Layout:
    """The layout with exactly five lane bits and one bit for each doubling of warps."""
    lane = layout.lane + (0,) * (5 - len(layout.lane))
    warp = layout.warp + (0,) * (log2(warps) - len(layout.warp))
    return replace(layout, lane=lane, warp=warp)


def scalar(warps: int) -> Layout:
    """The layout of a scalar: every thread holds it."""
    return Layout((), (), (0,) * 5, (0,) * log2(warps))


def identity(extent: int, threads: int) -> Layout:
    """One element a thread, in order: the layout of the lane rule. `extent` is padded; a thread
    past the block's end holds nothing."""
    bits = log2(extent)
    bases = tuple(1 << bit for bit in range(bits)) + (0,) * (log2(threads) - bits)
    return Layout((extent,), (), bases[:5], bases[5:])


def mma_result(shape: Shape, warps: tuple[int, int]) -> Layout:
    """The accumulator of `mma.sync.m16n8`: each lane holds two neighbouring columns of row lane/4,
    and the same of the row eight below (PTX ISA, "Matrix Fragments for mma.m16n8k16")."""
    m, n = warps
    fragment: list[Part] = [("register", 1, 2), ("lane", 1, 4), ("lane", 0, 8), ("register", 0, 2)]
    return tiled(shape, [*fragment, ("warp", 0, m), ("warp", 1, n)])


def mma_operand(shape: Shape, warps: tuple[int, int], side: str, pack: int) -> Layout:
    """The A (16 by 8*pack) or B (8*pack by 8) operand of the same instruction, `pack` elements a
    32-bit register.

    Warps that differ along the other operand's outer axis hold copies.
    """
    m, n = warps
    inner, outer = (1, 0) if side == "A" else (0, 1)
    parts: list[Part] = [("register", inner, pack), ("lane", inner, 4), ("lane", outer, 8)]
    if side == "A":
        parts += [("register", 0, 2), ("register", 1, 2), ("warp", 0, m)]
    else:
        parts += [("register", 0, 2), ("warp", 1, n)]
    layout = tiled(shape, parts)
    copies = (0,) * log2(n if side == "A" else m)
    warp = layout.warp + copies if side == "A" else copies + layout.warp
    return replace(layout, warp=warp)
