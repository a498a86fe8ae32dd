"""A small interpreter of kernels on scalars: statements by the rules of docs/semantics.md.

It walks the kernel's own syntax tree. Values are `Weak` and `Typed` (`random_numbers.py`), exact.
A program that the rules give no meaning, such as one whose variable changes its type under a
condition that only the run decides, raises `Refused`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .random_numbers import Refused, Typed, Weak, as_type, assigned, binary, chosen, own, where

SYMBOLS: dict[type[Any], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip

Value = Weak | Typed | tuple[Any, ...]


class Interpreter:
    """Runs statements on named values; `known` are the conditions that tracing decides."""

    def __init__(self, names: dict[str, Any], helpers: dict[str, ast.FunctionDef]) -> None:
        self.names, self.helpers = names, helpers
        self.returned: Value | None = None
        self.returns_typed = False
        """Whether a run-time condition has decided about a return."""

    # -- statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.returned is not None:
                return
            getattr(self, type(statement).__name__)(statement)

    def Assign(self, node: ast.Assign) -> None:
        self.bind(node.targets[0], typed(self.value(node.value)))

    def AnnAssign(self, node: ast.AnnAssign) -> None:
        assert node.value is not None
        self.bind(node.target, self.value(node.value))

    def AugAssign(self, node: ast.AugAssign) -> None:
        read = ast.Name(node.target.id, ast.Load())  # type: ignore[union-attr]
        result = self.value(ast.BinOp(read, node.op, node.value))
        self.bind(node.target, typed(result))

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            for inner, item in zip(target.elts, value, strict=True):  # type: ignore[arg-type]
                self.bind(inner, item)
        else:
            self.names[target.id] = value  # type: ignore[attr-defined]

    def Return(self, node: ast.Return) -> None:
        assert node.value is not None
        value = self.value(node.value)
        self.returned = typed(value) if self.returns_typed else value

    def If(self, node: ast.If) -> None:
        condition = self.value(node.test)
        if isinstance(condition, Weak):
            self.block(node.body if condition.value else node.orelse)
            return
        taken, other = (node.body, node.orelse) if truth(condition) else (node.orelse, node.body)
        aside = self.copy()
        aside.block(other)
        self.same_types(aside)
        before = self.copy()
        self.block(taken)
        before.same_types(self)
        if self.returned is not None or aside.returned is not None:
            self.returns_typed = True
            self.returned = typed(self.returned)

    def For(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call)
        (stop,) = map(self.value, node.iter.args)
        assert isinstance(stop, (Weak, Typed))
        if isinstance(node.iter.func, ast.Attribute):
            for i in range(stop.value):  # type: ignore[union-attr]
                self.names[node.target.id] = Weak(i)  # type: ignore[attr-defined]
                self.block(node.body)
            return
        count = stop.value if isinstance(stop, Weak) else stop.values[0]
        aside = self.copy()
        for i in range(max(count, 1)):
            round_ = self if i < count else aside
            before = round_.copy()
            kept = round_.names.get(node.target.id)  # type: ignore[attr-defined]
            round_.names[node.target.id] = Typed("int32", (i,))  # type: ignore[attr-defined]
            round_.block(node.body)
            round_.names[node.target.id] = kept  # type: ignore[attr-defined]
            before.same_types(round_)

    def same_types(self, after: Interpreter) -> None:
        for name, value in self.names.items():
            other = after.names[name]
            if isinstance(value, Weak) and other is not value:
                raise Refused
            if isinstance(value, Typed) and own(other) != own(value):
                raise Refused
            if isinstance(value, tuple) and other is not value:
                raise Refused

    def copy(self) -> Interpreter:
        made = Interpreter(dict(self.names), self.helpers)
        made.returned = self.returned
        return made

    # -- expressions

    def value(self, node: ast.expr) -> Value:
        result: Value = getattr(self, type(node).__name__)(node)
        return result

    def Constant(self, node: ast.Constant) -> Value:
        return Weak(node.value)

    def Name(self, node: ast.Name) -> Value:
        return self.names[node.id]  # type: ignore[no-any-return]

    def Tuple(self, node: ast.Tuple) -> Value:
        return tuple(map(self.value, node.elts))

    def Subscript(self, node: ast.Subscript) -> Value:
        whole, index = self.value(node.value), self.value(node.slice)
        return whole[index.value]  # type: ignore[index,union-attr,no-any-return]

    def UnaryOp(self, node: ast.UnaryOp) -> Value:
        operand = self.value(node.operand)
        assert isinstance(node.op, ast.USub)
        if isinstance(operand, Weak):
            return Weak(-operand.value)
        raise Refused

    def BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        return binary(SYMBOLS[type(node.op)], left, right)  # type: ignore[arg-type]

    def Compare(self, node: ast.Compare) -> Value:
        left, right = self.value(node.left), self.value(node.comparators[0])
        return binary(SYMBOLS[type(node.ops[0])], left, right)  # type: ignore[arg-type]

    def IfExp(self, node: ast.IfExp) -> Value:
        condition = self.value(node.test)
        if isinstance(condition, Weak):
            return self.value(node.body if condition.value else node.orelse)
        left, right = self.value(node.body), self.value(node.orelse)
        if own(left) != own(right):  # type: ignore[arg-type]
            raise Refused
        return typed(left if truth(condition) else right)

    def Call(self, node: ast.Call) -> Value:
        arguments = [self.value(argument) for argument in node.args]
        match node.func:
            case ast.Attribute(attr="to", value=owner):
                return self.cast(self.value(owner), node.args[0])
            case ast.Attribute(attr=("minimum" | "maximum") as name):
                if all(isinstance(value, Weak) for value in arguments):
                    raise Refused
                return chosen(name, *arguments)  # type: ignore[arg-type]
            case ast.Attribute(attr="where"):
                condition, left, right = arguments
                return where(typed(condition), left, right)  # type: ignore[arg-type]
            case ast.Name(id=name):
                return self.helper(self.helpers[name], arguments)
        raise AssertionError(ast.dump(node))

    def Attribute(self, node: ast.Attribute) -> Value:
        return Weak(node.attr)  # a dtype

    def cast(self, value: Value, dtype: ast.expr) -> Value:
        if not isinstance(value, Typed):
            raise Refused
        assert isinstance(dtype, ast.Attribute)
        return Typed(dtype.attr, as_type(value, dtype.attr))

    def helper(self, function: ast.FunctionDef, arguments: Sequence[Any]) -> Value:
        names = dict(zip([argument.arg for argument in function.args.args], arguments, strict=True))
        inner = Interpreter(names, self.helpers)
        inner.block(function.body)
        assert inner.returned is not None
        return inner.returned


def typed(value: Any) -> Any:
    if value is None:
        return None
    return tuple(map(typed, value)) if isinstance(value, tuple) else assigned(value)


def truth(condition: Any) -> bool:
    return bool(condition.values[0])
