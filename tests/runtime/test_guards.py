"""What a kernel read from outside its arguments is looked at again at each launch."""

from __future__ import annotations

import enum
import functools
import inspect
import itertools
import linecache
import os
import random
import types
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton as triton
import mytriton.language as tl
from mytriton.errors import CompileError

SCALE = 2.0
WRAPPED = tl.constexpr(3.0)
TABLE = [1.0, 2.0]
SETTINGS = types.SimpleNamespace(scale=2.0)
MODULE = types.ModuleType("settings")
MODULE.scale = 2.0  # type: ignore[attr-defined]


def plain_helper(x):
    return x * SCALE


@triton.jit
def jit_helper(x):
    return x * SCALE


@triton.jit
def reads_global(out):
    tl.store(out, SCALE)


@triton.jit
def reads_constexpr(out):
    tl.store(out, WRAPPED)


@triton.jit
def reads_list(out):
    tl.store(out, TABLE[0])


@triton.jit
def reads_attribute(out):
    tl.store(out, SETTINGS.scale)


@triton.jit
def reads_module(out):
    tl.store(out, MODULE.scale)


@triton.jit
def through_jit(out):
    tl.store(out, jit_helper(1.0))


@triton.jit
def through_plain(out):
    tl.store(out, plain_helper(1.0))


@triton.jit
def in_lambda(out):
    tl.store(out, (lambda: SCALE)())


def value(kernel: Any) -> float:
    out = np.zeros(1, np.float32)
    kernel[(1,)](out, target="interpret")
    return float(out[0])


@pytest.mark.parametrize(
    "kernel", [reads_global, through_jit, through_plain, in_lambda], ids=lambda k: k.__name__
)
def test_globals(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(kernel) == 2
    made = len(kernel.compilations)
    assert value(kernel) == 2
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert value(kernel) == 5
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert value(kernel) == 5
    assert len(kernel.compilations) == made


def test_constexpr_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_constexpr) == 3
    monkeypatch.setitem(globals(), "WRAPPED", tl.constexpr(4.0))
    assert value(reads_constexpr) == 4


def test_lists_by_content() -> None:
    assert value(reads_list) == 1
    TABLE[0] = 9.0
    try:
        assert value(reads_list) == 9
    finally:
        TABLE[0] = 1.0


def test_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_attribute) == 2 and value(reads_module) == 2
    monkeypatch.setattr(SETTINGS, "scale", 7.0)
    monkeypatch.setattr(MODULE, "scale", 8.0)
    assert value(reads_attribute) == 7 and value(reads_module) == 8


def test_closures() -> None:
    factor = 2.0
    shift = [1.0]

    @triton.jit
    def kernel(out):
        tl.store(out, factor + shift[0])

    assert value(kernel) == 3
    factor = 4.0
    assert value(kernel) == 5
    shift[0] = 2.0
    assert value(kernel) == 6


def test_helper_bound_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(through_jit) == 2

    @triton.jit
    def other(x):
        return x - 1.0

    monkeypatch.setitem(globals(), "jit_helper", other)
    assert value(through_jit) == 0


def test_unchanged_globals_compile_once() -> None:
    reads_global.clear_cache()
    value(reads_global)
    (first,) = reads_global.compilations.values()
    value(reads_global)
    assert list(reads_global.compilations.values()) == [first]


# -- random reads, random changes

