"""Each launch option acts, is a hint that changes nothing, or is refused; a page lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.options import LAUNCH_OPTIONS, options_table

from .kernels import store_kernel

TARGETS = ("interpret", "eager", "cpu")
PAGE = Path(__file__).parents[2] / "docs/reference/environment.md"

HINTS: dict[str, list[Any]] = {
    "num_stages": [None, 0, 1, 5],
    "num_ctas": [1, 2],
    "launch_pdl": [True, False],
    "extern_libs": [None, {}, {"libdevice": "libdevice.10.bc"}],
    "device_type": [None, "cuda"],
    "matrix_instr_nonkdim": [16],
    "waves_per_eu": [2],
    "kpack": [2],
}
ACT: dict[str, list[Any]] = {
    "target": [],
    "debug": [True, False],
    "num_warps": [None, 1, 2, 4, 8, 16, 32],
    "enable_fp_fusion": [True, False],
    "maxnreg": [None, 32],
    "launch_cooperative_grid": [True, False],
    "sanitize_overflow": [False, None],
    "instrumentation_mode": ["", None],
    "ir_override": [None],
    "stream": [None, 0],
    "device": [None],
}
REFUSED: list[tuple[str, Any, str | None, str]] = [
    ("num_warps", 3, "cpu", "must be one of None, 1, 2, 4, 8, 16, 32"),
    ("num_warps", True, "cpu", "must be one of"),
    ("num_stages", -1, "cpu", "must be an int of 0 or more"),
    ("num_ctas", 0, "cpu", "must be an int of 1 or more"),
    ("num_ctas", 2, None, "clusters of several blocks are not supported"),
    ("maxnreg", 0, "cpu", "must be an int of 1 or more"),
    ("enable_fp_fusion", 1, "cpu", "must be True or False"),
    ("launch_cooperative_grid", True, None, "not supported"),
    ("extern_libs", {"mine": "x.bc"}, "cpu", "no library can be linked"),
    ("sanitize_overflow", True, "cpu", "overflow is not checked"),
    ("instrumentation_mode", "consan", "cpu", "no instrumentation"),
    ("ir_override", "x.ttir", "cpu", "IR of another compiler"),
    ("stream", 123, "cpu", "current stream"),
    ("stream", 0, None, "current stream"),
    ("device", 1, "cpu", "the device of its arrays"),
]


def test_the_page_lists_them() -> None:
    assert options_table() in PAGE.read_text(), "python -m tools.docs.reference"


def test_every_option_is_tested_here() -> None:
    assert HINTS.keys() | ACT.keys() == LAUNCH_OPTIONS.keys()
    assert all(LAUNCH_OPTIONS[name].effect == "hint" for name in HINTS)
    assert all(LAUNCH_OPTIONS[name].effect == "acts" for name in ACT)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*HINTS, *ACT])
def test_what_is_allowed_runs_and_changes_no_result(name: str, target: str) -> None:
    for value in (HINTS | ACT)[name]:
        out = np.zeros(1, np.float32)
        store_kernel[(1,)](out, 3.0, target=target, **{name: value})
        assert out[0] == 3


@pytest.mark.parametrize(("name", "value", "target", "words"), REFUSED)
def test_what_is_refused(name: str, value: Any, target: str | None, words: str) -> None:
    out = np.zeros(1, np.float32)
    for _ in range(2):  # also where an equal launch without it went well
        with pytest.raises(ValueError, match=words) as caught:
            store_kernel[(1,)](out, 3.0, target=target, **{name: value})
        assert f"{name}={value!r}" in str(caught.value)
        store_kernel[(1,)](out, 3.0, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_products_and_sums_are_rounded_one_by_one(target: str) -> None:
    """What `enable_fp_fusion=False` promises elsewhere than on a GPU."""

    @triton.jit
    def kernel(x, out, BLOCK: tl.constexpr):
        value = tl.load(x + tl.arange(0, BLOCK))
        tl.store(out + tl.arange(0, BLOCK), value * value - 1.0)

    x = (1 + np.random.default_rng(0).random(64)).astype(np.float32)
    out = np.zeros_like(x)
    kernel[(1,)](x, out, BLOCK=64, enable_fp_fusion=False, target=target)
    np.testing.assert_array_equal(out, x * x - np.float32(1))


def test_options_of_code_generation_are_part_of_the_key() -> None:
    @triton.jit
    def kernel(out):
        tl.store(out, 1.0)

    out = np.zeros(1, np.float32)
    for options in ({}, {"debug": True}, {"num_stages": 2}, {"debug": False}):
        kernel[(1,)](out, target="interpret", **options)
    assert len(kernel.compilations) == 2


@pytest.mark.parametrize("given", [{"do_not_specialize": ["B"]}, {"do_not_specialize": [1]},
                                   {"do_not_specialize_on_alignment": ["B"]}])  # fmt: skip
def test_a_constexpr_is_always_specialized(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="B: a constexpr cannot be in do_not_specialize"):

        @triton.jit(**given)
        def kernel(out, B: tl.constexpr):
            tl.store(out, B)
