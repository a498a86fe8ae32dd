"""The op table: what a row is, and the rules that all rows share.

A fact about an op is written once, in its row; typing, folding, `tl.*`, the targets, the
tests and the docs read it from here. The element-wise rows are in `elementwise.py`, the structural
ones in `structural.py`.

A type rule takes a `Signature` and returns the result types; it raises `Mismatch` with what was
given and what is allowed. The builder and `check()` call the same rule, by `Row.result_types`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .types import BOOL, Element, PointerType, ScalarType, Type, element_of, shape_of, with_shape

if TYPE_CHECKING:
    from .nodes import Region


class Mismatch(Exception):
    """A type rule refuses its operands; the text says what was given and what is allowed."""


class Effect(enum.IntEnum):
    """What an op does to memory, weakest first."""

    PURE = 0
    READ = 1
    """Reads memory: keeps its place relative to writes; dropped when unused."""
    WRITE = 2
    """Writes memory, synchronises, prints or asserts: never dropped, in program order."""


class RegionKind(enum.Enum):
    """What a region is for its op, and so what may leave it."""

    LOOP = "loop"
    """Runs any number of times: an op on values from outside may be hoisted out of it."""
    BRANCH = "branch"
    """Runs at most once; ops stay inside."""
    FUNCTION = "function"
    """The function of a reduction, scan or map: pure, called in no fixed order."""
    TRIAL = "trial"
    """Open while tracing only: its ops join the region around it, or are discarded."""


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""The default of an attribute that every op of the row must give."""

Types = tuple[Type, ...]


@dataclass(frozen=True)
class Signature:
    """What a type rule looks at: the types of an op's operands (None: an absent one), its
    attributes, given or defaulted, and its regions. Asking for an absent operand raises
    Mismatch."""

    row: Row
    types: Sequence[Type | None]
    attrs: Mapping[str, Any]
    regions: tuple[Region, ...] = ()

    def __getitem__(self, attribute: str) -> Any:
        return self.attrs[attribute]

    def type(self, place: int) -> Type:
        ty = self.types[place]
        if ty is None:
            raise Mismatch(f"operand {self.row.operand_name(place)} is missing")
        return ty

    def element(self, place: int) -> Element:
        return element_of(self.type(place))

    def shape(self, place: int) -> tuple[int, ...]:
        return shape_of(self.type(place))

    def pointer(self, place: int) -> PointerType:
        """The element type of an operand that must be a pointer, or a block of pointers."""
        element = self.element(place)
        if not isinstance(element, PointerType):
            raise Mismatch(f"a pointer is needed, got {self.type(place)}")
        return element

    def all(self) -> Types:
        """The types of all operands, each of which must be there."""
        return tuple(map(self.type, range(len(self.types))))


Rule = Callable[[Signature], Types]


