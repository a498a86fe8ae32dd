"""The expression view: each effect as the nested tree of what it needs.

Nothing is copied; a node is a name and fields over one op of the IR, so what two trees
share is one node. The names of nodes and fields come from the op table.

    Store(ptr=AddPtr(base=Param(name='out', ty=ptr<f32>), offset=…), value=…, mask=None)

A small tree is printed whole. In a large one a subtree that is used again is printed at its first
use, under a name, as `(e1 := BinOp(…))`, and as `e1` after that; so the text grows with the graph,
not with its paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from .effects import Effects
from .nodes import Const, Function, Op, Operand, Param, Region, Value
from .ops import Effect, Row
from .recursion import Walk, run
from .text import MAX_INDENT, attribute_text, float_text

PRINT_WHOLE_SIZE = 256
"""A tree of at most this many nodes, shared ones counted at each use, is printed whole."""
INLINE_SIZE = 6
"""A shared subtree of at most this many nodes is repeated rather than named."""


class Node:
    """An op (or constant, or parameter) with its operands and attributes as named fields, which are
    nodes, tuples of nodes, plain values, or None. Each kind is a class of its own: `Store`, …"""

    def __init__(self, fields: dict[str, Any], source: Op | Const | Param) -> None:
        self.fields = fields
        self.source = source
        """The node of the IR that this is a view of."""

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("fields", {})
        if name not in fields:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}")
        return fields[name]

    def __repr__(self) -> str:
        return _Writer([self]).flat(self)

    @property
    def kind(self) -> str:
        return type(self).__name__


@cache
def node_class(label: str) -> type[Node]:
    """The class of nodes of that name."""
    return type(label, (Node,), {})


def expression_ops(function: Function) -> list[Node]:
    """The effects at the top level of a function, in program order; a new list at each call."""
    view = _View()
    nodes = run(view.region(function.body))
    return [node for node in nodes if node.kind != "Yield"]


def print_trees(nodes: Sequence[Node]) -> str:
    """The trees over many lines, indented; a name given in one is used in those after it."""
    writer = _Writer(nodes)
    return "\n".join(writer.indented(node) for node in nodes)


def tree_lines(nodes: Sequence[Node]) -> list[tuple[str, Op | Const | Param | None]]:
    """The lines of `print_trees`, each with the node of the IR that the first node to begin on the
    line is a view of; None where none begins."""
    writer = _Writer(nodes)
    lines: list[tuple[str, Op | Const | Param | None]] = []
    for node in nodes:
        text = writer.indented(node)
        begins = iter(writer.begins)
        begin = next(begins, None)
        start = 0
        for line in text.split("\n"):
            found, end = None, start + len(line)
            while begin is not None and begin[0] <= end:
                found = found or begin[1].source
                begin = next(begins, None)
            lines.append((line, found))
            start = end + 1
    return lines


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


@cache
def _shape(row: Row) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """The class name of an op's nodes, the names of its operands, and the fields before them."""
    if row.element is None:
        return row.node_name or _camel(row.name), row.operands, {}
    if not row.symbol:
        return _camel(row.name), row.operands, {}
    binary = row.element.arity == 2
    names = ("lhs", "rhs") if binary else ("operand",)
    return "BinOp" if binary else "UnaryOp", names, {"op": row.symbol}


class _View:
    """Nodes of operands, made once each, in program order (so never deep in the Python stack)."""

    def __init__(self) -> None:
        self.effects = Effects()
        self.made: dict[Op | Value | Const | Param, Node] = {}

    def region(self, region: Region) -> Walk[tuple[Node, ...]]:
        """The region's effects and its yield."""
        shown = []
        for op in region.ops:
            regions = []
            for inner in op.regions:
                regions.append((yield self.region(inner)))
            node = self.made[op] = self.op(op, regions)
            if op.name == "yield" or self.effects[op] is Effect.WRITE:
                shown.append(node)
        return tuple(shown)

    def op(self, op: Op, regions: Sequence[tuple[Node, ...]]) -> Node:
        label, names, fields = _shape(op.row)
        operands = [self.operand(operand) for operand in op.operands]
        fields = dict(fields)
        for place, name in enumerate(names):
            rest = name.startswith("*")
            fields[name.strip("*")] = tuple(operands[place:]) if rest else operands[place]
        fields.update(op.attrs)
        fields.update(zip(op.row.region_names, regions))
        return node_class(label)(fields, op)

    def operand(self, operand: Operand) -> Node | None:
        if operand is None:
            return None
        if isinstance(operand, Value) and len(operand.op.results) == 1:
            return self.made[operand.op]
        if operand not in self.made:
            self.made[operand] = self.leaf(operand)
        return self.made[operand]

    def leaf(self, operand: Value | Const | Param) -> Node:
        if isinstance(operand, Const):
            return node_class("Const")({"value": operand.value, "ty": operand.ty}, operand)
        if isinstance(operand, Param):
            return node_class("Param")({"name": operand.name, "ty": operand.ty}, operand)
        fields = {"of": self.made[operand.op], "index": operand.index}
        return node_class("Result")(fields, operand.op)


