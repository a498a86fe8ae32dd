// CUDA's built-in functions that C lacks.

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace cudasim {

template <typename To, typename From> inline To same_bits(From x) {
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}

}  // namespace cudasim

inline float __int_as_float(int x) { return cudasim::same_bits<float>(x); }
inline float __uint_as_float(unsigned int x) { return cudasim::same_bits<float>(x); }
inline int __float_as_int(float x) { return cudasim::same_bits<int>(x); }
inline unsigned int __float_as_uint(float x) { return cudasim::same_bits<unsigned int>(x); }
inline double __longlong_as_double(long long x) { return cudasim::same_bits<double>(x); }
inline long long __double_as_longlong(double x) { return cudasim::same_bits<long long>(x); }

inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
    return (unsigned int)((unsigned long long)x * y >> 32);
}
inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}

inline float __double2float_rz(double x) {
    float near = (float)x;
    return fabs((double)near) > fabs(x) ? nextafterf(near, 0.0f) : near;
}
inline float __ull2float_rz(unsigned long long x) {
    int extra = x >> 24 ? 40 - __builtin_clzll(x) : 0;
    return (float)(x >> extra << extra);
}
inline float __ll2float_rz(long long x) {
    return x < 0 ? -__ull2float_rz(0ULL - (unsigned long long)x) : __ull2float_rz(x);
}

inline float rsqrtf(float x) { return (float)(1.0 / sqrt((double)x)); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline double sinpi(double x) {  // exact at multiples of a half, where 0 has the sign of x
    double inside = fmod(x, 2.0), quarter = rint(2.0 * inside), rest = M_PI * (inside - quarter / 2);
    double value = (int)quarter & 1 ? cos(rest) : sin(rest);
    return value == 0 ? copysign(0.0, x) : ((int)quarter & 3) > 1 ? -value : value;
}
inline double cospi(double x) { return isinf(x) ? x - x : sinpi(0.5 - fabs(fmod(x, 2.0))) + 0.0; }
inline float rcbrtf(float x) { return (float)rcbrt((double)x); }
inline float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }

// Rare functions that C lacks: in long double, by plain methods.
inline double erfcx(double x) {
    if (x < 25) return (double)(expl((long double)x * x) * erfcl(x));
    long double term = 1, total = 1;
    for (int n = 1; n < 20; n++) total += term *= -(2 * n - 1) / (2 * (long double)x * x);
    return (double)(total / (x * 1.772453850905516027298167483341145L));
}
inline double erfcinv(double q) {  // Newton's method on log(erfc(y)) = log(q)
    if (!(q > 0 && q < 2)) return q == 0 ? INFINITY : q == 2 ? -INFINITY : NAN;
    if (q > 1) return -erfcinv(2 - q);
    long double want = logl(q), y = q > 0.5 ? (1 - q) * 0.88L : sqrtl(-want) * 0.9L;
    for (int n = 0; n < 60; n++) {
        long double value = erfcl(y), slope = expl(-y * y) * 1.1283791670955125738961589031215L;
        y += q > 0.5 ? (erfl(y) - (1 - (long double)q)) / -slope : (logl(value) - want) * value / slope;
    }
    return (double)y;
}
inline double erfinv(double x) {
    if (!(fabs(x) < 1)) return fabs(x) == 1 ? copysign(INFINITY, x) : NAN;
    if (fabs(x) > 0.5) return copysign(erfcinv(1 - fabs(x)), x);
    long double y = x;
    for (int n = 0; n < 20; n++) y -= (erfl(y) - x) * expl(y * y) * 0.88622692545275801364908374167057L;
    return x == 0 ? x : (double)y;
}
inline double normcdf(double x) { return (double)(erfcl(-x * 0.70710678118654752440084436210485L) / 2); }
inline double normcdfinv(double p) { return -1.4142135623730951 * erfcinv(2 * p); }
inline double cyl_bessel(int order, double x) {  // the power series, whose terms are all positive
    if (x != x || isinf(x)) return order ? x : fabs(x);
    long double square = (long double)x * x / 4, term = order ? x / 2.0L : 1, total = term;
    for (int n = 1; n < 3000 && fabsl(term) > fabsl(total) * 1e-21L; n++)
        total += term *= square / ((long double)n * (n + order));
    return (double)total;
}
inline double cyl_bessel_i0(double x) { return cyl_bessel(0, x); }
inline double cyl_bessel_i1(double x) { return cyl_bessel(1, x); }
inline float erfcxf(float x) { return (float)erfcx((double)x); }
inline float erfcinvf(float x) { return (float)erfcinv((double)x); }
inline float erfinvf(float x) { return (float)erfinv((double)x); }
inline float normcdff(float x) { return (float)normcdf((double)x); }
inline float normcdfinvf(float x) { return (float)normcdfinv((double)x); }
inline float cyl_bessel_i0f(float x) { return (float)cyl_bessel(0, x); }
inline float cyl_bessel_i1f(float x) { return (float)cyl_bessel(1, x); }
inline float sinpif(float x) { return (float)sinpi((double)x); }
inline float cospif(float x) { return (float)cospi((double)x); }

// Arithmetic in another rounding: the operands are volatile, so that it happens while that is set.
template <typename F> inline auto cudasim_rounded(int mode, F compute) -> decltype(compute()) {
    int before = fegetround();
    fesetround(mode);
    volatile decltype(compute()) result = compute();
    fesetround(before);
    return result;
}
#define CUDASIM_ROUNDED(NAME, T, MODE, PARAMETERS, COPIES, VALUE) \
    inline T NAME PARAMETERS { return cudasim_rounded(MODE, [&] { COPIES return T(VALUE); }); }
#define CUDASIM_ROUNDINGS(S, MODE, T, P, FMA, F) \
    CUDASIM_ROUNDED(__##P##add_##S, T, MODE, (T x, T y), volatile T a = x; volatile T b = y;, a + b) \
    CUDASIM_ROUNDED(__##P##sub_##S, T, MODE, (T x, T y), volatile T a = x; volatile T b = y;, a - b) \
    CUDASIM_ROUNDED(__##P##mul_##S, T, MODE, (T x, T y), volatile T a = x; volatile T b = y;, a * b) \
    CUDASIM_ROUNDED(__##P##div_##S, T, MODE, (T x, T y), volatile T a = x; volatile T b = y;, a / b) \
    CUDASIM_ROUNDED(__##P##rcp_##S, T, MODE, (T x), volatile T a = x;, 1 / a) \
    CUDASIM_ROUNDED(__##P##sqrt_##S, T, MODE, (T x), volatile T a = x;, sqrt##F(a)) \
    CUDASIM_ROUNDED(__##FMA##_##S, T, MODE, (T x, T y, T z), volatile T a = x;, fma##F(a, y, z))
#define CUDASIM_BOTH(S, MODE) \
    CUDASIM_ROUNDINGS(S, MODE, float, f, fmaf, f) CUDASIM_ROUNDINGS(S, MODE, double, d, fma, )
CUDASIM_BOTH(rd, FE_DOWNWARD)
CUDASIM_BOTH(ru, FE_UPWARD)
CUDASIM_BOTH(rz, FE_TOWARDZERO)

