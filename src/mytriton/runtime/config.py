"""`triton.Config`: one set of constexprs and launch options that an autotuner may choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class Config:
    """One choice of an autotuner: values of constexprs, and launch options.

    kwargs: constexpr values by name. num_warps, num_stages, num_ctas, maxnreg, ir_override: launch
    options, passed on where they are given; the attributes have Triton's defaults (4, 3, 1, None,
    None) where they are not. pre_hook: called with the arguments by name before each launch.
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int | None = None,
        num_stages: int | None = None,
        num_ctas: int | None = None,
        maxnreg: int | None = None,
        pre_hook: Callable[..., Any] | None = None,
        ir_override: Any = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        options = {
            "num_warps": num_warps,
            "num_stages": num_stages,
            "num_ctas": num_ctas,
            "maxnreg": maxnreg,
            "ir_override": ir_override,
        }
        self.options = {name: value for name, value in options.items() if value is not None}
        self.num_warps = 4 if num_warps is None else num_warps
        self.num_stages = 3 if num_stages is None else num_stages
        self.num_ctas = 1 if num_ctas is None else num_ctas
        self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """The keywords that a launch with this configuration gets."""
        return {**self.kwargs, **self.options}

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __repr__(self) -> str:
        return f"Config({self})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Config)
            and self._text() == other._text()
            and self.pre_hook == other.pre_hook
        )

    def __hash__(self) -> int:
        return hash(self._text())

    def _text(self) -> tuple[Any, ...]:
        """The keywords with their types: 1, True and 1.0 are different values to a kernel."""
        given = self.all_kwargs().items()
        return tuple(sorted((name, type(value).__name__, repr(value)) for name, value in given))
