"""Every fold and every peephole rule keeps its law: what it gives is what the op gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from mytriton.ir.build import PlainBuilder, emit, using
from mytriton.ir.fold import FOLDS, Fold, constant
from mytriton.ir.nodes import Const, Function, Op, Operand, Value
from mytriton.ir.ops import TABLE, Effect, Mismatch
from mytriton.ir.types import BOOL, F16, F32, F64, I8, I32, I64, U8, U32, element_of, shape_of
from mytriton.passes.algebra import RULES, Rule, shaped
from tests.ir.corpus import program
from tests.passes.observe import observe

ELEMENTS = (I32, I32, I8, U8, U32, I64, BOOL, F32, F16, F64)
NUMBERS = {"i": (0, 1, -1, 2, 8), "u": (0, 1, 2, 8, 255), "b": (False, True)}
NUMBERS["f"] = (0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"))
SHAPES = ((), (8,), (8,), (4, 2), (2, 4), (1, 8))
EXACT = [name for name, row in TABLE.items() if row.element and row.element.llvm]
TRIES = 3000


class Trials:
    """Ops made at random of operands that a rule may look through, in one program."""

    def __init__(self, names: Sequence[str], seed: int) -> None:
        self.random = Random(seed)
        self.names = names
        self.params = program("").params
        self.pool: list[Operand] = []

    def start(self) -> None:
        lanes = emit("arange", start=0, end=8)
        for param in self.params[:2]:
            block = emit("load", emit("addptr", param, lanes), None, None)
            scalar = emit("load", emit("addptr", param, Const(3, I32)), None, None)
            for element in ELEMENTS:
                cast = [emit("cast", value, to=element) for value in (block, scalar)]
                self.pool += [*cast, emit("reshape", cast[0], shape=(4, 2))]
                self.pool += [self.constant(element, ()) for _ in range(2)]
        self.pool += [lanes, *self.params, emit("addptr", self.params[0], lanes)]

    def constant(self, element: Any, shape: tuple[int, ...]) -> Operand:
        number = constant(self.random.choice(NUMBERS[element.kind]), element)
        return emit("broadcast", number, shape=shape) if shape and self.chance(0.8) else number

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def like(self, value: Any) -> Operand:
        """Something that may go with a value: it again, a constant, one of its type."""
        element, shape = element_of(value.ty), shape_of(value.ty)
        if self.chance(0.25):
            return value  # type: ignore[no-any-return]
        if self.chance(0.4) and element.kind != "p":
            return self.constant(element, shape)
        return self.random.choice([v for v in self.pool if v is not None and v.ty == value.ty])

    def op(self, name: str) -> Op | None:
        """An op of that name on operands of the pool, where some fit."""
        row = TABLE[name]
        kinds = row.element.kinds if row.element else "biufp"
        fits: list[Any] = [v for v in self.pool if v and element_of(v.ty).kind in kinds]
        first = self.random.choice(fits[-40:] if self.chance(0.5) else fits)
        attrs: dict[str, Any] = {}
        operands: list[Operand] = [first]
        if name == "select":
            condition = self.like(self.random.choice([v for v in self.pool if is_bool(v)]))
            inner = [v for v in self.pool if isinstance(v, Value) and v.op.name == "select"]
            if inner and self.chance(0.4):
                first = self.random.choice(inner)
                condition = first.op.operands[0]
            elif self.chance(0.3):
                first = self.like(condition)
            operands = [condition, first, self.like(first)]
        elif name in ("cast", "bitcast"):
            attrs = {"to": self.random.choice((*ELEMENTS, element_of(first.ty)))}
        elif name in ("broadcast", "reshape"):
            attrs = {"shape": self.random.choice((*SHAPES, shape_of(first.ty)))}
        elif name == "trans":
            order = list(range(len(shape_of(first.ty))))
            self.random.shuffle(order)
            attrs = {"order": tuple(order)}
        elif name == "slice":
            whole = shape_of(first.ty)
            shape = tuple(self.random.randint(1, extent) for extent in whole)
            starts = tuple(self.random.randint(0, n - m) for n, m in zip(whole, shape))
            attrs = {"starts": starts, "shape": shape}
        elif name == "addptr":
            operands = [first, self.constant(I32, self.random.choice(((), (8,))))]
        elif row.element is not None:
            operands += [self.like(first) for _ in range(row.element.arity - 1)]
        if len(operands) == 2 and name != "addptr" and self.chance(0.5):
            operands.reverse()
        try:
            (made,) = PlainBuilder(where=()).emit(name, operands, attrs)
        except (Mismatch, TypeError):
            return None
        except Exception as error:
            assert type(error).__name__ == "CompileTypeError"
            return None
        assert isinstance(made, Value)
        return made.op


def is_bool(value: Operand) -> bool:
    return value is not None and element_of(value.ty) == BOOL


NEAR = {"not": EXACT, "select": ["not", "select", "broadcast", "cmp_lt"], "addptr": ["broadcast"]}
"""What an op's operands are made with, besides the op itself, for the rules that look there."""
SHAPING = ["broadcast", "reshape", "trans", "slice"]


