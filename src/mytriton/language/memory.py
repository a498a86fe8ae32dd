"""Loads, stores and atomics through pointers.

Whatever shapes a kernel gives (a row stored through 2-D pointers, a column mask) is
brought to the pointers' rank here; stretching extents of 1 is left to the op, which repeats them
without making them. Block pointers and tensor descriptors bring their own load and store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, Union

from ..errors import CompileTypeError, CompileValueError
from ..ir.build import current
from ..ir.nodes import Operand
from ..ir.ops import RegionKind
from ..ir.types import BOOL, Element, PointerType, element_of, shape_of
from . import promotion
from .arguments import Axes, ConstBool, ConstInt, ConstStr, TensorLike, one_of
from .constexpr import builtin
from .portable import check_atomic
from .promotion import Handle, common_shape, convert_number, emit, operand, truth
from .semantics import is_pointer
from .tensor import given, tensor

if TYPE_CHECKING:
    from .block_pointers import block_pointer

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_load",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_poll",
    "atomic_store",
    "atomic_xchg",
    "atomic_xor",
    "load",
    "store",
]

PointerLike: TypeAlias = Union[tensor, "block_pointer"]
"""A pointer, a block of pointers, or a block pointer."""
Word: TypeAlias = ConstStr | None
"""A memory order or scope by name; None is the default."""
MaskLike: TypeAlias = TensorLike | None
"""Bools that broadcast with the pointers; None is all true."""

_LOAD_CACHES = ("", ".ca", ".cg", ".cs", ".cv")
_STORE_CACHES = ("", ".wb", ".cg", ".cs", ".wt")
_EVICTIONS = ("", "evict_first", "evict_last", "evict_normal")
_SEMS = ("acquire", "release", "acq_rel", "relaxed")
_SCOPES = ("cta", "gpu", "sys")


def _sync(sem: Word, scope: Word) -> dict[str, Any]:
    return {
        "sem": "acq_rel" if sem is None else one_of(sem, _SEMS, "sem"),
        "scope": "gpu" if scope is None else one_of(scope, _SCOPES, "scope"),
    }


def pointer_operand(pointer: Any, what: str) -> Handle:
    """The operand of a pointer or block of pointers. Raises CompileTypeError otherwise."""
    handle = given(pointer)
    if not is_pointer(handle):
        got = str(handle.ty) if isinstance(handle, Handle) else f"the number {handle}"
        raise CompileTypeError(f"{what} needs a pointer or a block of pointers, got {got}")
    return handle


def pointee(pointer: Handle) -> Element:
    """The element type a pointer points to."""
    element = element_of(pointer.ty)
    assert isinstance(element, PointerType)
    return element.element


def _masked(pointer: Handle, mask: MaskLike, what: str) -> tuple[Handle, Handle | None]:
    """Pointers and mask at one rank; pointers smaller than the mask stretch to it."""
    if mask is None:
        return pointer, None
    guard = given(mask)
    if not isinstance(guard, Handle):
        return pointer, None if guard else truth(False)
    if element_of(guard.ty) != BOOL:
        raise CompileTypeError(
            f"{what}: the mask must be bool, got {guard.ty}; compare it, as in `mask=offsets < n`"
        )
    shape, wanted = shape_of(pointer.ty), shape_of(guard.ty)
    if wanted and not shape:
        raise CompileValueError(
            f"{what}: a mask of shape {wanted} cannot guard one scalar pointer; use a block of"
            " pointers"
        )
    whole = common_shape([shape, wanted], f"{what}: pointer and mask")
    if whole != shape:
        pointer = promotion.broadcast_to(pointer, whole)
    return pointer, promotion.fit(guard, whole, "the mask")


def value_operand(value: TensorLike, pointer: Handle, what: str) -> Handle:
    """A value in the pointers' element type and rank."""
    element = pointee(pointer)
    stored = given(value)
    if isinstance(element, PointerType):
        pass
    elif isinstance(stored, (bool, int, float)):
        return convert_number(stored, element)
    elif isinstance(element_of(stored.ty), PointerType):
        raise CompileTypeError(
            f"{what}: the value is a pointer ({stored.ty}), but numbers of {element.name} are"
            " stored here; did you forget tl.load?"
        )
    handle = operand(stored, element)
    shape = shape_of(pointer.ty)
    if shape_of(handle.ty) and not shape:
        raise CompileValueError(
            f"{what}: a block of shape {shape_of(handle.ty)} through one scalar pointer"
            " would write one place many times; use a block of pointers, such as ptr + offsets"
        )
    return promotion.fit(handle, shape, f"{what}: the value")


@builtin
def load(
    pointer: PointerLike,
    mask: MaskLike = None,
    other: TensorLike | None = None,
    boundary_check: Axes = (),
    padding_option: ConstStr | None = "",
    cache_modifier: ConstStr | None = "",
    eviction_policy: ConstStr | None = "",
    volatile: ConstBool = False,
) -> tensor:
    """The elements at a pointer or block of pointers.

    mask: bool; where false no memory is touched and the result is `other` (0 if absent). Both
    broadcast to the pointers; pointers also broadcast to the mask. boundary_check and
    padding_option are for block pointers. cache_modifier (".ca", ".cg", ".cs", ".cv"),
    eviction_policy ("evict_first", "evict_last") and volatile are hints to the GPU. Raises
    CompileTypeError for what is not a pointer, CompileValueError for shapes that do not fit or
    unknown hints.
    """
    cache = one_of(cache_modifier, _LOAD_CACHES, "cache_modifier")
    eviction = one_of(eviction_policy, _EVICTIONS, "eviction_policy")
    hints = {"cache": cache, "eviction": eviction, "volatile": bool(volatile)}
    if hasattr(pointer, "load_block"):
        _refuse(mask, other)
        block: tensor = pointer.load_block(boundary_check, padding_option, hints)
        return block
    if boundary_check or padding_option:
        raise CompileValueError(
            "boundary_check and padding_option need a block pointer; give a mask"
        )
    handle = pointer_operand(pointer, "load")
    if mask is None and other is not None:
        raise CompileValueError("load: `other` cannot be provided without `mask`")
    handle, guard = _masked(handle, mask, "load")
    fill = None
    if other is not None and guard is not None:
        fill = value_operand(other, handle, "load: `other`")
    return tensor(emit("load", handle, guard, fill, **hints))


