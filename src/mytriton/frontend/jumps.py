"""break, continue and early return as flags, so that every block is left at its end.

A jump becomes a flag that is set, and the statements it would have jumped over a guarded
block. While its condition is known to Python the flag is a plain bool and the guard a plain `if`;
once it depends on the run the flag is carried like any other name.

    for i in range(n):            $break1 = False
        if x > 3:                 for i in range(n):
            break           →         if not $break1:            (a guard)
        y = f(i)                          if x > 3:
                                              $break1 = True
                                          else:
                                              y = f(i)

What follows an `if` with a branch that always jumps moves into the other branch, as above: then
names bound only there stay bound. Read by `rewrite.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..ir.recursion import Walk, run

RETURNED, RESULT = "$return", "$value"
"""The flag and the value of an early return; no name of a user can be equal to them."""

Block = list[ast.stmt]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPOUND = (ast.Return, ast.Break, ast.Continue, ast.If, ast.For, ast.While)


def place(node: ast.AST, at: ast.AST) -> ast.AST:
    """The node, and all inside it that has no place yet, at the first line of another's place.

    One line, since Python reports a call of an attribute at the last line of the attribute. What
    has a place is not looked into: all inside it has one too.
    """
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if "lineno" in inner._attributes:
            if hasattr(inner, "lineno"):
                continue
            ast.copy_location(inner, at)
            if at.end_lineno != at.lineno:  # type: ignore[attr-defined]
                inner.end_lineno = inner.lineno  # type: ignore[attr-defined]
                inner.end_col_offset = inner.col_offset + 1  # type: ignore[attr-defined]
        waiting += ast.iter_child_nodes(inner)
    return node


def assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    place(statement, at)
    return statement


def jumps(block: Sequence[ast.stmt], kind: type[ast.stmt]) -> bool:
    """Whether a jump of this kind is inside, not counting functions defined there."""
    waiting: list[ast.AST] = list(block)
    while waiting:
        node = waiting.pop()
        if isinstance(node, kind):
            return True
        if not isinstance(node, (ast.expr, *FUNCTIONS)):
            waiting += ast.iter_child_nodes(node)
    return False


def never_falls_through(block: Sequence[ast.stmt]) -> bool:
    """Whether the end of the block is never reached."""
    return bool(block) and run(_leaves(block[-1]))


def _leaves(last: ast.stmt) -> Walk[bool]:
    """Whether what follows a statement is never reached; noted on an `if`, which is asked often."""
    if isinstance(last, ast.If):
        if not hasattr(last, "leaves"):
            known = bool(last.body and last.orelse) and (yield _leaves(last.body[-1]))
            last.leaves = known and (yield _leaves(last.orelse[-1]))  # type: ignore[attr-defined]
        return last.leaves  # type: ignore[attr-defined, no-any-return]
    if isinstance(last, ast.While):
        endless = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return endless and not jumps(last.body, ast.Break)
    return isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise))


def binding_test(statement: ast.While) -> ast.While:
    """`while (x := f()) > 0: …` as `while True: if not (x := f()) > 0: break; …`, since the body
    uses what the condition binds."""
    if not any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(statement.test)):
        return statement
    leave = ast.If(ast.UnaryOp(ast.Not(), statement.test), [ast.Break()], [])
    endless = ast.While(ast.Constant(True), [leave, *statement.body], [])
    place(leave, statement.test)
    return place(endless, statement)  # type: ignore[return-value]


@dataclass
class Loop:
    """The flags of one loop."""

    stop: str
    skip: str


@dataclass
class LowerJumps:
    """Lowers the jumps of one function."""

    count: int = 0
    loops: list[Loop] = field(default_factory=list)

    def function(self, body: Block, at: ast.AST) -> tuple[Block, bool]:
        """The body without jumps but for a last `return`; whether it needed flags to get there."""
        rest = body[:-1] if body and isinstance(body[-1], ast.Return) else body
        if jumps(rest, ast.Return):
            lowered, _ = run(self.block(body))
            return [assign(RETURNED, ast.Constant(False), at), *lowered], True
        lowered, _ = run(self.block(rest))
        return lowered + body[len(rest) :], False

    def block(self, block: Sequence[ast.stmt]) -> Walk[tuple[Block, set[str]]]:
        """The lowered statements, and the flags they may set."""
        result: Block = []
        flags: set[str] = set()
        for position, statement in enumerate(block):
            if not isinstance(statement, _COMPOUND):
                result.append(statement)
                continue
            rest = list(block[position + 1 :])
            if isinstance(statement, ast.If) and rest:
                statement, rest = self.sink_tail_into_branch(statement, rest)
            lowered, raised = yield self.statement(statement)
            result += lowered
            flags |= raised
            if raised and rest:
                guarded, more = yield self.block(rest)
                result.append(self.guard(raised, guarded, rest[0]))
                return result, flags | more
            if not rest:
                break
        return result, flags

    def sink_tail_into_branch(self, statement: ast.If, rest: Block) -> tuple[ast.If, Block]:
        """Moves what follows into the one branch that reaches it."""
        then = never_falls_through(statement.body)
        other = never_falls_through(statement.orelse)
        if not then and not other:
            return statement, rest
        body = statement.body if then else statement.body + rest
        orelse = statement.orelse if other else statement.orelse + rest
        moved = ast.If(statement.test, body, orelse)
        ast.copy_location(moved, statement)
        return moved, []

    def guard(self, flags: set[str], body: Block, at: ast.AST) -> ast.stmt:
        """`if none of the flags: body`; inside, Python knows that none is set."""
        body = [*(assign(flag, ast.Constant(False), at) for flag in sorted(flags)), *body]
        names: list[ast.expr] = [ast.Name(flag, ast.Load()) for flag in sorted(flags)]
        test = ast.Tuple(names, ast.Load())
        guard = ast.If(test, body, [])
        place(guard, at)
        guard.flags = tuple(sorted(flags))  # type: ignore[attr-defined]
        return guard

    def statement(self, statement: ast.stmt) -> Walk[tuple[Block, set[str]]]:
        match statement:
            case ast.Return():
                value = statement.value or ast.Constant(None)
                done = [assign(RESULT, value, statement)]
                return [*done, assign(RETURNED, ast.Constant(True), statement)], {RETURNED}
            case ast.Break() | ast.Continue() if self.loops:
                loop = self.loops[-1]
                flag = loop.stop if isinstance(statement, ast.Break) else loop.skip
                return [assign(flag, ast.Constant(True), statement)], {flag}
            case ast.If():
                body, then = yield self.block(statement.body)
                orelse, other = yield self.block(statement.orelse)
                lowered = ast.If(statement.test, body, orelse)
                ast.copy_location(lowered, statement)
                return [lowered], then | other
            case ast.For() | ast.While():
                return (yield self.loop(statement))  # type: ignore[no-any-return]
        return [statement], set()

    def loop(self, statement: ast.For | ast.While) -> Walk[tuple[Block, set[str]]]:
        if isinstance(statement, ast.While) and not statement.orelse:
            statement = binding_test(statement)
        self.count += 1
        loop = Loop(f"$break{self.count}", f"$continue{self.count}")
        self.loops.append(loop)
        body, raised = yield self.block(statement.body)
        self.loops.pop()
        orelse, more = yield self.block(statement.orelse)
        stops = raised - {loop.skip}
        if loop.skip in raised:
            body = [assign(loop.skip, ast.Constant(False), statement), *body]
        lowered: ast.stmt
        if isinstance(statement, ast.For):
            target = ast.Assign([statement.target], ast.Name("$item", ast.Load()))
            place(target, statement.target)
            body = [target, *body]
            body = [self.guard(stops, body, statement)] if stops else body
            lowered = ast.For(ast.Name("$item", ast.Store()), statement.iter, body, [])
        else:
            lowered = ast.While(statement.test, body, [])
        place(lowered, statement)
        lowered.flags = tuple(sorted(stops))  # type: ignore[union-attr]
        before = [assign(loop.stop, ast.Constant(False), statement)] if loop.stop in raised else []
        if orelse and loop.stop in raised:
            orelse = [self.guard({loop.stop}, orelse, statement)]
        after = [lowered, *orelse]
        if orelse and RETURNED in raised:
            after = [lowered, self.guard({RETURNED}, orelse, statement)]
        return before + after, (raised - {loop.stop, loop.skip}) | more
