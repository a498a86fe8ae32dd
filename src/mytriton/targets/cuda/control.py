"""The lane rule for control flow: `for`, `while` and `if` of C, with carried values in locals.

One idea: a condition is a scalar, so all threads take the same way and barriers may stand anywhere.
A carried value is one local, which the loop's end assigns and which is the loop's result.

    %5 = for 0, n, 1, 0.0 : f32 (%0 i, %1 total) {     float v1 = 0.0f;
        %2 = …                                         for (int v0 = 0; v0 < n; v0 += 1) {
        %4 = add %1, %2 : f32                              float v4 = (v1 + v2);
        yield %4                                           v1 = v4;
    }                                                  }
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...ir.nodes import Const, Op, Operand, Param, Region, Value
from ...ir.types import element_of
from .lane import Lane, rule
from .spelling import local_type


def declare(lane: Lane, params: Sequence[Param], initial: Sequence[Operand]) -> list[str]:
    """Puts the carried locals with their first values; their names."""
    for param, value in zip(params, initial):
        lane.assign(param, lane.expression(value))
    return [lane.local(param) for param in params]


def update(
    lane: Lane, names: Sequence[str], results: Sequence[Operand], types: Sequence[Param]
) -> None:
    """Assigns all at once: through temporaries where a later value reads an earlier name."""
    moves = [
        (name, lane.expression(result), param) for name, result, param in zip(names, results, types)
    ]
    moves = [move for move in moves if move[0] != move[1]]
    written: set[str] = set()
    clash = False
    for name, text, _ in moves:
        clash |= bool(written & set(re.findall(r"\w+", text)))
        written.add(name)
    if clash:
        for name, text, param in moves:
            lane.put(f"{local_type(param.ty)} next{name[1:]} = {text};")
        moves = [(name, f"next{name[1:]}", param) for name, _, param in moves]
    for name, text, _ in moves:
        lane.put(f"{name} = {text};")


def finish(lane: Lane, op: Op, names: Sequence[str]) -> None:
    """The locals are the op's results."""
    lane.values.update(zip(op.results, names))


@rule("for")
def for_loop(lane: Lane, op: Op) -> None:
    (low, high, step, *initial), (region,) = op.operands, op.regions
    index, *carried = region.params
    names = declare(lane, carried, initial)
    with lane.block(for_head(lane, index, low, high, step)):
        if _is_wide(index, high, step):
            lane.assign(index, f"i{lane.numbers[index]}")
        lane.values[index] = lane.local(index)
        lane.body(region)
        if lane.order.again([region]):
            lane.barrier()
        update(lane, names, region.results, carried)
    finish(lane, op, names)


def for_head(lane: Lane, index: Param, low: Operand, high: Operand, step: Operand) -> str:
    """The head of the loop; the sign of the step says which way it runs."""
    start, end, stride = (lane.expression(operand) for operand in (low, high, step))
    if _is_wide(index, high, step):
        counter, ty = f"i{lane.numbers[index]}", "long long"
    else:
        counter, ty = lane.local(index), local_type(index.ty)
    if isinstance(step, Const):
        test = f"{counter} {'<' if step.value > 0 else '>'} {end}"
    else:
        test = f"({stride} > 0 ? {counter} < {end} : {counter} > {end})"
    return f"for ({ty} {counter} = {start}; {test}; {counter} += {stride})"


def _is_wide(index: Param, high: Operand, step: Operand) -> bool:
    """Whether the counter may pass the end of its own type when it passes the loop's end."""
    element = element_of(index.ty)
    if element.bits == 64 or (isinstance(step, Const) and step.value in (1, -1)):
        return False
    if isinstance(step, Const) and isinstance(high, Const):
        last = high.value + step.value
        return not element.min_int <= last <= element.max_int
    return True


@rule("while")
def while_loop(lane: Lane, op: Op) -> None:
    test, region = op.regions
    names = declare(lane, test.params, op.operands)
    lane.values.update(zip(region.params, names))
    with lane.block("while (true)"):
        lane.body(test)
        lane.put(f"if (!{lane.expression(test.results[0])}) break;")
        lane.body(region)
        if lane.order.again(op.regions):
            lane.barrier()
        update(lane, names, region.results, test.params)
    finish(lane, op, names)


@rule("if")
def if_else(lane: Lane, op: Op) -> None:
    then, other = op.regions
    for result in op.results:
        lane.put(f"{local_type(result.ty)} {lane.local(result)};")
    pending = lane.order.pending
    has_else = len(other.ops) > 1 or bool(op.results)
    with lane.block(f"if ({lane.expression(op.operands[0])})", close=not has_else):
        _branch(lane, op.results, then)
    after, lane.order.pending = lane.order.pending, pending
    if has_else:
        with lane.block("} else"):
            _branch(lane, op.results, other)
    merged = dict.fromkeys((*after, *lane.order.pending))
    lane.order.pending = tuple(merged)
    finish(lane, op, [lane.local(result) for result in op.results])


def _branch(lane: Lane, results: Sequence[Value], region: Region) -> None:
    lane.body(region)
    for result, value in zip(results, region.results):
        lane.put(f"{lane.local(result)} = {lane.expression(value)};")
