"""The prelude: each section compiles alone, is printed when called, and its host twin agrees."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from mytriton.targets.cuda.prelude import SECTIONS, TWINS, device_text, host_text, needed
from mytriton.targets.cuda.sim import HOST
from mytriton.targets.cuda.sim.build import build


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_with_what_it_calls_is_a_complete_text(name, nvrtc):
    names = needed(name)
    assert name in names
    nvrtc(device_text(names) + '\nextern "C" __global__ void k() {}')
    build(f"{HOST}\n{host_text(name)}")


def test_every_twin_is_of_a_section():
    assert TWINS.keys() <= SECTIONS.keys()


def test_only_what_is_called_is_printed_and_before_its_callers():
    assert needed("v1 = v2 + v3;") == ()
    names = needed("atomic_max(&x[v1], v2)")
    assert names.index("bitcast") < names.index("atomic_update") < names.index("atomic_max")
    assert "atomic_add" not in names


def test_strings_and_comments_call_nothing():
    assert needed('printf("divide \\" minimum"); // maximum') == ()


def test_inline_ptx_has_a_host_twin():
    with_ptx = {name for name, text in SECTIONS.items() if "asm" in text}
    assert with_ptx and with_ptx <= TWINS.keys()


def test_odd_rounding_makes_two_roundings_one():
    """2049.0000001 is just above the tie of 2048 and 2050, which a float does not see."""
    text = """
extern "C" __attribute__((visibility("default"))) float twice(double x) { return f16((float)x); }
extern "C" __attribute__((visibility("default"))) float once(double x) { return f16(odd_float(x)); }
"""
    lib = build(f"{HOST}\n{host_text(text)}\n{text}")
    for function in (lib.twice, lib.once):
        function.restype, function.argtypes = ctypes.c_float, [ctypes.c_double]
    assert lib.twice(2049.0000001) == 2048
    assert lib.once(2049.0000001) == 2050 == float(np.float16(2049.0000001))