def _refuse(mask: MaskLike, other: TensorLike | None = None) -> None:
    if mask is not None or other is not None:
        raise CompileValueError(
            "a block pointer takes no mask or other; use boundary_check and padding_option"
        )


@builtin
def store(
    pointer: PointerLike,
    value: TensorLike,
    mask: MaskLike = None,
    boundary_check: Axes = (),
    cache_modifier: ConstStr | None = "",
    eviction_policy: ConstStr | None = "",
) -> None:
    """Writes a value, converted to the element type, at a pointer or block of pointers.

    The value broadcasts to the pointers (a row repeats along rows); where the mask is false no
    memory is touched. Of several elements for one address any may stay. cache_modifier: ".wb",
    ".cg", ".cs", ".wt". Raises CompileTypeError for what is not a pointer or points to const,
    CompileValueError for a block through one scalar pointer and shapes that do not fit.
    """
    cache = one_of(cache_modifier, _STORE_CACHES, "cache_modifier")
    hints = {"cache": cache, "eviction": one_of(eviction_policy, _EVICTIONS, "eviction_policy")}
    if hasattr(pointer, "store_block"):
        _refuse(mask)
        pointer.store_block(value, boundary_check, hints)
        return
    if boundary_check:
        raise CompileValueError("boundary_check needs a block pointer; give a mask")
    handle, guard = _masked(pointer_operand(pointer, "store"), mask, "store")
    current().emit("store", [handle, value_operand(value, handle, "store"), guard], hints)


# -- atomics


def _atomic(
    kind: str, pointer: PointerLike, val: TensorLike, mask: MaskLike, sem: Word, scope: Word
) -> tensor:
    what = f"atomic_{kind}"
    sync = _sync(sem, scope)
    handle, guard = _masked(pointer_operand(pointer, what), mask, what)
    value = value_operand(val, handle, what)
    check_atomic(element_of(value.ty), kind)
    return tensor(emit("atomic", handle, value, guard, kind=kind, **sync))


@builtin
def atomic_add(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Adds val at each pointer indivisibly; the old values. Ints wrap; repeated addresses all
    count. sem: "acquire", "release", "acq_rel" (default), "relaxed"; scope: "cta", "gpu" (default),
    "sys"."""
    return _atomic("add", pointer, val, mask, sem, scope)


@builtin
def atomic_max(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Puts the larger of val and memory at each pointer; the old values. See atomic_add."""
    return _atomic("max", pointer, val, mask, sem, scope)


@builtin
def atomic_min(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Puts the smaller of val and memory at each pointer; the old values. See atomic_add."""
    return _atomic("min", pointer, val, mask, sem, scope)


@builtin
def atomic_and(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Bitwise and of ints in memory; the old values. See atomic_add."""
    return _atomic("and", pointer, val, mask, sem, scope)


@builtin
def atomic_or(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Bitwise or of ints in memory; the old values. See atomic_add."""
    return _atomic("or", pointer, val, mask, sem, scope)


@builtin
def atomic_xor(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Bitwise exclusive or of ints in memory; the old values. See atomic_add."""
    return _atomic("xor", pointer, val, mask, sem, scope)


@builtin
def atomic_xchg(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> tensor:
    """Writes val at each pointer indivisibly; the old values. See atomic_add."""
    return _atomic("xchg", pointer, val, mask, sem, scope)


@builtin
def atomic_cas(
    pointer: PointerLike, cmp: TensorLike, val: TensorLike, sem: Word = None, scope: Word = None
) -> tensor:
    """Writes val where memory holds the very bits of cmp; the old values. See atomic_add."""
    sync = _sync(sem, scope)
    handle = pointer_operand(pointer, "atomic_cas")
    expected, value = (value_operand(v, handle, "atomic_cas") for v in (cmp, val))
    return tensor(emit("atomic_cas", handle, expected, value, **sync))


@builtin
def atomic_load(
    pointer: PointerLike, mask: MaskLike = None, sem: Word = None, scope: Word = None
) -> tensor:
    """The values at the pointers, read indivisibly, after what other programs released."""
    _sync(sem, scope)
    return load(pointer, mask, volatile=True)


@builtin
def atomic_store(
    pointer: PointerLike,
    val: TensorLike,
    mask: MaskLike = None,
    sem: Word = None,
    scope: Word = None,
) -> None:
    """Writes val at each pointer indivisibly, releasing what this program wrote before."""
    _atomic("xchg", pointer, val, mask, sem, scope)


@builtin
def atomic_poll(
    pointer: PointerLike,
    expected_value: TensorLike,
    sem: Word = None,
    scope: Word = None,
    timeout_ns: ConstInt | None = None,
) -> tensor:
    """Waits until memory at one pointer holds expected_value, and gives it.

    timeout_ns is not kept: a launch that waits for ever is stopped by the targets that can tell.
    """
    _sync(sem, scope)
    handle = pointer_operand(pointer, "atomic_poll")
    if shape_of(handle.ty):
        raise CompileValueError("atomic_poll waits at one pointer, not at a block of pointers")
    expected = value_operand(expected_value, handle, "atomic_poll")

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
