"""Chooses a home for each value of the tiled lowering: the layout in which it is computed.

Accesses to memory choose theirs by how addresses run (neighbouring lanes at neighbouring
addresses, up to 16 bytes a thread), products by their instruction; what is computed from them stays
where it is. Index arithmetic (ranges, constants, scalars, and what is computed from these alone)
has no home: it is made again in each layout that needs it, which costs less than moving it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from ...ir.nodes import Const, Function, Op, Operand, Param, Region, Value, walk
from ...ir.types import SCALARS, PointerType, Type, VectorType, element_of, shape_of
from ...layouts.linear import Layout, padded, ravel
from ...layouts.shapes import blocked, mma_result
from ...passes.axis_info import AxisAnalysis, AxisInfo, axis_info
from .emit.distribution import Distribution
from .emit.mma import instruction_of, warps_of
from .emit.shapes import doubled, halved, is_relabelling
from .spelling import is_small_float

REMAKE_COST = 40
"""Above this many instructions an element a value is computed once and moved."""
MOVE_COST = 20
"""What a move between layouts counts for."""
VECTOR_BYTES = 16


def tiled(
    function: Function,
    warps: int,
    given: Mapping[str, AxisInfo] | None = None,
    inside: Set[Operand] = frozenset(),
) -> Distribution:
    """The distribution over so many warps. `given`: what is known of parameters, by name; inside:
    the values that do not wrap."""
    assigner = Assigner(warps, axis_info(function, given, inside))
    assigner.region(function.body)
    if assigner.feeding:
        before, assigner = assigner, Assigner(warps, assigner.facts)
        assigner.feeding = before.feeding
        assigner.region(function.body)
    homes = {value: layout for value, layout in assigner.homes.items() if layout is not None}
    return Distribution(
        32 * warps,
        False,
        homes,
        assigner.accesses,
        assigner.vectors,
        assigner.dots,
        frozenset(raw(function, assigner)),
        frozenset(assigner.ruled),
    )


def raw(function: Function, assigner: Assigner) -> set[Value]:
    """Blocks of small floats that are held as memory holds them: those that only tensor cores read,
    loaded by vector accesses, and those that are rounded to be stored."""
    readers: dict[Value, list[Op]] = {}
    for op in walk(function.body):
        for operand in op.operands:
            if isinstance(operand, Value):
                readers.setdefault(operand, []).append(op)

    def only_products(value: Value) -> bool:
        return all(
            op in assigner.dots or (op.name == "trans" and only_products(op.results[0]))
            for op in readers.get(value, [])
        )

    rounded = {
        op.results[0]
        for op in walk(function.body)
        if op.name == "cast"
        and shape_of(op.types[0])
        and is_small_float(element_of(op.types[0]))
        and all(reader.name == "store" for reader in readers.get(op.results[0], [op]))
    }
    loads = (op for op, vector in assigner.vectors.items() if op.name == "load" and vector > 1)
    return rounded | {
        op.results[0]
        for op in loads
        if is_small_float(element_of(op.types[0]))
        and op.operands[2] in (None, ZEROS.get(element_of(op.types[0]).ir))
        and only_products(op.results[0])
    }


ZEROS = {ty.ir: Const(0.0, ty) for ty in SCALARS if ty.kind == "f"}


@dataclass
class Assigner:
    """One walk over a function. `homes` holds None for what is made again where it is needed."""

    warps: int
    facts: AxisAnalysis
    homes: dict[Value | Param, Layout | None] = field(default_factory=dict)
    costs: dict[Value | Param, int] = field(default_factory=dict)
    accesses: dict[Op, Layout] = field(default_factory=dict)
    vectors: dict[Op, int] = field(default_factory=dict)
    dots: dict[Op, tuple[int, int]] = field(default_factory=dict)
    feeding: set[Op] = field(default_factory=set)
    """Products whose result is computed into another's left operand; found by a first walk."""
    ruled: set[Op] = field(default_factory=set)

    def region(self, region: Region) -> None:
        for op in region.ops:
            self.op(op)

    def op(self, op: Op) -> None:
        rule = ANCHORS.get(op.name)
        if rule is not None:
            rule(self, op)
        elif op.types:
            self.pointwise(op)

    # -- what is known

    def default(self, ty: Type) -> Layout:
        """The layout of a type where nothing says another."""
        return blocked(padded(shape_of(ty)), self.warps)

    def home(self, operand: Operand) -> Layout | None:
        """The home of a block that has one."""
        if operand is None or isinstance(operand, Const) or not shape_of(operand.ty):
            return None
        return self.homes.get(operand)

    def of(self, operand: Operand) -> Layout:
        """The home of a block, else the default layout of its type."""
        assert operand is not None
        return self.home(operand) or self.default(operand.ty)

    def settle(self, values: Sequence[Value | Param], layout: Layout | None) -> None:
        """Gives blocks a home."""
        for value in values:
            self.homes[value] = layout if shape_of(value.ty) else None
            self.costs[value] = MOVE_COST if shape_of(value.ty) else 0

    # -- ops that only compute

    def pointwise(self, op: Op) -> None:
        """At the home of an operand of the same shape, where there is one."""
        relabel = RELABEL.get(op.name)
        if op.name in ("reshape", "cat") and not is_relabelling(op):
            self.ruled.add(op)
            self.settle(op.results, self.default(op.types[0]))
            return
        for value in op.results:
            shape = padded(shape_of(value.ty))
            if relabel is not None:
                home = relabel(self, op)
            else:
                homes = (self.home(operand) for operand in op.operands)
                home = next((h for h in homes if h is not None and h.shape == shape), None)
            cost = self.cost(op) if shape else 0
            if home is None and cost > REMAKE_COST:
                home = self.default(value.ty)
            self.homes[value] = home.compact() if home is not None and shape else None
            self.costs[value] = MOVE_COST if home is not None else cost

    def cost(self, op: Op) -> int:
        """About how many instructions an element takes to be made from scratch."""
        row = op.row.element
        own = 1 if row is None else row.cost
        return own + sum(self.costs.get(v, 0) for v in op.operands if isinstance(v, (Value, Param)))

    def carried(self, param: Param) -> Layout | None:
        """The home of a carried value that comes from index arithmetic and stays so."""
        if not isinstance(param.ty, VectorType):
            return None
        pointer = isinstance(param.ty.element, PointerType)
        return self.coalesced(param) if pointer else self.default(param.ty)

    def source_product(self, op: Op) -> Op | None:
        """The product that the left operand of a product is computed from, element by element."""
        value: Operand = op.operands[0]
        while isinstance(value, Value) and value.op.name not in ANCHORS:
            blocks = (v for v in value.op.operands if v is not None and shape_of(v.ty))
            value = next((v for v in blocks if self.home(v) is not None), None)
        return value.op if isinstance(value, Value) and value.op in self.dots else None

    # -- accesses to memory

    def access(self, op: Op) -> Layout:
        """The layout of an access: that of the addresses where they have one, else by how they
        run."""
        pointer = op.operands[0]
        assert pointer is not None
        return self.home(pointer) or self.coalesced(pointer)

    def vector(self, op: Op, layout: Layout, mask: Operand) -> int:
        """How many registers one access can move: neighbours in memory, aligned as a whole, under
        one mask."""
        pointer = op.operands[0]
        assert pointer is not None
        element, shape = element_of(pointer.ty), shape_of(pointer.ty)
        if not shape or not isinstance(element, PointerType):
            return 1
        known, size = self.facts.of(pointer), element.element.itemsize
        best = 1
        for axis, run in enumerate(known.contiguity):
            most = min(run & -run, known.divisibility[axis] // size, VECTOR_BYTES // size)
            if mask is not None:
                most = min(most, self.constancy(mask, axis, shape))
            best = max(best, min(most, _consecutive(layout, axis)))
        return best

    def constancy(self, mask: Value | Param | Const, axis: int, shape: tuple[int, ...]) -> int:
        """How many neighbours along an axis a mask is the same for, from multiples of that on."""
        given = shape_of(mask.ty)
        if not given or given[axis] == 1:
            return shape[axis] & -shape[axis]
        known = self.facts.of(mask).constancy[axis]
        return known & -known

    def coalesced(self, pointer: Value | Param | Const) -> Layout:
        """Neighbouring elements of the axis along which addresses are contiguous go to a thread's
        registers, up to 16 bytes, then to its neighbours."""
        shape = shape_of(pointer.ty)
        if not shape:
            return self.default(pointer.ty)
        element, known = element_of(pointer.ty), self.facts.of(pointer)
        axes = sorted(range(len(shape)), key=lambda axis: (-known.contiguity[axis], -axis))
        size = element.element.itemsize if isinstance(element, PointerType) else element.itemsize
        fastest = axes[0]
        run = min(known.contiguity[fastest], max(known.divisibility[fastest] // size, 1))
        whole = padded(shape)
        room = max(1, _product(whole) // (32 * self.warps))
        vector = 1
        while vector * 2 <= min(run & -run, VECTOR_BYTES // size, room, whole[fastest]):
            vector *= 2
        return blocked(whole, self.warps, vector, axes)


def _consecutive(layout: Layout, axis: int) -> int:
    """How many registers, from each multiple of that on, are neighbours along an axis."""
    count = 1
    place = [0] * len(layout.shape)
    for base in layout.register:
        place[axis] = count
        if base != ravel(place, layout.shape) or count >= layout.shape[axis]:
            break
        count *= 2
    return count


def _product(shape: Sequence[int]) -> int:
    size = 1
    for extent in shape:
        size *= extent
    return size


# -- ops that say where their values are


def _load(assigner: Assigner, op: Op) -> None:
    layout = assigner.access(op)
    assigner.accesses[op] = layout
    assigner.vectors[op] = assigner.vector(op, layout, op.operands[1])
    assigner.settle(op.results, layout)


def _store(assigner: Assigner, op: Op) -> None:
    layout = assigner.accesses[op] = assigner.access(op)
    assigner.vectors[op] = assigner.vector(op, layout, op.operands[2])


def _atomic(assigner: Assigner, op: Op) -> None:
    layout = assigner.accesses[op] = assigner.access(op)
    assigner.settle(op.results, layout)


def _along(assigner: Assigner, op: Op) -> None:
    """A scan, in the layout of its operand."""
    layout = next((h for h in map(assigner.home, op.operands) if h), assigner.of(op.operands[0]))
    assigner.accesses[op] = layout
    assigner.settle(op.results, layout)


def _reduce(assigner: Assigner, op: Op) -> None:
    _along(assigner, op)
    sliced = assigner.accesses[op].without(op.attribute("axis")).compact()
    assigner.settle(op.results, sliced)


def _gather(assigner: Assigner, op: Op) -> None:
    assigner.settle(op.results, assigner.of(op.operands[1]))


def _fresh(assigner: Assigner, op: Op) -> None:
    """In the default layout of each result."""
    for value in op.results:
        assigner.settle([value], assigner.default(value.ty))


def _dot(assigner: Assigner, op: Op) -> None:
    """As the instruction leaves it, where there is one."""
    if instruction_of(op) is None:
        _fresh(assigner, op)
        return
    shape = shape_of(op.types[0])
    source = assigner.source_product(op)
    if source is not None:
        assigner.feeding.update((source, op))
    chained = op in assigner.feeding
    warps = assigner.dots[op] = warps_of(shape, assigner.warps, chained)
    assigner.settle(op.results, mma_result(shape, warps))


def _map(assigner: Assigner, op: Op) -> None:
    homes = [h for h in map(assigner.home, op.operands) if h is not None]
    shape = padded(shape_of(op.types[0]))
    same = next((h for h in homes if h.shape == shape), assigner.default(op.types[0]))
    assigner.settle(op.results, same)
    assigner.region(op.regions[0])


def _loop(assigner: Assigner, op: Op) -> None:
    """What is carried stays where the body leaves it, or where it comes from."""
    first = 3 if op.name == "for" else 0
    carried = [region.params[1 if first else 0 :] for region in op.regions]
    homes = [assigner.home(operand) for operand in op.operands[first:]]
    for _ in range(3):
        for params in carried:
            for param, home in zip(params, homes):
                assigner.settle([param], home)
        for region in op.regions:
            assigner.region(region)
        left = [assigner.home(result) for result in op.regions[-1].results]
        merged = [home or other for home, other in zip(homes, left)]
        if merged == homes:
            break
        homes = merged
    homes = [home or assigner.carried(param) for home, param in zip(homes, carried[0])]
    for params in carried:
        for param, home in zip(params, homes):
            assigner.settle([param], home)
    for region in op.regions:
        assigner.region(region)
    for result, home in zip(op.results, homes):
        assigner.settle([result], home)


def _if(assigner: Assigner, op: Op) -> None:
    for region in op.regions:
        assigner.region(region)
    for value in op.results:
        sides = [assigner.home(region.results[value.index]) for region in op.regions]
        assigner.settle([value], next((s for s in sides if s), assigner.default(value.ty)))


ANCHORS: dict[str, Callable[[Assigner, Op], None]] = {
    "load": _load,
    "store": _store,
    "atomic": _atomic,
    "atomic_cas": _atomic,
    "reduce": _reduce,
    "scan": _along,
    "sort": _along,
    "histogram": _fresh,
    "dot": _dot,
    "gather": _gather,
    "slice": _fresh,
    "map": _map,
    "for": _loop,
    "while": _loop,
    "if": _if,
}
"""Ops that choose a layout."""


def _transposed(assigner: Assigner, op: Op) -> Layout | None:
    home = assigner.home(op.operands[0])
    return None if home is None else home.transpose(op.attribute("order"))


def _reshaped(assigner: Assigner, op: Op) -> Layout | None:
    home = assigner.home(op.operands[0])
    return None if home is None else home.reshape(padded(shape_of(op.types[0])))


def _joined(assigner: Assigner, op: Op) -> Layout | None:
    home = assigner.home(op.operands[0]) or assigner.home(op.operands[1])
    return None if home is None else doubled(home, (*home.shape, 2))


def _split(assigner: Assigner, op: Op) -> Layout | None:
    home = assigner.home(op.operands[0])
    return None if home is None else home.without(len(home.shape) - 1).compact()


def _concatenated(assigner: Assigner, op: Op) -> Layout | None:
    """With the highest bit of the axis in a register."""
    home = assigner.home(op.operands[0]) or assigner.home(op.operands[1])
    if home is None:
        return None
    wide = padded(shape_of(op.types[0]))
    default = blocked(wide, assigner.warps)
    return default if halved(default, op.attribute("axis")).shape == home.shape else None


def _nowhere(assigner: Assigner, op: Op) -> Layout | None:
    return None


RELABEL: dict[str, Callable[[Assigner, Op], Layout | None]] = {
    "trans": _transposed,
    "reshape": _reshaped,
    "join": _joined,
    "split": _split,
    "cat": _concatenated,
    "broadcast": _nowhere,
}
"""The home of a value that is another's under a new shape."""
