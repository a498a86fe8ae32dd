"""`tl.extra`: libdevice, and the few things only CUDA kernels ask for.

Each is loaded when it is first named.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["cuda", "libdevice"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