@dataclass(frozen=True)
class Elementwise:
    """What makes a row element-wise: one meaning per element, alike on every target.

    kinds: the kinds of operand element ("b", "i", "u", "f") it is defined for. numpy: its meaning
    on held arrays of the compute type (float32 for small floats, rounded once after). c: C template
    over `{0}`, `{1}`, …; `{f}` is "f" for f32 and "" for f64. A mapping chooses by IR type name,
    then kind. A callable gets the operand texts and the element type. llvm: instruction or `llvm.`
    intrinsic, by kind. expand: the meaning in terms of other rows, on `Expr` values, where LLVM has
    no instruction. One of the two is given. ulp: the largest allowed distance to the exact result
    in units of the last place of the compute type (0: exact). fast: C templates, by IR type name,
    that the tiled CUDA lowering prints instead, as Triton does: less exact, as their doc says.
    """

    arity: int
    kinds: str
    numpy: Callable[..., Any]
    c: str | Mapping[str, Any] | Callable[..., str]
    llvm: Mapping[str, str] = field(default_factory=dict)
    fast: Mapping[str, str] = field(default_factory=dict)
    expand: Callable[..., Any] | None = None
    boolean: bool = False
    """The result is bool rather than the operands' type."""
    result: ScalarType | None = None
    """A fixed result type (like ilogb's i32); None: that of the operands."""
    commutes: bool = False
    idempotent: bool = False
    identity: Mapping[str, Any] = field(default_factory=dict)
    """By kind, e with f(x, e) = x, and f(e, x) = x where it commutes; "max", "min": the type's ends
    (or infinities)."""
    ulp: float = 0.0
    absolute: float = 0.0
    """An error allowed besides, absolutely: where a function's zeros are no floats."""
    cost: int = 1
    """About how many machine instructions a vector of elements takes: what is worth keeping rather
    than redoing."""
    public: bool = False
    """`tl.<name>` and `tl.math.<name>` are made from this row."""
    signature: tuple[str, ...] = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Row:
    """One op. `symbol` is its Python operator, where it has one.

    operands, region_names: the names of its operands (the last may be `*rest`; of an element-wise
    row its signature) and regions.
    node_name: its name in the expression view, else the capitalised `name`. evaluation_order: the
    order in which its operands are computed, where that is not their own. region_kind: what its
    regions are. region_separator: the word between its two regions in the text.
    """

    name: str
    doc: str
    rule: Rule
    attrs: Mapping[str, Any] = field(default_factory=dict)
    effect: Effect = Effect.PURE
    symbol: str = ""
    element: Elementwise | None = None
    operands: tuple[str, ...] = ()
    region_names: tuple[str, ...] = ()
    node_name: str = ""
    evaluation_order: tuple[int, ...] = ()
    region_kind: RegionKind = RegionKind.FUNCTION
    region_separator: str = ""
    speculatable: bool = True
    """Whether the op may be done where the program as written would not do it; not one that can
    fault."""

    def __post_init__(self) -> None:
        if self.element is not None:
            names = self.element.signature[: self.element.arity]
            object.__setattr__(self, "operands", names)

    def operand_name(self, place: int) -> str:
        return self.operands[min(place, len(self.operands) - 1)].strip("*")

    def result_types(
        self,
        types: Sequence[Type | None],
        attrs: Mapping[str, Any],
        regions: tuple[Region, ...] = (),
    ) -> Types:
        """The types of the op's results. Raises Mismatch for operands that the row refuses."""
        count = len(self.operands)
        rest = count > 0 and self.operands[-1].startswith("*")
        fits = len(types) >= count - 1 if rest else len(types) == count
        need(fits, f"{count - rest} operands expected, got {len(types)}")
        return self.rule(Signature(self, types, attrs, regions))

    @property
    def is_loop(self) -> bool:
        """Whether the op is a loop."""
        return self.region_kind is RegionKind.LOOP

    @property
    def has_control_flow(self) -> bool:
        """Whether the op is a loop or a branch, whose regions may have effects."""
        return self.region_kind is not RegionKind.FUNCTION


TABLE: dict[str, Row] = {}


def add_row(row: Row) -> Row:
    """Puts a row into the table; a second row of the same name is refused."""
    assert row.name not in TABLE, f"two rows named {row.name}"
    TABLE[row.name] = row
    return row


def structural(name: str, operands: str, doc: str, rule: Rule, **fields: Any) -> Row:
    """Adds a structural row; `operands` are their names, `fields` the others of `Row`."""
    return add_row(Row(name, doc, rule, operands=tuple(operands.split()), **fields))


def need(condition: bool, message: str) -> None:
    """Raises Mismatch with the message unless the condition holds."""
    if not condition:
        raise Mismatch(message)


def broadcast_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of strict operands: scalars and extents 1 stretch, ranks are equal."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0] if shapes else ()
    blocks = [shape for shape in shapes if shape]
    need(len({len(shape) for shape in blocks}) == 1, f"blocks of different rank: {list(blocks)}")
    result = []
    for extents in zip(*blocks):
        wide = {extent for extent in extents if extent != 1}
        need(len(wide) <= 1, f"shapes do not broadcast: {' and '.join(map(str, blocks))}")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def elementwise_rule(row: Elementwise) -> Rule:
    """All operands have one element type of the row's kinds; shapes broadcast strictly."""

    def rule(sig: Signature) -> Types:
        types = sig.all()
        elements = list(map(element_of, types))
        need(len(set(elements)) == 1, f"operands of one element type expected, got {elements}")
        element = elements[0]
        allowed = element.kind in row.kinds
        need(
            allowed,
            f"operands of type {element} are not allowed; allowed are {kind_names(row.kinds)}",
        )
        result = BOOL if row.boolean else row.result or element
        return (with_shape(result, broadcast_shapes(list(map(shape_of, types)))),)

    return rule


def kind_names(kinds: str) -> str:
    names = {"b": "bool", "i": "signed ints", "u": "unsigned ints", "f": "floats", "p": "pointers"}
    return ", ".join(names[kind] for kind in kinds)


def along(types: Types, axis: int) -> tuple[int, ...]:
    """The one shape of the operands, of which axis is an axis."""
    shapes = set(map(shape_of, types))
    need(len(shapes) == 1, f"operands of one shape expected, got {', '.join(map(str, types))}")
    shape = shapes.pop()
    need(0 <= axis < len(shape), f"axis {axis} is not one of shape {shape}")
    return shape
