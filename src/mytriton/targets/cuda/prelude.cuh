// The device functions of printed kernels: see prelude.py. Sections are printed when called,
// in the order of need.

// --- divide
// x / y toward zero; 0 where y is 0, and the least int divided by -1 wraps. Narrow ints come
// promoted to int.
__device__ inline int divide(int x, int y) {
    return y == 0 ? 0 : y == -1 ? (int)(0U - (unsigned int)x) : x / y;
}
__device__ inline unsigned int divide(unsigned int x, unsigned int y) {
    return y == 0 ? 0 : x / y;
}
__device__ inline long long divide(long long x, long long y) {
    return y == 0 ? 0 : y == -1 ? (long long)(0ULL - (unsigned long long)x) : x / y;
}
__device__ inline unsigned long long divide(unsigned long long x, unsigned long long y) {
    return y == 0 ? 0 : x / y;
}

// --- modulo
// x - divide(x, y) * y: the sign of x, and x itself where y is 0.
__device__ inline int modulo(int x, int y) {
    return y == 0 ? x : y == -1 ? 0 : x % y;
}
__device__ inline unsigned int modulo(unsigned int x, unsigned int y) {
    return y == 0 ? x : x % y;
}
__device__ inline long long modulo(long long x, long long y) {
    return y == 0 ? x : y == -1 ? 0 : x % y;
}
__device__ inline unsigned long long modulo(unsigned long long x, unsigned long long y) {
    return y == 0 ? x : x % y;
}

// --- shift_left
// x << y; 0 where y is negative or no less than the width.
__device__ inline int shift_left(int x, int y) {
    return (unsigned int)y < 32 ? (int)((unsigned int)x << y) : 0;
}
__device__ inline unsigned int shift_left(unsigned int x, unsigned int y) {
    return y < 32 ? x << y : 0;
}
__device__ inline long long shift_left(long long x, long long y) {
    return (unsigned long long)y < 64 ? (long long)((unsigned long long)x << y) : 0;
}
__device__ inline unsigned long long shift_left(unsigned long long x, unsigned long long y) {
    return y < 64 ? x << y : 0;
}

// --- shift_right
// x >> y; only the sign is left where y is negative or no less than the width.
__device__ inline int shift_right(int x, int y) {
    return x >> ((unsigned int)y < 31 ? y : 31);
}
__device__ inline unsigned int shift_right(unsigned int x, unsigned int y) {
    return y < 32 ? x >> y : 0;
}
__device__ inline long long shift_right(long long x, long long y) {
    return x >> ((unsigned long long)y < 63 ? y : 63);
}
__device__ inline unsigned long long shift_right(unsigned long long x, unsigned long long y) {
    return y < 64 ? x >> y : 0;
}

// --- multiply_high
// The high half of the product.
__device__ inline int multiply_high(int x, int y) {
    return __mulhi(x, y);
}
__device__ inline unsigned int multiply_high(unsigned int x, unsigned int y) {
    return __umulhi(x, y);
}
__device__ inline long long multiply_high(long long x, long long y) {
    return __mul64hi(x, y);
}
__device__ inline unsigned long long multiply_high(unsigned long long x, unsigned long long y) {
    return __umul64hi(x, y);
}

// --- minimum
// The lesser one. Of floats: the other one of a NaN, and -0.0 < 0.0 (as PTX min does).
template <typename T> __device__ inline T minimum(T x, T y) {
    return x < y ? x : y;
}
__device__ inline float minimum(float x, float y) {
    return fminf(x, y);
}
__device__ inline double minimum(double x, double y) {
    return fmin(x, y);
}

// --- maximum
// The greater one. Of floats: the other one of a NaN, and -0.0 < 0.0 (as PTX max does).
template <typename T> __device__ inline T maximum(T x, T y) {
    return x > y ? x : y;
}
__device__ inline float maximum(float x, float y) {
    return fmaxf(x, y);
}
__device__ inline double maximum(double x, double y) {
    return fmax(x, y);
}

