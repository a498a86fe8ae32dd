"""Conversion plans carried out in NumPy: what the printed CUDA must do."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .convert import Permute, Plan, Shuffle
from .linear import Layout, combine

Registers = np.ndarray[Any, np.dtype[Any]]
"""The registers of every thread: `values[thread, register]`."""


def held(layout: Layout, block: Registers) -> Registers:
    """What the threads hold of a flat, row-major block of the padded shape."""
    return np.asarray(block[indices(layout)])


def indices(layout: Layout) -> Registers:
    """The index that each register of each thread holds."""
    threads = _images(layout.thread)
    return np.asarray(threads[:, None] ^ _images(layout.register)[None, :])


def _images(bases: tuple[int, ...]) -> Registers:
    images = np.zeros(1, np.int64)
    for base in bases:
        images = np.concatenate([images, images ^ base])
    return images


def simulate(plan: Plan, source: Layout, target: Layout, values: Registers) -> Registers:
    """The registers after the plan has moved the block from `source` to `target`."""
    if isinstance(plan, Permute):
        return np.asarray(values[:, list(plan.source)])
    if isinstance(plan, Shuffle):
        return _shuffled(plan, source, values)
    store, load = (side.mapped(plan.swizzle.offset, side.shape) for side in (source, target))
    memory = np.zeros(prod(source.shape), values.dtype)
    memory[indices(store)] = values
    return np.asarray(memory[indices(load)])


def _shuffled(plan: Shuffle, source: Layout, values: Registers) -> Registers:
    lanes = 1 << len(source.lane)
    rows = []
    for thread in range(len(values)):
        warp, lane = thread // lanes * lanes, combine(plan.lane, thread)
        rows.append([values[warp + (lane ^ f), s] for s, f in zip(plan.source, plan.flip)])
    return np.array(rows)
