"""`MYTRITON_LOG=recompiles` names what differs from the most similar compilation before."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl

SCALE = 2


@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n)
    tl.store(out + offsets, value * SCALE, mask=offsets < n)


@pytest.fixture(autouse=True)
def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_LOG", "recompiles")
    kernel.clear_cache()


def arrays(dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(64, dtype=dtype), np.zeros(64, dtype)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.removeprefix("mytriton recompiles: ").strip()


def test_each_reason_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, out = arrays()
    for _ in range(2):
        kernel[(1,)](x, out, 60, BLOCK=64, target="cpu")
        assert said(capsys) == ""
    kernel[(1,)](*arrays(np.float64), 60, BLOCK=64, target="cpu")
    assert said(capsys) == "kernel: x is ptr<f64>, not ptr<f32>; out is ptr<f64>, not ptr<f32>"
    kernel[(1,)](x, out, 2**40, BLOCK=32, target="cpu")
    assert said(capsys) == "kernel: n is i64, not i32; BLOCK is 32, not 64"
    kernel[(1,)](*arrays(np.float64), 60, BLOCK=True, target="cpu")
    assert said(capsys) == "kernel: BLOCK is True, not 64"
    kernel[(1,)](x, out, 60, BLOCK=64, target="cpu", debug=True)
    assert said(capsys).startswith("kernel: the option debug is True, not False")
    kernel[(1,)](x, out, 60, BLOCK=64, target="cpu")
    assert said(capsys) == ""
    monkeypatch.setitem(globals(), "SCALE", 3)
    kernel[(1,)](x, out, 60, BLOCK=64, target="cpu")
    assert said(capsys) == "kernel: SCALE has changed" and out[2] == 6


def test_arguments_that_begin_to_overlap(capsys: pytest.CaptureFixture[str]) -> None:
    x, out = arrays()
    kernel[(1,)](x, out, 60, BLOCK=64, target="cpu")
    kernel[(1,)](x, x, 60, BLOCK=64, target="cpu")
    assert said(capsys) == "kernel on cpu: arrays that it stores to share memory now"


def test_facts_of_the_tiled_lowering(capsys: pytest.CaptureFixture[str]) -> None:
    from mytriton.targets.cuda.specialise import tell_why

    aligned = frozenset(("x", "n"))
    before = [((aligned, frozenset()), False), ((frozenset(), frozenset("n")), False)]
    tell_why("kernel", (frozenset("x"), frozenset("n")), False, before)
    assert said(capsys) == "kernel: x is a multiple of 16, unlike before"
    tell_why("kernel", (frozenset("x"), frozenset()), True, before[:1])
    expected = "n is not a multiple of 16, unlike before; the grid has more than 2^31 elements"
    assert said(capsys) == f"kernel: {expected}"


def test_an_unknown_topic_is_named_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYTRITON_LOG", "recompile, cache")
    x, out = arrays()
    for block in (16, 32, 64):
        kernel[(1,)](x, out, 60, BLOCK=block, target="cpu")
    known = "there are recompiles, cache"
    assert capsys.readouterr().err == f"MYTRITON_LOG: no topic recompile; {known}\n"
