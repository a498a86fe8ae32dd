"""`inline_asm_elementwise`: PTX text, understood rather than pasted.

A small reader of PTX. Registers are tensors of unsigned ints (or bools), an instruction
is a language function on the type its name ends with, so the snippet means the same on every
target. What it does not know it refuses, naming the instruction.

    "tanh.approx.f32 $0, $1;"        read $1 as f32, tanh, write its bits to $0
    pack=2 of f16, "=r,r":           two neighbouring elements share each 32-bit register
"""

from __future__ import annotations

import functools
import re
from typing import Any

from ...errors import CompileError, CompileTypeError, CompileValueError
from ...ir.types import BF16, BOOL, BY_TRITON_NAME, F16, F32, F64, U16, U32, U64, Element
from ..constexpr import builtin
from ..creation import cast, full
from ..dtypes import as_dtype
from ..math import where
from ..reductions import broadcast_all, stack
from ..shapes import broadcast_to, ravel, reshape
from ..tensor import tensor, to_tensor

__all__ = ["inline_asm_elementwise"]

Registers = dict[str, tensor]
_UNSIGNED = {8: BY_TRITON_NAME["uint8"], 16: U16, 32: U32, 64: U64}
_STATEMENT = re.compile(r"(?:@(!?)([\w$%]+)\s+)?([a-z][\w.:]*)\s*(.*)", re.S)


@builtin
def inline_asm_elementwise(
    asm: str, constraints: str, args: Any, dtype: Any, is_pure: bool, pack: int
) -> Any:
    """The results of a snippet of PTX applied to every element (or `pack` neighbours at a time).

    asm: instructions on $0, $1, …, outputs first; constraints: as in LLVM ("=r,r,f"); args: blocks,
    which broadcast; dtype: that of the result, or a tuple of them. Elements narrower than 32 bits
    share registers, the first in the low bits. Raises CompileValueError for instructions that are
    not understood.
    """
    values = broadcast_all(args) if args else [to_tensor(0)]
    shape = values[0].shape
    dtypes = [as_dtype(d) for d in (dtype if isinstance(dtype, (tuple, list)) else (dtype,))]
    lanes = [_lanes(value, pack) for value in values] if args else []
    outputs = [_registers(element, pack) for element in dtypes]
    registers: Registers = {}
    for register in (r for group in lanes for r in _packed(group)):
        registers[f"${sum(outputs) + len(registers)}"] = register
    _run(asm, registers)
    results, first = [], 0
    for element, count in zip(dtypes, outputs):
        given = [_written(registers, f"${first + i}", asm) for i in range(count)]
        first += count
        parts = _unpacked(given, element, pack)
        whole = parts[0] if pack == 1 else reshape(stack(parts), shape or (1,))
        results.append(broadcast_to(whole, shape) if shape and not whole.shape else whole)
    return results[0] if len(results) == 1 else tuple(results)


def _written(registers: Registers, name: str, asm: str) -> tensor:
    if name not in registers:
        raise CompileValueError(f"inline asm does not write {name}: {asm!r}")
    return registers[name]