// --- minimum_nan
// The lesser one; NaN where either is.
template <typename T> __device__ inline T minimum_nan(T x, T y) {
    return x != x || y != y ? x + y : minimum(x, y);
}

// --- maximum_nan
// The greater one; NaN where either is.
template <typename T> __device__ inline T maximum_nan(T x, T y) {
    return x != x || y != y ? x + y : maximum(x, y);
}

// --- quotient
// x / y within 2 units in the last place.
__device__ inline float quotient(float x, float y) {
    float z;
    asm("div.full.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

// --- fast_exp2
// 2 to the power x; its relative error is at most 2^-22. Results below 2^-126 are 0.
__device__ inline float fast_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// --- fast_exp
// e to the power x, as a power of 2; its relative error is at most 2^-22 + |x| 2^-23.
__device__ inline float fast_exp(float x) {
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
}

// --- bitcast
// The same bits as another type of the same size.
template <typename To, typename From> __device__ inline To bitcast(From x) {
    static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the size");
    To y;
    memcpy(&y, &x, sizeof(y));
    return y;
}

// --- saturate
// A float as an int: toward zero, out of range the nearest end, 0 for NaN.
template <typename Int, typename Float> __device__ inline Int saturate(Float x) {
    const unsigned long long ones = ~0ULL >> (64 - 8 * (int)sizeof(Int));
    const bool with_sign = (Int)-1 < (Int)1;
    const Int high = (Int)(with_sign ? ones >> 1 : ones), low = (Int)(with_sign ? ~(ones >> 1) : 0);
    return x != x ? (Int)0 : x <= (Float)low ? low : x >= (Float)high ? high : (Int)x;
}

// --- toward_zero
// The float next to x toward zero.
__device__ inline float toward_zero(double x) {
    return __double2float_rz(x);
}
__device__ inline float toward_zero(long long x) {
    return __ll2float_rz(x);
}
__device__ inline float toward_zero(unsigned long long x) {
    return __ull2float_rz(x);
}

// --- odd_float
// x as a float rounded to odd: where it is inexact the last bit is set, so that rounding it on to a
// narrower format gives what rounding x once would.
__device__ inline float odd_float(double x) {
    float near = toward_zero(x);
    return near == x ? near : __uint_as_float(__float_as_uint(near) | 1);
}
__device__ inline float odd_float(unsigned long long x) {
    float near = toward_zero(x);
    return (unsigned long long)near == x ? near : __uint_as_float(__float_as_uint(near) | 1);
}
__device__ inline float odd_float(long long x) {
    return x < 0 ? -odd_float(0ULL - (unsigned long long)x) : odd_float((unsigned long long)x);
}

// --- IEEE FN FNUZ NONE
// How a float format spells infinity and NaN: both; NaN is all ones; NaN is minus zero; neither.
enum special { IEEE, FN, FNUZ, NONE };

// --- small_float
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

// --- f16
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

// --- bf16
// The upper half of a float in memory. Computing with one reads it as a float; bf16(x) rounds x to
// nearest even, bf16::cut(x) toward zero.
struct bf16 {
    unsigned short bits;

    bf16() = default;
    __device__ explicit bf16(float x) {
        unsigned int given = __float_as_uint(x);
        bits = x != x ? 0x7fc0 : (given + 0x7fff + (given >> 16 & 1)) >> 16;
    }
    __device__ static bf16 cut(float x) {
        bf16 y;
        y.bits = x != x ? 0x7fc0 : __float_as_uint(x) >> 16;
        return y;
    }
    __device__ operator float() const {
        return __uint_as_float((unsigned int)bits << 16);
    }
};

// --- word_of
// The unsigned int of so many bytes.
template <int BYTES> struct word_of;
template <> struct word_of<1> { typedef unsigned char type; };
template <> struct word_of<2> { typedef unsigned short type; };
template <> struct word_of<4> { typedef unsigned int type; };
template <> struct word_of<8> { typedef unsigned long long type; };

// --- volatile_load
// The element as memory holds it now.
template <typename T> __device__ inline T volatile_load(T* address) {
    typedef typename word_of<sizeof(T)>::type Word;
    return bitcast<T>(*(volatile Word*)address);
}

// --- compare_and_swap
// Writes `desired` where memory holds `expected`; gives what it held.
__device__ inline unsigned long long compare_and_swap(
    unsigned long long* address, unsigned long long expected, unsigned long long desired) {
    return atomicCAS(address, expected, desired);
}
__device__ inline unsigned int compare_and_swap(
    unsigned int* address, unsigned int expected, unsigned int desired) {
    return atomicCAS(address, expected, desired);
}
__device__ inline unsigned short compare_and_swap(
    unsigned short* address, unsigned short expected, unsigned short desired) {
    return atomicCAS(address, expected, desired);
}
__device__ inline unsigned char compare_and_swap(
    unsigned char* address, unsigned char expected, unsigned char desired) {
    unsigned int* word = (unsigned int*)((unsigned long long)address & ~3ULL);
    int shift = 8 * (int)((unsigned long long)address & 3);
    unsigned int seen, old = *(volatile unsigned int*)word;
    do {
        seen = old;
        if ((unsigned char)(seen >> shift) != expected) return (unsigned char)(seen >> shift);
        old = atomicCAS(word, seen, (seen & ~(0xffU << shift)) | (unsigned int)desired << shift);
    } while (old != seen);
    return expected;
}

// --- atomic_cas
// Writes `desired` where memory holds the bits of `expected`; gives the old value.
template <typename T, typename Value>
__device__ inline Value atomic_cas(T* address, Value expected, Value desired) {
    typedef typename word_of<sizeof(T)>::type Word;
    Word given = bitcast<Word>((T)expected), next = bitcast<Word>((T)desired);
    return (Value)bitcast<T>(compare_and_swap((Word*)address, given, next));
}

// --- atomic_update
// Replaces an element by combine(old, value) where the hardware has no instruction; gives the old
// value.
template <typename T, typename Value, typename Combine>
__device__ inline Value atomic_update(T* address, Value value, Combine combine) {
    typedef typename word_of<sizeof(T)>::type Word;
    Word seen, old = *(volatile Word*)address;
    do {
        seen = old;
        T next = (T)combine((Value)bitcast<T>(seen), value);
        old = compare_and_swap((Word*)address, seen, bitcast<Word>(next));
    } while (old != seen);
    return (Value)bitcast<T>(old);
}

// --- atomic_add
// Adds to memory; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_add(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return x + y; });
}

// --- atomic_max
// Writes the greater one of memory and the value; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_max(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return maximum(x, y); });
}

