"""Loads, stores and atomics through pointers.

One idea: whatever shapes a kernel gives (a row stored through 2-D pointers, a column mask) is
brought to the pointers' rank here; stretching extents of 1 is left to the op, which repeats them
without making them. Block pointers and tensor descriptors bring their own load and store.
"""

from __future__ import annotations

from typing import Any

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current, emit
from ..ir.nodes import Operand
from ..ir.ops import RegionKind
from ..ir.types import BOOL, Element, PointerType, element_of, shape_of
from . import semantics
from .constexpr import builtin
from .tensor import member, tensor

_LOAD_CACHES = ("", ".ca", ".cg", ".cs", ".cv")
_STORE_CACHES = ("", ".wb", ".cg", ".cs", ".wt")
_EVICTIONS = ("", "evict_first", "evict_last", "evict_normal")
_SEMS = ("acquire", "release", "acq_rel", "relaxed")
_SCOPES = ("cta", "gpu", "sys")


def _one_of(value: Any, allowed: tuple[str, ...], what: str) -> str:
    """A keyword's text; None is the first allowed. Raises CompileValueError for others."""
    if value is None:
        return allowed[0]
    if value not in allowed:
        raise CompileValueError(
            f"{what} must be one of {', '.join(map(repr, allowed))}, got {value!r}"
        )
    return str(value)


def _sync(sem: Any, scope: Any) -> dict[str, Any]:
    return {
        "sem": "acq_rel" if sem is None else _one_of(sem, _SEMS, "sem"),
        "scope": "gpu" if scope is None else _one_of(scope, _SCOPES, "scope"),
    }


def _pointer(pointer: Any, what: str) -> Operand:
    """The operand of a pointer or block of pointers. Raises CompileTypeError otherwise."""
    handle = semantics.plain(pointer)
    if not semantics.is_pointer(handle):
        given = f"the number {handle}" if semantics.is_number(handle) else str(semantics.ty(handle))
        raise CompileTypeError(f"{what} needs a pointer or a block of pointers, got {given}")
    return handle  # type: ignore[no-any-return]


def pointee(pointer: Operand) -> Element:
    """The element type a pointer points to."""
    element = element_of(semantics.ty(pointer))
    assert isinstance(element, PointerType)
    return element.element


def _masked(pointer: Operand, mask: Any, what: str) -> tuple[Operand, Operand]:
    """Pointers and mask at one rank; pointers smaller than the mask stretch to it."""
    if mask is None:
        return pointer, None
    given = semantics.plain(mask)
    if semantics.is_number(given):
        return pointer, None if given else semantics.truth(False)
    if element_of(semantics.ty(given)) != BOOL:
        raise CompileTypeError(
            f"{what}: the mask must be bool, got {semantics.ty(given)}; compare it, as in"
            " `mask=offsets < n`"
        )
    shape, wanted = shape_of(semantics.ty(pointer)), shape_of(semantics.ty(given))
    if wanted and not shape:
        raise CompileValueError(
            f"{what}: a mask of shape {wanted} cannot guard one scalar pointer; use a block of"
            " pointers"
        )
    whole = semantics.common_shape([shape, wanted], f"{what}: pointer and mask")
    if whole != shape:
        pointer = semantics.broadcast_to(pointer, whole)
    return pointer, semantics.fit(given, whole, "the mask")


def _value(value: Any, pointer: Operand, what: str) -> Operand:
    """A value in the pointers' element type and rank."""
    element = pointee(pointer)
    given = semantics.plain(value)
    if semantics.is_number(given) and not isinstance(element, PointerType):
        return semantics.convert_number(given, element)
    handle = semantics.operand(given, element)
    shape = shape_of(semantics.ty(pointer))
    if shape_of(semantics.ty(handle)) and not shape:
        raise CompileValueError(
            f"{what}: a block of shape {shape_of(semantics.ty(handle))} through one scalar pointer"
            " would write one place many times; use a block of pointers, such as ptr + offsets"
        )
    return semantics.fit(handle, shape, f"{what}: the value")


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> tensor:
    """The elements at a pointer or block of pointers.

    mask: bool; where false no memory is touched and the result is `other` (0 if absent). Both
    broadcast to the pointers; pointers also broadcast to the mask. boundary_check and
    padding_option are for block pointers. cache_modifier (".ca", ".cg", ".cs", ".cv"),
    eviction_policy ("evict_first", "evict_last") and volatile are hints to the GPU. Raises
    CompileTypeError for what is not a pointer, CompileValueError for shapes that do not fit or
    unknown hints.
    """
    cache = _one_of(cache_modifier, _LOAD_CACHES, "cache_modifier")
    eviction = _one_of(eviction_policy, _EVICTIONS, "eviction_policy")
    hints = {"cache": cache, "eviction": eviction, "volatile": bool(volatile)}
    if hasattr(pointer, "load_block"):
        _refuse(mask, other)
        block: tensor = pointer.load_block(boundary_check, padding_option, hints)
        return block
    if boundary_check or padding_option:
        raise CompileValueError(
            "boundary_check and padding_option need a block pointer; give a mask"
        )
    handle = _pointer(pointer, "load")
    if mask is None and other is not None:
        raise CompileValueError("load: `other` cannot be provided without `mask`")
    handle, guard = _masked(handle, mask, "load")
    fill = None
    if other is not None and guard is not None:
        fill = _value(other, handle, "load: `other`")
    return tensor(emit("load", handle, guard, fill, **hints))