def _registers(element: Element, pack: int) -> int:
    """How many registers `pack` elements take."""
    return pack if element.bits >= 32 else max(1, pack * max(element.bits, 8) // 32)


def _lanes(value: tensor, pack: int) -> list[tensor]:
    if pack == 1:
        return [value]
    if not value.shape or value.numel % pack:
        raise CompileValueError(f"inline asm: pack={pack} does not divide shape {value.shape}")
    rows = reshape(ravel(value), (value.numel // pack, pack))
    return [rows[:, i] for i in range(pack)]


def _bits(value: tensor) -> tensor:
    if value.dtype == BOOL:
        return cast(value, U32)
    unsigned = _UNSIGNED[value.dtype.bits]
    return cast(value, unsigned, bitcast=True)


def _packed(lanes: list[tensor]) -> list[tensor]:
    """Registers of the elements: whole, or several narrow ones in 32 bits."""
    words = [_bits(lane) for lane in lanes]
    width = words[0].dtype.bits
    if width >= 32 or len(lanes) == 1:
        return words
    per = 32 // width
    result = []
    for start in range(0, len(words), per):
        word: Any = cast(words[start], U32)
        for place, other in enumerate(words[start + 1 : start + per], 1):
            word = word | (cast(other, U32) << (place * width))
        result.append(word)
    return result


def _unpacked(registers: list[tensor], element: Element, pack: int) -> list[tensor]:
    if element == BOOL:
        return [register != 0 for register in registers]
    unsigned = _UNSIGNED[element.bits]
    if element.bits < 32 and pack > 1:
        per = 32 // element.bits
        registers = [r >> (i * element.bits) for r in registers for i in range(per)]
    words = [cast(register, unsigned) for register in registers[:pack]]
    return [cast(word, element, bitcast=True) for word in words]


# -- reading PTX


def _run(asm: str, registers: Registers) -> None:
    """Executes the statements in order on the registers."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", asm, flags=re.S).strip()
    for line in re.split(r";", text):
        statement = line.strip()
        while statement.startswith("{") and not _closes(statement):
            statement = statement[1:].strip()
        statement = statement.strip("} \n\t") if statement in ("}", "") else statement
        if statement and not statement.startswith("."):
            _execute(statement, registers)


def _closes(statement: str) -> bool:
    return statement.count("{") == statement.count("}")


def _execute(statement: str, registers: Registers) -> None:
    from .ptx import INSTRUCTIONS, TYPES  # loaded by the first snippet, with libdevice

    match = _STATEMENT.fullmatch(statement)
    name, *suffixes = match[3].split(".") if match else [statement]
    if match is None or name not in INSTRUCTIONS:
        raise CompileValueError(
            f"inline asm: the instruction {statement!r} is not understood; known are"
            f" {', '.join(sorted(INSTRUCTIONS))}. Write it with language functions instead"
        )
    operands = _split(match[4])
    types = [TYPES[s] for s in suffixes if s in TYPES]
    try:
        inputs = [functools.partial(_read, text, registers=registers) for text in operands[1:]]
        result = INSTRUCTIONS[name](suffixes, types, inputs)
    except CompileError:
        raise
    except (KeyError, IndexError, ValueError):
        raise CompileValueError(f"inline asm: {statement!r} is not understood") from None
    guard = None
    if match[2]:
        flag = registers[match[2]]
        guard = ~flag if match[1] else flag
    _write(operands[0], result, registers, guard)


def _split(text: str) -> list[str]:
    """Operands at commas outside braces."""
    return [part.strip() for part in re.split(r",(?![^{]*\})", text)]


def _number(text: str, ty: Any) -> tensor | None:
    """An immediate as bits of the type."""
    if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
        return cast(full((), int(text[2:], 16), U32), F32, bitcast=True)
    if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
        return cast(full((), int(text[2:], 16), U64), F64, bitcast=True)
    if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", text):
        return full((), int(text.rstrip("U"), 0), ty if ty is not None else U32)
    if re.fullmatch(r"-?\d+\.\d*(e-?\d+)?", text):
        return full((), float(text), ty if ty in (F16, BF16, F32, F64) else F32)
    return None


def _read(text: str, ty: Any, registers: Registers) -> tensor:
    """An operand as a value of the type (None: its bits); `{a, b}` is the halves of a register."""
    if text.startswith("{"):
        low, high = (_read(part, U16, registers) for part in _split(text[1:-1]))
        return cast(low, U32) | (cast(high, U32) << 16)
    value = _number(text, ty)
    if value is None:
        if text not in registers:
            raise CompileTypeError(f"inline asm reads {text}, which is neither set nor a constant")
        value = registers[text]
    if ty is None or value.dtype == ty or value.dtype == BOOL:
        return value
    bits = _bits(value)
    return cast(cast(bits, _UNSIGNED[ty.bits]), ty, bitcast=True)


def _write(text: str, value: tensor, registers: Registers, guard: Any) -> None:
    if text.startswith("{"):
        for place, part in enumerate(_split(text[1:-1])):
            registers[part] = cast(_bits(value) >> (16 * place), U16)
        return
    stored = value if value.dtype == BOOL else _bits(value)
    registers[text] = stored if guard is None else where(guard, stored, registers.get(text, 0))