PROGRAM = """
def helper_of(holder):
    def helper():
        inner = holder
        return inner.value * G
    return helper

class Base:
    BASE = 1
    def shifted(self):
        return self.inst + G

class Config(Base):
    CLS = 2
    def __init__(self):
        self.inst = 3
        self.parts = [1, 2]
    def scale(self):
        return self.inst * G
    @property
    def prop(self):
        return self.CLS + L[0]
    @classmethod
    def made(cls):
        return cls.CLS * 2
    @staticmethod
    def free():
        return D["k"]
    def __getitem__(self, index):
        return self.parts[index] + G
    def __call__(self):
        return M.attr

class Slotted:
    __slots__ = ("slot",)

class Color(enum.Enum):
    RED = 1

G = 2
L = [1, [2]]
D = {"k": 3}
M = types.ModuleType("M")
M.attr = 4
M.cfg = Config()
cfg = Config()
NS = types.SimpleNamespace(inner=types.SimpleNamespace(deep=5))
S = Slotted()
S.slot = 6
TABLE = {"f": lambda by: by + G, "c": cfg}
PART = partial(lambda first, second: first[0] + second, L, 1)
Q = deque([1, 2])
obj = types.SimpleNamespace(value=1)

def plain(of=cfg):
    c = of
    return c.CLS + c.inst + NS.inner.deep

def make():
    return [G, cfg]

def outer(factor, obj, helper):
    @triton.jit
    def jitted(x):
        return x + G

    @triton.jit
    def kernel(out, ARG: tl.constexpr):
        alias = cfg
        tl.store(out, READS)

    def wanted(ARG):
        alias = cfg
        jitted = lambda x: x + G
        return READS
    return kernel, wanted

kernel, wanted = outer(7, obj, helper_of(obj))
"""
READS = [
    "G",
    "L[0] + len(L)",
    "L[1][0]",
    "D['k']",
    "cfg.inst",
    "alias.CLS",
    "alias.BASE",
    "alias.scale()",
    "cfg.shifted()",
    "cfg.prop",
    "cfg.made()",
    "cfg.free()",
    "cfg[1]",
    "cfg()",
    "cfg.parts[0]",
    "NS.inner.deep",
    "M.attr",
    "M.cfg.inst",
    "plain()",
    "helper()",
    "obj.value",
    "factor",
    "jitted(1)",
    "TABLE['f'](1)",
    "TABLE['c'].CLS",
    "PART()",
    "make()[0] + make()[1].inst",
    "getattr(cfg, 'in' + 'st')",
    "S.slot",
    "Color.RED.value",
    "Q[1]",
    "ARG.inst",
    "sum([v for v in cfg.parts])",
    "min(G, 9)",
]
CHANGES = [
    "space['G'] = n",
    "space['L'][0] = n",
    "space['L'][1][0] = n",
    "space['L'].append(n)",
    "space['D']['k'] = n",
    "space['D'] = {'k': n}",
    "space['cfg'].inst = n",
    "space['cfg'].CLS = n",
    "space['cfg'].parts[0] = n",
    "space['cfg'].parts = [n, n + 1]",
    "space['Config'].CLS = n",
    "space['Config'].scale = lambda self: n",
    "space['Base'].BASE = n",
    "space['cfg'] = space['Config']()",
    "space['M'].attr = n",
    "space['M'].cfg.inst = n",
    "space['NS'].inner.deep = n",
    "space['NS'].inner = types.SimpleNamespace(deep=n)",
    "space['S'].slot = n",
    "space['obj'].value = n",
    "space['TABLE']['f'] = lambda by: by * n",
    "space['plain'] = lambda: n",
    "space['Color'].RED._value_ = n",
    "space['Q'][1] = n",
    "space['wanted'].__closure__[CELL].cell_contents = n",
    "space['min'] = max",
]
count = itertools.count()


def program(reads: list[str]) -> dict[str, Any]:
    text, name = PROGRAM.replace("READS", " + ".join(reads)), f"<guards {next(count)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"tl": tl, "triton": triton, "types": types, "enum": enum}
    space.update(deque=deque, partial=partial)
    exec(compile(text, name, "exec"), space)
    return space


def check_changes(seed: int) -> None:
    choose = random.Random(seed)
    reads = choose.sample(READS, 4)
    space = program(reads)
    argument = space["Config"]()
    for change in [None, *choose.choices(CHANGES, k=5)]:
        if change is not None:
            names = space["wanted"].__code__.co_freevars
            cell = names.index("factor") if "factor" in names else None
            if "CELL" in change and cell is None:
                continue
            change = change.replace("CELL", str(cell))
            exec(change, {"space": space, "types": types, "n": choose.randrange(9)})
        out = np.zeros(1, np.int32)
        for _ in range(2):
            space["kernel"][(1,)](out, ARG=argument, target="interpret")
            made = len(space["kernel"].compilations)
            assert int(out[0]) == space["wanted"](argument), (reads, change)
        assert len(space["kernel"].compilations) == made


@given(st.integers(0, 10**6))
def test_any_change_of_what_is_read_is_noticed(seed: int) -> None:
    check_changes(seed)


@pytest.mark.fuzz
@given(st.integers(0, 10**9))
def test_more_changes_are_noticed(seed: int) -> None:
    check_changes(seed)


@pytest.mark.parametrize("read", READS)
def test_an_unchanged_launch_keeps_its_compilation(read: str) -> None:
    space = program([read])
    argument = space["Config"]()
    for _ in range(2):
        space["kernel"][(1,)](np.zeros(1, np.int32), ARG=argument, target="interpret")
        (first,) = space["kernel"].compilations.values()
        assert first.violated() is None


# -- what the kernel did not make may not be changed

LIST, DICT, SET, QUEUE, BYTES = [1.0], {"a": 1.0}, {1}, deque([1]), bytearray(b"a")
NUMBERS = np.zeros(2, np.int32)
COUNT = 0


class Counter:
    total = 0

    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        self.count = self.count + 1  # changed: COUNTER.count


COUNTER = Counter()