// --- atomic_min
// Writes the lesser one of memory and the value; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_min(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return minimum(x, y); });
}

// --- atomic_and
// Bitwise and into memory; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_and(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return x & y; });
}

// --- atomic_or
// Bitwise or into memory; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_or(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return x | y; });
}

// --- atomic_xor
// Bitwise exclusive or into memory; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_xor(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return x ^ y; });
}

// --- atomic_xchg
// Writes memory; gives the old value.
template <typename T, typename Value> __device__ inline Value atomic_xchg(T* address, Value value) {
    return atomic_update(address, value, [](Value x, Value y) { return y; });
}

// --- fence_cta
// Orders this thread's memory accesses for the threads of its block.
__device__ inline void fence_cta() {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
}

// --- fence_gpu
// Orders this thread's memory accesses for the threads of its device.
__device__ inline void fence_gpu() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// --- fence_sys
// Orders this thread's memory accesses for every thread of the system.
__device__ inline void fence_sys() {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

// --- fail
// Says what is wrong and where, and stops the launch.
__device__ inline void fail(const char* message, const char* file, int line, const char* function) {
    printf("%s:%d in %s: %s [program (%u, %u, %u)]\n", file, line, function, message,
           blockIdx.x, blockIdx.y, blockIdx.z);
    __trap();
}

// --- shuffle_xor
// The value of the lane of this warp whose number differs in these bits.
template <typename T> __device__ inline T shuffle_xor(T value, int bits) {
    return __shfl_xor_sync(0xffffffffU, value, bits);
}
template <> __device__ inline bool shuffle_xor(bool value, int bits) {
    return __shfl_xor_sync(0xffffffffU, (int)value, bits) != 0;
}
template <typename T> __device__ inline T* shuffle_xor(T* value, int bits) {
    return (T*)__shfl_xor_sync(0xffffffffU, (unsigned long long)value, bits);
}

// --- shuffle
// The value of a lane of this warp.
template <typename T> __device__ inline T shuffle(T value, int lane) {
    return __shfl_sync(0xffffffffU, value, lane);
}
template <> __device__ inline bool shuffle(bool value, int lane) {
    return __shfl_sync(0xffffffffU, (int)value, lane) != 0;
}
template <typename T> __device__ inline T* shuffle(T* value, int lane) {
    return (T*)__shfl_sync(0xffffffffU, (unsigned long long)value, lane);
}

// --- comes_before
// Whether a key is sorted before another: NaN comes last in both directions.
template <typename Key> __device__ inline bool comes_before(Key x, Key y, bool descending) {
    if (x != x || y != y) return x == x && y != y;
    return descending ? y < x : x < y;
}

// --- sort_shared
// Sorts keys in shared memory along an axis, and with them the places that they came from: bitonic,
// stable. Elements of a row lie `inner` apart; places from `valid` on are padding and come last.
template <typename Local, bool DESCENDING, typename Key> __device__ inline void sort_shared(
    Key* keys, int* places, int count, int extent, int inner, int valid, int threads) {
    for (int size = 2; size <= extent; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < count / 2; i += threads) {
                int half = extent / 2, row = i / (half * inner), pair = i / inner % half;
                int low = pair / distance * (2 * distance) + pair % distance;
                int one = (row * extent + low) * inner + i % inner, other = one + distance * inner;
                Local x = (Local)keys[one], y = (Local)keys[other];
                int from = places[one], to = places[other];
                bool before;
                if (from >= valid || to >= valid) {
                    before = from < to;
                } else if (comes_before(y, x, DESCENDING)) {
                    before = false;
                } else {
                    before = comes_before(x, y, DESCENDING) || from < to;
                }
                if (before == ((low & size) != 0)) {
                    Key kept = keys[one];
                    keys[one] = keys[other];
                    keys[other] = kept;
                    places[one] = to;
                    places[other] = from;
                }
            }
        }
    }
    __syncthreads();
}

