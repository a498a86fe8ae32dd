"""What stands for a value while a kernel is printed: registers in a layout, or an address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....layouts.convert import Permute
from ....layouts.linear import Bases, Layout, combine
from .linear import Register, image


@dataclass(frozen=True)
class Held:
    """A value in registers.

    name: an expression, or the name of an array of `count` registers. Register r of the layout is
    number combine(select, r) ^ first of the array, so that a value seen under another layout needs
    no code where every thread has what it needs.
    """

    name: str
    layout: Layout
    count: int = 1
    select: Bases = ()
    first: int = 0

    @staticmethod
    def array(name: str, layout: Layout) -> Held:
        """A local of its own for the layout: a scalar or an array."""
        select = tuple(1 << bit for bit in range(len(layout.register)))
        return Held(name, layout, layout.registers, select)

    def at(self, r: Register) -> str:
        """The expression of register r."""
        if self.count == 1:
            return self.name
        if isinstance(r, int):
            return f"{self.name}[{combine(self.select, r) ^ self.first}]"
        index = image(r, self.select)
        if self.first:
            index = f"{self.first} ^ {index}" if index != "0" else str(self.first)
        return f"{self.name}[{index}]"

    @property
    def reads(self) -> frozenset[str]:
        """The names of locals that the expression reads."""
        return frozenset((self.name,))

    def permuted(self, layout: Layout, plan: Permute) -> Held:
        """The same registers seen under another layout."""
        select = [combine(self.select, plan.source[1 << b]) for b in range(len(layout.register))]
        return replace(self, layout=layout, select=tuple(select))


@dataclass(frozen=True)
class CudaPtrRef:
    """An address that waits for memory to use it: `base[index]`."""

    base: str
    index: str

    @property
    def address(self) -> str:
        """The address as a C pointer."""
        return self.base if self.index == "0" else f"({self.base} + {self.index})"

    @property
    def element(self) -> str:
        """What lies at the address."""
        return f"{self.base}[{self.index}]"

    @property
    def reference(self) -> str:
        """The address as an argument of a function."""
        return self.base if self.index == "0" else f"&{self.element}"


@dataclass(frozen=True)
class Offset:
    """One offset of an address.

    inside: it numbers elements, which a launch keeps below 2^31; wide: it is of 64 bits; constant:
    its value, where it is one of i32; level: how many scopes are open where it is computed.
    """

    held: Held
    inside: bool
    wide: bool
    constant: int | None = None
    level: int = 0


@dataclass(frozen=True)
class Address:
    """Pointers that wait for memory to use them: a base and the offsets added to it.

    stepwise: offsets that do not stay inside 32 bits are added to the pointer one after the other,
    those from outside a loop first, so that the loop adds but one; else they are summed up.
    """

    base: Held
    offsets: tuple[Offset, ...] = ()
    stepwise: bool = False

    def at(self, r: Register) -> CudaPtrRef:
        """The address in register r. Offsets add up in 64 bits, as addresses do, unless all of them
        stay inside 32."""
        fits = all(offset.inside for offset in self.offsets)
        if not self.stepwise or fits or len(self.offsets) < 2:
            return self._summed(r)
        *first, last = sorted(self.offsets, key=lambda offset: offset.level)
        base = self.base.at(r)
        for text in (offset.held.at(r) for offset in first):
            base = base if text == "0" else f"({base} + {text})"
        return CudaPtrRef(base, last.held.at(r))

    def _summed(self, r: Register) -> CudaPtrRef:
        """The base, and one index."""
        index, wide, inside = "0", False, True
        total: int | None = 0
        for offset in self.offsets:
            text, known = offset.held.at(r), offset.constant
            total = None if total is None or known is None else total + known
            inside = inside and offset.inside
            fits = inside if total is None else -(2**31) <= total < 2**31
            if index == "0":
                index = text
            elif fits or wide or offset.wide:
                index = f"({index} + {text})"
            else:
                index, wide = f"((long long){index} + {text})", True
            wide = wide or offset.wide
        return CudaPtrRef(self.base.at(r), index)

    @property
    def parts(self) -> tuple[Held, ...]:
        """What it is made of: the base, then the offsets."""
        return (self.base, *(offset.held for offset in self.offsets))

    def with_parts(self, parts: Sequence[Held]) -> Address:
        """The same sum of other parts."""
        pairs = zip(self.offsets, parts[1:], strict=True)
        offsets = tuple(replace(offset, held=part) for offset, part in pairs)
        return replace(self, base=parts[0], offsets=offsets)

    @property
    def reads(self) -> frozenset[str]:
        """The names of locals that the expression reads."""
        return frozenset(part.name for part in self.parts)
