"""`tl.extra.libdevice`: CUDA's device functions, by their public names.

One idea: a name here is a row of the op table, or a few lines of the language in one of the modules
beside; so every function runs on every target. The directed roundings (`_rd`, `_ru`, `_rz`), the
conversions (`float2int_rn`, …) and the `fast_*` names are made from patterns.
"""

# ruff: noqa: F401 - gathering names is what this file does

from ._bits import (
    brev,
    byte_perm,
    clz,
    copysign,
    double2hiint,
    double2loint,
    double_as_longlong,
    ffs,
    float_as_int,
    float_as_uint,
    hadd,
    hiloint2double,
    ilogb,
    int_as_float,
    isnan,
    ldexp,
    logb,
    longlong_as_double,
    mul24,
    mulhi,
    nextafter,
    popc,
    rhadd,
    sad,
    scalbn,
    signbit,
    uint_as_float,
)
from ._composites import (
    FAST,
    ROW_FUNCTIONS,
    fdim,
    finitef,
    fmod,
    isfinited,
    isinf,
    jn,
    llrint,
    llround,
    nearbyint,
    norm3d,
    norm4d,
    remainder,
    rnorm3d,
    rnorm4d,
    round,
    saturatef,
    yn,
)
from ._rounding import CONVERSIONS, DIRECTED, rcp64h

abs, ceil, cos, erf, exp, exp2 = (
    ROW_FUNCTIONS[n] for n in ("abs", "ceil", "cos", "erf", "exp", "exp2")
)
floor, fma, log, log2 = (ROW_FUNCTIONS[name] for name in ("floor", "fma", "log", "log2"))
rint, rsqrt, sin, sqrt = (ROW_FUNCTIONS[name] for name in ("rint", "rsqrt", "sin", "sqrt"))
tan, tanh, trunc, pow = (ROW_FUNCTIONS[name] for name in ("tan", "tanh", "trunc", "pow"))
globals().update(ROW_FUNCTIONS | FAST | DIRECTED | CONVERSIONS)
