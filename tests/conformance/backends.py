"""What can compute a row, each as a function from arrays to an array.

A backend is given the row, the element type and held arrays, and answers in the result's
held dtype; so a test is a loop over rows, types and pairs of backends.

    numpy      the row's meaning, as folding and the interpreter use it
    c          the row's C template, compiled for this host, all rows in one object
    formula    the row's expansion, each op of it by its C template
    cpu        the CPU target: the row's LLVM instruction or its expansion, as native code
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from mytriton.ir.fold import evaluate
from mytriton.ir.numeric import Array, held_dtype, round_to
from mytriton.ir.ops import TABLE, Elementwise, Row
from mytriton.ir.types import BOOL, SCALARS, ScalarType, compute_type
from mytriton.targets.cuda.sim.build import build
from tests.conformance import cpu
from tests.conformance.inputs import operands
from tools.elementary import as_c

ROWS = [row for row in TABLE.values() if row.element]


def element_of(row: Row) -> Elementwise:
    assert row.element is not None
    return row.element


def result_type(row: Elementwise, element: ScalarType) -> ScalarType:
    return BOOL if row.boolean else row.result or element


def types_of(row: Row) -> list[ScalarType]:
    """The element types a row is defined for."""
    return [element for element in SCALARS if element.kind in element_of(row).kinds]


def uses_formula(row: Elementwise, element: ScalarType) -> bool:
    """Whether a target of LLVM instructions takes the row's expansion for this type."""
    return row.expand is not None and element.kind not in row.llvm


def by_numpy(row: Row, element: ScalarType, arrays: Sequence[Array]) -> Array:
    meaning = element_of(row)
    return evaluate(meaning, result_type(meaning, element), arrays)


def by_c(row: Row, element: ScalarType, arrays: Sequence[Array], suffix: str = "") -> Array:
    meaning = element_of(row)
    result = result_type(meaning, element)
    computed = compute_type(element)
    out = np.empty(arrays[0].shape, held_dtype(result))
    function = getattr(_library(), f"{row.name}_{computed.ir}{suffix}")
    held = [np.ascontiguousarray(array) for array in (*arrays, out)]
    function(ctypes.c_long(out.size), *(ctypes.c_void_p(array.ctypes.data) for array in held))
    small = result.kind == "f" and result.bits < 32
    return round_to(result, held[-1]) if small else held[-1]


def by_formula(row: Row, element: ScalarType, arrays: Sequence[Array]) -> Array:
    return by_c(row, element, arrays, "_formula")


def by_cpu(row: Row, element: ScalarType, arrays: Sequence[Array]) -> Array:
    """By the CPU target, which is asked once for all rows of an arity and type."""
    arity = element_of(row).arity
    if arrays is operands(element, arity):
        return _all_by_cpu(element, arity)[row.name]
    (result,) = cpu.run([row.name], element, [result_type(element_of(row), element)], arrays)
    return result


@cache
def _all_by_cpu(element: ScalarType, arity: int) -> dict[str, Array]:
    rows = [
        row
        for row in ROWS
        if element_of(row).arity == arity
        and element in types_of(row)
        and not (element.bits == 8 and uses_formula(element_of(row), element))
    ]
    names = [row.name for row in rows]
    results = [result_type(element_of(row), element) for row in rows]
    return dict(zip(names, cpu.run(names, element, results, operands(element, arity))))


BACKENDS = {"numpy": by_numpy, "c": by_c, "formula": by_formula, "cpu": by_cpu}


EXPORT = 'extern "C" __attribute__((visibility("default")))'


def _loops() -> Iterator[str]:
    """One C function a row and compute type: it applies the template to every element."""
    for row in ROWS:
        meaning = element_of(row)
        for element in sorted({compute_type(e) for e in types_of(row)}, key=lambda e: e.ir):
            result = as_c.C_TYPES[compute_type(result_type(meaning, element)).ir]
            given = as_c.C_TYPES[element.ir]
            names = "xyzw"[: meaning.arity]
            items = [f"{name}[i]" for name in names]
            arguments = "".join(f"const {given}* {name}, " for name in names)
            name = f"{row.name}_{element.ir}"
            texts = {name: as_c.c_text(meaning, items, element)}
            if uses_formula(meaning, element):
                yield as_c.function(f"_{name}", meaning.expand, [element] * meaning.arity)
                texts[f"{name}_formula"] = f"_{name}({', '.join(items)})"
            for called, text in texts.items():
                yield (
                    f"{EXPORT} void {called}(long n, {arguments}{result}* out) {{\n"
                    f"    for (long i = 0; i < n; i++) out[i] = ({result}){text};\n}}\n"
                )


@cache
def _library() -> ctypes.CDLL:
    return build(as_c.program("".join(_loops())))
