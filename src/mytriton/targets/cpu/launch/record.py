"""The launch record: what all threads of one launch share, the arguments behind it.

Native code and Python read and write the same fields, so there is one definition: the emitted text
takes the offsets from it (`offset`), the launch its packing format (`packing`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import c_int32, c_int64, c_void_p
from typing import Any, ClassVar


class LaunchRecord(ctypes.Structure):
    """One launch. Threads change `next`, `error` and the counters by atomic instructions only.

    `next` is the first program that nobody has taken, of `total`; a thread takes one part in
    `chunk_divisor` of what is left. `nx`, `ny`, `nz` are the grid. `error` is 0, the number of the
    assert that failed (from 1), or one of the negative numbers below, and `error_program` the
    program that failed.

    `callback`, `yield_function` and `sleep_function` are addresses: what a print or a check
    calls, and the system's functions that give up the processor for a moment and for some
    microseconds.

    Only cooperative launches count: the programs that are `blocked` (waiting, for many turns,
    without a change), their `turns` since, what has changed (`progress`), and what has `finished`.
    """

    _fields_: ClassVar = [
        ("next", c_int64),
        ("total", c_int64),
        ("chunk_divisor", c_int64),
        ("nx", c_int32),
        ("ny", c_int32),
        ("nz", c_int32),
        ("error", c_int64),
        ("error_program", c_int32 * 3),
        ("callback", c_void_p),
        ("yield_function", c_void_p),
        ("sleep_function", c_void_p),
        ("blocked", c_int64),
        ("turns", c_int64),
        ("progress", c_int64),
        ("finished", c_int64),
    ]


ARGUMENTS = ctypes.sizeof(LaunchRecord)
"""Where the arguments begin, eight bytes each."""
TAKEN_BY_NOBODY = 1 << 62
"""Added to `next`, it is larger than any grid: no more programs start."""
DEADLOCK, INTERRUPTED, CANCELLED = -1, -2, -3
"""Values of `error`: all programs wait for ever; SIGINT; an exception in the launching thread."""


def offset(field: str) -> int:
    """Bytes from the record's start to a field."""
    return int(getattr(LaunchRecord, field).offset)


def packing(arguments: str) -> str:
    """The format by which `struct` packs the record's fields and then the arguments."""
    return "@" + "".join(_letters(LaunchRecord)) + arguments


def _letters(structure: Any) -> Iterator[str]:
    """A letter a field; native alignment is that of ctypes."""
    for _, kind in structure._fields_:
        length = getattr(kind, "_length_", 1)
        element = kind._type_ if length > 1 else kind
        yield f"{length if length > 1 else ''}{element._type_}"


def stop(record: LaunchRecord, error: int) -> None:
    """Ends a launch from Python: programs that run leave at the end of a turn of a loop."""
    record.error = error
    record.next = TAKEN_BY_NOBODY
