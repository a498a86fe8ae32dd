"""What torch.compile's inductor is told of this compiler."""

from __future__ import annotations

import os
import sys
from typing import Any


def compile_in_this_process() -> None:
    """Keeps inductor from compiling kernels in processes of its own, unless the user has said how
    many: it hands them back by pickling parts of Triton's objects, which have no like here."""
    if "TORCHINDUCTOR_COMPILE_THREADS" in os.environ:
        return
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    config: Any = sys.modules.get("torch._inductor.config")
    if config is not None:  # it has read the variable
        config.compile_threads = 1
