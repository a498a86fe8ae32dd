"""Control flow: `for`, `while` and `if` of C, with carried values in locals.

A condition is a scalar, so all threads take the same way and barriers may stand anywhere. A carried
value is one local (an array, where its layout has several registers), which the loop's end assigns
and which is the loop's result.

    %5 = for 0, n, 1, 0.0 : f32 (%0 i, %1 total) {     float v1 = 0.0f;
        %2 = …                                         for (int v0 = 0; v0 < n; v0 += 1) {
        %4 = add %1, %2 : f32                              float v4 = (v1 + v2);
        yield %4                                           v1 = v4;
    }                                                  }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ....ir.nodes import Const, Op, Operand, Param, Region
from ....ir.types import element_of
from ..spelling import local_type
from .emitter import Emitter, Rule
from .held import Address, Held
from .linear import Register
from .pipelined import Ahead, Invariants
from .report import failure
from .scratch import EVERYTHING


def declare(emitter: Emitter, params: Sequence[Param], initial: Sequence[Operand]) -> list[Held]:
    """Puts the carried locals with their first values."""
    carried = []
    for param, value in zip(params, initial):
        layout = emitter.home(param)
        first = emitter.get(value, layout)
        held = emitter.assign(param, layout, first.at)
        emitter.define(param, held, layout)
        carried.append(held)
    return carried


def update(
    emitter: Emitter, carried: Sequence[Held], results: Sequence[Operand], params: Sequence[Param]
) -> None:
    """Assigns all at once: through temporaries where a later value reads an earlier name."""
    sources = [(h, emitter.lookup(v, h.layout), p) for h, v, p in zip(carried, results, params)]
    moves = [move for move in sources if _texts(move[1])(0) != move[0].at(0)]
    written: set[str] = set()
    clash = False
    for held, value, _ in moves:
        clash |= bool(written & value.reads)
        written.add(held.name)
    if clash:
        named = []
        for held, value, param in moves:
            name = f"next{emitter.numbers[param]}"
            next_ = emitter.array(name, local_type(param.ty), held.layout, _texts(value))
            named.append((held, next_, param))
        moves = [(held, next_, param) for held, next_, param in named]
    for held, value, _ in moves:
        text = _texts(value)
        with emitter.registers(held.layout) as r:
            emitter.put(f"{held.at(r)} = {text(r)};")


def _texts(value: Held | Address) -> Callable[[Register], str]:
    """The expression of each register; an address as a pointer."""
    if isinstance(value, Address):
        return lambda r: value.at(r).address
    return value.at


def finish(emitter: Emitter, op: Op, carried: Sequence[Held]) -> None:
    """The locals are the op's results."""
    for result, held in zip(op.results, carried):
        emitter.define(result, held, held.layout)


def for_loop(emitter: Emitter, op: Op) -> None:
    (low, high, step, *initial), (region,) = op.operands, op.regions
    index, *params = region.params
    carried = declare(emitter, params, initial)
    if not isinstance(step, Const):
        stride = emitter.get(step, emitter.scalar).name
        with emitter.printer.block(f"if ({stride} == 0)"):
            emitter.put(failure(emitter, op, "range() with a step of 0"))
    with emitter.loop():
        invariants, ahead = Invariants(emitter, op), _ahead(emitter, op)
        with _turn(emitter, for_head(emitter, index, low, high, step)):
            if _is_counted(index, high, step):
                emitter.put(_nth(emitter, index, low, step))
            elif _is_wide(index, high, step):
                name = emitter.local(index)
                emitter.put(f"{local_type(index.ty)} {name} = i{emitter.numbers[index]};")
            emitter.define(index, Held(emitter.local(index), emitter.scalar))
            emitter.carriers.update(dict.fromkeys(params, op))
            emitter.vary(params)
            if ahead:
                ahead.turn()
            emitter.body(region)
            if emitter.order.again([region]):
                emitter.barrier()
            update(emitter, carried, region.results, params)
            if ahead:
                ahead.end_turn()
        if ahead:
            ahead.end()
        invariants.end()
    finish(emitter, op, carried)


def _ahead(emitter: Emitter, op: Op) -> Ahead | None:
    """The pipeline of a loop that has one, with what stands before the loop."""
    pipeline = emitter.distribution.pipelines.get(op)
    if pipeline is None:
        return None
    low, high, step, *initial = op.operands
    index = op.regions[0].params[0]
    wide = _is_wide(index, high, step)
    start, end, stride = (emitter.get(o, emitter.scalar).name for o in (low, high, step))
    counter = "long long" if wide else local_type(index.ty)
    ahead = Ahead(emitter, pipeline, counter, (start, end, stride))
    ahead.begin(initial, update)
    return ahead


