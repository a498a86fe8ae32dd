"""Measures an expansion's error against a wider library function, on all inputs or on many.

    python -m tools.elementary.measure exp f32            # every 97th of all f32 patterns
    python -m tools.elementary.measure sin f64 --low 1e3 --high 1e300

One idea: the expansion as C (see `as_c`) and the reference (double for f32, quadmath for f64) run
in one loop, which keeps the worst input and counts special values that differ in kind.
"""

from __future__ import annotations

import argparse
import inspect
import subprocess
import tempfile
from pathlib import Path

from mytriton import elementary
from mytriton.ir import types
from tools.elementary import as_c

MAIN = r"""
#include <quadmath.h>
#include <cmath>
#include <cstdint>
#include <limits>
typedef WIDE wide;
static double distance(TYPE got, wide want) {
    TYPE near = (TYPE)want;
    if (got != got || near != near) return (got != got) && (near != near) ? 0 : 1e30;
    if (std::isinf(got) || std::isinf(near)) {
        if (got == near) return 0;
        if (!std::isinf(got)) { got = std::nextafter(near, TYPE(0)) == got ? got : TYPE(0); }
        if (got == 0) return 1e29;
    }
    int e; TYPE mag = std::fabs(near);
    std::frexp(std::isinf(mag) ? std::numeric_limits<TYPE>::max() : mag, &e);
    int low = std::numeric_limits<TYPE>::min_exponent;
    if (e < low) e = low;
    if (near == 0 && got == 0 && want == 0 && std::signbit(got) != std::signbit(near)) return 1e28;
    wide ulp = (wide)std::ldexp(1.0, e - std::numeric_limits<TYPE>::digits);
    if (ulp == 0) ulp = (wide)std::numeric_limits<TYPE>::denorm_min();
    wide d = ((wide)got - want) / ulp;
    return (double)(d < 0 ? -d : d);
}
static TYPE pick(uint64_t i) {
#ifdef RANGE
    double u = (double)((i * 0x9E3779B97F4A7C15ull) >> 11) * 0x1p-53;
    double lo = LOW, hi = HIGH;
    if (lo > 0 && hi / lo > 100) return (TYPE)(lo * std::pow(hi / lo, u));
    return (TYPE)(lo + (hi - lo) * u);
#else
    if (sizeof(TYPE) == 4) return cudasim::same_bits<TYPE>((BITS)(i * STEP));
    return cudasim::same_bits<TYPE>((BITS)(i * 0x9E3779B97F4A7C15ull));
#endif
}
int main() {
    double worst = 0, sum = 0; TYPE at = 0; uint64_t count = COUNT;
    TYPE special[] = {0, -(TYPE)0, 1, -1, (TYPE)INFINITY, -(TYPE)INFINITY, (TYPE)NAN,
        std::numeric_limits<TYPE>::min(), std::numeric_limits<TYPE>::denorm_min(),
        std::numeric_limits<TYPE>::max(), std::numeric_limits<TYPE>::lowest(),
        -std::numeric_limits<TYPE>::min(), -std::numeric_limits<TYPE>::denorm_min(),
        (TYPE)0.5, 2, 3, (TYPE)-0.5, -2, -3};
    for (TYPE x : special) {
        TYPE got = expansion(x); wide want = reference(x); double d = distance(got, want);
        if (d > 4) printf("special %a: got %a want %a (%g ulp)\n", x, got, (double)want, d);
    }
    for (uint64_t i = 0; i < count; i++) {
        TYPE x = pick(i);
        double d = distance(expansion(x), reference(x));
        sum += d;
        if (d > worst) { worst = d; at = x; }
    }
    printf("worst %.4f ulp at %a (%.9g): got %a want %a; mean %.4f\n", worst, at, (double)at,
        (double)expansion(at), (double)reference(at), sum / count);
}
"""


def program(
    name: str, element: types.ScalarType, reference: str, other: str, defines: dict[str, str]
) -> str:
    formula = elementary.formula(name)
    arity = len(inspect.signature(formula).parameters)
    body = as_c.function("formula", formula, [element] * arity)
    second = ", second(x)" if arity == 2 else ""
    wide = "double" if element.bits == 32 else "__float128"
    kind, unsigned = as_c.C_TYPES[element.ir], f"uint{element.bits}_t"
    lines = [f"#define {key} {value}" for key, value in defines.items()]
    lines += [f"#define TYPE {kind}", f"#define BITS {unsigned}", f"#define WIDE {wide}"]
    head, tail = MAIN.split("static double distance", 1)
    return as_c.program(
        "\n".join(lines)
        + head
        + body
        + f"static {kind} second({kind} x) {{ return {other}; }}\n"
        + f"static {kind} expansion({kind} x) {{ return formula(x{second}); }}\n"
        + f"static wide reference({kind} given) {{ wide x = given, y = second(given); "
        + f"return {reference}; }}\n"
        + "static double distance"
        + tail
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("type", choices=("f32", "f64"))
    parser.add_argument("--reference", help="C expression in x (and y)")
    parser.add_argument("--second", default="x", help="C expression in x: the second operand")
    parser.add_argument("--low")
    parser.add_argument("--high")
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    element = types.BY_IR_NAME[given.type]
    quad = "" if given.type == "f32" else "q"
    reference = given.reference or f"{given.name}@(x)"
    defines = {"STEP": "97", "COUNT": str(given.count or (44278013 if not quad else 1000000))}
    if given.low is not None:
        defines |= {"RANGE": "1", "LOW": given.low, "HIGH": given.high}
        defines["COUNT"] = str(given.count or (5000000 if not quad else 500000))
    text = program(given.name, element, reference.replace("@", quad), given.second, defines)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "measure.cpp"
        source.write_text(text)
        binary = source.with_suffix("")
        flags = ["-O2", "-march=native", "-std=c++17", "-ffp-contract=off", "-fno-builtin"]
        command = ["g++", *flags, str(source), "-o", str(binary), "-lquadmath"]
        subprocess.run(command, check=True)
        print(given.name, given.type, end=" ", flush=True)
        subprocess.run([str(binary)], check=True)


if __name__ == "__main__":
    main()