// --- round_tf32
// The nearest number of 10 mantissa bits, ties to even.
__device__ inline float round_tf32(float x) {
    unsigned int bits = __float_as_uint(x);
    return x != x ? x : __uint_as_float((bits + (bits >> 13 & 1) + 0xfff) & ~0x1fffU);
}

// --- round_bf16
// The nearest number of 7 mantissa bits, ties to even.
__device__ inline float round_bf16(float x) {
    return (float)bf16(x);
}

// --- remainder_of
// What is left of x after its nearest part; nothing of an infinity.
__device__ inline float remainder_of(float x, float part) {
    return isinf(part) || part != part ? 0.0f : x - part;
}

// --- multiply_add_tf32
// a * b + c, the operands rounded to tf32.
__device__ inline float multiply_add_tf32(float a, float b, float c) {
    return fmaf(round_tf32(a), round_tf32(b), c);
}

// --- multiply_add_tf32x3
// a * b + c, the operands cut into two parts of tf32; three products, the smallest first.
__device__ inline float multiply_add_tf32x3(float a, float b, float c) {
    float a0 = round_tf32(a), a1 = round_tf32(remainder_of(a, a0));
    float b0 = round_tf32(b), b1 = round_tf32(remainder_of(b, b0));
    float small = isinf(a0) || isinf(b0) ? 0.0f : fmaf(a1, b0, a0 * b1);
    return fmaf(a0, b0, c + small);
}

