"""Dependence: which ops keep their order, and that programs reordered within it mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from mytriton.ir.check import check
from mytriton.ir.effects import free_values
from mytriton.ir.nodes import Function, Op, Region, Value
from mytriton.passes.dependence import Dependence
from tests.ir.corpus import corpus, program, run
from tests.passes.programs import large_program

OPS = {
    "load x": "%{} = load x, none, none : f32",
    "load out": "%{} = load out, none, none : f32",
    "store x": "store x, 1.0, none",
    "store out": "store out, 1.0, none",
    "relaxed": '%{} = atomic counts, 1, none {{kind="add", sem="relaxed"}} : i32',
    "acquire": '%{} = atomic counts, 1, none {{kind="add", sem="acquire"}} : i32',
    "release": '%{} = atomic counts, 1, none {{kind="add", sem="release"}} : i32',
    "acq_rel": "%{} = atomic_cas counts, 0, 1 : i32",
    "barrier": "barrier",
    "volatile": "%{} = load y, none, none {{volatile=true}} : i32",
    "uncached": '%{} = load y, none, none {{cache=".cv"}} : i32',
    "print": "print x",
    "assert": "assert false, none",
    "add": "%{} = add n, 1 : i32",
    "assume": "assume true",
    "loaded": "%{} = load %0, none, none : f32",
}
ORDERED = """
store x: load x, store x, loaded
load x: store x
loaded: store x, store out
relaxed: loaded
acquire: load x, load out, store x, store out, relaxed, print, assert, loaded, volatile
load x: release, acq_rel, barrier, volatile, uncached
store out: release, acq_rel, barrier, volatile, uncached
barrier: load x, store x, print, relaxed
volatile: load x, store x
print: print, assert, store x, relaxed, release
assert: store x, print, assert, acquire
store x: print, assert
relaxed: relaxed, acquire, release, acq_rel
"""
FREE = """
load x: load x, load out, print, assert, add, assume, acquire, relaxed, loaded
store x: load out, store out, relaxed, add, assume, acquire
release: load x, store x, add, assume
relaxed: load x, store x, load out, store out
print: load x, add, assume
assert: load x, load out
"""


def pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.strip().splitlines():
        first, others = line.split(": ")
        yield from ((first, second) for second in others.split(", "))


def answer(first: str, second: str, overlap: bool = False) -> bool:
    made = "%0 = cast 64:i64 {to=ptr<f32>} : ptr<f32>"
    lines = [made, OPS[first].format(1), OPS[second].format(2)]
    function = program("\n".join(lines).replace("{{", "{").replace("}}", "}"))
    return Dependence(function, overlap).ordered(*function.body.ops[1:3])


@pytest.mark.parametrize(("first", "second"), list(pairs(ORDERED)))
def test_what_keeps_its_order(first: str, second: str) -> None:
    assert answer(first, second)


@pytest.mark.parametrize(("first", "second"), list(pairs(FREE)))
def test_what_may_change_its_order(first: str, second: str) -> None:
    assert not answer(first, second)


def test_parameters_that_may_overlap_are_one() -> None:
    assert answer("store x", "load out", overlap=True)
    assert not answer("load x", "load out", overlap=True)


def test_a_loop_does_what_its_body_does_and_one_that_may_spin_synchronises() -> None:
    function = program("""
    for 0, n, 1 (%0 i : i32) {
        store out, 1.0, none
        yield
    }
    while {
        %1 = load counts, none, none : i32
        %2 = cmp_eq %1, 0 : bool
        yield %2
    } do {
        yield
    }
    %3 = load x, none, none : f32
    %4 = load out, none, none : f32""")
    loop, wait, load, changed = function.body.ops[:4]
    dependence = Dependence(function)
    assert dependence.ordered(loop, changed) and not dependence.ordered(loop, load)
    assert dependence.ordered(wait, load) and dependence.ordered(loop, wait)


# -- programs in another order that it allows


def shuffled(region: Region, dependence: Dependence, random: Random) -> Region:
    """The region's ops in a random order, each after what defines its operands and what it must
    follow."""
    left, done = list(region.ops[:-1]), []
    while left:
        ready = [op for k, op in enumerate(left) if free(op, left, left[:k], dependence)]
        op = random.choice(ready)
        left.remove(op)
        done.append(op)
    return Region(region.params, (*done, region.ops[-1]))


def free(op: Op, left: list[Op], before: list[Op], dependence: Dependence) -> bool:
    used = [v for v in (*op.operands, *free_values(op)) if isinstance(v, Value)]
    if any(value.op in left for value in used):
        return False
    return not any(dependence.ordered(other, op) for other in before)


def means_the_same(function: Function, seed: int) -> None:
    random, wanted = Random(seed), run(function, programs=2)
    for _ in range(3):
        body = shuffled(function.body, Dependence(function), random)
        other = check(Function(function.name, function.params, body))
        assert run(other, programs=2) == wanted


@pytest.mark.parametrize("name", corpus())
def test_the_corpus_in_another_order(name: str) -> None:
    means_the_same(corpus()[name], 1)


@pytest.mark.parametrize("seed", range(25))
def test_random_programs_in_another_order(seed: int) -> None:
    means_the_same(large_program(seed, size=25), seed)
