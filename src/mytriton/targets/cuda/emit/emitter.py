"""Prints a function as CUDA C++: the values so far, their layouts, and what every rule needs.

A value is a register array in a layout, `v6[r]`, or one local `v6` where the layout has one
register. A rule says what one register of its result is, and the emitter says it for each:

    %3 = add %1, %2 : vector<256 x i32>            int v3 = (v1 + v2);
    %4 = addptr x, %3 : vector<256 x ptr<f32>>     (nothing: an `Address`, x and v3)
    %6 = load %4, %5, 0.0 : vector<256 x f32>      float v6 = (v5 ? x[v3] : 0.0f);

Under the lane rule (`distribution.lane_rule`) every layout is the identity, and each op is printed
where it stands. In the tiled lowering a value without a home (index arithmetic) is printed where it
is first asked for, in the layout that is asked for; a value with one is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ....errors import Where
from ....ir.nodes import Const, Function, Op, Operand, Param, Region, Value, number, walk
from ....ir.text import SSAPrinter
from ....ir.types import element_of, shape_of
from ....layouts.convert import Permute, Plan, convert
from ....layouts.linear import Layout, Shape, padded
from ..options import Options
from ..source import CudaSource, Parameter
from ..spelling import legal_name, literal, local_type, memory_type, zero
from .distribution import Distribution
from .held import Address, Held
from .linear import Register, are_apart, image, joined
from .numbering import numbering
from .order import Order
from .printer import Hole, Printer, flattened
from .record import Move, Record
from .scratch import Scratch, aligned

if TYPE_CHECKING:
    from .operands import Placement

Compute = Callable[[Register], str]
Remake = Callable[["Emitter", Value, Layout], "Held | Address"]
"""Computes a value in any layout that is asked for."""
Rule = Callable[["Emitter", Op], None]
"""Prints an op, and defines its results."""


@dataclass(frozen=True)
class Rules:
    """How each op is printed: `remake` in any layout, `rules` in its own."""

    remake: Mapping[str, Remake]
    rules: Mapping[str, Rule]


class Emitter:
    """The printing of one function."""

    def __init__(
        self, function: Function, distribution: Distribution, options: Options, rules: Rules
    ) -> None:
        self.function, self.distribution, self.options = function, distribution, options
        self.table = rules
        self.numbers = number(function)
        self.ssa = SSAPrinter(self.numbers)
        self.printer = Printer()
        self.put = self.printer.put
        self.name = legal_name(function.name)
        taken = frozenset() if distribution.lane_rule else TAKEN
        self.parameters = _parameters(function, taken)
        self.thread = "threadIdx.x" if distribution.lane_rule else "thread"
        self.scopes: list[dict[tuple[Value | Param, Layout], Held | Address]] = [{}]
        self.loops: list[tuple[int, Hole]] = []
        """The open loops: the number of scopes outside each, and the place before it."""
        self.tiles: dict[Value | Param, tuple[str, Placement]] = {}
        """Operands of products that lie in shared memory: the C pointer, and how."""
        self.fragments: dict[Op, str] = {}
        """The arrays of left operands that stay in registers across a loop, by product."""
        self.copied: dict[Op, str] = {}
        """Loads that a pipeline has copied, and where to."""
        self.silent: set[Op] = set()
        """Transposes of these, which products read from shared memory as they lie."""
        self.carriers: dict[Value | Param, Op] = {}
        """The open `for` that carries a value."""
        self.level: dict[Value | Param, int] = {}
        """How many scopes were open where a value's op stands."""
        self.homes: dict[Value | Param, Layout] = dict(distribution.homes)
        self.names: dict[tuple[Value | Param, Layout], str] = {}
        self.counts: dict[str, int] = {}
        for param, parameter in zip(function.params, self.parameters):
            self.define(param, Held(parameter.name, self.scalar))
        self.order = Order(function, distribution, options.overlap)
        self.where: Where = ()
        self.moves: list[Move] = []
        self.scratch = Scratch(self)
        self.used = _used(function.body)
        self.numbering = frozenset() if options.wraps else numbering(function.body)

    @property
    def scalar(self) -> Layout:
        """The layout of a scalar."""
        return self.distribution.scalar

    def source(self) -> CudaSource:
        """Prints the function."""
        self.body(self.function.body)
        printed = flattened(self.printer.lines)
        lines, places = [line.text for line in printed], [line.where for line in printed]
        if not self.distribution.lane_rule:
            own = [*self.scratch.declaration(), "    int thread = threadIdx.x;"]
            lines, places = [*own, *lines], [*((),) * len(own), *places]
        signature = ", ".join(f"{p.c_type} {p.name}" for p in self.parameters)
        head = ['extern "C" __global__', f"void {self._bounds()}{self.name}({signature}) {{"]
        text = "\n".join([*head, *lines, "}"])
        places = [where for where, line in zip(places, lines) for _ in range(line.count("\n") + 1)]
        return CudaSource(
            self.name,
            text,
            self.parameters,
            self.distribution.threads,
            self.scratch.dynamic,
            not self.distribution.lane_rule,
            self.function,
            self.options,
            ((), (), *places, ()),
            Record(self.distribution, tuple(self.names), tuple(self.moves), self.numbers),
            self.scratch.bytes,
        )

    def _bounds(self) -> str:
        """The launch bounds of the tiled lowering, by which registers are allotted where the launch
        does not say how many there may be."""
        if self.distribution.lane_rule or self.options.maxnreg is not None:
            return ""
        return f"__launch_bounds__({self.distribution.threads}) "

    # -- values

    def define(
        self, value: Value | Param, held: Held | Address, layout: Layout | None = None
    ) -> None:
        """Says what stands for a value, in its home, from here on."""
        layout = layout or self.scalar
        self.homes.setdefault(value, layout)
        self.level.setdefault(value, len(self.scopes))
        self.scopes[-1][value, layout] = held

    def found(self, value: Value | Param, layout: Layout) -> Held | Address | None:
        """What stands for the value in this very layout, if anything does yet."""
        for scope in reversed(self.scopes):
            if (value, layout) in scope:
                return scope[value, layout]
        return None

    def home(self, operand: Operand) -> Layout:
        """The layout that a value is computed in; the default one where it has none."""
        assert operand is not None
        if isinstance(operand, Const) or operand not in self.homes:
            return self.distribution.layout(shape_of(operand.ty))
        return self.homes[operand]

    def get(self, operand: Operand, layout: Layout) -> Held:
        """The operand in the registers of a layout, whose shape may be larger than the operand's:
        it stretches."""
        found = self.lookup(operand, layout)
        if isinstance(found, Held):
            return found
        return self._pointers(operand, found, layout)

    def lookup(self, operand: Operand, layout: Layout) -> Held | Address:
        """The operand in a layout: registers or an address."""
        assert operand is not None
        if isinstance(operand, Const):
            return Held(literal(operand.value, operand.ty), self.scalar)
        shape = padded(shape_of(operand.ty))
        if not shape:
            return self._known(operand, self.scalar)
        wanted = layout if shape == layout.shape else layout.narrowed(shape)
        found = self.found(operand, wanted)
        if found is None:
            with self.before_loops(operand) as scope:
                found = self._moved(operand, wanted)
                scope[operand, wanted] = found
        return found

    @contextmanager
    def before_loops(
        self, value: Value | Param
    ) -> Iterator[dict[tuple[Value | Param, Layout], Held | Address]]:
        """What is put inside, made of the value alone, stands before the loops that it is defined
        outside of; the scope of that place."""
        level = self.level_of(value)
        found = next((loop for loop in self.loops if loop[0] >= level), None)
        if found is None or self.distribution.lane_rule:
            yield self.scopes[-1]
            return
        count, hole = found
        inner, self.scopes = self.scopes[count:], self.scopes[:count]
        loops, self.loops = self.loops, [loop for loop in self.loops if loop[0] < count]
        with self.printer.inside(hole), self.scratch.elsewhere():
            yield self.scopes[-1]
        self.scopes += inner
        self.loops = loops

    def vary(self, params: Sequence[Param]) -> None:
        """Says that these are carried by the loop whose body begins here: what is made of them
        stands in it, although their locals are declared before it."""
        self.level.update(dict.fromkeys(params, len(self.scopes)))

    def level_of(self, operand: Operand) -> int:
        """How many scopes are open where a value's op stands; of what is not printed yet, one."""
        if isinstance(operand, (Value, Param)):
            unseen = len(self.scopes) if operand in self.homes else 1
            return self.level.get(operand, unseen)
        return 0

    def _known(self, value: Value | Param, layout: Layout) -> Held | Address:
        found = self.found(value, layout)
        assert found is not None, f"SSA value %{self.numbers.get(value)} is not defined"
        return found

    def _moved(self, value: Value | Param, wanted: Layout) -> Held | Address:
        """The value computed or converted to a layout."""
        compact = wanted.compact()
        if compact != wanted:
            return self.converted(self.lookup(value, compact), wanted, value)
        home = self.homes.get(value)
        if home is not None:
            return self.converted(self._known(value, home), wanted, value)
        assert isinstance(value, Value), f"SSA value %{self.numbers.get(value)} is not defined"
        with self.printer.headed(self.heading(value.op), value.op.where):
            return self.table.remake[value.op.name](self, value, wanted)

    def converted(
        self, held: Held | Address, target: Layout, value: Value | Param
    ) -> Held | Address:
        """The same value in another layout: seen so, shuffled, or through shared memory."""
        if isinstance(held, Address):
            parts = [_seen(part, target) for part in held.parts]
            if None not in parts:
                return held.with_parts([part for part in parts if part is not None])
            held = self._pointers(value, held, self.homes[value])
        return _seen(held, target) or self.scratch.converted(held, target, value)

    def address(self, operand: Operand, layout: Layout) -> Address:
        """The operand as an address."""
        found = self.lookup(operand, layout)
        return found if isinstance(found, Address) else Address(found)

    def _pointers(self, operand: Operand, address: Address, layout: Layout) -> Held:
        """An address as registers: the C pointers themselves."""
        assert operand is not None
        if len({address.at(r).address for r in range(layout.registers)}) == 1:
            return Held(address.at(0).address, layout)
        name, c_type = self.fresh("p"), local_type(operand.ty)
        return self.array(name, c_type, layout, lambda r: address.at(r).address)

    def c_type(self, value: Value | Param | Const) -> str:
        """The C type of a value's local; in memory's form where that is held."""
        if value in self.distribution.raw:
            return memory_type(element_of(value.ty))
        return local_type(value.ty)

    def bring_home(self, *operands: Operand) -> None:
        """Prints what puts the operands into their homes, which may need shared memory itself:
        before an op begins a use of its own."""
        for operand in operands:
            self.get(operand, self.home(operand))

    def fresh(self, prefix: str) -> str:
        """A name that no other local has: `p1`, `p2`, …"""
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"

    def moved(self, value: Operand, source: Layout, target: Layout, plan: Plan) -> None:
        """Records that a value changes its layout here."""
        assert value is not None
        width = element_of(value.ty).itemsize
        self.moves.append(Move(value, source, target, plan, width, self.printer.where))

    # -- registers

    @contextmanager
    def registers(self, layout: Layout, step: int = 1) -> Iterator[Register]:
        """What is put inside happens for each register of a layout, or for each `step`-th."""
        if layout.registers == step:
            yield 0
        else:
            with self.printer.loop(layout.registers, "r", step) as r:
                yield r

    def local(self, value: Value | Param, layout: Layout | None = None) -> str:
        """The name of a value's local; in a second layout it has a second one."""
        layout = layout or self.home(value)
        if (value, layout) not in self.names:
            several = sum(1 for other, _ in self.names if other is value)
            name = f"v{self.numbers[value]}"
            self.names[value, layout] = f"{name}_{several}" if several else name
        return self.names[value, layout]

    def assign(self, value: Value | Param, layout: Layout, compute: Compute) -> Held:
        """Names an expression: a local of the value's type for each register of the layout."""
        c_type = aligned(self.c_type(value), value in self.distribution.raw)
        held = self.array(self.local(value, layout), c_type, layout, compute)
        self.scopes[-1][value, layout] = held
        return held

    def declare(self, value: Value | Param, layout: Layout) -> Held:
        """A local of the value's type for each register of the layout, not yet set."""
        return self.array(self.local(value, layout), local_type(value.ty), layout)

    def typed(self, operand: Operand, held: Held) -> Held:
        """The operand as an argument whose C type counts: a narrow int constant is cast to it."""
        narrow = isinstance(operand, Const) and operand.ty.kind in "iu" and operand.ty.bits < 32
        if not narrow or operand is None:
            return held
        return replace(held, name=f"({local_type(operand.ty)}){held.name}")

    def stays_inside(self, operand: Operand) -> bool:
        """Whether a value is made of program ids, ranges and constants alone: the numbering of
        elements, which a launch keeps below 2^31, printed as plain C."""
        return isinstance(operand, Const) or operand in self.numbering

    def array(self, name: str, c_type: str, layout: Layout, compute: Compute | None = None) -> Held:
        """Declares a local for each register of a layout, with what they hold."""
        held = Held.array(name, layout)
        if held.count == 1:
            self.put(f"{c_type} {name} = {compute(0)};" if compute else f"{c_type} {name};")
            return held
        self.put(f"{c_type} {name}[{held.count}];")
        if compute is not None:
            with self.registers(layout) as r:
                self.put(f"{held.at(r)} = {compute(r)};")
        return held

    def read(self, value: Value, at: Callable[[Layout, Register], str]) -> None:
        """Defines a value as what lies in shared memory at an index of each register."""
        layout, element = self.home(value), element_of(value.ty)

        def compute(r: Register) -> str:
            text = self.scratch.read(element, 0, at(layout, r))
            inside = self.valid(shape_of(value.ty), layout, r)
            return f"({' && '.join(inside)} ? {text} : {zero(element)})" if inside else text

        self.define(value, self.assign(value, layout, compute), layout)

    # -- where a thread's elements lie

    def index(self, layout: Layout, r: Register) -> str:
        """The row-major index, in the padded shape, of a register's element."""
        if self.distribution.lane_rule:
            return self.thread
        apart = are_apart(layout.bases)
        return joined([image(self.thread, layout.thread), image(r, layout.register)], apart)

    def coordinate(self, layout: Layout, axis: int, r: Register) -> str:
        """The coordinate along an axis of a register's element."""
        registers, threads = layout.along(axis)
        apart = are_apart((*threads, *registers))
        return joined([image(self.thread, threads), image(r, registers)], apart)

    def valid(self, shape: Shape, layout: Layout, r: Register) -> list[str]:
        """Conditions by which a register's element is inside the shape, not in its padding."""
        if self.distribution.lane_rule:
            return []
        ragged = [axis for axis, n in enumerate(shape) if n != layout.shape[axis]]
        return [f"({self.coordinate(layout, axis, r)}) < {shape[axis]}" for axis in ragged]

    def owner(self, layout: Layout) -> list[str]:
        """The condition by which a thread is the first of those that hold its elements."""
        copies = layout.copies
        if self.distribution.lane_rule or not copies:
            return []
        everyone = copies == (1 << len(layout.thread)) - 1
        return [f"{self.thread} == 0" if everyone else f"({self.thread} & {copies}) == 0"]

    # -- lines

    @contextmanager
    def guarded(self, conditions: Sequence[str]) -> Iterator[None]:
        """What is put inside happens where all conditions hold."""
        if not conditions:
            yield
            return
        test = " && ".join(f"({c})" if " ? " in c else c for c in conditions)
        with self.printer.block(f"if ({test})"):
            yield

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is defined inside is forgotten after it."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    @contextmanager
    def loop(self) -> Iterator[None]:
        """What is put inside is a loop; what its body needs of values from outside stands before
        it."""
        self.loops.append((len(self.scopes), self.printer.hole()))
        yield
        self.loops.pop()

    def barrier(self) -> None:
        """Waits for every thread of the program."""
        self.put("__syncthreads();")
        self.scratch.reading = ()
        self.order.clear()

    # -- ops

    def body(self, region: Region) -> None:
        """The ops of a region, without the final yield."""
        for op in region.ops[:-1]:
            self.emit(op)

    def emit(self, op: Op) -> None:
        """Prints an op where it stands; nothing yet where it has no home."""
        self.where = op.where
        self.level.update(dict.fromkeys(op.results, len(self.scopes)))
        if op in self.silent:
            return
        if op.name not in self.table.remake or op in self.distribution.ruled:
            with self.printer.headed(self.heading(op), op.where):
                self.table.rules[op.name](self, op)
            return
        for value in op.results:
            home = self.homes.get(value)
            if self.distribution.lane_rule or not shape_of(value.ty):
                home = self.distribution.layout(shape_of(value.ty))
            if home is None:
                continue
            with self.printer.headed(self.heading(op), op.where):
                self.define(value, self.table.remake[op.name](self, value, home), home)

    def note(self, text: str) -> None:
        """Prints a comment, where comments are asked for."""
        if self.options.comments:
            self.put(f"// {text}")

    def heading(self, op: Op) -> tuple[str, ...]:
        """The comment and the `#line` of an op, where they are asked for."""
        comment = (f"// {self.ssa.head(op)}",) if self.options.comments else ()
        return (*comment, *(self.printer.place(op.where) if self.options.lineinfo else ()))


TAKEN = frozenset(("thread", "scratch", "r", "q"))
"""Names that the tiled lowering uses itself."""


def _parameters(function: Function, reserved: frozenset[str]) -> tuple[Parameter, ...]:
    taken = set(reserved)
    parameters = []
    for param in function.params:
        name = legal_name(param.name, taken)
        taken.add(name)
        parameters.append(Parameter(name, local_type(param.ty), param.ty))
    return tuple(parameters)


def _used(region: Region) -> frozenset[Value]:
    """The op results that anything uses."""
    return frozenset(
        operand for op in walk(region) for operand in op.operands if isinstance(operand, Value)
    )


def _seen(held: Held, target: Layout) -> Held | None:
    """The registers seen under another layout, where no thread needs another's."""
    if not held.layout.shape:
        return held
    source = held.layout
    target = target if source.shape == target.shape else target.narrowed(source.shape)
    plan = convert(source, target)
    return held.permuted(target, plan) if isinstance(plan, Permute) else None