// --- multiply_add_bf16x3
// a * b + c, the operands cut into two parts of bf16; three products, the smallest first.
__device__ inline float multiply_add_bf16x3(float a, float b, float c) {
    float a0 = round_bf16(a), a1 = round_bf16(remainder_of(a, a0));
    float b0 = round_bf16(b), b1 = round_bf16(remainder_of(b, b0));
    float small = isinf(a0) || isinf(b0) ? 0.0f : fmaf(a1, b0, a0 * b1);
    return fmaf(a0, b0, c + small);
}

// --- multiply_add_bf16x6
// a * b + c, the operands cut into three parts of bf16; six products, the smallest first.
__device__ inline float multiply_add_bf16x6(float a, float b, float c) {
    float a0 = round_bf16(a), a1 = round_bf16(remainder_of(a, a0));
    float b0 = round_bf16(b), b1 = round_bf16(remainder_of(b, b0));
    float a2 = round_bf16(remainder_of(remainder_of(a, a0), a1));
    float b2 = round_bf16(remainder_of(remainder_of(b, b0), b1));
    float small = fmaf(a1, b0, a0 * b1) + fmaf(a1, b1, fmaf(a2, b0, a0 * b2));
    return fmaf(a0, b0, c + (isinf(a0) || isinf(b0) ? 0.0f : small));
}

// --- vector
// Neighbouring elements of memory that are moved by one access.
template <typename T, int N> struct alignas(sizeof(T) * N) vector {
    T at[N];
};

// --- load_vector
// Reads N neighbours at once, from an address that is a multiple of their size.
template <int N, typename Local, typename T>
__device__ inline void load_vector(Local* to, const T* from) {
    vector<T, N> several = *(const vector<T, N>*)from;
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = (Local)several.at[i];
}
template <int N, typename T> __device__ inline void load_vector(T* to, const T* from) {
    *(vector<T, N>*)to = *(const vector<T, N>*)from;
}

// --- store_vector
// Writes N neighbours at once, to an address that is a multiple of their size.
template <int N, typename Local, typename T>
__device__ inline void store_vector(T* to, const Local* from) {
    vector<T, N> several;
#pragma unroll
    for (int i = 0; i < N; i++) several.at[i] = (T)from[i];
    *(vector<T, N>*)to = several;
}
// Of narrow elements NVRTC would make several accesses, so that one is asked for.
template <int N, typename T> __device__ inline void store_vector(T* to, const T* from) {
    if (sizeof(T) < 4 && sizeof(T) * N == 16 && __isGlobal(to)) {
        uint4 w;
        memcpy(&w, from, 16);
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                     :: "l"(__cvta_generic_to_global(to)), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w)
                     : "memory");
    } else {
        *(vector<T, N>*)to = *(const vector<T, N>*)from;
    }
}

// --- shared_address
// The address of shared memory as instructions take it.
__device__ inline unsigned int shared_address(const void* at) {
    return (unsigned int)__cvta_generic_to_shared(at);
}

// --- copy_async
// Begins to copy so many bytes to shared memory; zeros where `inside` is false. They have landed
// when `await_copies` says so.
template <int BYTES> __device__ inline void copy_async(void* to, const void* from) {
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                     :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(BYTES)
                     : "memory");
}
template <int BYTES>
__device__ inline void copy_async(void* to, const void* from, bool inside) {
    int bytes = inside ? BYTES : 0;
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "n"(BYTES),
                        "r"(bytes) : "memory");
}

// --- commit_copies
// Makes one group of the copies that this thread has begun since the last one.
__device__ inline void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// --- await_copies
// Waits until at most so many of this thread's latest groups have not landed.
template <int GROUPS> __device__ inline void await_copies() {
    asm volatile("cp.async.wait_group %0;" :: "n"(GROUPS) : "memory");
}

// --- load_matrices
// Four 8 by 8 matrices of 16-bit words: lane l gives the address of row l % 8 of matrix l / 8, and
// gets words 2 * (l % 4) and the next of row l / 4 of each.
__device__ inline void load_matrices(unsigned int* to, const void* from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(from)) : "memory");
}