def _refuse(mask: Any, other: Any = None) -> None:
    if mask is not None or other is not None:
        raise CompileValueError(
            "a block pointer takes no mask or other; use boundary_check and padding_option"
        )


@member
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> None:
    """Writes a value, converted to the element type, at a pointer or block of pointers.

    The value broadcasts to the pointers (a row repeats along rows); where the mask is false no
    memory is touched. Of several elements for one address any may stay. cache_modifier: ".wb",
    ".cg", ".cs", ".wt". Raises CompileTypeError for what is not a pointer or points to const,
    CompileValueError for a block through one scalar pointer and shapes that do not fit.
    """
    cache = _one_of(cache_modifier, _STORE_CACHES, "cache_modifier")
    hints = {"cache": cache, "eviction": _one_of(eviction_policy, _EVICTIONS, "eviction_policy")}
    if hasattr(pointer, "store_block"):
        _refuse(mask)
        pointer.store_block(value, boundary_check, hints)
        return
    if boundary_check:
        raise CompileValueError("boundary_check needs a block pointer; give a mask")
    handle, guard = _masked(_pointer(pointer, "store"), mask, "store")
    current().emit("store", [handle, _value(value, handle, "store"), guard], hints)


# -- atomics


def _atomic(kind: str, pointer: Any, val: Any, mask: Any, sem: Any, scope: Any) -> tensor:
    what = f"atomic_{kind}"
    sync = _sync(sem, scope)
    handle, guard = _masked(_pointer(pointer, what), mask, what)
    value = _value(val, handle, what)
    return tensor(emit("atomic", handle, value, guard, kind=kind, **sync))


@member
@builtin
def atomic_add(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Adds val at each pointer indivisibly; the old values. Ints wrap; repeated addresses all
    count. sem: "acquire", "release", "acq_rel" (default), "relaxed"; scope: "cta", "gpu" (default),
    "sys"."""
    return _atomic("add", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_max(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Puts the larger of val and memory at each pointer; the old values. See atomic_add."""
    return _atomic("max", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_min(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Puts the smaller of val and memory at each pointer; the old values. See atomic_add."""
    return _atomic("min", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_and(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Bitwise and of ints in memory; the old values. See atomic_add."""
    return _atomic("and", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_or(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Bitwise or of ints in memory; the old values. See atomic_add."""
    return _atomic("or", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_xor(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Bitwise exclusive or of ints in memory; the old values. See atomic_add."""
    return _atomic("xor", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_xchg(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> tensor:
    """Writes val at each pointer indivisibly; the old values. See atomic_add."""
    return _atomic("xchg", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> tensor:
    """Writes val where memory holds the very bits of cmp; the old values. See atomic_add."""
    sync = _sync(sem, scope)
    handle = _pointer(pointer, "atomic_cas")
    expected, value = (_value(v, handle, "atomic_cas") for v in (cmp, val))
    return tensor(emit("atomic_cas", handle, expected, value, **sync))


@member
@builtin
def atomic_load(pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """The values at the pointers, read indivisibly, after what other programs released."""
    _sync(sem, scope)
    return load(pointer, mask, volatile=True)


@member
@builtin
def atomic_store(
    pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None
) -> None:
    """Writes val at each pointer indivisibly, releasing what this program wrote before."""
    _atomic("xchg", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_poll(
    pointer: Any,
    expected_value: Any,
    sem: Any = None,
    scope: Any = None,
    timeout_ns: Any = None,
) -> tensor:
    """Waits until memory at one pointer holds expected_value, and gives it.

    timeout_ns is not kept: a launch that waits for ever is stopped by the targets that can tell.
    """
    _sync(sem, scope)
    handle = _pointer(pointer, "atomic_poll")
    if shape_of(semantics.ty(handle)):
        raise CompileValueError("atomic_poll waits at one pointer, not at a block of pointers")
    expected = _value(expected_value, handle, "atomic_poll")

    def waiting() -> Operand:
        return emit("cmp_ne", emit("load", handle, None, None, volatile=True), expected)

    builder = current()
    if builder.eager:
        while builder.known(waiting()):
            pass
    else:
        test = builder.region(RegionKind.BRANCH, (), lambda: (waiting(),))
        body = builder.region(RegionKind.BRANCH, (), lambda: ())
        builder.emit("while", (), {}, (test, body))
    return tensor(expected)
