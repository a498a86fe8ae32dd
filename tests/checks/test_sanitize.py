"""What `triton.sanitize` finds: each kind of fault at its line, on every target that runs the IR as
it is; and what it must not find."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileValueError, KernelMemoryError
from mytriton.runtime.findings import Finding
from mytriton.runtime.jit import JITFunction

F32 = np.float32
TARGETS = ["interpret", "cpu"]


def found(
    target: str, kinds: str, kernel: JITFunction, grid: int, *arguments: Any, **meta: Any
) -> list[Finding]:
    """What a launch makes the sanitizer find."""
    with triton.target(target), triton.sanitize(kinds, handler=lambda finding: None) as session:
        kernel[(grid,)](*arguments, **meta)
    return session.findings


def line_of(kernel: JITFunction, text: str) -> int:
    """The number of the kernel's line with that text."""
    lines, first = inspect.getsourcelines(kernel.fn)
    (place,) = (number for number, line in enumerate(lines) if text in line)
    return first + place


def one(findings: list[Finding], kernel: JITFunction, text: str) -> Finding:
    """The only finding, which is about the line with that text."""
    assert len(findings) == 1, findings
    assert findings[0].where[0].line == line_of(kernel, text), str(findings[0])
    return findings[0]


# -- undefined


@triton.jit
def stores_too_much(x, out, n, more, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(out + i, a * 2 + 1, mask=i < n + more)


@triton.jit
def sums(x, out, n, BLOCK: tl.constexpr, FILL: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    if FILL:
        a = tl.where(i < n, a, 0.0)
    tl.store(out, tl.sum(a, axis=0))


@triton.jit
def sums_rows(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr, OTHER: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = (i < rows) & (j < columns) if OTHER is None else i < rows
    a = tl.load(x + i * columns + j, mask=mask)
    tl.store(out + tl.arange(0, M), tl.sum(a, axis=1), mask=tl.arange(0, M) < rows)


@triton.jit
def follows(index, x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n)
    tl.store(out + i, tl.load(x + at), mask=i < n)


@triton.jit
def decides(x, out, n):
    value = tl.load(x, mask=n > 0)
    if value > 0:
        tl.store(out, 1.0)


@triton.jit
def carries(x, out, n, steps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for _ in range(steps):
        total += tl.load(x + i, mask=i < n)
    tl.store(out + i, total)


@triton.jit
def multiplies(x, y, out, m, k, M: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, M)[None, :]
    left = tl.load(x + i * M + j, mask=(i < m) & (j < k))
    right = tl.load(y + i * M + j)
    product = tl.dot(left, right)
    tl.store(out + i * M + j, product, mask=i < m)


@triton.jit
def masks_a_mask(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    tl.store(out + i, a, mask=(a > 0) & (i < n))


@pytest.mark.parametrize("target", TARGETS)
def test_a_stored_undefined_value(target: str) -> None:
    x, out = np.ones(1000, F32), np.zeros(1030, F32)
    assert not found(target, "undefined", stores_too_much, 4, x, out, 1000, 0, BLOCK=256)
    findings = found(target, "undefined", stores_too_much, 4, x, out, 1000, 20, BLOCK=256)
    finding = one(findings, stores_too_much, "tl.store")
    assert finding.kind == "undefined"
    assert (finding.program, finding.lane) == ((3, 0, 0), (232,))
    assert finding.notes[0].where[0].line == line_of(stores_too_much, "tl.load")
    assert "other=" in finding.help


@pytest.mark.parametrize("target", TARGETS)
def test_a_sum_over_undefined_lanes(target: str) -> None:
    x, out = np.ones(100, F32), np.zeros(1, F32)
    findings = found(target, "undefined", sums, 1, x, out, 100, BLOCK=128, FILL=False)
    one(findings, sums, "tl.sum")
    assert not found(target, "undefined", sums, 1, x, out, 100, BLOCK=128, FILL=True)
    assert not found(target, "undefined", sums, 1, x, out, 128, BLOCK=64, FILL=False)


@pytest.mark.parametrize("target", TARGETS)
def test_a_row_that_is_undefined_as_a_whole_may_be_summed(target: str) -> None:
    x, out = np.ones((5, 16), F32), np.zeros(8, F32)
    assert not found(target, "undefined", sums_rows, 1, x, out, 5, 16, M=8, N=16, OTHER=0)
    findings = found(target, "undefined", sums_rows, 1, x, out, 5, 13, M=8, N=16, OTHER=None)
    one(findings, sums_rows, "tl.sum")


@pytest.mark.parametrize("target", TARGETS)
def test_an_undefined_address(target: str) -> None:
    index, x, out = np.zeros(20, np.int32), np.ones(20, F32), np.zeros(32, F32)
    finding = one(
        found(target, "undefined", follows, 1, index, x, out, 20, BLOCK=32), follows, "tl.store"
    )
    assert "address" in finding.message


@pytest.mark.parametrize("target", TARGETS)
def test_an_undefined_condition(target: str) -> None:
    x, out = np.ones(1, F32), np.zeros(1, F32)
    assert not found(target, "undefined", decides, 1, x, out, 1)
    one(found(target, "undefined", decides, 1, x, out, 0), decides, "if value")


@pytest.mark.parametrize("target", TARGETS)
def test_through_a_loop(target: str) -> None:
    x, out = np.ones(64, F32), np.zeros(64, F32)
    assert not found(target, "undefined", carries, 1, x, out, 50, 0, BLOCK=64)
    one(found(target, "undefined", carries, 1, x, out, 50, 3, BLOCK=64), carries, "tl.store")


@pytest.mark.parametrize("target", TARGETS)
def test_through_a_dot(target: str) -> None:
    x, y, out = (np.ones((16, 16), F32) for _ in range(3))
    assert not found(target, "undefined", multiplies, 1, x, y, out, 11, 16, M=16)
    one(found(target, "undefined", multiplies, 1, x, y, out, 11, 15, M=16), multiplies, "tl.dot")


@pytest.mark.parametrize("target", TARGETS)
def test_a_false_settles_an_and(target: str) -> None:
    x, out = np.ones(50, F32), np.zeros(64, F32)
    assert not found(target, "undefined", masks_a_mask, 1, x, out, 50, BLOCK=64)


# -- nan


@triton.jit
def divides(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n, other=0.0)
    b = tl.load(y + i, mask=i < n, other=0.0)
    ratio = a / b
    tl.store(out + i, tl.maximum(ratio, 0.0) + 1, mask=i < n)


@triton.jit
def sigmoid(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 1 / (1 + tl.exp(-tl.load(x + i))))


@triton.jit
def narrows(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x + i), axis=0)
    tl.store(out, total.to(tl.float16))


@pytest.mark.parametrize("target", TARGETS)
def test_a_division_by_zero(target: str) -> None:
    x, y, out = np.ones(50, F32), np.ones(50, F32), np.zeros(64, F32)
    assert not found(target, "nan", divides, 1, x, y, out, 50, BLOCK=64)  # 0 / 0 where it is off
    y[7] = 0
    finding = one(found(target, "nan", divides, 1, x, y, out, 50, BLOCK=64), divides, "a / b")
    assert finding.lane == (7,)
    x[7] = np.nan  # an operand that was none before
    assert not found(target, "nan", divides, 1, x, y, out, 50, BLOCK=64)


@pytest.mark.parametrize("target", TARGETS)
def test_an_infinity_that_is_divided_away_is_no_fault(target: str) -> None:
    x, out = np.full(8, -1000, F32), np.zeros(8, F32)
    assert not found(target, "nan", sigmoid, 1, x, out, BLOCK=8)


@pytest.mark.parametrize("target", TARGETS)
def test_a_cast_that_overflows(target: str) -> None:
    x, out = np.full(8, 20000, F32), np.zeros(1, np.float16)
    one(found(target, "nan", narrows, 1, x, out, BLOCK=8), narrows, "total.to")


# -- overflow


@triton.jit
def strides(x, out, stride, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = pid.to(tl.int64) if WIDE else pid
    offset = row * stride
    value = tl.load(x + offset + tl.arange(0, BLOCK))
    tl.store(out + pid * BLOCK + tl.arange(0, BLOCK), value)


@triton.jit
def hashes(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    key = i.to(tl.uint32) * 2654435761
    tl.store(out + i, tl.load(x + (key % 64).to(tl.int32)))


@triton.jit
def cuts(x, out, far):
    at = far.to(tl.int32)
    tl.store(out, tl.load(x + at))


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_that_wraps(target: str) -> None:
    x, out = np.ones(64, F32), np.zeros(5 * 8, F32)
    assert not found(target, "overflow", strides, 5, x, out, 8, WIDE=False, BLOCK=8)
    findings: list[Finding] = []
    with (
        triton.target(target),
        triton.sanitize("bounds,overflow", handler=findings.append),
        pytest.raises(KernelMemoryError),
    ):
        strides[(5,)](x[:8], out, 2**30 + 2, WIDE=True, BLOCK=8)
    assert [finding.kind for finding in findings] == ["bounds"]


@triton.jit
def wraps(x, out, stride, first):
    row = first + tl.program_id(0)
    tl.store(out + tl.program_id(0), tl.load(x + row * stride))


@pytest.mark.parametrize("target", TARGETS)
def test_the_operand_to_widen_is_named(target: str) -> None:
    x, out = np.ones(64, F32), np.zeros(4, F32)
    findings = found(target, "overflow", wraps, 1, x, out, 2**30 + 2, 4)
    finding = one(findings, wraps, "row * stride")
    assert finding.program == (0, 0, 0)
    assert "`*` wraps in i32" in finding.message
    assert "int64" in finding.help
    assert not found(target, "overflow", wraps, 4, x, out, 2, 4)


@pytest.mark.parametrize("target", TARGETS)
def test_a_hash_may_wrap(target: str) -> None:
    x, out = np.ones(64, F32), np.zeros(64, F32)
    assert not found(target, "overflow", hashes, 1, x, out, BLOCK=64)


@pytest.mark.parametrize("target", TARGETS)
def test_an_offset_that_is_narrowed(target: str) -> None:
    x, out = np.ones(64, F32), np.zeros(1, F32)
    finding = one(found(target, "overflow", cuts, 1, x, out, 2**32 + 3), cuts, "far.to")
    assert "narrowed to i32" in finding.message


# -- sessions


def test_findings_of_one_cause_are_told_once() -> None:
    x, out = np.ones(1000, F32), np.zeros(2048, F32)
    told: list[Finding] = []
    with triton.target("cpu"), triton.sanitize("undefined", handler=told.append) as session:
        for _ in range(3):
            stores_too_much[(8,)](x, out, 1000, 1000, BLOCK=256)
    assert len(told) == len(session.findings) == 1
    assert session.counts[told[0].key] > 3


def test_text_of_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    x, out = np.ones(1000, F32), np.zeros(1030, F32)
    with triton.target("cpu"), triton.sanitize("undefined"):
        stores_too_much[(4,)](x, out, 1000, 20, BLOCK=256)
    text = capsys.readouterr().err
    store, load = (line_of(stores_too_much, name) for name in ("tl.store", "tl.load"))
    assert text.splitlines() == [
        "error[undefined]: lane 232 of program (3, 0, 0): a stored value is undefined",
        f"  --> {__file__}:{store} in stores_too_much",
        "     |",
        f"  {store} | tl.store(out + i, a * 2 + 1, mask=i < n + more)",
        "     | " + "^" * 47,
        "note: the value is undefined where the mask of this load is off",
        f"  --> {__file__}:{load} in stores_too_much",
        "     |",
        f"  {load} | a = tl.load(x + i, mask=i < n)",
        "     | " + "^" * 30,
        "help: give the load `other=…`, or mask what uses it alike",
        "",
    ]


@triton.jit
def quiet(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)  # mytriton: ignore[undefined]
    tl.store(out + i, a)


def test_a_comment_keeps_a_finding_quiet() -> None:
    assert not found("cpu", "undefined", quiet, 1, np.ones(8, F32), np.zeros(16, F32), 8, BLOCK=16)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(CompileValueError, match="did you mean `races`"):
        triton.sanitize("race")


def test_a_tensor_of_torch() -> None:
    x, out = torch.ones(1000), torch.zeros(1030)
    assert found("cpu", "undefined", stores_too_much, 4, x, out, 1000, 20, BLOCK=256)


def test_outside_the_block_nothing_is_checked() -> None:
    x, out = np.ones(1000, F32), np.zeros(1030, F32)
    with triton.sanitize("undefined", handler=lambda finding: None):
        pass
    stored = stores_too_much[(4,)](x, out, 1000, 20, BLOCK=256, target="cpu")
    assert "report" not in str(stored.ssa_ops)
