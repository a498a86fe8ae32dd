"""What a kernel costs: classes of accesses with their reasons, counts, occupancy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer.document import AccessView, Document
from mytriton.explorer.gpus import GPUS, occupancy


@triton.jit
def accesses(x, index, out, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = i[:, None]
    a = tl.load(x + i)  # contiguous
    b = tl.load(x + i * 2)  # stride 2
    c = tl.load(x + i * stride)  # unknown
    d = tl.load(x + tl.load(index + i))  # gather
    e = tl.load(x + n)  # one
    f = tl.load(x + i % n)  # remainder
    g = tl.sum(tl.load(x + j * stride + i[None, :]), 1)  # rows
    h = tl.load(x + i * 0)  # same
    tl.store(out + i, a + b + c + d + e + f + g + h)


N = 64


def arguments() -> tuple[Any, ...]:
    x = np.ones(N * N, np.float32)
    index = (np.arange(N, dtype=np.int32) * 8) % N
    return x, index, np.empty(N, np.float32), 7, 32


@pytest.fixture(scope="module")
def document() -> Document:
    made: Document = accesses.explain(*arguments(), grid=(1,), BLOCK=N, num_warps=1).document
    return made


def access(document: Document, comment: str) -> AccessView:
    """The access at the kernel's line with the comment; of two, the outer one."""
    source = document.sources[0]
    line = source.first + next(k for k, t in enumerate(source.lines) if t.endswith(f"# {comment}"))
    assert document.performance is not None
    found = [a for a in document.performance.accesses if document.places[a.place][0].line == line]
    return found[-1]


@pytest.mark.parametrize(
    ("comment", "kind", "steps"),
    [
        ("contiguous", "contiguous", ("1",)),
        ("stride 2", "stride 2", ("2",)),
        ("unknown", "unknown stride", ("stride",)),
        ("gather", "gather", ()),
        ("one", "one element", ()),
        ("remainder", "gather", ()),
        ("rows", "contiguous", ("stride", "1")),
        ("same", "one address", ("0",)),
    ],
)
def test_the_class_of_an_access(
    document: Document, comment: str, kind: str, steps: tuple[str, ...]
) -> None:
    found = access(document, comment)
    assert found.access_class == kind
    assert found.steps == steps
    assert found.arguments == ("x",) if comment != "gather" else "x" in found.arguments


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("stride 2", "2 elements apart, so one in 2"),
        ("unknown", "stride elements apart, which is not known to be 1: pass it as a constexpr"),
        ("gather", "its index comes from memory at line"),
        ("remainder", "its index is computed by `%` at line"),
    ],
)
def test_the_reason_is_said(document: Document, comment: str, words: str) -> None:
    assert any(words in reason for reason in access(document, comment).reasons)


def test_sectors_are_those_that_warps_ask_for(document: Document) -> None:
    """A warp that reads 32 neighbours of 4 bytes needs 4 sectors; at stride 2 it asks for 8 and
    could do with 4; where each lane is in a sector of its own, 32."""
    rows = (("contiguous", 8, 8), ("stride 2", 16, 8), ("unknown", 64, 8), ("same", 2, 2))
    for comment, sectors, wanted in rows:
        (measured,) = access(document, comment).measured
        assert (measured.sectors, measured.wanted) == (sectors, wanted), comment
    (gathered,) = access(document, "gather").measured
    assert gathered.sectors > gathered.wanted


def test_bytes_and_operations_are_counted(document: Document) -> None:
    assert document.performance is not None
    totals = document.performance.totals
    assert totals is not None
    read = 4 * (N * 6 + 1 + N * N + N)  # six blocks and an element, a square, the index
    assert totals.bytes == read + 4 * N
    added = 7 * N + N * (N - 1)  # the sums of the blocks, and along the rows of the square
    assert totals.operations == added
    assert totals.products == 0
    own = 4 * len({*range(N), *range(0, 2 * N, 2), *(32 * k for k in range(N)), *SQUARE})
    assert totals.distinct == own + 2 * 4 * N


SQUARE = {32 * row + column for row in range(N) for column in range(N)}


def test_a_product_counts_two_operations_a_step() -> None:
    @triton.jit
    def product(a, b, c):
        i, j = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
        at = i * 16 + j
        tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))

    a, c = np.ones((16, 16), np.float16), np.empty((16, 16), np.float32)
    made = product.explain(a, a.copy(), c, grid=(3,)).document
    assert made.performance.totals.products == 3 * 2 * 16**3


def test_masked_lanes_are_counted() -> None:
    @triton.jit
    def masked(x, n):
        i = tl.program_id(0) * 32 + tl.arange(0, 32)
        tl.store(x + i, 1.0, mask=i < n)

    made = masked.explain(np.zeros(40, np.float32), 40, grid=(2,)).document
    (store,) = made.performance.accesses
    (measured,) = store.measured
    assert (measured.write, measured.times, measured.lanes, measured.off) == (True, 2, 64, 24)
    assert measured.bytes == 160


# -- machine code


def test_registers_and_spills_are_read_from_the_code(document: Document) -> None:
    assert document.performance is not None
    gpu, cpu = document.performance.code
    assert gpu.machine == "A100 (sm_80)"
    assert 10 < gpu.registers < 256
    sass = document.column("sass").lines
    assert gpu.instructions == sum(line.strip().endswith(";") for line in sass)
    assert all("STL" in sass[at - 1] or "LDL" in sass[at - 1] for at in gpu.stack)
    asm = document.column("asm").lines
    assert all("(%rsp" in asm[at - 1] or "(%rbp" in asm[at - 1] for at in cpu.stack)


def test_a_kernel_that_spills_says_where() -> None:
    @triton.jit
    def many(x, out):
        i = tl.arange(0, 8192)
        a = tl.load(x + i)
        b = tl.load(x + 8192 + i)
        c = tl.sum(a) + tl.sum(b)
        tl.store(out + i, a * b + c * a)  # needs both again

    x = np.ones(16384, np.float32)
    made = many.explain(x, x.copy(), num_warps=1).document
    gpu = made.performance.code[0]
    assert len(gpu.stack) > 50
    places = {made.column("sass").places[at - 1] for at in gpu.stack}
    assert any(place >= 0 for place in places)


@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared", "blocks", "limit"),
    [
        # Worked by hand from the limits of the CUDA C++ Programming Guide.
        ("A100", 128, 168, 0, 3, "registers"),  # 65536 / (168 * 32 = 5376 a warp) = 12 warps
        ("A100", 1024, 32, 0, 2, "warps"),  # 64 warps
        ("A100", 32, 16, 0, 32, "blocks"),
        ("A100", 128, 32, 48 * 1024, 3, "shared memory"),  # 164 KiB / 49 KiB
        ("H100", 128, 32, 48 * 1024, 4, "shared memory"),  # 228 KiB / 49 KiB
        ("T4", 1024, 64, 0, 1, "warps"),
        ("L4", 256, 40, 0, 6, "warps"),  # 48 warps
        ("A100", 128, 32, 200 * 1024, 0, "shared memory"),
    ],
)
def test_occupancy(
    gpu: str, threads: int, registers: int, shared: int, blocks: int, limit: str
) -> None:
    found = occupancy(GPUS[gpu].holds, threads, registers, shared)
    assert found.blocks == blocks
    assert limit in found.limited_by
    assert found.warps == blocks * threads // 32
