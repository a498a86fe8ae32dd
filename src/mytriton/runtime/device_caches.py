"""A kernel's compilations under the names that Triton's users look for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .compiled_kernel import CompiledKernel
from .target import chosen_target

if TYPE_CHECKING:
    from .jit import JITFunction


class DeviceCaches:
    """A kernel's compilations as Triton shows them: by device, first of a tuple, by key."""

    def __init__(self, kernel: JITFunction) -> None:
        self._kernel = kernel

    def __getitem__(self, device: Any) -> tuple[Any, ...]:
        target = chosen_target(None)
        compiled = {
            key: CompiledKernel(compilation, target, None)
            for key, compilation in self._kernel.compilations.items()
        }
        return compiled, {}, target, None, self._kernel.create_binder()

    def clear(self) -> None:
        """Forgets every compilation."""
        self._kernel.clear_cache()
