"""A plan as text: what `mytriton show --stage plan` prints, and what the golden files hold.

step 0
    %0 = program_id {axis=0} : i32
    nest 256, cost 4
        reduce %9
        materialise %5: is used by several nests
step 1
    nest 256, cost 11
        reads %5
        store out, %11, %3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....ir.nodes import Function, Operand, Param, Value, number
from ....ir.text import INDENT, SSAPrinter
from .plan import LoopNest, Opaque, Packed, Plan, Root, Step


def plan_text(function: Function, plan: Plan) -> str:
    """The steps of a function's plan, those of inner regions indented under their ops."""
    return "\n".join(_Text(number(function)).plan(plan)) + "\n"


class _Text:
    def __init__(self, numbers: Mapping[Value | Param, int]) -> None:
        self.printer = SSAPrinter(numbers)

    def plan(self, plan: Plan) -> Iterator[str]:
        for index, step in enumerate(plan.steps):
            yield f"step {index}"
            yield from (INDENT + line for line in self.step(step))
        for slot, value in plan.slots.items():
            yield self.slot(plan, slot, value)

    def slot(self, plan: Plan, slot: int, value: Value | None) -> str:
        source = "written above" if value is None else f"the buffer of {self.operand(value)}"
        place = "in place" if plan.in_place.get(slot, True) else "in a second buffer"
        return f"result {slot}: {source}, {place}"

    def operand(self, operand: Operand) -> str:
        return self.printer.operand(operand)

    def step(self, step: Step) -> Iterator[str]:
        yield from map(self.printer.head, step.scalars)
        if isinstance(step.body, LoopNest):
            yield from self.nest(step.body)
        elif step.body is not None:
            yield from self.opaque(step.body)
        if step.frees:
            yield f"frees {', '.join(map(self.operand, step.frees))}"

    def nest(self, nest: LoopNest) -> Iterator[str]:
        words = [f"nest {' x '.join(map(str, nest.shape))}"]
        words += [f"along axis {nest.axis}"] if nest.axis is not None else []
        words += ["one lane at a time"] if nest.single else []
        yield ", ".join((*words, f"cost {nest.cost}"))
        if nest.reads:
            yield f"{INDENT}reads {', '.join(map(self.operand, nest.reads))}"
        for root in nest.roots:
            yield INDENT + self.root(root)

    def root(self, root: Root) -> str:
        if root.op is not None:
            return self.printer.head(root.op)
        target = f"result {root.slot}" if root.buffer is None else self.operand(root.buffer)
        text = f"{root.kind} {target}"
        if root.values[0] is not root.buffer:
            text += f" = {self.operand(root.values[0])}"
        if root.part is not None:
            steps = " + ".join(f"i{axis}*{step}" for axis, step in enumerate(root.part.strides))
            text += f" at {root.part.start} + {steps}"
        return f"{text}: {root.reason}"

    def packed(self, packed: Packed, turns: int) -> str:
        text = f"packs {self.operand(packed.value)} in {packed.layout}"
        text += f", {turns} turns at once" if turns > 1 else ""
        if packed.places:
            keys = ", ".join(map(self.operand, packed.keys))
            text += f", kept in {packed.places} places" + (f" for {keys}" if keys else "")
        return text

    def opaque(self, opaque: Opaque) -> Iterator[str]:
        yield self.printer.head(opaque.op)
        yield from (INDENT + self.packed(packed, opaque.turns) for packed in opaque.packs)
        for number_, body in enumerate(opaque.bodies):
            if len(opaque.bodies) > 1:
                yield f"region {number_}"
            yield from (INDENT + line for line in self.plan(body))
