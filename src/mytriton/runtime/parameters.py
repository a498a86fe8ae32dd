"""The parameters of a kernel, under the names that Triton gives them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import CompileValueError
from ..frontend.signature import annotated_type, is_const, is_constexpr, signature
from ..ir.types import PointerType, ScalarType


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    num: its place; default: `inspect.Parameter.empty` where there is none; annotation: the object,
    None where there is none; declared: the type that the annotation demands, if any.
    do_not_specialize, do_not_specialize_on_alignment: the values (or the alignment) of its
    arguments never choose code.
    """

    empty = inspect.Parameter.empty

    name: str
    num: int
    default: Any
    annotation: Any
    is_constexpr: bool
    is_const: bool
    declared: ScalarType | PointerType | None
    do_not_specialize: bool = False
    do_not_specialize_on_alignment: bool = False

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty

    @property
    def annotation_type(self) -> str:
        """The annotated type as Triton writes it (`i32`, `*fp16`); empty where there is none."""
        declared = self.declared
        if isinstance(declared, PointerType):
            return f"*{declared.element.mangle()}"
        return "" if declared is None else declared.mangle()


def parameters(
    fn: Callable[..., Any], fixed: Iterable[int | str], fixed_alignment: Iterable[int | str]
) -> list[Parameter]:
    """The parameters of a kernel; `fixed` and `fixed_alignment` name those of `do_not_specialize`
    and `do_not_specialize_on_alignment`, or give their places.

    Raises CompileValueError where one of them is a constexpr, whose value is always compiled in.
    """
    fixed, fixed_alignment = set(fixed), set(fixed_alignment)
    result = []
    for num, found in enumerate(signature(fn).parameters.values()):
        marked = [bool(given & {num, found.name}) for given in (fixed, fixed_alignment)]
        if any(marked) and is_constexpr(found):
            raise CompileValueError(
                f"{found.name}: a constexpr cannot be in do_not_specialize, since its value is"
                " always compiled in; leave it out, or drop the annotation tl.constexpr"
            )
        annotation = None if found.annotation is found.empty else found.annotation
        result.append(
            Parameter(
                found.name, num, found.default, annotation, is_constexpr(found), is_const(found),
                annotated_type(found.annotation), *marked,
            )
        )  # fmt: skip
    return result
