"""The structures of runtime/ as ctypes and NumPy see them."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void_p
from typing import Any

import numpy as np

ACCESS = np.dtype(
    [
        *((name, np.uint32) for name in ("block", "thread", "line", "epoch")),
        *((name, np.int32) for name in ("how", "variable", "array")),
        ("bytes", np.uint32),
        ("offset", np.int64),
        ("before", np.uint32),
        ("after", np.uint32),
    ],
    align=True,
)
"""An access that was traced: by which block and thread, at which line of the kernel's text, after
how many barriers of the thread; how (bits: READ, WRITE, …); the place of the shared variable or of
the argument (else -1), and the bytes of it; a digest of their contents before and after. A barrier,
and a value that a lane offers to its warp, stand there too."""
READ, WRITE, ATOMIC, BARRIER, EXCHANGE = 1, 2, 4, 16, 32
Records = np.ndarray[Any, np.dtype[Any]]


def recorded(simulator: ctypes.CDLL) -> Records:
    """The accesses of the last launch, if it was traced."""
    count = c_ulonglong()
    start = simulator.cudasim_trace(ctypes.byref(count))
    if not count.value:
        return np.zeros(0, dtype=ACCESS)
    held = (c_char * (count.value * ACCESS.itemsize)).from_address(start)
    return np.frombuffer(held.raw, dtype=ACCESS).copy()


class SharedVariable(Structure):
    """A variable of shared memory: its offset and its size."""

    _fields_ = (("offset", c_uint), ("bytes", c_uint))


class Array(Structure):
    """An array of the launch; `index` is the argument's place."""

    _fields_ = (
        ("low", c_void_p),
        ("high", c_void_p),
        ("writable", c_int),
        ("index", c_int),
        ("cells", c_void_p),
    )


class Launch(Structure):
    """All that a launch is made of; `kept` is what it points to."""

    kept: tuple[object, ...]
    _fields_ = (
        ("body", c_void_p),
        ("arguments", c_void_p),
        ("indices", c_void_p),
        ("threads", c_uint),
        ("resident", c_uint),
        ("shared_bytes", c_uint),
        ("variable_count", c_uint),
        ("array_count", c_uint),
        ("line_count", c_uint),
        ("variables", c_void_p),
        ("arrays", c_void_p),
        ("roots", c_void_p),
        ("unknown", c_ulonglong),
        ("order", c_int),
        ("checks", c_int),
        ("open", c_int),
        ("seed", c_uint),
        ("tracing", c_uint),
    )


class Report(Structure):
    """What a check found."""

    kind: int
    line: int
    other_line: int
    how: int
    other_how: int
    thread: int
    other_thread: int
    offset: int
    variable: int
    array: int
    width: int
    count: int
    lanes: int
    waiting: int
    what: bytes
    block: ctypes.Array[c_uint]
    _fields_ = (
        ("kind", c_int),
        ("line", c_int),
        ("other_line", c_int),
        ("how", c_int),
        ("other_how", c_int),
        ("thread", c_uint),
        ("other_thread", c_uint),
        ("block", c_uint * 3),
        ("offset", c_longlong),
        ("variable", c_int),
        ("array", c_int),
        ("width", c_uint),
        ("count", c_uint),
        ("lanes", c_uint),
        ("waiting", c_uint),
        ("what", c_char * 32),
    )
