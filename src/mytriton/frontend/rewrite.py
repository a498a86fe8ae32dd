"""Rewriting a kernel's source so that its control flow can become regions.

In frame and in place: no function is extracted: each `if`, `for` and `while` becomes
plain Python around calls of a `Control` (`control.py`) in the very frame of the kernel, under its
own file, lines and columns, so tracebacks, breakpoints and locals stay the user's. Per statement,
with `a, b` the names that live on:

    if c: T          $s.append($ctl.if_(c, 7))               # 7: the statement's Site
    else: E    →     if $s[-1].then: T
                     if $s[-1].symbolic: a, b = $s[-1].other()
                     if $s[-1].orelse: E
                     if $s[-1].symbolic: a, b = $s[-1].join()
                     $s.pop()

    for t in i:      $s.append($ctl.for_(i, 7))
        B      →     for $item in $s[-1]:
                         if $s[-1].symbolic: a, b = $s[-1].enter()
                         t = $item; B
                         if $s[-1].symbolic: $s[-1].leave()
                     if $s[-1].symbolic: a, b = $s[-1].results()
                     $s.pop()

Expressions whose Python form would ask a tensor for its truth (`and`, `or`, `not`, chained
comparisons, conditional expressions) become calls that keep Python's short circuit for Python
values. What a kernel cannot contain becomes a call that raises when, and only if, it is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir.recursion import Walk, run
from . import expressions
from .jumps import RESULT, RETURNED, LowerJumps, assign, never_falls_through, place
from .liveness import Liveness, bindings, captured, likely, note_bindings

HIDDEN, STATES = "$item", "$s"
"""The item of a loop; the states of the statements that are under way, innermost last."""

REFUSED: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Try: ("try", "a kernel has no exceptions; test the condition with `if`"),
    ast.With: ("with", "a kernel has no context managers"),
    ast.AsyncFor: ("async for", "use a plain `for`"),
    ast.AsyncWith: ("async with", "a kernel has no context managers"),
    ast.AsyncFunctionDef: ("async def", "use a plain `def`"),
    ast.ClassDef: ("class", "define the class outside the kernel"),
    ast.Global: ("global", "pass values as arguments and return them"),
    ast.Nonlocal: ("nonlocal", "pass values as arguments and return them"),
    ast.Import: ("import", "import at the top of the file"),
    ast.ImportFrom: ("import", "import at the top of the file"),
    ast.Delete: ("del", "names end with the block; leave it out"),
    ast.Match: ("match", "use `if` and `elif`"),
}


@dataclass(frozen=True)
class Site:
    """What is known from the source about one control-flow statement.

    names: what its blocks bind and is read later; merged: those of them read after it; dead: what
    they bind and is not read later; likely:
    those bound outside the ifs of a loop's body; flags: the jump flags set inside; guard: those it
    asks for. before, first, second: the line that bound a name last, before the statement, in its
    first and in its second block.
    """

    line: int
    names: tuple[str, ...] = ()
    merged: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()
    likely: frozenset[str] = frozenset()
    flags: tuple[str, ...] = ()
    guard: tuple[str, ...] = ()
    before: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)
    second: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Statements:
    """Rewrites the statements of one function; `sites` is shared by those nested in it."""

    sites: list[Site]
    own: set[str]
    locals: set[str]
    defined: set[str]
    lines: dict[str, int]
    count: list[int]

    def block(self, block: Sequence[ast.stmt]) -> Walk[list[ast.stmt]]:
        result: list[ast.stmt] = []
        for statement in block:
            nested = _BLOCKS.get(type(statement))
            made = (yield nested(self, statement)) if nested else self.statement(statement)
            result += made if isinstance(made, list) else [made]
        return result or [ast.copy_location(ast.Pass(), block[0])]

    def statement(self, node: Any) -> Any:
        method = _STATEMENTS.get(type(node))
        if type(node) in REFUSED:
            return expressions.refusal(node, *REFUSED[type(node)])
        result = method(self, node) if method else self.expression(node)
        if method is None or isinstance(node, (ast.FunctionDef, ast.Assign, ast.AugAssign)):
            names = bindings([node])
            self.defined |= names
            self.lines.update(dict.fromkeys(names, node.lineno))
        return result

    def expression(self, node: Any) -> Any:
        return expressions.rewrite(node, self.locals, self.defined, self.count)

    # -- control flow

    def if_(self, node: Any) -> Walk[list[ast.stmt]]:
        guard = getattr(node, "flags", ())
        test = _call("no_jump_taken", [node.test], node) if guard else self.expression(node.test)
        if not guard and expressions.is_static(node.test):
            return [(yield self.plain_if(node, test))]
        bound = bindings([*node.body, *node.orelse]) & self.own - {HIDDEN}
        first = bindings(node.body) & self.own - {HIDDEN}
        names = bound & node.after | first & node.other
        before = dict(self.lines)
        then = yield self.branch(node.body)
        lines, self.lines = self.lines, dict(before)
        other = (yield self.branch(node.orelse)) if node.orelse else []
        second, self.lines = self.lines, {**self.lines, **lines}
        flags = sorted(name for name in bound if expressions.is_flag(name))
        site = self.site(
            node.lineno,
            names,
            merged=frozenset(names & node.after),
            dead=frozenset(bound - names),
            flags=tuple(flags),
            guard=guard,
            before=before,
            first=lines,
            second=second,
        )
        return self.if_code(node, test, then, other, site)

    def branch(self, block: list[ast.stmt]) -> Walk[list[ast.stmt]]:
        """A block that may not run: what it binds is not certain to be bound after it."""
        defined = set(self.defined)
        result = yield self.block(block)
        self.defined = defined
        return result  # type: ignore[no-any-return]

    def plain_if(self, node: ast.If, test: ast.expr) -> Walk[ast.stmt]:
        then = yield self.branch(node.body)
        other = (yield self.branch(node.orelse)) if node.orelse else []
        result = ast.If(test, then, other)
        ast.copy_location(result, node)
        return result

    def if_code(
        self, node: ast.If, test: ast.expr, then: list[ast.stmt], other: list[ast.stmt], site: int
    ) -> list[ast.stmt]:
        names, at = self.sites[site].names, node.test
        result = [_begin("if_", [test, ast.Constant(site)], at), _when("then", then, at)]
        result.append(_symbolic("other", names, at))
        if other:
            result.append(_when("orelse", other, at))
        return [*result, _symbolic("join", names, at), _end(at)]

    def loop(self, node: Any) -> Walk[list[ast.stmt]]:
        bound = bindings(node.body) & self.own - {HIDDEN}
        names = bound & (node.head | node.after)
        before = dict(self.lines)
        is_for = isinstance(node, ast.For)
        header = expressions.header(node.iter, self.locals) if is_for else None
        header = self.expression(header) if is_for else None
        test = None if is_for else self.test(node)
        body = yield self.branch(node.body)
        site = self.site(
            node.lineno,
            names,
            merged=frozenset(names & node.after),
            dead=frozenset(bound - names),
            likely=frozenset(likely(node.body)),
            flags=node.flags,
            before=before,
            first=dict(self.lines),
        )
        if header is not None:
            return self.for_code(node, header, body, site)
        assert test is not None
        return self.while_code(node, test, body, site)

    def for_code(
        self, node: ast.For, header: ast.expr, body: list[ast.stmt], site: int
    ) -> list[ast.stmt]:
        names, at = self.sites[site].names, node.iter
        start = _begin("for_", [header, ast.Constant(site)], at)
        body = [_symbolic("enter", names, at), *body, _symbolic("leave", (), at)]
        if self.sites[site].flags:
            stop = _method(_state(), "stop", [_flags(self.sites[site].flags)])
            body.append(_if(stop, [ast.Break()], at))
        loop = ast.For(ast.Name(HIDDEN, ast.Store()), _state(), body, [])
        place(loop, at)
        return [start, loop, _symbolic("results", names, at), _end(at)]

    def test(self, node: Any) -> ast.expr:
        """The loop's condition; with jumps inside, only asked for while none was taken."""
        test: ast.expr = node.test
        if node.flags:
            clear = _call("no_jump_taken", [_flags(node.flags)], node.test)
            test = ast.IfExp(clear, test, ast.Constant(False))
            place(test, node.test)
        return self.expression(test)  # type: ignore[no-any-return]

    def while_code(
        self, node: ast.While, test: ast.expr, body: list[ast.stmt], site: int
    ) -> list[ast.stmt]:
        names, at = self.sites[site].names, node.test
        asking = place(ast.Expr(_method(_state(), "test", [test])), at)
        leaving = place(ast.Expr(_method(_state(), "leave", [])), at)
        choose = ast.If(ast.Name(HIDDEN, ast.Load()), [asking], [*body, leaving])  # type: ignore
        inner = [_symbolic("enter", names, at), choose]
        loop = ast.For(ast.Name(HIDDEN, ast.Store()), _state(), inner, [])
        place(loop, at)
        start = _begin("while_", [ast.Constant(site)], at)
        return [start, loop, _symbolic("results", names, at), _end(at)]

    def site(self, line: int, names: set[str], **fields: Any) -> int:
        self.sites.append(Site(line, tuple(sorted(names)), **fields))
        return len(self.sites) - 1

    # -- simple statements

    def assert_(self, node: ast.Assert) -> ast.stmt:
        message = node.msg or ast.Constant("")
        call = _call("assert_", [self.expression(node.test), self.expression(message)], node)
        return place(ast.Expr(call), node)  # type: ignore[return-value]

    def assigned(self, node: ast.Assign) -> ast.stmt:
        """`x = value` binds a typed scalar where the value is a number; the names made here do
        not."""
        given, own = node.value, _is_own(node.targets[0]) or _is_own(node.value)
        made: ast.Assign = self.expression(node)
        made.value = made.value if own else expressions.assigned(made.value, given)
        return made

    def augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        """`x += value`, in place where Python does it so, and then typed as an assignment."""
        made = self.expression(node)
        if isinstance(made, ast.Assign):
            made.value = expressions.assigned(made.value, made.value)
        if not isinstance(made, ast.AugAssign) or not isinstance(node.target, ast.Name):
            return [made]
        read = ast.Name(node.target.id, ast.Load())
        again = assign(node.target.id, _call("assign", [read, ast.Constant(True)], node), node)
        return [made, again]

    def annotated(self, node: ast.AnnAssign) -> list[ast.stmt]:
        """`x: tl.constexpr = value` is known now if it can be; other annotations say nothing."""
        names = bindings([node])
        if node.value is None:
            return []
        value = self.expression(node.value)
        if ast.unparse(node.annotation).split(".")[-1] == "constexpr":
            value = _call("constexpr", [value], node.value)
        else:
            value = expressions.assigned(value, node.value)
        result = ast.Assign([self.expression(node.target)], value)
        self.defined |= names
        self.lines.update(dict.fromkeys(names, node.lineno))
        return [place(result, node)]  # type: ignore[list-item]

    def nested(self, node: ast.FunctionDef) -> ast.stmt:
        return rewrite_function(node, self.sites, self.count, self.locals | {node.name})


