"""Hooks around launches and compilations, and compilations that are made from text."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.hooks import HOOKS, HookChain

from .kernels import add_kernel, copy_kernel, store_kernel


@pytest.fixture(autouse=True)
def no_hook_is_left() -> Iterator[None]:
    yield
    HOOKS.launch_enter_hook.calls.clear()
    HOOKS.launch_exit_hook.calls.clear()
    HOOKS.jit_cache_hook = HOOKS.jit_post_compile_hook = None


def test_chains() -> None:
    seen: list[Any] = []
    for backwards in (False, True):
        chain = HookChain(reversed=backwards)
        assert not chain
        first, second = (lambda x: seen.append((1, x))), (lambda x: seen.append((2, x)))
        for call in (first, second, first):
            chain.add(call)
        assert chain
        chain("x")
        chain.remove(first)
        chain.remove(first)
        chain("y")
    assert seen == [(1, "x"), (2, "x"), (2, "y"), (2, "x"), (1, "x"), (2, "y")]


def test_launch_hooks() -> None:
    def own(grid: Any, metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
        return {"bytes": args["out"].nbytes, "grid": grid, "called": metadata.name}

    @triton.jit(launch_metadata=own)
    def kernel(out, n):
        tl.store(out, n)

    seen: list[Any] = []
    out = np.zeros(1, np.float32)

    def enter(metadata: Any) -> None:
        seen.append(("enter", float(out[0]), metadata.get()))

    def leave(metadata: Any) -> None:
        seen.append(("exit", float(out[0]), metadata.get()))

    HOOKS.launch_enter_hook.add(enter)
    HOOKS.launch_exit_hook.add(leave)
    for _ in range(2):
        out[0] = 0
        kernel[(1,)](out, 5.0, target="cpu")
    kernel.warmup(out, 5.0, grid=(1,), target="cpu")
    assert [(when, value) for when, value, _ in seen] == [("enter", 0), ("exit", 5)] * 2
    found = seen[0][2]
    assert (found["name"], found["bytes"], found["grid"]) == ("kernel", 4, (1,))
    assert found["called"] == "kernel" and found["stream"] == 0
    HOOKS.launch_enter_hook.remove(enter)
    HOOKS.launch_exit_hook.remove(leave)
    kernel[(1,)](out, 5.0, target="cpu")
    assert len(seen) == 4


def test_compilation_hooks() -> None:
    @triton.jit
    def kernel(out, B: tl.constexpr):
        tl.store(out, B)

    seen: list[Any] = []

    def note(when: str) -> Any:
        return lambda **told: seen.append((when, told))

    HOOKS.jit_cache_hook, HOOKS.jit_post_compile_hook = note("before"), note("after")
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, 3, target="cpu")
    kernel[(1,)](out, 3, target="cpu")
    kernel.warmup(out, 4, grid=(1,), target="cpu")
    assert [when for when, _ in seen] == ["before", "after"] * 2
    told = seen[0][1]
    assert told["fn"].jit_function is kernel and told["fn"].name == "kernel"
    assert told["compile"]["constants"] == {"B": 3} and told["already_compiled"] is False
    assert [one["is_manual_warmup"] for _, one in seen] == [False, False, True, True]


def test_a_hook_may_keep_a_kernel_from_being_compiled() -> None:
    @triton.jit
    def kernel(out):
        tl.store(out, 3.0)

    HOOKS.jit_cache_hook = lambda **told: True
    out = np.zeros(1, np.float32)
    assert kernel[(1,)](out, target="cpu") is None and out[0] == 0 and not kernel.compilations
    HOOKS.jit_cache_hook = None
    kernel[(1,)](out, target="cpu")
    assert out[0] == 3


@triton.jit
def mixed_kernel(out, pair, n: tl.int64, C: tl.constexpr, D: tl.constexpr, E: tl.constexpr):
    tl.store(out, (pair[0] + n).to(D) + C)


def data_of(launch: Any) -> str:
    texts: list[str] = []
    HOOKS.jit_cache_hook = lambda **told: texts.append(told["compile"]["specialization_data"])
    launch()
    HOOKS.jit_cache_hook = None
    (text,) = texts
    return text


@pytest.mark.parametrize("target", ["cpu", "interpret", None])
def test_what_was_preloaded_is_found(target: str | None) -> None:
    out = np.zeros(1, np.float32)

    def launch() -> None:
        values = (out, (2, 1.5), 3, 0.5, tl.float32, (True, None, "x", (1, -0.0)))
        mixed_kernel[(1,)](*values, target=target)

    mixed_kernel.clear_cache()
    text = data_of(launch)
    mixed_kernel.clear_cache()
    loaded = mixed_kernel.preload(text)
    assert loaded.target == target and len(mixed_kernel.compilations) == 1
    HOOKS.jit_cache_hook = lambda **told: pytest.fail("compiled again")
    launch()
    assert out[0] == (0 if target is None else 5.5)


def test_data_of_another_kernel() -> None:
    out = np.zeros(1, np.float32)
    store_kernel.clear_cache()
    text = data_of(lambda: store_kernel[(1,)](out, 1.0, target="cpu"))
    with pytest.raises(TypeError, match="is that of store_kernel"):
        add_kernel.preload(text)
    for wrong in ("", "[]", "{}", '{"name": "store_kernel"}', text.replace("fp32", "fp33")):
        with pytest.raises(TypeError, match="this is no specialization data"):
            store_kernel.preload(wrong)


def test_in_another_process() -> None:
    x = np.zeros(8, np.float32)
    copy_kernel.clear_cache()
    text = data_of(lambda: copy_kernel[(1,)](x, x, 8, BLOCK=8, target="cpu"))
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from kernels import copy_kernel\n"
        "print('define' in copy_kernel.preload(sys.argv[2]).asm['llir'])"
    )
    folder = __file__.rpartition("/")[0]
    command = [sys.executable, "-c", program, folder, text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "True", done.stderr
