"""What a kernel read from outside its arguments is looked at again at each launch."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl

SCALE = 2.0
WRAPPED = tl.constexpr(3.0)
TABLE = [1.0, 2.0]
SETTINGS = types.SimpleNamespace(scale=2.0)
MODULE = types.ModuleType("settings")
MODULE.scale = 2.0  # type: ignore[attr-defined]


def plain_helper(x):
    return x * SCALE


@triton.jit
def jit_helper(x):
    return x * SCALE


@triton.jit
def reads_global(out):
    tl.store(out, SCALE)


@triton.jit
def reads_constexpr(out):
    tl.store(out, WRAPPED)


@triton.jit
def reads_list(out):
    tl.store(out, TABLE[0])


@triton.jit
def reads_attribute(out):
    tl.store(out, SETTINGS.scale)


@triton.jit
def reads_module(out):
    tl.store(out, MODULE.scale)


@triton.jit
def through_jit(out):
    tl.store(out, jit_helper(1.0))


@triton.jit
def through_plain(out):
    tl.store(out, plain_helper(1.0))


@triton.jit
def in_lambda(out):
    tl.store(out, (lambda: SCALE)())


def value(kernel: Any) -> float:
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, target="interpret")
    return float(out[0])


@pytest.mark.parametrize(
    "kernel", [reads_global, through_jit, through_plain, in_lambda], ids=lambda k: k.__name__
)
def test_globals(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(kernel) == 2
    made = len(kernel.compilations)
    assert value(kernel) == 2
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert value(kernel) == 5
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert value(kernel) == 5
    assert len(kernel.compilations) == made


def test_constexpr_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_constexpr) == 3
    monkeypatch.setitem(globals(), "WRAPPED", tl.constexpr(4.0))
    assert value(reads_constexpr) == 4


def test_lists_by_content() -> None:
    assert value(reads_list) == 1
    TABLE[0] = 9.0
    try:
        assert value(reads_list) == 9
    finally:
        TABLE[0] = 1.0


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_attribute) == 2 and value(reads_module) == 2
    monkeypatch.setattr(SETTINGS, "scale", 7.0)
    monkeypatch.setattr(MODULE, "scale", 8.0)
    assert value(reads_attribute) == 7 and value(reads_module) == 8


def test_closures() -> None:
    factor = 2.0
    shift = [1.0]

    @triton.jit
    def kernel(out):
        tl.store(out, factor + shift[0])

    assert value(kernel) == 3
    factor = 4.0
    assert value(kernel) == 5
    shift[0] = 2.0
    assert value(kernel) == 6


def test_helper_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(through_jit) == 2

    @triton.jit
    def other(x):
        return x - 1.0

    monkeypatch.setitem(globals(), "jit_helper", other)
    assert value(through_jit) == 0


def test_unchanged_globals_compile_once() -> None:
    reads_global.clear_cache()
    value(reads_global)
    (first,) = reads_global.compilations.values()
    value(reads_global)
    assert list(reads_global.compilations.values()) == [first]
