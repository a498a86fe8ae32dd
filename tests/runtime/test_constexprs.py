"""Which values a constexpr may be, and which are told apart."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.constexprs import exact

TARGETS = ("interpret", "eager", "cpu", "cudasim")


class Mode(enum.Enum):
    ADD = 1
    MUL = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: Any
    mode: Mode = Mode.ADD


@dataclasses.dataclass
class Mutable:
    scales: list[Any]


class Opaque:
    scale = 5


@triton.jit
def uses(out, C: tl.constexpr):
    tl.store(out, pick(C))


def pick(value: Any) -> Any:
    if isinstance(value, Mode):
        return value.value
    if isinstance(value, Mutable):
        return value.scales[0]
    if isinstance(value, (list, tuple)):
        return value[-1]
    if value is torch.float16:
        return 16
    return getattr(value, "scale", value)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("value", "result"),
    [
        (Mode.MUL, 2),
        (Level.LOW, 1),
        (Frozen(3), 3),
        (Mutable([4, 1]), 4),
        ([1, 2, 6], 6),
        ((1, [2], 7), 7),
        (torch.float16, 16),
        (Opaque(), 5),
        (np.int8(9), 9),
    ],
    ids=lambda value: type(value).__name__,
)
def test_hashable_objects_lists_and_dataclasses(target: str, value: Any, result: int) -> None:
    out = np.zeros(1, np.int32)
    uses[(1,)](out, value, target=target)
    assert out[0] == result


def test_a_mutable_one_counts_by_its_value() -> None:
    scales, out = [1, 2], np.zeros(1, np.int32)
    holder = Mutable([3])
    for step in range(4):
        uses[(1,)](out, scales, target="cpu")
        assert out[0] == scales[-1]
        uses[(1,)](out, holder, target="cpu")
        assert out[0] == holder.scales[0]
        scales[-1] += step
        holder.scales[0] += 1


def test_enum_members_without_an_annotation() -> None:
    @triton.jit
    def kernel(out, mode):
        tl.store(out, 10 if mode is Mode.MUL else 20)

    out = np.zeros(1, np.int32)
    for mode, result in ((Mode.MUL, 10), (Mode.ADD, 20)):
        kernel[(1,)](out, mode, target="interpret")
        assert out[0] == result


ALIKE: list[Any] = [
    1, True, 1.0, np.float64(1), np.bool_(True), "1", 0.0, -0.0, 0, False, None, (1,), (True,), [1],
    [1.0], (1.0,), Frozen(1), Frozen(True), Frozen(1.0), Frozen(-0.0), Frozen(0.0), Mutable([1]),
    Mutable([True]), Mode.ADD, Level.LOW, 1j, (), [], frozenset([1]), frozenset([True]),
    float("nan"),
]  # fmt: skip
SAME = {(2, 3), (1, 4)}
"""Pairs of places in ALIKE that are one value: NumPy scalars are their Python numbers."""


def test_values_that_python_takes_for_equal_are_told_apart() -> None:
    for (i, left), (j, right) in itertools.combinations(enumerate(ALIKE), 2):
        assert (exact(left) == exact(right)) == ((i, j) in SAME), (left, right)


VALUES = st.recursive(
    st.one_of(st.integers(-2, 2), st.booleans(), st.floats(), st.text(max_size=1), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.tuples(inner, inner), st.builds(Frozen, inner)
    ),
)


def written(value: Any) -> Any:
    """A text that holds types and values, told by hand: what `exact` must agree with."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ",".join(map(written, value)) + ")"
    if isinstance(value, Frozen):
        return f"Frozen({written(value.scale)})"
    if isinstance(value, float):
        return np.float64(value).tobytes().hex()
    return f"{type(value).__name__} {value!r}"


@given(VALUES, VALUES)
def test_keys_are_equal_where_type_and_value_are(left: Any, right: Any) -> None:
    assert (exact(left) == exact(right)) == (written(left) == written(right))
    assert hash(exact(left)) == hash(exact(left))


class Settings:
    """An object that is compared by identity and may change."""

    def __init__(self) -> None:
        self.scale, self.shape, self.inner = 2, [1, 2], object()


@pytest.mark.parametrize("target", TARGETS)
def test_a_changed_attribute_is_another_value(target: str) -> None:
    settings, out = Settings(), np.zeros(1, np.int32)
    for scale in (2, 3, 2):
        settings.scale = scale
        uses[(1,)](out, settings, target=target)
        assert out[0] == scale
    key = exact(settings)
    assert key == exact(settings)
    settings.shape.append(3)
    assert key != exact(settings)
    key = exact(settings)
    settings.inner = object()
    assert key != exact(settings) and exact(settings) != exact(Settings())


def test_static_print_prints_once_where_one_program_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    @triton.jit
    def kernel(out, C: tl.constexpr):
        tl.static_print("traced with", C)
        tl.store(out, C)

    for target in ("interpret", "eager", "cpu"):
        kernel.clear_cache()
        kernel[(1,)](np.zeros(1, np.int32), 5, target=target)
        assert capsys.readouterr().out.count("traced with 5") == 1, target
