"""Arguments are bound as Python binds them, whatever the signature; threads compile once."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.runtime.arguments import key_part_of
from mytriton.runtime.binder import binder
from mytriton.runtime.hooks import HOOKS
from mytriton.runtime.parameters import parameters

NAMES = ("x", "n", "BLOCK", "quick", "_int", "_quick", "_key_0", "bind", "self", "größe")
ANNOTATIONS = ("", ": tl.constexpr", ": tl.int64", ": tl.float16")
KINDS = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


@st.composite
def functions(draw: Any) -> Any:
    """A function with up to five parameters of any kind, some with defaults and annotations."""
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=5))
    kinds = sorted(draw(st.sampled_from(KINDS)) for _ in names)
    parts: list[str] = []
    optional = False
    for place, (name, kind) in enumerate(zip(names, kinds)):
        if kind is KINDS[2] and (place == 0 or kinds[place - 1] is not kind):
            parts.append("*")
        optional = draw(st.booleans()) or (optional and kind is not KINDS[2])
        default = f"={draw(st.integers(0, 9))}" if optional else ""
        parts.append(name + draw(st.sampled_from(ANNOTATIONS)) + default)
        if kind is KINDS[0] and (place + 1 == len(kinds) or kinds[place + 1] is not kind):
            parts.append("/")
    space: dict[str, Any] = {"tl": tl}
    exec(f"def function({', '.join(parts)}): pass", space)
    return space["function"]


VALUES = st.one_of(st.integers(-5, 5), st.booleans(), st.floats(allow_nan=False), st.none())


@given(functions(), st.lists(VALUES, max_size=5), st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_any_signature_and_call(function: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    params = parameters(function, (), ())
    bind = binder(function, params, [key_part_of(one) for one in params])
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        with pytest.raises(TypeError):
            bind(*args, **kwargs)
        return
    bound.apply_defaults()
    values, keys = bind(*args, **kwargs)
    assert values == tuple(bound.arguments.values())
    assert list(map(type, values)) == list(map(type, bound.arguments.values()))
    assert len(keys) == len(values) and keys == bind(*args, **kwargs)[1]


@given(functions(), st.lists(VALUES, max_size=5), st.lists(VALUES, max_size=5))
def test_equal_keys_mean_equal_constexprs(function: Any, left: list[Any], right: list[Any]) -> None:
    params = parameters(function, (), ())
    bind = binder(function, params, [key_part_of(one) for one in params])
    try:
        (one, key), (two, other) = bind(*left), bind(*right)
    except TypeError:
        return
    if key == other:
        for parameter, a, b in zip(params, one, two):
            if parameter.is_constexpr:
                assert type(a) is type(b) and repr(a) == repr(b), parameter


def test_threads_that_launch_first_at_once_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(HOOKS, "jit_post_compile_hook", lambda **told: made.append(told))

    @triton.jit
    def kernel(out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), 1.0)

    barrier = threading.Barrier(6)
    wrong: list[Any] = []

    def launch() -> None:
        out = np.zeros(8, np.float32)
        barrier.wait()
        kernel[(1,)](out, BLOCK=8, target="cpu")
        if not out.all():
            wrong.append(out)

    threads = [threading.Thread(target=launch) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(made) == 1 and len(kernel.compilations) == 1