@contextmanager
def _turn(emitter: Emitter, head: str) -> Iterator[None]:
    """The block of a loop's body. It may be entered, and left, while others still read shared
    memory; where it makes no turn, what was pending before it still is."""
    before = emitter.order.pending
    with emitter.printer.block(head), emitter.scope():
        emitter.scratch.reading = (EVERYTHING,)
        yield
    emitter.scratch.reading = (EVERYTHING,)
    emitter.order.pending = tuple(dict.fromkeys((*before, *emitter.order.pending)))


def for_head(emitter: Emitter, index: Param, low: Operand, high: Operand, step: Operand) -> str:
    """The head of the loop; the sign of the step says which way it runs."""
    start, end, stride = (emitter.get(o, emitter.scalar).name for o in (low, high, step))
    if _is_counted(index, high, step):
        turn, turns = (f"{letter}{emitter.numbers[index]}" for letter in "in")
        count = f"turns<{local_type(index.ty)}>({start}, {end}, {stride})"
        return f"for (unsigned long long {turn} = 0, {turns} = {count}; {turn} < {turns}; {turn}++)"
    if _is_wide(index, high, step):
        counter, ty = f"i{emitter.numbers[index]}", "long long"
    else:
        counter, ty = emitter.local(index, emitter.scalar), local_type(index.ty)
    if isinstance(step, Const):
        test = f"{counter} {'<' if step.value > 0 else '>'} {end}"
    else:
        test = f"({stride} > 0 ? {counter} < {end} : {stride} < 0 && {counter} > {end})"
    return f"for ({ty} {counter} = {start}; {test}; {counter} += {stride})"


def _is_counted(index: Param, high: Operand, step: Operand) -> bool:
    """Whether the turns are counted: 64 bits in which the counter may pass the end."""
    return element_of(index.ty).bits == 64 and not _stays_inside(index, high, step)


def _nth(emitter: Emitter, index: Param, low: Operand, step: Operand) -> str:
    """The line that makes the counter of a turn from its number; sums wrap."""
    start, stride = (emitter.get(o, emitter.scalar).name for o in (low, step))
    c_type, wide = local_type(index.ty), "(unsigned long long)"
    value = f"{wide}{start} + i{emitter.numbers[index]} * {wide}{stride}"
    return f"{c_type} {emitter.local(index)} = ({c_type})({value});"


def _is_wide(index: Param, high: Operand, step: Operand) -> bool:
    """Whether the counter may pass the end of its own type when it passes the loop's end."""
    return element_of(index.ty).bits < 64 and not _stays_inside(index, high, step)


def _stays_inside(index: Param, high: Operand, step: Operand) -> bool:
    """Whether one step past the end is surely inside the counter's type."""
    element = element_of(index.ty)
    if isinstance(step, Const) and step.value in (1, -1):
        return True
    if isinstance(step, Const) and isinstance(high, Const):
        return bool(element.min_int <= high.value + step.value <= element.max_int)
    return False


def while_loop(emitter: Emitter, op: Op) -> None:
    test, region = op.regions
    carried = declare(emitter, test.params, op.operands)
    with emitter.loop(), _turn(emitter, "while (true)"):
        for param, held in zip(region.params, carried):
            emitter.define(param, held, held.layout)
        emitter.vary(test.params)
        emitter.body(test)
        emitter.put(f"if (!{emitter.get(test.results[0], emitter.scalar).name}) break;")
        emitter.body(region)
        if emitter.order.again(op.regions):
            emitter.barrier()
        update(emitter, carried, region.results, test.params)
    finish(emitter, op, carried)


def if_else(emitter: Emitter, op: Op) -> None:
    then, other = op.regions
    results = [emitter.declare(result, emitter.home(result)) for result in op.results]
    pending, reading = emitter.order.pending, emitter.scratch.reading
    has_else = len(other.ops) > 1 or bool(op.results)
    condition = emitter.get(op.operands[0], emitter.scalar).name
    with emitter.printer.block(f"if ({condition})", close=not has_else), emitter.scope():
        _branch(emitter, results, then)
    after, emitter.order.pending = emitter.order.pending, pending
    later, emitter.scratch.reading = emitter.scratch.reading, reading
    if has_else:
        with emitter.printer.block("} else"), emitter.scope():
            _branch(emitter, results, other)
    emitter.order.pending = tuple(dict.fromkeys((*after, *emitter.order.pending)))
    emitter.scratch.reading = tuple(dict.fromkeys((*later, *emitter.scratch.reading)))
    finish(emitter, op, results)


def _branch(emitter: Emitter, results: Sequence[Held], region: Region) -> None:
    emitter.body(region)
    values = [emitter.get(v, held.layout) for held, v in zip(results, region.results)]
    for held, value in zip(results, values):
        with emitter.registers(held.layout) as r:
            emitter.put(f"{held.at(r)} = {value.at(r)};")


RULES: dict[str, Rule] = {"for": for_loop, "while": while_loop, "if": if_else}
