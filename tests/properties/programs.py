"""Random kernels as Python text: nested loops, branches, early exits, over scalars and a block.

One idea: the text is a Python function, so Python itself says what it means. `reference` runs it on
NumPy's int32 numbers, with a `tl` of a few lines; the kernel is the same text, imported from a file
so that its source can be had.

    assigned values are made int32 (by rewriting each assignment), so that both wrap alike
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import mytriton as triton

SCALARS = ("a", "b", "c", "d")
LANES = 5
SLOTS = 24
_count = itertools.count()

HEADER = """import mytriton as triton
import mytriton.language as tl


@triton.jit
def helper(a, b):
    if a > b:
        return a - b
    return a + b * 2


@triton.jit
def kernel(log, blocks, n, m):
    lanes = tl.arange(0, 5)
    a, b, c, d = n + 0, m + 0, n - m, n * 3
    v = tl.load(blocks + lanes)
    fuel = n * 0 + 40
"""
FOOTER = """    tl.store(log + 0, a)
    tl.store(log + 1, b)
    tl.store(log + 2, c)
    tl.store(log + 3, d)
    tl.store(blocks + lanes, v)
"""


class Writer:
    """Statements drawn at random, indented; `depth` bounds the nesting."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.slots = itertools.count(4)
        self.loops = itertools.count()

    def choose(self, *weighted: tuple[int, Any]) -> Any:
        return self.random.choices([w[1] for w in weighted], [w[0] for w in weighted])[0]

    def atom(self, names: tuple[str, ...]) -> str:
        return self.choose((5, self.random.choice(names)), (2, str(self.random.randint(-3, 9))))

    def number(self, names: tuple[str, ...], depth: int = 2) -> str:
        if not depth or self.random.random() < 0.25:
            return self.atom(names)
        right = self.number(names, depth - 1)
        kind = self.choose((6, "op"), (1, "if"), (1, "min"), (1, "call"), (1, "neg"))
        if kind == "if":
            return (
                f"({self.random.choice(names)} if {self.condition(names, 1)} else {right} + 0 * a)"
            )
        if kind == "min":
            return f"tl.minimum({self.random.choice(names)}, {right})"
        if kind == "call":
            return f"helper({self.random.choice(names)}, {self.random.choice(names)})"
        if kind == "neg":
            return f"(-{self.random.choice(names)})"
        symbol = self.random.choice(["+", "-", "*", "&", "|", "^"])
        return f"({self.random.choice(names)} {symbol} {right})"

    def condition(self, names: tuple[str, ...], depth: int = 2) -> str:
        name, other = self.random.choice(names), self.atom(names)
        symbol = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        plain = f"{name} {symbol} {other}"
        if not depth or self.random.random() < 0.5:
            return plain
        more = self.condition(names, depth - 1)
        return self.choose(
            (2, f"({plain} and {more})"),
            (2, f"({plain} or {more})"),
            (1, f"(not {plain})"),
            (1, f"(-5 < {name} < {self.atom(names)})"),
            (1, f"{name} & 1"),
        )

    def statements(self, depth: int, names: tuple[str, ...], inside: bool, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(depth, names, inside)
        return lines or ["pass"]

    def statement(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        kinds = [(5, self.assign), (3, self.block), (2, self.log)]
        if depth:
            kinds += [(4, self.branch), (4, self.loop), (2, self.while_loop)]
        if inside:
            kinds += [(2, self.leave)]
        kinds += [(1, self.give_up)]
        return list(self.choose(*kinds)(depth, names, inside))

    def assign(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        target = self.random.choice(SCALARS)
        if self.random.random() < 0.3:
            return [f"{target} {self.random.choice(['+=', '-=', '^='])} {self.number(names, 1)}"]
        if self.random.random() < 0.15:
            return ["a, b = b, a"]
        return [f"{target} = {self.number(names)}"]

    def block(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        name = self.random.choice(names)
        return [
            self.choose(
                (2, f"v = v + {name}"),
                (2, f"v = tl.where(v > {name}, v - {self.number(names, 1)}, v ^ lanes)"),
                (1, f"v = v * 3 + lanes * {self.number(names, 1)}"),
                (1, f"{self.random.choice(SCALARS)} = tl.max(v, 0) & 15"),
                (1, "d = tl.sum(v, 0)"),
            )
        ]

    def log(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        slot = next(self.slots)
        if slot >= SLOTS:
            return ["fuel -= 1"]
        return [f"tl.store(log + {slot}, tl.load(log + {slot}) + {self.number(names, 1)})"]

    def branch(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        lines = [f"if {self.condition(names)}:", *self.body(depth, names, inside)]
        if self.random.random() < 0.3:
            lines += [f"elif {self.condition(names)}:", *self.body(depth, names, inside)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.body(depth, names, inside)]
        return lines

    def body(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        made = self.statements(depth - 1, names, inside, self.random.randint(1, 3))
        return [f"    {line}" for line in made]

    def loop(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        index = f"i{next(self.loops)}"
        name = self.random.choice(names)
        bounds = self.choose(
            (3, f"{name} & 3"),
            (2, f"{self.random.randint(-1, 2)}, ({name} & 3) + 1"),
            (2, f"({name} & 7), -2, -2"),
            (1, f"0, {name} & 7, 3"),
            (1, "3"),
        )
        kind = self.choose((4, "range"), (1, "tl.range"))
        lines = [f"for {index} in {kind}({bounds}):", *self.body(depth, (*names, index), True)]
        if self.random.random() < 0.2:
            lines += ["else:", *self.body(0 + 1, names, inside)]
        return lines

    def while_loop(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        body = self.body(depth, names, True)
        return [f"while fuel > 0 and {self.condition(names, 1)}:", "    fuel -= 3", *body]

    def leave(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        word = self.random.choice(["break", "continue"])
        return [f"if {self.condition(names, 1)}:", f"    {word}"]

    def give_up(self, depth: int, names: tuple[str, ...], inside: bool) -> list[str]:
        if self.random.random() < 0.6:
            return ["fuel -= 1"]
        return [
            f"if {self.condition(names, 1)}:",
            f"    tl.store(log + 3, {names[0]})",
            "    return",
        ]


def text(seed: int, size: int) -> str:
    """The source of a module with a random `kernel(log, blocks, n, m)`."""
    writer = Writer(seed)
    lines = writer.statements(3, SCALARS, False, size)
    return HEADER + "".join(f"    {line}\n" for line in lines) + FOOTER


def load(source: str, folder: Path) -> Any:
    """The kernel of a source, imported from a file of its own."""
    name = f"random_program_{next(_count)}"
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.kernel, triton.JITFunction)
    return module.kernel


# -- what the text means


class Pointer:
    """An array and places in it."""

    def __init__(self, array: Any, place: Any = 0) -> None:
        self.array, self.place = array, place

    def __add__(self, offset: Any) -> Pointer:
        return Pointer(self.array, self.place + offset)


def _store(pointer: Pointer, value: Any) -> None:
    pointer.array[pointer.place] = value


def int32(value: Any) -> Any:
    """What is bound to a name is of 32 bits."""
    if isinstance(value, tuple):
        return tuple(map(int32, value))
    return value if isinstance(value, (Pointer, np.ndarray)) else np.int32(value)


LANGUAGE = SimpleNamespace(
    arange=lambda low, high: np.arange(low, high, dtype=np.int32),
    load=lambda pointer: np.copy(pointer.array[pointer.place])[()],
    store=_store,
    where=np.where,
    minimum=np.minimum,
    max=lambda v, axis: v.max(axis),
    sum=lambda v, axis: v.sum(axis, dtype=np.int32),
    range=lambda *bounds: map(np.int32, range(*map(int, bounds))),
)


class _Int32(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> Any:
        node.value = ast.Call(ast.Name("int32", ast.Load()), [node.value], [])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        assert isinstance(node.target, ast.Name)
        whole = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return self.visit_Assign(ast.Assign([node.target], whole))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = []
        return self.generic_visit(node)


def reference(source: str, log: Any, blocks: Any, n: int, m: int) -> None:
    """Runs the source as Python."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    tree = ast.fix_missing_locations(_Int32().visit(tree))
    space: dict[str, Any] = {"tl": LANGUAGE, "int32": int32, "range": LANGUAGE.range}
    exec(compile(tree, "<reference>", "exec"), space)
    with np.errstate(all="ignore"):
        space["kernel"](Pointer(log), Pointer(blocks), np.int32(n), np.int32(m))
