"""Loops whose loads are copied to shared memory some turns ahead (see `pipeline.py`).

The code that copies a turn's blocks is printed once, as a function `copy` of the buffer's number,
which the turns before the loop and each turn in it call:

    f16* tile18 = (f16*)scratch;                            // 3 buffers
    int ahead13 = 0;                                        // the turn that is copied next
    auto copy25 = [&](int stage) {
        if (ahead13 < K) {
            int v13 = ahead13;
            …  copy_async<16>(tile18 + 2048 * stage + …, &a[…]);
            ahead13 += 32;
        }
        commit_copies();
    };
    for (int stage = 0; stage < 2; stage++) copy25(stage);
    int stage25 = 0;                                        // the buffer of this turn
    for (int v13 = 0; v13 < K; v13 += 32) {
        await_copies<1>();
        __syncthreads();
        copy25(stage25 == 0 ? 2 : stage25 - 1);
        …
        stage25 = stage25 == 2 ? 0 : stage25 + 1;
    }

One barrier a turn is enough: behind it every thread's copies of this turn have landed, and every
thread has read the buffer of the turn before, which is the one that the new copies go to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.nodes import Op, Operand, Param, Value, walk
from ....ir.types import element_of
from ....layouts.convert import Shared
from ..pipeline import Copy, Pipeline
from ..spelling import memory_type
from .emitter import Emitter
from .held import Held
from .memory import inside, ordered
from .mma import MOST_FRAGMENTS, Block, Product, instruction_of, known_tile, staged
from .operands import placement, reader_of, source_of
from .scratch import Bytes, pointer

Update = Callable[[Emitter, Sequence[Held], Sequence[Operand], Sequence[Param]], None]


class Invariants:
    """The operands of a loop's products that come from outside it: written to shared memory before
    the loop, and read from there in every turn; a small left one is kept in registers."""

    def __init__(self, emitter: Emitter, loop: Op) -> None:
        self.emitter = emitter
        self.tiles: list[tuple[Value | Param, Bytes]] = []
        self.products: list[Op] = []
        products = [op for r in loop.regions for op in walk(r) if op in emitter.distribution.dots]
        for op in products:
            for place in (0, 1):
                self.operand(op, op.operands[place], place)

    def operand(self, op: Op, operand: Operand, place: int) -> None:
        emitter, instruction = self.emitter, instruction_of(op)
        if not isinstance(operand, (Value, Param)) or instruction is None:
            return
        outside = operand in emitter.level and operand in emitter.homes
        if not outside or known_tile(emitter, operand, 1 - place) or op in emitter.fragments:
            return
        product = Product(emitter, op, instruction)
        if place == 0:
            if product.in_registers(operand):
                return
            if 4 * product.m * product.k <= MOST_FRAGMENTS:
                (tile,) = staged(emitter, [(operand, 1)])
                name = emitter.fresh("fragments")
                product.keep_left(tile, name)
                emitter.fragments[op] = name
                self.products.append(op)
                return
        block = Block.of(emitter, operand, 1 - place)
        room = emitter.scratch.hold(block.bytes)
        emitter.scratch.await_readers(room)
        tile = block.write(room.start)
        emitter.barrier()
        emitter.tiles[operand] = tile.base, tile.placement
        self.tiles.append((operand, room))

    def end(self) -> None:
        """The loop is over."""
        for op in self.products:
            del self.emitter.fragments[op]
        for operand, room in self.tiles:
            del self.emitter.tiles[operand]
            self.emitter.scratch.release(room)


class Ahead:
    """The printing of one pipeline. counter: the C type of the loop's counter; bounds: its first
    value, its end and its step."""

    def __init__(
        self, emitter: Emitter, pipeline: Pipeline, counter: str, bounds: tuple[str, str, str]
    ) -> None:
        self.emitter, self.pipeline = emitter, pipeline
        self.counter, (self.start, self.end_, self.step) = counter, bounds
        (self.region,) = pipeline.loop.regions
        index = self.region.params[0]
        number = emitter.numbers[index]
        self.index, self.ahead = index, f"ahead{number}"
        self.function, self.stage = f"copy{number}", f"stage{number}"
        self.rooms: list[Bytes] = []
        self.places = {copy: self.place(copy) for copy in pipeline.copies}

    def place(self, copy: Copy) -> str:
        """The name of the buffers of a copy."""
        return f"tile{self.emitter.numbers[copy.load.results[0]]}"

    def begin(self, initial: Sequence[Operand], update: Update) -> None:
        """What stands before the loop: buffers, the function that copies, and the first turns."""
        emitter, stages = self.emitter, self.pipeline.stages
        emitter.note(f"{stages} stages: a turn copies the blocks of the turn {stages - 1} after it")
        for copy in self.pipeline.copies:
            layout = emitter.distribution.accesses[copy.load]
            ordered(emitter, copy.load.operands[0], layout, writes=False)
            room = emitter.scratch.hold(copy.bytes * stages)
            emitter.scratch.await_readers(room)
            self.rooms.append(room)
            value = copy.load.results[0]
            element = element_of(value.ty)
            c_type = memory_type(element)
            emitter.put(f"{c_type}* {self.places[copy]} = {pointer(element, room.start)};")
            placed = placement(layout, element, copy.run)
            reader = reader_of(layout.shape, element, copy.run)
            emitter.moved(value, layout, reader, Shared(placed.swizzle))
            emitter.tiles[value] = emitter.local(value), placed
        loaded = {copy.load.results[0] for copy in self.pipeline.copies}
        turned = (op for op in self.region.ops if op.name == "trans")
        emitter.silent |= {op for op in turned if source_of(op.results[0])[0] in loaded}
        emitter.put(f"{self.counter} {self.ahead} = {self.start};")
        carried = [self.carry(place, initial[place]) for place in self.pipeline.carried]
        self.print_function(carried, update)
        with emitter.printer.loop(stages - 1, "stage"):
            emitter.put(f"{self.function}(stage);")
        emitter.put(f"int {self.stage} = 0;")

    def carry(self, place: int, first: Operand) -> Held:
        """A local for a carried value that is updated ahead."""
        emitter, param = self.emitter, self.region.params[1 + place]
        layout = emitter.home(param)
        held = emitter.get(first, layout)
        c_type = emitter.c_type(param)
        return emitter.array(f"ahead{emitter.numbers[param]}", c_type, layout, held.at)

    def print_function(self, carried: Sequence[Held], update: Update) -> None:
        emitter, params = self.emitter, self.region.params
        chosen = [params[1 + place] for place in self.pipeline.carried]
        results = [self.region.results[place] for place in self.pipeline.carried]
        sign = "<" if not self.step.startswith("-") else ">"
        with (
            emitter.printer.block(f"auto {self.function} = [&](int stage)", close=False),
            emitter.scope(),
        ):
            with emitter.printer.block(f"if ({self.ahead} {sign} {self.end_})"):
                name = emitter.local(self.index, emitter.scalar)
                emitter.put(f"{emitter.c_type(self.index)} {name} = {self.ahead};")
                emitter.define(self.index, Held(name, emitter.scalar))
                for param, held in zip(chosen, carried):
                    emitter.define(param, held, held.layout)
                for op in self.pipeline.ahead:
                    emitter.emit(op)
                for copy in self.pipeline.copies:
                    with emitter.printer.headed(emitter.heading(copy.load), copy.load.where):
                        self.copy(copy)
                update(emitter, carried, results, chosen)
                emitter.put(f"{self.ahead} += {self.step};")
            emitter.put("commit_copies();")
        emitter.put("};")

    def copy(self, copy: Copy) -> None:
        """The copies of one block."""
        emitter, load = self.emitter, copy.load
        pointer, mask, _ = load.operands
        element, layout = element_of(load.types[0]), emitter.distribution.accesses[load]
        address = emitter.address(pointer, layout)
        masks = None if mask is None else emitter.get(mask, layout)
        _, placed = emitter.tiles[load.results[0]]
        target = layout.mapped(placed.swizzle.offset, layout.shape)
        count = copy.bytes // element.itemsize
        owner = emitter.owner(layout)
        with emitter.registers(layout, copy.vector) as r, emitter.guarded(owner):
            to = f"{self.places[copy]} + {count} * stage + ({emitter.index(target, r)})"
            arguments = [to, address.at(r).reference]
            conditions = inside(emitter, load, layout, masks, r)
            arguments += [" && ".join(conditions)] if conditions else []
            emitter.put(f"copy_async<{copy.vector * element.itemsize}>({', '.join(arguments)});")

    def turn(self) -> None:
        """What stands at the beginning of a turn."""
        emitter, stages = self.emitter, self.pipeline.stages
        emitter.put(f"await_copies<{stages - 2}>();")
        emitter.barrier()
        emitter.put(f"{self.function}({self.stage} == 0 ? {stages - 1} : {self.stage} - 1);")
        for copy in self.pipeline.copies:
            count = copy.bytes // element_of(copy.load.types[0]).itemsize
            emitter.copied[copy.load] = f"{self.places[copy]} + {count} * {self.stage}"

    def end_turn(self) -> None:
        """What stands at the end of a turn."""
        last = self.pipeline.stages - 1
        self.emitter.put(f"{self.stage} = {self.stage} == {last} ? 0 : {self.stage} + 1;")

    def end(self) -> None:
        """The loop is over."""
        for copy, room in zip(self.pipeline.copies, self.rooms):
            del self.emitter.tiles[copy.load.results[0]]
            self.emitter.scratch.release(room)
