"""The structures of runtime/threads.h and runtime/reports.h as ctypes sees them."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void_p


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
    """All that a launch is made of."""

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
