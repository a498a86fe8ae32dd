"""Kernels in classes, copies of them, pickles of them, and names that are easy to get wrong."""

from __future__ import annotations

import copy
import pickle
import types
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl

from .kernels import add_kernel, store_kernel

TARGETS = ("interpret", "eager", "cpu", "cudasim")


class Holder:
    kernel = store_kernel
    factor = 3

    @triton.jit
    def inside(out, value):
        tl.store(out, value + 1)

    @triton.jit
    def method(self, out, value):
        tl.store(out, value * self.factor)

    @triton.autotune(configs=[triton.Config({"B": 2})], key=[])
    @triton.jit
    def tuned(out, B: tl.constexpr):
        tl.store(out, B)


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_in_a_class(target: str) -> None:
    holder, out = Holder(), np.zeros(1, np.float32)

    def given(launch: Any, *arguments: Any) -> float:
        launch(out, *arguments, target=target)
        return float(out[0])

    assert given(holder.kernel[(1,)], 4.0) == 4
    assert given(holder.inside[(1,)], 4.0) == given(Holder.inside[(1,)], 4.0) == 5
    assert given(holder.method[(1,)], 4.0) == 12
    assert given(holder.tuned[(1,)]) == 2
    holder.kernel.warmup(out, 1.0, grid=(1,))
    assert holder.kernel is store_kernel and holder.method.arg_names == ["self", "out", "value"]


@pytest.mark.parametrize("kernel", [store_kernel, add_kernel, Holder.inside, Holder.tuned])
def test_copies_and_pickles_are_the_kernel(kernel: Any) -> None:
    holder = types.SimpleNamespace(kernel=kernel, kernels=[kernel])
    copied = copy.deepcopy(holder)
    assert copied.kernel is copied.kernels[0] is kernel and copy.copy(kernel) is kernel
    assert pickle.loads(pickle.dumps(holder)).kernel is kernel


def test_a_bound_method_is_pickled_with_its_object() -> None:
    again = pickle.loads(pickle.dumps(Holder().method))
    out = np.zeros(1, np.float32)
    again[(1,)](out, 2.0, target="interpret")
    assert out[0] == 6


def test_a_kernel_that_cannot_be_found_again_is_not_pickled() -> None:
    @triton.jit
    def local(out):
        tl.store(out, 1.0)

    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(local)
    assert copy.deepcopy(local) is local


@triton.jit
def launch(out, given, grid: tl.constexpr):
    tl.store(out, given + grid)


@triton.jit
def größe(außen, größe_, BLOCK: tl.constexpr):
    längen = tl.arange(0, BLOCK)
    tl.store(außen + längen, größe_ * längen)


@pytest.mark.parametrize("target", TARGETS)
def test_names(target: str) -> None:
    out = np.zeros(1, np.float32)
    launch[(1,)](out, 4.0, 1, target=target)
    assert out[0] == 5
    many = np.zeros(8, np.float32)
    größe[(1,)](many, 2.0, 8, target=target)
    assert many.tolist() == [2.0 * i for i in range(8)]


def test_too_many_arguments() -> None:
    with pytest.raises(TypeError, match=r"takes 2 positional arguments but 4 were given"):
        store_kernel[(1,)](1, 2, 3, 4)


@triton.jit
def sums(out, *values):
    total = 0
    for value in values:
        total += value
    tl.store(out, total)


@pytest.mark.parametrize("target", TARGETS)
def test_many_arguments(target: str) -> None:
    out = np.zeros(1, np.int32)
    sums[(1,)](out, *range(300), target=target)
    assert out[0] == sum(range(300))