def counts():
    global COUNT
    COUNT += 1  # changed: COUNT


@triton.jit
def appends(out):
    LIST.append(2.0)  # changed: LIST
    tl.store(out, LIST[0])


@triton.jit
def appends_by_another_name(out):
    items = LIST
    if tl.load(out) > 0:
        items[0] += 1.0  # changed: LIST
    tl.store(out, items[0])


@triton.jit
def leaks_a_tensor(out):
    DICT["b"] = tl.load(out)  # changed: DICT
    tl.store(out, DICT["b"])


@triton.jit
def appends_in_a_loop(out, n):
    for i in range(n):
        LIST.append(i)  # changed: LIST
    tl.store(out, 1.0)


@triton.jit
def adds(out):
    SET.add(2)  # changed: SET
    tl.store(out, 1.0)


@triton.jit
def queues(out):
    QUEUE.append(2)  # changed: QUEUE
    tl.store(out, 1.0)


@triton.jit
def sets_a_byte(out):
    BYTES[0] = 3  # changed: BYTES
    tl.store(out, 1.0)


@triton.jit
def sets_an_element(out):
    NUMBERS[0] = 3  # changed: NUMBERS
    tl.store(out, 1.0)


@triton.jit
def counts_a_method(out):
    COUNTER.add()
    tl.store(out, 1.0)


@triton.jit
def sets_a_class_attribute(out):
    Counter.total = 5  # changed: Counter.total
    tl.store(out, 1.0)


@triton.jit
def counts_a_global(out):
    counts()
    tl.store(out, 1.0)


@triton.jit
def changes_an_argument(out, ARG: tl.constexpr = COUNTER):
    ARG.count = 7  # changed: count
    tl.store(out, 1.0)


def closure() -> Any:
    kept = [1.0]

    @triton.jit
    def changes_a_closure(out):
        kept[0] = 2.0  # changed: kept
        tl.store(out, kept[0])

    return changes_a_closure


CHANGING = [
    appends,
    appends_by_another_name,
    leaks_a_tensor,
    appends_in_a_loop,
    adds,
    queues,
    sets_a_byte,
    sets_an_element,
    counts_a_method,
    sets_a_class_attribute,
    counts_a_global,
    changes_an_argument,
    closure(),
]


def state() -> str:
    return repr((LIST, DICT, SET, QUEUE, BYTES, NUMBERS, COUNT, vars(COUNTER), Counter.total))


@pytest.mark.parametrize("kernel", CHANGING, ids=lambda k: k.__name__)
def test_a_change_of_what_is_outside_is_refused_at_its_line(kernel: Any) -> None:
    before = state()
    given = (3,) if "n" in kernel.arg_names else ()
    for _ in range(2):
        with pytest.raises(CompileError, match="did not make") as caught:
            kernel[(1,)](np.ones(1, np.float32), *given, target="interpret")
        line = caught.value.where[0].text
        assert "# changed: " in line
        assert line.partition("# changed: ")[2] in caught.value.message
        assert state() == before


@functools.cache
def cached(_: int) -> float:
    return SCALE


def of_environment() -> float:
    return float(os.environ.get("MYTRITON_TEST_SCALE", "2"))


@triton.jit
def reads_the_environment(out):
    tl.store(out, of_environment())


@triton.jit
def reads_through_a_cache(out):
    tl.store(out, cached(0))


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_the_environment) == 2
    monkeypatch.setenv("MYTRITON_TEST_SCALE", "3")
    assert value(reads_the_environment) == 3


def test_a_cached_function_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert value(reads_through_a_cache) == 2
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    cached.cache_clear()
    assert value(reads_through_a_cache) == 5


def test_a_plain_function_kept_in_a_cell_is_looked_at() -> None:
    holder = types.SimpleNamespace(value=2.0)

    def helper() -> float:
        return holder.value * SCALE

    def around(function: Callable[[], float]) -> Any:
        @triton.jit
        def kernel(out):
            tl.store(out, function())

        return kernel

    kernel = around(helper)
    assert value(kernel) == 4
    holder.value = 3.0
    assert value(kernel) == 6
    assert inspect.isfunction(helper)


def test_objects_in_a_long_chain_are_watched() -> None:
    class Link:
        def __init__(self, rest: Any, value: int) -> None:
            self.rest, self.value = rest, value

    last = chain = Link(None, 0)
    for value in range(5000):
        chain = Link(chain, value)

    @triton.jit
    def kernel(out):
        tl.store(out, chain.rest.value)

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, target="interpret")
    assert out[0] == 4998
    chain.rest.value = 7
    kernel[(1,)](out, target="interpret")
    assert out[0] == 7
    last.value = 1
    kernel[(1,)](out, target="interpret")
    assert out[0] == 7