// --- load_matrices_transposed
// The same matrices transposed: lane l gets words l / 4 of rows 2 * (l % 4) and the next of each.
__device__ inline void load_matrices_transposed(unsigned int* to, const void* from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(from)) : "memory");
}

// --- load_matrices_tf32
// The same for words of 32 bits, which are floats: rounded to tf32.
__device__ inline void load_matrices_tf32(unsigned int* to, const void* from) {
    load_matrices(to, from);
#pragma unroll
    for (int i = 0; i < 4; i++) to[i] = __float_as_uint(round_tf32(__uint_as_float(to[i])));
}

// --- pack_f16
// Two halves in a register, the first one low.
__device__ inline unsigned int pack_f16(float low, float high) {
    unsigned int both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// --- pack_bf16
// Two bfloat16 in a register, the first one low.
__device__ inline unsigned int pack_bf16(float low, float high) {
    unsigned int both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// --- mma_f16
// sum += a * b on tensor cores: a is 16 by 16, b 16 by 8.
__device__ inline void mma_f16(float* sum, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- mma_bf16
// sum += a * b on tensor cores: a is 16 by 16, b 16 by 8.
__device__ inline void mma_bf16(float* sum, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- mma_tf32
// sum += a * b on tensor cores: a is 16 by 8, b 8 by 8.
__device__ inline void mma_tf32(float* sum, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- mma_s8
// sum += a * b on tensor cores: a is 16 by 32, b 32 by 8.
__device__ inline void mma_s8(int* sum, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- mma_u8
// sum += a * b on tensor cores: a is 16 by 32, b 32 by 8.
__device__ inline void mma_u8(int* sum, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- halves_of
// Two of the four 8-bit floats in a register, the low or the high ones, as halves in a register.
template <typename T> __device__ inline unsigned int halves_of(unsigned int four, int high) {
    T low_one, high_one;
    low_one.bits = (unsigned char)(four >> 16 * high);
    high_one.bits = (unsigned char)(four >> (16 * high + 8));
    return pack_f16((float)low_one, (float)high_one);
}

// --- mma_by_halves
// The product of 8-bit floats where no instruction takes them: the same elements as halves, which
// hold them exactly, in two steps. Both sides take the elements of a register in the same order.
template <typename T> __device__ inline void mma_by_halves(
    float* sum, const unsigned int* a, const unsigned int* b) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        unsigned int left[4] = {halves_of<T>(a[2 * i], 0), halves_of<T>(a[2 * i + 1], 0),
                                halves_of<T>(a[2 * i], 1), halves_of<T>(a[2 * i + 1], 1)};
        unsigned int right[2] = {halves_of<T>(b[i], 0), halves_of<T>(b[i], 1)};
        mma_f16(sum, left, right);
    }
}

// --- mma_e4m3
// sum += a * b on tensor cores: a is 16 by 32, b 32 by 8.
__device__ inline void mma_e4m3(float* sum, const unsigned int* a, const unsigned int* b) {
#if __CUDA_ARCH__ >= 890
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_by_halves<f8e4m3fn>(sum, a, b);
#endif
}

// --- mma_e5m2
// sum += a * b on tensor cores: a is 16 by 32, b 32 by 8.
__device__ inline void mma_e5m2(float* sum, const unsigned int* a, const unsigned int* b) {
#if __CUDA_ARCH__ >= 890
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    mma_by_halves<f8e5m2>(sum, a, b);
#endif
}

// --- turns
// How many turns a loop from start to end makes: none where the step is 0.
template <typename T> __device__ inline unsigned long long turns(T start, T end, T step) {
    unsigned long long low = (unsigned long long)start, high = (unsigned long long)end;
    if (step > 0) return start < end ? (high - low - 1) / (unsigned long long)step + 1 : 0;
    if (step < 0) return start > end ? (low - high - 1) / (0 - (unsigned long long)step) + 1 : 0;
    return 0;
}
