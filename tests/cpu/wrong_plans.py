"""Plans with one thing wrong in each: what the checker must refuse.

Every function here takes a right plan and yields wrong ones made from it: steps swapped, roots
dropped, doubled or moved, buffers read before they are complete, parts at wrong places, results
that overwrite what is still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

from mytriton.targets.cpu.schedule.plan import LoopNest, Opaque, Part, Plan, Root, Step

Wrong = Iterator[tuple[str, Plan]]


def with_steps(plan: Plan, steps: list[Step]) -> Plan:
    return replace(plan, steps=tuple(steps))


def with_body(plan: Plan, index: int, body: LoopNest | Opaque | None) -> Plan:
    steps = list(plan.steps)
    steps[index] = replace(steps[index], body=body)
    return with_steps(plan, steps)


def nests(plan: Plan) -> Iterator[tuple[int, LoopNest]]:
    for index, step in enumerate(plan.steps):
        if isinstance(step.body, LoopNest):
            yield index, step.body


def roots(plan: Plan) -> Iterator[tuple[int, LoopNest, int, Root]]:
    for index, nest in nests(plan):
        for place, root in enumerate(nest.roots):
            yield index, nest, place, root


def with_root(plan: Plan, index: int, nest: LoopNest, place: int, *made: Root) -> Plan:
    changed = (*nest.roots[:place], *made, *nest.roots[place + 1 :])
    return with_body(plan, index, replace(nest, roots=changed))


def steps_swapped(plan: Plan) -> Wrong:
    for one, two in combinations(range(len(plan.steps)), 2):
        steps = list(plan.steps)
        steps[one], steps[two] = steps[two], steps[one]
        yield f"steps {one} and {two} swapped", with_steps(plan, steps)


def steps_dropped(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        if step.body is not None:
            yield f"the body of step {index} dropped", with_body(plan, index, None)
        if step.scalars:
            steps = list(plan.steps)
            steps[index] = replace(step, scalars=step.scalars[1:])
            yield f"a scalar of step {index} dropped", with_steps(plan, steps)


def scalars_late(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        if step.scalars and step.body is not None:
            steps = list(plan.steps)
            steps[index] = replace(step, scalars=())
            steps.insert(index + 1, Step(step.scalars, None))
            yield f"the scalars of step {index} after its body", with_steps(plan, steps)


def roots_dropped(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        if len(nest.roots) > 1:
            yield f"{root.kind} of step {index} dropped", with_root(plan, index, nest, place)


def roots_doubled(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        doubled = with_root(plan, index, nest, place, root, root)
        if root.op is not None or root.slot is not None or root.buffer is not None:
            yield f"{root.kind} of step {index} twice", doubled


def nests_fused(plan: Plan) -> Wrong:
    """Two nests of one shape made one, at the place of the earlier or the later."""
    for (one, first), (two, second) in combinations(nests(plan), 2):
        if first.shape != second.shape or first.single or second.single:
            continue
        fused = replace(
            first,
            roots=first.roots + second.roots,
            axis=first.axis if first.axis is not None else second.axis,
            values=tuple(dict.fromkeys(first.values + second.values)),
            reads=tuple(dict.fromkeys(first.reads + second.reads)),
        )
        yield (
            f"steps {one} and {two} fused early",
            with_body(with_body(plan, two, None), one, fused),
        )
        yield f"steps {one} and {two} fused late", with_body(with_body(plan, one, None), two, fused)


def buffers_complete_early(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        if root.buffer is not None and not root.completes:
            made = replace(root, completes=True)
            yield f"step {index}: complete too early", with_root(plan, index, nest, place, made)


def buffers_never_complete(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        if root.completes:
            made = replace(root, completes=False)
            yield f"step {index}: never complete", with_root(plan, index, nest, place, made)


def parts_misplaced(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        if root.part is None:
            if root.completes:
                part = Part((1,) * len(root.shape), 0)
                made = replace(root, part=part)
                yield f"step {index}: a part", with_root(plan, index, nest, place, made)
            continue
        steps, start = root.part.strides, root.part.start
        for part in (Part(steps, start + 1), Part((*steps[:-1], steps[-1] + 1), start)):
            made = replace(root, part=part)
            yield f"step {index}: {part}", with_root(plan, index, nest, place, made)


def shapes_wrong(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        longer = (*root.shape[:-1], root.shape[-1] * 2)
        made = replace(root, shape=longer)
        yield f"step {index}: {root.kind} of {longer}", with_root(plan, index, nest, place, made)
        body = replace(nest, shape=longer)
        yield f"step {index}: a nest of {longer}", with_body(plan, index, body)


def axes_wrong(plan: Plan) -> Wrong:
    for index, nest, place, root in roots(plan):
        if root.kind == "reduce" and root.axis is not None:
            made = replace(root, axis=root.axis + 1)
            yield f"step {index}: another axis", with_root(plan, index, nest, place, made)
            yield f"step {index}: no axis", with_body(plan, index, replace(nest, axis=None))


def lanes_together(plan: Plan) -> Wrong:
    for index, nest in nests(plan):
        yield f"step {index}: lanes", with_body(plan, index, replace(nest, single=not nest.single))


def reads_forgotten(plan: Plan) -> Wrong:
    for index, nest in nests(plan):
        if nest.reads:
            yield f"step {index}: no reads", with_body(plan, index, replace(nest, reads=()))
        if nest.values:
            body = replace(nest, values=nest.values[1:])
            yield f"step {index}: a value less", with_body(plan, index, body)


def buffers_freed_early(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        for buffer in step.frees:
            for early in range(index):
                steps = list(plan.steps)
                rest = tuple(b for b in step.frees if b is not buffer)
                steps[index] = replace(step, frees=rest)
                steps[early] = replace(steps[early], frees=(*steps[early].frees, buffer))
                yield f"a buffer of step {index} freed in {early}", with_steps(plan, steps)


def buffers_freed_twice(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        if step.frees:
            steps = list(plan.steps)
            steps[index] = replace(step, frees=step.frees * 2)
            yield f"step {index} frees twice", with_steps(plan, steps)


def in_place_anyway(plan: Plan) -> Wrong:
    """Of an inner plan: results that overwrite what is still read."""
    for index, step in enumerate(plan.steps):
        if isinstance(step.body, Opaque):
            for number, body in enumerate(step.body.bodies):
                for slot in [slot for slot, safe in body.in_place.items() if not safe]:
                    made = replace(body, in_place={**body.in_place, slot: True})
                    yield f"result {slot} in place", _with_inner(plan, index, number, made)


def slots_wrong(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        if isinstance(step.body, Opaque):
            for number, body in enumerate(step.body.bodies):
                for slot, value in body.slots.items():
                    slots = {k: v for k, v in body.slots.items() if k != slot}
                    made = replace(body, slots=slots)
                    yield f"result {slot} nowhere", _with_inner(plan, index, number, made)
                    if value is not None:
                        made = replace(body, slots={**body.slots, slot: None})
                        yield f"result {slot} unwritten", _with_inner(plan, index, number, made)


def inner_plans_lost(plan: Plan) -> Wrong:
    for index, step in enumerate(plan.steps):
        if isinstance(step.body, Opaque) and step.body.bodies:
            yield f"step {index}: no bodies", with_body(plan, index, replace(step.body, bodies=()))


def _with_inner(plan: Plan, index: int, number: int, made: Plan) -> Plan:
    body = plan.steps[index].body
    assert isinstance(body, Opaque)
    bodies = (*body.bodies[:number], made, *body.bodies[number + 1 :])
    return with_body(plan, index, replace(body, bodies=bodies))


def packs_wrong(plan: Plan) -> Wrong:
    """Layouts, keys and turns of what a product packs; also in the regions inside."""
    for index, step in enumerate(plan.steps):
        body = step.body
        if not isinstance(body, Opaque):
            continue
        for number, inner in enumerate(body.bodies):
            for what, made in packs_wrong(inner):
                yield what, _with_inner(plan, index, number, made)
        for number, packed in enumerate(body.packs):
            changes: list[dict[str, object]] = [{"layout": "columns"}, {"index": 2}]
            changes += [{"keys": packed.keys[1:]}] if packed.keys else []
            for change in changes:
                packs = list(body.packs)
                packs[number] = replace(packed, **change)
                made = replace(body, packs=tuple(packs))
                yield f"packs {change}", with_body(plan, index, made)
        if body.turns > 1:
            made = replace(body, packs=body.packs[:1])
            yield "turns of an operand that is not packed", with_body(plan, index, made)


KINDS: dict[str, Callable[[Plan], Wrong]] = {
    kind.__name__: kind
    for kind in (
        steps_swapped, steps_dropped, scalars_late, roots_dropped, roots_doubled, nests_fused,
        buffers_complete_early, buffers_never_complete, parts_misplaced, shapes_wrong, axes_wrong,
        buffers_freed_early, buffers_freed_twice, lanes_together, reads_forgotten,
        in_place_anyway, slots_wrong, inner_plans_lost, packs_wrong,
    )
}  # fmt: skip