def _children(node: Node) -> Iterator[Node]:
    for value in node.fields.values():
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Node))


class _Writer:
    """Prints nodes; which of them get a name is decided by how often and how large they occur."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self.sizes: dict[Node, int] = {}
        self.uses: dict[Node, int] = {}
        for root in roots:
            self._measure(root)
        self.whole = sum(self.sizes[root] for root in roots) <= PRINT_WHOLE_SIZE
        self.names: dict[Node, str] = {}
        self.begins: list[tuple[int, Node]] = []
        """Where in the text that was written last each node begins."""

    def _measure(self, root: Node) -> None:
        """Sizes of the whole trees (no matter how large) and numbers of uses, each node once."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self.sizes:
                stack.pop()
                continue
            missing = [child for child in _children(node) if child not in self.sizes]
            if missing:
                stack += missing
                continue
            for child in _children(node):
                self.uses[child] = self.uses.get(child, 0) + 1
            total = 1 + sum(self.sizes[child] for child in _children(node))
            self.sizes[node] = min(total, 1 << 30)
            stack.pop()

    def _named(self, node: Node) -> bool:
        return not self.whole and self.uses.get(node, 0) > 1 and self.sizes[node] > INLINE_SIZE

    def flat(self, root: Node) -> str:
        """The tree on one line."""
        return self._write(root, lambda node, depth: False)

    def indented(self, root: Node) -> str:
        """The tree with the fields of all but small nodes on lines of their own."""
        return self._write(root, lambda node, depth: self.sizes[node] > INLINE_SIZE)

    def _write(self, root: Node, broken: Any) -> str:
        """Writes from a stack of text and (node, depth) still to come."""
        parts: list[str] = []
        at, self.begins = 0, []
        stack: list[Any] = [(root, 1)]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(item)
                at += len(item)
                continue
            node, depth = item
            if node in self.names:
                stack.append(self.names[node])
                continue
            self.begins.append((at, node))
            pieces = list(self._pieces(node, depth, broken(node, depth)))
            if self._named(node):
                self.names[node] = f"e{len(self.names) + 1}"
                pieces = [f"({self.names[node]} := ", *pieces, ")"]
            stack += reversed(pieces)
        return "".join(parts)

    def _pieces(self, node: Node, depth: int, broken: bool) -> Iterator[Any]:
        """A node as text and (node, depth) pieces."""
        line = "\n" + "  " * min(depth, MAX_INDENT)
        yield f"{node.kind}("
        for place, (name, value) in enumerate(node.fields.items()):
            yield ("," + line if place else line) if broken else ", " if place else ""
            yield f"{name}="
            if isinstance(value, Node):
                yield value, depth + 1
            elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
                yield from self._items(value, depth + 1, broken)
            else:
                yield _plain(value, node.source)
        yield line[:-2] + ")" if broken else ")"

    def _items(self, items: tuple[Any, ...], depth: int, broken: bool) -> Iterator[Any]:
        line = "\n" + "  " * min(depth, MAX_INDENT)
        yield "("
        for place, item in enumerate(items):
            yield line if broken else ", " if place else ""
            yield (item, depth + 1) if isinstance(item, Node) else "None"
            yield "," if broken or len(items) == 1 else ""
        yield line[:-2] + ")" if broken else ")"


def _plain(value: Any, source: Op | Const | Param) -> str:
    if isinstance(value, float) and isinstance(source, Const):
        return float_text(value, source.ty)
    simple = value is None or isinstance(value, (bool, int, float, str))
    return repr(value) if simple else attribute_text(value)
