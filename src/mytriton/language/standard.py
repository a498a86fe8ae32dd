"""`tl.standard`: the names that Triton keeps there, for code that imports them from there."""

# ruff: noqa: F401, F403 - gathering names is what this file does

from . import core, math
from .creation import zeros, zeros_like
from .library import *
from .scalars import constexpr_function
from .shapes import flip, interleave, ravel, squeeze, unsqueeze