def rewrite_function(
    node: ast.FunctionDef, sites: list[Site], count: list[int], outer: set[str] | None = None
) -> ast.FunctionDef:
    """The function with its control flow as calls of `$ctl`; new sites are added to the list."""
    body, flagged = LowerJumps().function(list(node.body), node)
    note_bindings(body)
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    parameters = {argument.arg for argument in every}
    names = bindings(body) | parameters
    live = {RETURNED, RESULT} if flagged else set()
    run(Liveness(captured(body) & names).block(body, live))
    lines = dict.fromkeys(parameters, node.lineno)
    rewriter = Statements(
        sites, names, names | (outer or set()), parameters | (outer or set()), lines, count
    )
    new = [assign(STATES, ast.List([], ast.Load()), node), *run(rewriter.block(body))]
    if flagged:
        surely = never_falls_through(node.body)
        returned = ast.Constant(True) if surely else ast.Name(RETURNED, ast.Load())
        names_: list[ast.expr] = [returned, ast.Name(RESULT, ast.Load())]
        new.insert(0, assign(RESULT, _call("nothing", [], node), node))
        result: Any = _call("result", names_, node)
        new.append(place(ast.Return(result), node))  # type: ignore[arg-type]
    function = ast.FunctionDef(
        node.name, arguments, new, node.decorator_list, returns=None, type_comment=None
    )
    if hasattr(node, "type_params"):
        function.type_params = []  # type: ignore[attr-defined]
    ast.copy_location(function, node)
    return function


