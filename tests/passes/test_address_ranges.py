"""Two accesses that are said to be apart never touch one element, whatever wraps."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from mytriton.ir.nodes import Const, Op, Value, walk
from mytriton.ir.parse import parse
from mytriton.ir.types import element_of, shape_of
from mytriton.passes.address_ranges import AddressRanges

TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def addresses(text: str) -> list[Value]:
    """The pointers of the loads of a kernel."""
    function = parse(f"kernel f(x: ptr<f32>, y: ptr<f32>, n: i32, m: i64) {{\n{text}\n}}")
    return [load_pointer(op) for op in walk(function.body) if op.name == "load"]


def load_pointer(op: Op) -> Value:
    pointer = op.operands[0]
    assert isinstance(pointer, Value)
    return pointer


def apart(text: str) -> bool:
    ranges = AddressRanges()
    one, two = map(ranges.of, addresses(text))
    return one is not None and two is not None and one.apart(two)


HEAD = "%0 = arange {start=0, end=128} : vector<128 x i32>\n"
LOADS = "%8 = load %6, none, none : vector<128 x f32>\n%9 = load %7, none, none : vector<128 x f32>"
POINTER = "vector<128 x ptr<f32>>"


@pytest.mark.parametrize(
    ("body", "is_apart"),
    [
        ("%1 = arange {start=128, end=256} : vector<128 x i32>", True),
        ("%1 = arange {start=127, end=255} : vector<128 x i32>", False),
        ("%1 = add %0, 128 : vector<128 x i32>", True),
        ("%1 = sub %0, 127 : vector<128 x i32>", False),
        ("%1 = sub %0, 128 : vector<128 x i32>", True),
        ("%1 = mul %0, 2 : vector<128 x i32>", False),
    ],
)
def test_ranges_of_one_base(body, is_apart):
    pointers = f"%6 = addptr x, %0 : {POINTER}\n%7 = addptr x, %1 : {POINTER}\n"
    assert apart(f"{HEAD}{body}\n{pointers}{LOADS}") is is_apart


def test_ranges_past_the_same_scalar():
    body = "%1 = mul n, 7 : i32\n%2 = add %1, %0 : vector<128 x i32>\n"
    body += "%3 = add %2, 128 : vector<128 x i32>\n"
    pointers = f"%6 = addptr x, %2 : {POINTER}\n%7 = addptr x, %3 : {POINTER}\n"
    assert apart(f"{HEAD}{body}{pointers}{LOADS}")
    pointers = f"%6 = addptr x, %2 : {POINTER}\n%7 = addptr y, %3 : {POINTER}\n"
    assert not apart(f"{HEAD}{body}{pointers}{LOADS}"), "other bases may overlap"
    pointers = f"%6 = addptr x, %0 : {POINTER}\n%7 = addptr x, %3 : {POINTER}\n"
    assert not apart(f"{HEAD}{body}{pointers}{LOADS}"), "the scalar may be anything"


def evaluate(value: object, names: dict[str, int]) -> np.ndarray:
    """A value as NumPy computes it, ints of its width that wrap."""
    if isinstance(value, Const):
        return np.array(value.value)
    if not isinstance(value, Value):
        return np.array(names[value.name])  # type: ignore[attr-defined]
    op, dtype = value.op, TYPES[element_of(value.ty).ir]
    given = [evaluate(operand, names) for operand in op.operands]
    with np.errstate(all="ignore"):
        if op.name == "arange":
            return np.arange(op.attrs["start"], op.attrs["end"]).astype(dtype)
        if op.name == "broadcast":
            return np.broadcast_to(given[0], shape_of(value.ty)).astype(dtype)
        if op.name == "cast":
            return given[0].astype(dtype)
        left, right = (part.astype(dtype) for part in given)
        return {"add": left + right, "sub": left - right, "mul": left * right}[op.name]


def random_sum(random: Random, name: int, count: int) -> tuple[list[str], str, int]:
    """Lines that compute a block of 16 ints out of an arange, scalars and constants."""
    start = random.choice([0, 16, 100, -20])
    ty = "vector<16 x i32>"
    lines = [f"%{name} = arange {{start={start}, end={start + 16}}} : {ty}"]
    for _ in range(count):
        name += 1
        kind = random.choice(["add", "sub", "mul", "cast", "n"])
        if kind == "cast":
            to = random.choice(["i8", "u8", "i16", "i32"])
            lines.append(f"%{name} = cast %{name - 1} {{to={to}}} : vector<16 x {to}>")
            name += 1
            lines.append(f"%{name} = cast %{name - 1} {{to=i32}} : {ty}")
        elif kind == "n":
            lines.append(f"%{name} = add %{name - 1}, n : {ty}")
        else:
            number = random.choice([1, 2, 3, 16, 17, 128, 256, 2**30])
            lines.append(f"%{name} = {kind} %{name - 1}, {number} : {ty}")
    return lines, f"%{name}", name + 1


def pair(random: Random) -> str:
    """Two loads of sums that may be apart: the second often goes on from the first."""
    one, left, name = random_sum(random, 0, random.randint(0, 3))
    if random.random() < 0.6:
        step = random.choice([8, 16, 17, 32, 240, 256, 2**31, -16, -20])
        step = (step + 2**31) % 2**32 - 2**31
        two, right, name = (
            [f"%{name} = add {left}, {step} : vector<16 x i32>"],
            f"%{name}",
            name + 1,
        )
    else:
        two, right, name = random_sum(random, name, random.randint(0, 3))
    lines = [*one, *two]
    for offset in (left, right):
        lines.append(f"%{name} = addptr x, {offset} : vector<16 x ptr<f32>>")
        lines.append(f"%{name + 1} = load %{name}, none, none : vector<16 x f32>")
        name += 2
    return "\n".join(lines)


def test_what_is_said_to_be_apart_has_no_common_element():
    said = 0
    for seed in range(1500):
        text = pair(Random(seed))
        one, two = addresses(text)
        ranges = AddressRanges()
        left, right = ranges.of(one), ranges.of(two)
        if left is None or right is None or not left.apart(right):
            continue
        said += 1
        for n in (0, 1, -5, 100, 2**31 - 8, -(2**31)):
            first, second = (evaluate(p.op.operands[1], {"n": n}) for p in (one, two))
            assert not set(first.tolist()) & set(second.tolist()), f"n={n}\n{text}"
    assert said > 150
