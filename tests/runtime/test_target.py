"""Where a launch runs: by the launch, a block, the process, the environment; no other way."""

from __future__ import annotations

import contextvars
import gc
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
from mytriton.runtime.target import Process, chosen_target

from .kernels import copy_kernel

SOURCE = np.arange(8, dtype=np.float32)


def where(**kwargs: Any) -> Any:
    return copy_kernel[(1,)](SOURCE, np.zeros_like(SOURCE), 8, BLOCK=8, **kwargs).target


def test_the_nearest_choice_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert where() is None
    with triton.target("interpret"):
        assert where() == "interpret"
        with triton.target("cpu"):
            assert where() == "cpu"
            assert where(target="interpret") == "interpret"
            with triton.target(None):
                assert where() == "cpu"
        assert where() == "interpret"
    assert where() is None
    monkeypatch.setattr(Process, "environment", "interpret")
    assert where() == "interpret"
    triton.set_target("cpu")
    try:
        assert where() == "cpu"
        with triton.target("eager"):
            assert where() == "eager"
    finally:
        triton.set_target(None)
    assert where() == "interpret"


def test_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Process, "environment", "nonsense")
    with pytest.raises(ValueError, match="no target 'nonsense'"):
        where()
    for choose in (triton.target, triton.set_target):
        with pytest.raises(ValueError, match="no target 'gpu'; there are cpu, interpret"):
            choose("gpu")


def test_the_process_s_choice_is_seen_by_every_thread_and_a_block_s_by_its_own() -> None:
    found: dict[str, Any] = {}

    def look(name: str) -> None:
        thread = threading.Thread(target=lambda: found.update({name: where()}))
        thread.start()
        thread.join()

    with triton.target("cpu"):
        look("block")
    triton.set_target("interpret")
    try:
        with triton.target("cpu"):
            look("process")
    finally:
        triton.set_target(None)
    assert found == {"block": None, "process": "interpret"}


def test_an_object_that_is_not_entered_chooses_nothing_and_says_so() -> None:
    with pytest.warns(RuntimeWarning, match="triton.set_target"):
        triton.target("cpu")
        gc.collect()
    assert where() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with triton.target("cpu"):
            pass
        gc.collect()


def test_one_object_entered_twice() -> None:
    block = triton.target("cpu")
    with block:
        with triton.target("interpret"), block:
            assert chosen_target(None) == "cpu"
        assert chosen_target(None) == "cpu"
    assert chosen_target(None) is None


NAMES = st.sampled_from(["cpu", "interpret", "eager", None])
STEPS = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.just("exit"), NAMES)), max_size=30)


@given(STEPS)
def test_any_interleaving_over_threads(steps: list[tuple[int, Any]]) -> None:
    """Three contexts (a thread has one each) enter and leave blocks in any order of turns: each
    sees its own innermost block that names a target, and afterwards nothing is left."""
    contexts = [contextvars.Context() for _ in range(3)]
    blocks: list[list[Any]] = [[], [], []]
    for turn, action in steps:
        if action != "exit":
            block = triton.target(action)
            contexts[turn].run(block.__enter__)
            blocks[turn].append(block)
        elif blocks[turn]:
            contexts[turn].run(blocks[turn].pop().__exit__, None, None, None)
        for context, mine in zip(contexts, blocks):
            named = [block.name for block in mine if block.name is not None]
            assert context.run(chosen_target, None) == (named[-1] if named else None)
        assert chosen_target(None) is None


@given(st.data())
def test_blocks_of_one_thread_may_end_in_any_order(data: Any) -> None:
    """As blocks in generators do."""
    contextvars.Context().run(end_in_any_order, data)


def end_in_any_order(data: Any) -> None:
    entered = [triton.target(name).__enter__() for name in data.draw(st.lists(NAMES, max_size=6))]
    while entered:
        place = data.draw(st.integers(0, len(entered) - 1))
        entered.pop(place).__exit__(None, None, None)
        named = [block.name for block in entered if block.name is not None]
        assert chosen_target(None) == (named[-1] if named else None)


def test_real_threads() -> None:
    barrier = threading.Barrier(4)
    wrong: list[Any] = []

    def work(name: str) -> None:
        for _ in range(20):
            barrier.wait()
            with triton.target(name):
                barrier.wait()
                if where() != name:
                    wrong.append(name)

    names = ("cpu", "interpret", "eager", "cpu")
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and where() is None
