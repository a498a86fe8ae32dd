"""Reading the SSA text back: `parse(print_function(f))` prints the same.

The reader makes the ops exactly as they are written, with the types that are written,
without folding or typing anything, so that a test may hold a program at any stage, wrong ones too;
`check` says whether it is right. Grammar, with `[…]` optional and `*` for a list with commas:

    function  = "kernel" name "(" [name ":" type]* ")" region
    region    = "{" op… "}"                                    one op a line
    op        = [%value* "="] name [operand*] [attributes] [":" type*]
                [["(" [%value [name] ":" type]* ")"] region [joiner …]]
    operand   = %value | name | `name` | "none" | number | "true" | "false"   constants with [:type]
    attributes = "{" [name "=" attribute]* "}"
    attribute = "none" | "true" | "false" | number | "string" | type | "(" attribute* ")"

`#` starts a comment. An operand stands on the line of its op.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from .nodes import Const, Function, Op, Operand, Param, Region, Value
from .numeric import canonical
from .ops import TABLE
from .recursion import Walk, run
from .regions import YIELD
from .types import BOOL, BY_IR_NAME, F32, I32, Element, PointerType, ScalarType, Type, VectorType

Item = TypeVar("Item")

_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_WORD = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"[^\W\d]\w*|`[^`\n]*`")
_VALUE = re.compile(r"%\d+")
_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SHAPE = re.compile(r"\d+(?:x\d+)* x ")
_CONST = re.compile(r"const\b")
_SUFFIX = re.compile(r":(\w+)")
_OPERAND_FOLLOWS = re.compile(r"[ \t]+[^\s{}():#]")
_ATTRIBUTES_FOLLOW = re.compile(r"\{\s*[^\W\d]\w*\s*=")
_WORDS = {"none": None, "true": True, "false": False}


class ParseError(ValueError):
    """The text is not IR; `line` and `column` (from 1) say where."""

    def __init__(self, message: str, text: str, position: int) -> None:
        before = text[:position]
        self.line = before.count("\n") + 1
        self.column = position - before.rfind("\n")
        shown = text.splitlines()[self.line - 1] if text.splitlines()[self.line - 1 :] else ""
        pointer = " " * (self.column - 1) + "^"
        super().__init__(f"{self.line}:{self.column}: {message}\n{shown}\n{pointer}")


def parse(text: str) -> Function:
    """The function whose text this is. Raises ParseError."""
    parser = _Parser(text)
    function = parser.function()
    if parser.position < len(text):
        parser.fail("the text goes on after the function")
    return function


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.names: dict[str, Value | Param] = {}
        self.space()

    # -- characters

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        raise ParseError(message, self.text, self.position if position is None else position)

    def space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def take(self, pattern: re.Pattern[str]) -> str:
        """What the pattern matches here, with the space after it skipped; '' where it does not."""
        match = pattern.match(self.text, self.position)
        if not match:
            return ""
        self.position = match.end()
        self.space()
        return match.group()

    def accept(self, mark: str) -> bool:
        if not self.text.startswith(mark, self.position):
            return False
        self.position += len(mark)
        self.space()
        return True

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            self.fail(f"{mark!r} expected")

    def word(self, pattern: re.Pattern[str], what: str) -> str:
        return self.take(pattern) or self.fail(f"{what} expected")

    def name(self) -> str:
        return self.word(_NAME, "a name").strip("`")

    def many(self, item: Callable[[], Item], end: str = "") -> list[Item]:
        """Items with commas between; up to the closing mark, where there is one."""
        items: list[Item] = []
        while not (end and self.accept(end)):
            items.append(item())
            if not self.accept(","):
                if end:
                    self.expect(end)
                return items
        return items

    # -- types and constants

    def type(self) -> Type:
        start, word = self.position, self.word(_WORD, "a type")
        if word != "vector":
            self.position = start
            return self.element()
        self.expect("<")
        shape = self.word(_SHAPE, "a shape such as `16x32 x`")
        extents = tuple(map(int, shape.split()[0].split("x")))
        vector = VectorType(extents, self.element())
        self.expect(">")
        return vector

    def element(self) -> Element:
        start, word = self.position, self.word(_WORD, "an element type")
        if word != "ptr":
            return BY_IR_NAME.get(word) or self.fail(f"there is no type {word}", start)
        self.expect("<")
        const = bool(self.take(_CONST))
        pointer = PointerType(self.element(), const)
        self.expect(">")
        return pointer

    def constant(self) -> Const | None:
        """A constant, where one stands here."""
        start = self.position
        match = re.compile(r"true\b|false\b").match(self.text, start)
        match = match or _NUMBER.match(self.text, start)
        if not match:
            return None
        self.position = match.end()
        value = _number(match.group())
        usual = BOOL if isinstance(value, bool) else F32 if isinstance(value, float) else I32
        suffix = _SUFFIX.match(self.text, self.position)
        ty = BY_IR_NAME.get(suffix.group(1)) if suffix else usual
        if suffix:
            self.position = suffix.end()
        self.space()
        return self.fitting(value, ty or self.fail("there is no such type", start), start)

    def fitting(self, value: Any, ty: ScalarType, start: int) -> Const:
        """The constant of the type, where the number is written as one of the type."""
        constant = Const(canonical(ty, value), ty)
        wrong = isinstance(value, float) and ty.kind != "f"
        if wrong or (ty.kind != "f" and constant.value != value):
            self.fail(f"{value} is not a value of {ty}", start)
        return constant

    # -- operands and attributes

    def operand(self) -> Operand:
        start = self.position
        reference = self.take(_VALUE)
        if reference:
            return self.names.get(reference) or self.fail(f"{reference} is not defined", start)
        constant = self.constant()
        if constant is not None:
            return constant
        word = self.word(_NAME, "an operand")
        if word == "none":
            return None
        name = word.strip("`")
        return self.names.get(name) or self.fail(f"there is no parameter {name}", start)

    def attribute(self) -> Any:
        if self.accept("("):
            return tuple(self.many(self.attribute, ")"))
        text = self.take(_STRING)
        if text:
            return json.loads(text)
        number = self.take(_NUMBER)
        if number:
            return _number(number)
        start = self.position
        word = self.word(_WORD, "an attribute's value")
        if word in _WORDS:
            return _WORDS[word]
        self.position = start
        return self.type()

    def attributes(self) -> dict[str, Any]:
        if not _ATTRIBUTES_FOLLOW.match(self.text, self.position):
            return {}
        self.expect("{")

        def pair() -> tuple[str, Any]:
            name = self.word(_WORD, "an attribute")
            self.expect("=")
            return name, self.attribute()

        return dict(self.many(pair, "}"))

    # -- ops and regions

    def define(self, name: str, value: Value | Param, start: int) -> None:
        if name in self.names:
            self.fail(f"{name} is defined twice", start)
        self.names[name] = value

    def op(self) -> Walk[Op]:
        start = self.position
        defines = (
            self.many(lambda: self.word(_VALUE, "a result")) if self.text[start] == "%" else []
        )
        if defines:
            self.expect("=")
        place, name = self.position, self.op_name()
        operands = self.many(self.operand) if self.operands_follow(place + len(name)) else []
        attrs = self.attributes()
        types = self.many(self.type) if self.accept(":") else []
        row = TABLE.get(name) or self.fail(f"there is no op {name}", place)
        regions = []
        for index in range(len(row.region_names)):
            if index and row.region_separator:
                self.expect(row.region_separator)
            regions.append((yield self.region(self.params() if self.accept("(") else ())))
        if len(types) != len(defines):
            self.fail(f"{len(defines)} results of {len(types)} types", start)
        op = Op(row, tuple(operands), tuple(types), attrs, tuple(regions))
        for reference, value in zip(defines, op.results):
            self.define(reference, value, start)
        return op

    def op_name(self) -> str:
        return self.word(_WORD, "an op")

    def operands_follow(self, end: int) -> bool:
        """Whether the op, whose name ends at `end`, has operands: they start on its line."""
        return bool(_OPERAND_FOLLOWS.match(self.text, end))

    def params(self) -> tuple[Param, ...]:
        def param() -> Param:
            start, reference = self.position, self.word(_VALUE, "a value")
            name = self.take(_NAME).strip("`")
            self.expect(":")
            made = Param(name, self.type())
            self.define(reference, made, start)
            return made

        return tuple(self.many(param, ")"))

    def region(self, params: tuple[Param, ...], end: tuple[Op, ...] = ()) -> Walk[Region]:
        """Ops in braces; `end` is what to add after them."""
        self.expect("{")
        ops: list[Op] = []
        while not self.accept("}"):
            if self.position == len(self.text):
                self.fail("'}' expected")
            ops.append((yield self.op()))
        return Region(params, (*ops, *end))

    def function(self) -> Function:
        self.expect("kernel")
        name = self.name()
        self.expect("(")

        def param() -> Param:
            start, name = self.position, self.name()
            self.expect(":")
            made = Param(name, self.type())
            self.define(name, made, start)
            return made

        params = tuple(self.many(param, ")"))
        return Function(name, params, run(self.region((), (Op(YIELD, ()),))))


def _number(text: str) -> bool | int | float:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.lstrip("-").isdigit() else float(text)
