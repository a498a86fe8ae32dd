"""`triton.backends.compiler`: targets, and the compiler of one as libraries see it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import mytriton


@dataclass(frozen=True)
class GPUTarget:
    """A device's kind: backend ("cpu" or "cuda"), architecture (80 for sm_80), threads a warp."""

    backend: str
    arch: int | str
    warp_size: int


@dataclass(frozen=True)
class Options:
    """The launch options that a backend knows; those of other backends are left out when parsed."""

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    maxnreg: int | None = None
    debug: bool = False
    sanitize_overflow: bool = False
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    extern_libs: tuple[tuple[str, str], ...] = ()
    backend_name: str = field(default="cpu")

    @property
    def cluster_dims(self) -> tuple[int, int, int]:
        return (self.num_ctas, 1, 1)


class BaseBackend:
    """The compiler for a target: its identity, and the options it takes."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend in ("cpu", "cuda")

    def hash(self) -> str:
        """A name for the compiler and the target; equal names compile equally."""
        return f"mytriton-{mytriton.__version__}-{self.target.backend}-{self.target.arch}"

    def parse_options(self, opts: dict[str, Any]) -> Options:
        """The options that are known, the rest at their defaults."""
        known = {row.name for row in fields(Options)}
        given = {name: value for name, value in opts.items() if name in known}
        return Options(**{**given, "backend_name": self.target.backend})


__all__ = ["BaseBackend", "GPUTarget", "Options"]
