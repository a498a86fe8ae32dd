"""Names of types and modules: what they answer, which is the same on every target."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import mytriton as triton
import mytriton.language as tl

from .resolve import public_names
from .shown import Launched, Plain, Shown

DTYPES = {
    "int1": np.bool_, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float16": np.float16, "float32": np.float32, "float64": np.float64,
}  # fmt: skip


@triton.jit
def cast_kernel(x, out, DTYPE: tl.constexpr):
    lanes = tl.arange(0, 8)
    value = tl.load(x + lanes).to(DTYPE)
    tl.static_assert(value.dtype == DTYPE)
    tl.store(out + lanes, value.to(tl.float32))


NUMBERS = np.array([0, 1, 2, 3, 0.5, 1.5, 6, 0.25], np.float32)


def cast_to(name: str) -> Shown:
    """A value goes through the dtype and comes back."""
    dtype = getattr(tl, name)
    wanted = NUMBERS
    if name == "float8e4b15":  # has no infinity
        wanted = np.minimum(NUMBERS, np.float32(1.875))
    if name in DTYPES:
        wanted = NUMBERS.astype(DTYPES[name]).astype(np.float32)
    return Launched(cast_kernel, (NUMBERS, np.zeros(8, "f4")), {"out": wanted}, {"DTYPE": dtype})


SMALL = ("bfloat16", "float8e4nv", "float8e5", "float8e4b8", "float8e5b16", "float8e4b15")


@triton.jit
def pointers_kernel(x, out):
    """An int32 pointer as an int, and back."""
    lanes = tl.arange(0, 8)
    again = x.to(tl.int64).to(tl.pi32_t)
    tl.store(out + lanes, tl.load(again + lanes))


# -- the questions a type answers

TYPES: dict[str, tuple[Any, Any]] = {
    "dtype": (tl.float16, tl.int32),
    "block_type": (tl.block_type(tl.float16, [4, 2]), tl.block_type(tl.int32, [8])),
    "pointer_type": (tl.pointer_type(tl.float16), tl.pointer_type(tl.int32, const=True)),
}
ASKED = {"fp16", "int32"}
"""The element types of the first and the second of each pair."""


def question(owner: str, name: str) -> Callable[[], None]:
    """`is_…` of both types, by the rule of its name."""
    pointer, block = owner == "pointer_type", owner == "block_type"
    rules: dict[str, Callable[[int], bool]] = {
        "is_block": lambda i: block,
        "is_ptr": lambda i: pointer,
        "is_const": lambda i: pointer and i == 1,
        "is_void": lambda i: False,
        "is_bool": lambda i: False,
        "is_fp8": lambda i: False,
        "is_floating": lambda i: i == 0 and not pointer,
        "is_standard_floating": lambda i: i == 0 and not pointer,
        "is_int": lambda i: i == 1 and not pointer,
        "is_int_signed": lambda i: i == 1 and not pointer,
        "is_int_unsigned": lambda i: False,
    }
    exact = {f"is_{n}": i for i, n in enumerate(("fp16", "int32"))}

    def check() -> None:
        for i, ty in enumerate(TYPES[owner]):
            if name in rules:
                wanted = rules[name](i)
            else:
                wanted = exact.get(name) == i and not pointer
            assert getattr(ty, name)() is wanted, (owner, name, i)

    return check


def equal(got: Callable[[], Any], wanted: Any) -> Plain:
    def check() -> None:
        found = got()
        assert found == wanted, f"{found!r} is not {wanted!r}"

    return Plain(check)


def refuses(call: Callable[[], Any], error: type[Exception]) -> Plain:
    def check() -> None:
        try:
            call()
        except error:
            return
        raise AssertionError("not refused")

    return Plain(check)


FLOATS = ["fp8e4nv", "fp8e5", "fp8e4b8", "fp8e5b16", "fp8e4b15", "fp16", "bf16", "fp32", "fp64"]


def of_a_type(owner: str) -> dict[str, Shown]:
    half, whole = TYPES[owner]
    made = getattr(tl, owner)
    pointer, block = owner == "pointer_type", owner == "block_type"
    mangled = {"dtype": "fp16", "block_type": "fp16S4_2S", "pointer_type": "Pfp16"}[owner]
    other = {
        "dtype": tl.int8,
        "block_type": tl.block_type(tl.int8, [4, 2]),
        "pointer_type": tl.pointer_type(tl.int8),
    }[owner]
    found: dict[str, Shown] = {
        "FP_TYPES": equal(lambda: sorted(made.FP_TYPES), sorted(FLOATS)),
        "STANDARD_FP_TYPES": equal(lambda: sorted(made.STANDARD_FP_TYPES), sorted(FLOATS[5:])),
        "SINT_TYPES": equal(lambda: made.SINT_TYPES, ["int8", "int16", "int32", "int64"]),
        "UINT_TYPES": equal(lambda: made.UINT_TYPES[-4:], ["uint8", "uint16", "uint32", "uint64"]),
        "OTHER_TYPES": equal(lambda: made.OTHER_TYPES, ["void"]),
        "KIND": equal(lambda: made.KIND.FLOATING.value, 2),
        "SIGNEDNESS": equal(lambda: made.SIGNEDNESS.UNSIGNED.value, 1),
        "is_dtype": equal(lambda: (made.is_dtype("fp32"), made.is_dtype("fp31")), (True, False)),
        "cache_key_part": equal(lambda: half.cache_key_part != whole.cache_key_part, True),
        "mangle": equal(lambda: half.mangle(), mangled),
        "scalar": equal(lambda: half.scalar, half if not block else tl.float16),
        "with_element_ty": equal(lambda: half.with_element_ty(tl.int8), other),
        "to_ir": refuses(lambda: half.to_ir(None), TypeError),
    }
    if not pointer:
        kinds = (tl.dtype.KIND.FLOATING, tl.dtype.KIND.INTEGRAL)
        found["kind"] = equal(lambda: (half.kind(), whole.kind()), kinds)
        found["codegen_name"] = equal(lambda: half.codegen_name(), "float16")
        found["get_int_min_value"] = equal(lambda: whole.get_int_min_value(), -(2**31))
        found["get_int_max_value"] = equal(lambda: whole.get_int_max_value(), 2**31 - 1)
    if block:
        found["nbytes"] = equal(lambda: half.nbytes, 16)
        found["get_block_shapes"] = equal(lambda: tuple(half.get_block_shapes()), (4, 2))
    return {f"{owner}.{name}": shown for name, shown in found.items()}


def questions() -> dict[str, Shown]:
    return {
        name: Plain(question(*name.split(".")))
        for module, name in public_names()
        if module == "triton.language"
        and name.partition(".")[2].startswith("is_")
        and not name.endswith("is_dtype")
    }


# -- modules

MODULES = {
    "core": "core", "extra": "extra", "math": "math", "random": "random", "standard": "standard",
    "target_info": "target_info", "math.core": "core", "random.math": "math",
    "standard.core": "core", "standard.math": "math", "cuda.libdevice": "extra.libdevice",
}  # fmt: skip


def module(key: str, path: str) -> Plain:
    def check() -> None:
        from .resolve import resolve

        assert resolve(key) is importlib.import_module(f"mytriton.language.{path}")

    return Plain(check)


OF_TYPES: dict[str, Shown] = {
    **{name: cast_to(name) for name in (*DTYPES, *SMALL)},
    **{key: item for owner in TYPES for key, item in of_a_type(owner).items()},
    **questions(),
    **{key: module(key, path) for key, path in MODULES.items()},
    "pi32_t": Launched(
        pointers_kernel,
        (np.arange(8, dtype=np.int32), np.zeros(8, np.int32)),
        {"out": np.arange(8)},
    ),
    "void": equal(lambda: (tl.void.is_void(), tl.float32.is_void()), (True, False)),
    "dtype": equal(lambda: tl.dtype("fp32"), tl.float32),
    "block_type": equal(lambda: str(tl.block_type(tl.int8, [2, 3])), "vector<2x3 x i8>"),
    "pointer_type": equal(lambda: tl.pointer_type(tl.int8).element_ty, tl.int8),
    "constexpr_type": equal(lambda: repr(tl.constexpr_type(3)), "constexpr_type[3]"),
    "constexpr_type.mangle": equal(lambda: tl.constexpr_type(3).mangle(), "constexpr_type[3]"),
    "tuple_type": equal(lambda: tl.tuple_type([tl.int8, tl.int8]).types, [tl.int8, tl.int8]),
    "tuple_type.mangle": equal(lambda: tl.tuple_type([tl.int8, tl.uint16]).mangle(), "Ti8_u16T"),
    "tuple_type.name": equal(lambda: "i8" in tl.tuple_type([tl.int8, tl.uint16]).name, True),
    "str_to_ty": equal(lambda: tl.str_to_ty("*fp16", None), tl.pointer_type(tl.float16)),
    "PropagateNan": equal(lambda: tl.PropagateNan(0), tl.PropagateNan.NONE),
    "PropagateNan.ALL": equal(lambda: tl.PropagateNan.ALL.value, 0xFFFF),
    "PropagateNan.NONE": equal(lambda: tl.PropagateNan.NONE.value, 0),
    "TRITON_MAX_TENSOR_NUMEL": equal(lambda: tl.TRITON_MAX_TENSOR_NUMEL, 1048576),
    "standard.jit": equal(lambda: tl.standard.jit, triton.jit),
    "random.jit": equal(lambda: tl.random.jit, triton.jit),
    "random.tl": equal(lambda: tl.random.tl, tl),
    "random.N_ROUNDS_DEFAULT": equal(lambda: int(tl.random.N_ROUNDS_DEFAULT), 10),
    "target_info.current_target": equal(lambda: tl.target_info.current_target().backend, "cuda"),
    "target_info.is_cuda": equal(lambda: tl.target_info.is_cuda(), True),
    "target_info.cuda_capability_geq": equal(
        lambda: [tl.target_info.cuda_capability_geq(*v) for v in ((8, 0), (9, 0))], [True, False]
    ),
    "target_info.is_hip": equal(lambda: tl.target_info.is_hip(), False),
    "target_info.is_hip_cdna3": equal(lambda: tl.target_info.is_hip_cdna3(), False),
    "target_info.is_hip_cdna4": equal(lambda: tl.target_info.is_hip_cdna4(), False),
    "target_info.is_hip_gfx1250": equal(lambda: tl.target_info.is_hip_gfx1250(), False),
}