def run_trials(
    names: Sequence[str], seed: int, equal: Callable[[Op], Operand]
) -> list[tuple[Op, Value, Value]]:
    """The ops for which `equal` gives something, each with its result and with that."""
    trials, found = Trials(names, seed), []
    builder = PlainBuilder(where=())
    inner = [*names, *SHAPING, *(near for name in names for near in NEAR.get(name, ()))]
    with using(builder):
        trials.start()
        for _ in range(TRIES):
            op = trials.op(trials.random.choice(names if trials.chance(0.5) else inner))
            if op is None:
                continue
            builder.reuse(op)
            value = equal(op) if op.name in names else None
            if value is not None:
                assert value.ty == op.types[0] or shape_of(value.ty) != shape_of(op.types[0])
                pair = [emit("hint", v) for v in (op.results[0], shaped(value, op.types[0]))]
                assert all(isinstance(v, Value) for v in pair)
                found.append((op, *pair))
            if trials.chance(0.5) and len(trials.pool) < 400:
                trials.pool.append(op.results[0])
            if len(found) == 40:
                break
        compare(builder.function("trials", trials.params), found)
    return found  # type: ignore[return-value]


def compare(function: Function, found: Sequence[Any]) -> None:
    arrays: dict[Any, Any] = {}
    observe(function, lambda value, array: arrays.update({value: np.asarray(array)}))
    for op, left, right in found:
        one, two = arrays[left], arrays[right]
        assert one.shape == two.shape and one.dtype == two.dtype, op
        same = (one == two) & (
            np.signbit(one) == np.signbit(two) if one.dtype.kind == "f" else True
        )
        assert (same | ((one != one) & (two != two))).all(), (op, op.operands, one, two)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_gives_what_the_op_gives(rule: Rule) -> None:
    names = rule.ops if len(rule.ops) < len(EXACT) else ["select", "cast", "bitcast", *EXACT]
    found = run_trials(names, 5, lambda op: rule.rewrite(op, op.operands))
    assert len(found) >= 5, f"{rule.law} applied {len(found)} times"


@pytest.mark.parametrize("law", FOLDS, ids=lambda law: law.name)
def test_a_fold_gives_an_operand_or_a_constant(law: Fold) -> None:
    def equal(op: Op) -> Operand:
        attrs = {**op.row.attrs, **op.attrs}
        known = law.rewrite(op.row, op.operands, attrs, op.types[0])
        assert known is None or isinstance(known, Const) or known in op.operands
        return known

    found = run_trials(law.ops or EXACT, 7, equal)
    assert len(found) >= 5, f"{law.law} applied {len(found)} times"


def test_rules_are_for_pure_ops_and_have_names_of_their_own() -> None:
    names = [law.name for law in (*RULES, *FOLDS)]
    assert len(set(names)) == len(names)
    for law in (*RULES, *FOLDS):
        rows = [TABLE[name] for name in law.ops]
        assert all(row.effect is Effect.PURE and not row.region_names for row in rows)
