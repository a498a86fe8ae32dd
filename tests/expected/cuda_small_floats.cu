// How a float format spells infinity and NaN: both; NaN is all ones; NaN is minus zero; neither.
enum special { IEEE, FN, FNUZ, NONE };

// A float of 8 or 16 bits in memory. Computing with one reads it as a float; f(x) rounds x to
// nearest even, f::cut(x) toward zero.
template <typename Word, int EXPONENT, int MANTISSA, int BIAS, int SPECIAL> struct small_float {
    Word bits;

    small_float() = default;
    __device__ explicit small_float(float x) : bits(encode(x, false)) {}
    __device__ static small_float cut(float x) {
        small_float y;
        y.bits = encode(x, true);
        return y;
    }

    __device__ operator float() const {
        const int full = (1 << EXPONENT) - 1, ones = (1 << MANTISSA) - 1;
        int field = bits >> MANTISSA & full, fraction = bits & ones;
        bool negative = bits >> (EXPONENT + MANTISSA) & 1;
        const float step = __int_as_float((127 + 1 - BIAS - MANTISSA) << 23);
        int shifted = (field - BIAS + 127) << 23 | fraction << (23 - MANTISSA);
        float size = field == 0 ? fraction * step : __int_as_float(shifted);
        const float nan = __int_as_float(0x7fc00000);
        if (SPECIAL == IEEE && field == full) size = fraction ? nan : __int_as_float(0x7f800000);
        if (SPECIAL == FN && field == full && fraction == ones) size = nan;
        if (SPECIAL == FNUZ && negative && field == 0 && fraction == 0) size = nan;
        return negative ? -size : size;
    }

    // The bits of x: its exponent and the leading bits of its fraction are one number, so that
    // rounding up carries from one into the other.
    __device__ static unsigned int encode(float x, bool down) {
        const unsigned int infinity = ((1U << EXPONENT) - 1) << MANTISSA;
        const unsigned int all = infinity | ((1U << MANTISSA) - 1);
        const unsigned int top = SPECIAL == IEEE ? infinity - 1 : SPECIAL == FN ? all - 1 : all;
        const unsigned int minus = 1U << (EXPONENT + MANTISSA);
        const unsigned int quiet = infinity | 1U << (MANTISSA - 1);
        const unsigned int nan = SPECIAL == IEEE ? quiet : SPECIAL == FNUZ ? minus : all;
        unsigned int given = __float_as_uint(x), sign = given >> 31 ? minus : 0;
        int exponent = (int)(given >> 23 & 0xff) - 127;
        if (exponent == 128 && given << 9) return nan;
        unsigned int significand = (given & 0x7fffff) | (exponent > -127 ? 0x800000 : 0);
        int below = 1 - BIAS - exponent;
        int shift = 23 - MANTISSA + (below > 0 ? below : 0);
        if (shift > 25) shift = 25;
        unsigned int kept = significand >> shift, lost = significand << (32 - shift);
        if (!down && (lost > 0x80000000U || (lost == 0x80000000U && (kept & 1)))) kept++;
        unsigned int size = kept + (below > 0 ? 0 : (unsigned int)-below << MANTISSA);
        if (exponent == 128 || size > top) {
            bool finite = SPECIAL == NONE || (down && exponent < 128);
            if (!finite && SPECIAL != IEEE) return nan;
            size = finite ? top : infinity;
        }
        return SPECIAL == FNUZ && size == 0 ? 0 : size | sign;
    }
};

// IEEE half precision in memory. Computing with one reads it as a float; f16(x) rounds x to nearest
// even, f16::cut(x) toward zero.
struct f16 {
    unsigned short bits;

    f16() = default;
    __device__ explicit f16(float x) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    }
    __device__ static f16 cut(float x) {
        f16 y;
        asm("cvt.rz.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
        return y;
    }
    __device__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};

typedef small_float<unsigned char, 5, 2, 15, IEEE> f8e5m2;

extern "C" __global__
void scale(f16* x, f8e5m2* y, float factor) {
    int v0 = threadIdx.x;
    float v2 = (true ? x[v0] : 0.0f);
    float v3 = f16(v2 * factor);
    float v4 = f8e5m2(v3);
    y[v0] = f8e5m2(v4);
}
