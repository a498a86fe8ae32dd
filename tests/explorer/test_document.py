"""The document: its schema, its links to kernel lines, and what it says of the passes."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer import Explanation
from mytriton.explorer.document import Column, json_of, schema
from tests.explorer.kernels import scale


@pytest.fixture(scope="module")
def explained() -> Explanation:
    x, factor = np.ones(100, np.float32), np.ones(1, np.float32)
    return scale.explain(x, np.empty_like(x), 100, factor, BLOCK=128)


def kernel_line(text: str) -> int:
    """The number of the first line of the kernel's file that has the text."""
    with open(scale.fn.__code__.co_filename, encoding="utf-8") as file:
        return next(at for at, line in enumerate(file, 1) if text in line)


def stacks(explained: Explanation, column: Column, text: str) -> set[tuple[int, ...]]:
    """The call stacks, as line numbers, of the column's lines that have the text."""
    lines = zip(column.lines, column.places)
    places = {place for line, place in lines if text in line and place >= 0}
    return {tuple(frame.line for frame in explained.document.places[place]) for place in places}


def test_the_document_is_as_its_schema_says(explained: Explanation) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(json.loads(explained.json), schema())
    broken = json_of(explained.document)
    broken["columns"][0]["places"][0] = "nowhere"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema())


def test_every_line_has_a_place_and_every_place_a_source(explained: Explanation) -> None:
    document = explained.document
    for column in document.columns:
        assert column.error is None, column.name
        assert len(column.places) == len(column.lines), column.name
        assert all(-1 <= place < len(document.places) for place in column.places)
        assert len(column.marks) in (0, len(column.lines))
        if column.made_from is not None:
            whole = len(document.column(column.made_from).lines)
            assert len(column.origins) == len(column.lines)
            assert all(0 <= origin <= whole for origin in column.origins)
    for frame in (frame for place in document.places for frame in place):
        source = document.sources[frame.source]
        assert source.function == frame.function
        assert 0 <= frame.line - source.first < len(source.lines)


def test_helpers_keep_their_call_stack(explained: Explanation) -> None:
    """The multiplication in `squared` is found in every text, called from the loop's line."""
    stack = (kernel_line("return x * x"), kernel_line("squared(value)"))
    document = explained.document
    assert stack in stacks(explained, document.column("order"), "= mul ")
    assert stack in stacks(explained, document.column("tree"), "op='*'")
    assert stack in stacks(explained, document.column("cuda"), " * ")
    assert stack in stacks(explained, document.column("llvm"), "fmul")
    assert stack in stacks(explained, document.column("asm"), "mul")
    assert [source.function for source in document.sources] == ["scale", "squared"]


def test_gpu_code_leads_to_kernel_lines(explained: Explanation) -> None:
    document = explained.document
    store = (kernel_line("tl.store"),)
    assert stacks(explained, document.column("ptx"), "st.global") == {store}
    assert stacks(explained, document.column("sass"), "STG") == {store}
    assert not any(".loc" in line or "//##" in line for line in document.column("ptx").lines)


def test_the_passes_say_what_they_changed(explained: Explanation) -> None:
    document = explained.document
    simplify, hoist = document.column("simplify"), document.column("hoist")
    rules = {note.text: note for note in simplify.notes}
    note = rules["minus itself"]
    assert note.detail == "x - x = 0, of ints"
    (place,) = note.places
    assert document.places[place][0].line == kernel_line("(n - n)")
    gone = [line for line, mark in zip(simplify.lines, simplify.marks) if mark == "gone"]
    assert "sub n, n" in gone[0]
    assert {note.text: note.count for note in hoist.notes} == {"hoisted load": 1}
    moved = [line for line, mark in zip(hoist.lines, hoist.marks) if mark == "moved"]
    assert [line.split(" = ")[1].split()[0] for line in moved] == ["load", "mul"]


def test_a_text_that_cannot_be_made_says_why() -> None:
    x = np.ones(100, np.float32)
    document = scale.explain(x, x, 100, x, BLOCK=2048).document  # the lane rule has 1024 lanes
    for name in ("cuda", "ptx", "sass"):
        column = document.column(name)
        assert column.lines == ()
        assert "1024" in (column.error or "")
    assert document.column("asm").error is None


@triton.jit
def invariant(x, n, k):
    total = 0.0
    for i in range(n):
        for j in range(k):
            total += tl.load(x + (n * 7) + (i * 3)) * j
    for _ in tl.static_range(2):
        total += k * 5
    tl.store(x, total)


def test_what_leaves_a_loop_while_it_is_traced_is_marked() -> None:
    """`n * 7` leaves both loops, `i * 3` the inner one; an unrolled loop is none of the IR."""
    document = invariant.explain(np.ones(100, np.float32), 3, 4).document
    traced = document.column("traced")
    moved = [line for line, mark in zip(traced.lines, traced.marks) if mark == "moved"]
    assert [line for line in moved if "mul n, 7" in line]
    inner = [line for line in moved if line.startswith(" " * 8) and line.endswith(", 3 : i32")]
    assert len(inner) == 1
    assert not [line for line in moved if "mul k, 5" in line or "= load" in line]
    (note,) = traced.notes
    assert note.count == len(moved)