def _is_own(node: ast.expr) -> bool:
    """Whether the node is a name that the rewriting made: a flag, an item, a returned value."""
    return isinstance(node, ast.Name) and node.id.startswith("$")


def _call(method: str, arguments: list[ast.expr], at: ast.AST) -> ast.expr:
    control = ast.Name("$ctl", ast.Load())
    return place(_method(control, method, arguments), at)  # type: ignore[return-value]


def _method(owner: ast.expr, method: str, arguments: list[ast.expr]) -> ast.expr:
    return ast.Call(ast.Attribute(owner, method, ast.Load()), arguments, [])


def _state() -> ast.expr:
    """The state of the innermost statement that is under way: `$s[-1]`."""
    last = ast.UnaryOp(ast.USub(), ast.Constant(1))
    return ast.Subscript(ast.Name(STATES, ast.Load()), last, ast.Load())


def _begin(method: str, arguments: list[ast.expr], at: ast.AST) -> ast.stmt:
    """`$s.append($ctl.method(…))`"""
    made = _call(method, arguments, at)
    push = _method(ast.Name(STATES, ast.Load()), "append", [made])
    return place(ast.Expr(push), at)  # type: ignore[return-value]


def _end(at: ast.AST) -> ast.stmt:
    """`$s.pop()`"""
    return place(ast.Expr(_method(ast.Name(STATES, ast.Load()), "pop", [])), at)  # type: ignore


def _flags(names: Sequence[str]) -> ast.expr:
    return ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())


def _if(test: ast.expr, body: list[ast.stmt], at: ast.AST) -> ast.stmt:
    return place(ast.If(test, body, []), at)  # type: ignore[return-value]


def _when(attribute: str, body: list[ast.stmt], at: ast.AST) -> ast.stmt:
    return _if(ast.Attribute(_state(), attribute, ast.Load()), body, at)


def _symbolic(method: str, names: Sequence[str], at: ast.AST) -> ast.stmt:
    """`if $s[-1].symbolic: names = $s[-1].method()`."""
    call = _method(_state(), method, [])
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    done = ast.Assign([ast.Tuple(targets, ast.Store())], call) if names else ast.Expr(call)
    return _when("symbolic", [done], at)


_BLOCKS: Mapping[type[ast.stmt], Any] = {
    ast.If: Statements.if_,
    ast.For: Statements.loop,
    ast.While: Statements.loop,
}
_STATEMENTS: Mapping[type[ast.stmt], Any] = {
    ast.Assert: Statements.assert_,
    ast.Assign: Statements.assigned,
    ast.AugAssign: Statements.augmented,
    ast.AnnAssign: Statements.annotated,
    ast.FunctionDef: Statements.nested,
}
