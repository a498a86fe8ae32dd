"""Rewriting expressions: what would ask a tensor for its truth becomes a call that need not.

There is no lambda, since a new frame would hide the user's; an operand is kept in a `$name` and
Python's own conditional expression does the short circuit.

    a and b        →   ($1 := a, $1 := $1 if $ctl.and_ends($1) else $ctl.and_($1, b))[-1]
    a < b < c      →   (a < ($1 := b)) and ($1 < c)
    x if c else y  →   ($1 := $ctl.choice(c), $1.first(x if $1.then else None),
                        $1.second(y if $1.orelse else None))[2]
    not a          →   $ctl.not_(a)
    min(a, b)      →   $ctl.builtin(min)(a, b)
    x = a          →   x = $ctl.assign(a)
    N.value        →   $ctl.value(N)

Read by `rewrite.py`; the calls are in `control.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..ir.recursion import Walk, run
from .builtins import BUILTINS as CALLS
from .jumps import place
from .precedence import SYMBOLS

BUILTINS = frozenset(function.__name__ for function in CALLS)
_STATIC_OPERATORS = (ast.Is, ast.IsNot)


def is_flag(name: str) -> bool:
    """Whether the name is a jump flag of `jumps.py`."""
    return name.startswith(("$return", "$break", "$continue"))


def is_static(node: ast.expr) -> bool:
    """Whether the value of a condition is surely Python's: identities and constants."""
    match node:
        case ast.Constant():
            return True
        case ast.BoolOp(values=values):
            return all(map(is_static, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return is_static(operand)
        case ast.Compare(ops=ops):
            return all(isinstance(op, _STATIC_OPERATORS) for op in ops)
    return False


def call(method: str, *arguments: ast.expr) -> ast.Call:
    owner = ast.Attribute(ast.Name("$ctl", ast.Load()), method, ast.Load())
    return ast.Call(owner, list(arguments), [])


def may_change(node: ast.expr) -> bool:
    """Whether an expression of the user's may change what the kernel holds."""
    return any(
        isinstance(inner, ast.NamedExpr)
        or (isinstance(inner, ast.Call) and not is_control(inner.func))
        for inner in ast.walk(node)
        if not (isinstance(inner, ast.NamedExpr) and inner.target.id.startswith("$"))
    )


def is_control(function: ast.expr) -> bool:
    """Whether a called function is one of `$ctl`."""
    match function:
        case ast.Attribute(value=ast.Name(id="$ctl")):
            return True
    return False


def bound_by(nodes: list[ast.expr]) -> ast.expr:
    """The names that expressions bind, as a tuple of strings."""
    inner = (each for node in nodes for each in ast.walk(node))
    names = (each.target.id for each in inner if isinstance(each, ast.NamedExpr))
    found = sorted({name for name in names if not name.startswith("$")})
    return ast.Tuple([ast.Constant(name) for name in found], ast.Load())


def refusal(node: ast.AST, what: str, instead: str) -> ast.stmt:
    """A statement that raises where it stands."""
    refuse = call("refuse", ast.Constant(what), ast.Constant(instead))
    return place(ast.Expr(refuse), node)  # type: ignore[return-value]


_DISPLAYS = (ast.List, ast.Tuple, ast.ListComp)


def assigned(value: ast.expr, given: ast.expr) -> ast.expr:
    """The value of an assignment, its numbers typed; `given` is the user's own expression."""
    if isinstance(value, (ast.List, ast.Tuple)):
        value.elts = [
            assigned(part, part) if isinstance(part, _DISPLAYS) else part for part in value.elts
        ]
    new = isinstance(given, (*_DISPLAYS, ast.BinOp))
    made = call("assign", value) if new else call("assign", value, ast.Constant(True))
    return place(made, given)  # type: ignore[return-value]


def header(node: ast.expr, local: set[str]) -> ast.expr:
    """The iterable of a `for`: `range` there means a loop of the kernel."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            looping = ast.Call(_looping(function, local), arguments, keywords)
            return place(looping, node)  # type: ignore[return-value]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            both = ast.IfExp(test, header(body, local), header(orelse, local))
            return place(both, node)  # type: ignore[return-value]
    return node


def _looping(function: ast.expr, local: set[str]) -> ast.expr:
    match function:
        case ast.Name(id="range") if "range" not in local:
            return place(call("range_", function), function)  # type: ignore[return-value]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            both = ast.IfExp(test, _looping(body, local), _looping(orelse, local))
            return place(both, function)  # type: ignore[return-value]
    return function


def rewrite(node: Any, local: set[str], defined: set[str], count: list[int]) -> Any:
    """The expression, or simple statement, in its new form."""
    expressions = Expressions(local, defined, count)
    if isinstance(node, ast.Name):
        return expressions.name(node)
    return run(expressions.visit(node))


_LEAVES = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Expressions:
    """One expression's worth; `inner` are the names of lambdas and comprehensions around it."""

    def __init__(self, local: set[str], defined: set[str], count: list[int]) -> None:
        self.local, self.defined, self.count = local, defined, count
        self.inner: set[str] = set()

    def fresh(self) -> str:
        self.count[0] += 1
        return f"${self.count[0]}"

    def visit(self, node: ast.AST) -> Walk[ast.AST]:
        method = _VISIT.get(type(node))
        return method(self, node) if method else self.inside(node)

    def inside(self, node: Any) -> Walk[Any]:
        """The node with new forms of all that is in it."""
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for position, item in enumerate(value):
                    if isinstance(item, ast.Name):
                        value[position] = self.name(item)
                    elif isinstance(item, ast.AST) and not isinstance(item, _LEAVES):
                        value[position] = yield self.visit(item)
            elif isinstance(value, ast.Name):
                setattr(node, name, self.name(value))
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                setattr(node, name, (yield self.visit(value)))
        return node

    def name(self, node: ast.Name) -> ast.AST:
        certain = node.id in self.defined or node.id not in self.local or node.id in self.inner
        if certain or not isinstance(node.ctx, ast.Load):
            return node
        return place(call("use", node, ast.Constant(node.id)), node)

    def augmented(self, node: ast.AugAssign) -> Walk[ast.AST]:
        """`x += y` where x may be unbound reads it through `use`."""
        target = node.target
        if not isinstance(target, ast.Name) or target.id in self.defined:
            return (yield self.inside(node))  # type: ignore[no-any-return]
        read: Any = self.name(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        added = yield self.inside(ast.Expr(node.value))
        value = ast.BinOp(read, node.op, added.value)
        return place(ast.Assign([target], value), node)

    def named(self, node: ast.NamedExpr) -> Walk[ast.AST]:
        given = node.value
        yield self.inside(node)
        node.value = assigned(node.value, given)
        return node

    def bool_op(self, node: ast.BoolOp) -> Walk[ast.AST]:
        yield self.inside(node)
        return self.chain("and" if isinstance(node.op, ast.And) else "or", node.values, node)

    def chain(self, word: str, values: list[ast.expr], at: ast.AST) -> ast.AST:
        """`and` or `or` of values; a flat tuple, so that many values make no deep tree."""
        name = self.fresh()

        def load() -> ast.expr:
            return ast.Name(name, ast.Load())

        steps = [values[0]]
        for value in values[1:]:
            if may_change(value):
                value = call("both", call("unchanged", load(), bound_by([value])), value)
            both = call(f"{word}_", load(), value)
            steps.append(ast.IfExp(call(f"{word}_ends", load()), load(), both))
        kept: list[ast.expr] = [ast.NamedExpr(ast.Name(name, ast.Store()), step) for step in steps]
        last = ast.UnaryOp(ast.USub(), ast.Constant(1))
        return place(ast.Subscript(ast.Tuple(kept, ast.Load()), last, ast.Load()), at)

    def bin_op(self, node: ast.BinOp) -> Walk[ast.AST]:
        yield self.inside(node)
        bare = getattr(node, "bare", "")
        if not bare:
            return node
        given = ast.Constant(SYMBOLS[type(node.op)]), ast.Constant(bare)
        return place(call("bare_bitwise", node.left, node.right, *given), node)

    def compare(self, node: ast.Compare) -> Walk[ast.AST]:
        yield self.inside(node)
        if len(node.ops) == 1:
            return node
        links: list[ast.expr] = []
        left = node.left
        for position, (op, right) in enumerate(zip(node.ops, node.comparators)):
            last = position == len(node.ops) - 1
            name = self.fresh()
            kept = right if last else ast.NamedExpr(ast.Name(name, ast.Store()), right)
            link: Any = place(ast.Compare(left, [op], [kept]), node)
            links.append(link)
            left = ast.Name(name, ast.Load())
            place(left, right)
        return self.chain("and", links, node)

    def unary_op(self, node: ast.UnaryOp) -> Walk[ast.AST]:
        yield self.inside(node)
        return place(call("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def if_exp(self, node: ast.IfExp) -> Walk[ast.AST]:
        yield self.inside(node)
        if is_static(node.test):
            return node
        name = self.fresh()

        def method(which: str, value: ast.expr) -> ast.expr:
            return ast.Call(
                ast.Attribute(ast.Name(name, ast.Load()), which, ast.Load()), [value], []
            )

        def when(flag: str, value: ast.expr) -> ast.expr:
            asked = ast.Attribute(ast.Name(name, ast.Load()), flag, ast.Load())
            return ast.IfExp(asked, value, ast.Constant(None))

        start = ast.NamedExpr(
            ast.Name(name, ast.Store()),
            call("choice", node.test, bound_by([node.body, node.orelse])),
        )
        first = method("first", when("then", node.body))
        second = method("second", when("orelse", node.orelse))
        steps = ast.Tuple([start, first, second], ast.Load())
        return place(ast.Subscript(steps, ast.Constant(2), ast.Load()), node)

    def call(self, node: ast.Call) -> Walk[ast.AST]:
        yield self.inside(node)
        match node.func:
            case ast.Name(id=name) if name in BUILTINS and name not in self.local | self.inner:
                node.func = place(call("builtin", node.func), node.func)  # type: ignore
        return node

    def attribute(self, node: ast.Attribute) -> Walk[ast.AST]:
        yield self.inside(node)
        reads = node.attr == "value" and isinstance(node.ctx, ast.Load)
        return place(call("value", node.value), node) if reads else node

    # -- scopes of their own

    def lambda_(self, node: ast.Lambda) -> Walk[ast.AST]:
        names = {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)}
        return (yield self.scoped(node, names))  # type: ignore[no-any-return]

    def comprehension(self, node: Any) -> Walk[ast.AST]:
        """Python allows no `:=` in the iterables of a comprehension: those stay as they are."""
        iterables = [generator.iter for generator in node.generators]
        for generator in node.generators:
            generator.iter = ast.Constant(None)
        stores = (n for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
        yield self.scoped(node, {name.id for name in stores})
        for generator, iterable in zip(node.generators, iterables):
            generator.iter = iterable
        return node  # type: ignore[no-any-return]

    def scoped(self, node: ast.AST, names: set[str]) -> Walk[ast.AST]:
        outer, self.inner = self.inner, self.inner | names
        result = yield self.inside(node)
        self.inner = outer
        return result  # type: ignore[no-any-return]

    def refused(self, node: ast.AST) -> Walk[ast.AST]:
        yield self.inside(node)
        what = {ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Await: "await"}[type(node)]
        instead = "a kernel runs from its first line to its last; return values instead"
        return place(call("refuse", ast.Constant(what), ast.Constant(instead)), node)


_VISIT: dict[type[ast.AST], Callable[[Expressions, Any], Walk[ast.AST]]] = {
    ast.AugAssign: Expressions.augmented,
    ast.NamedExpr: Expressions.named,
    ast.BoolOp: Expressions.bool_op,
    ast.BinOp: Expressions.bin_op,
    ast.Compare: Expressions.compare,
    ast.UnaryOp: Expressions.unary_op,
    ast.IfExp: Expressions.if_exp,
    ast.Call: Expressions.call,
    ast.Attribute: Expressions.attribute,
    ast.Lambda: Expressions.lambda_,
    **dict.fromkeys(
        (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), Expressions.comprehension
    ),
    **dict.fromkeys((ast.Yield, ast.YieldFrom, ast.Await), Expressions.refused),
}
