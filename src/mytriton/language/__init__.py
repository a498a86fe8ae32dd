"""`import mytriton.language as tl`: the public names of the language.

This file only gathers: each module says in `__all__` what it makes public, and `methods` puts the
methods on tensors. A public row of the op table is a name too (`math.FUNCTIONS`), so a new row
needs no line here.
"""

# ruff: noqa: F401, F403 - gathering names is what this file does

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from . import core, extra, math, methods, random, semantics, standard, target_info
from .block_pointers import *
from .constexpr import const
from .creation import *
from .debug import *
from .descriptors import *
from .dot import *
from .dtypes import *
from .extra.inline_asm import *
from .library import *
from .loops import *
from .math import *
from .memory import *
from .random import *
from .reductions import *
from .scalars import constexpr_function
from .shapes import *
from .tensor import tensor, to_tensor
from .tuples import *

if TYPE_CHECKING:
    # A constexpr holds whatever it is given: `BLOCK: tl.constexpr` and `n: tl.constexpr = 2` say
    # when a value is known, not what it is.
    constexpr: TypeAlias = Any
else:
    from .constexpr import constexpr

    def __getattr__(name: str) -> math.ElementFunction:
        """The function of a public row that `math.__all__` does not name."""
        if name in math.FUNCTIONS:
            return math.FUNCTIONS[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# What Triton's own modules hold of one another, for code that finds it there.
vars(math)["core"], vars(random)["math"], vars(random)["tl"] = core, math, sys.modules[__name__]
