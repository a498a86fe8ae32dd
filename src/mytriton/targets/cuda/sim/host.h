// What a host compiler needs to compile printed CUDA text, and to run it thread by thread.
//
// One idea: a block's threads are called one after the other where no thread waits for another;
// where they do, each is a fiber that leaves at a barrier, an atomic or a volatile load, and a
// scheduler resumes them in any order asked for. Shared memory is one section of this object, which
// the scheduler exchanges when it turns to another block.

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

struct uint3 {
    unsigned int x, y, z;
};
static uint3 threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("cudasim_shared")))
#define __builtin_assume(condition)
#define __syncthreads() cudasim::wait(__LINE__)
extern "C" __attribute__((weak)) char __start_cudasim_shared[], __stop_cudasim_shared[];

namespace cudasim {

static const size_t STACK = 1 << 20, PAGE = 1 << 14, LANES = 32;
enum order { FORWARD, REVERSE, SHUFFLE };
enum state { READY, WAITING, IN_WARP, LEFT };
struct stopped {};

struct fiber {
    ucontext_t context;
    jmp_buf place;
    bool begun;
    uint3 block, thread;
    char* stack;
    state now;
    int line;             // of the barrier it waits at
    unsigned int turn;    // how many exchanges of its warp it has been in
    char slot[2][32];     // what it offers to its warp, in this turn and the one before
};

static char message[2048];
static bool failed;
static jmp_buf scheduler;
static fiber* running;
static void (*body)(void**);
static void** arguments;
static unsigned int random_state;

// -- what a thread calls

inline void stop(const char* text) {
    if (!failed) snprintf(message, sizeof message, "%s", text);
    failed = true;
    throw stopped();
}

// Back to the scheduler. Switching by jumps saves no signal masks, and so needs no system calls.
inline void leave() {
    fiber* self = running;
    if (!_setjmp(self->place)) _longjmp(scheduler, 1);
    if (failed) throw stopped();
}

// Lets other threads run: so a thread that spins on memory sees what they write.
inline void yield() {
    if (running) leave();
}

inline void wait(int line) {
    running->now = WAITING;
    running->line = line;
    leave();
}

// Offers a value to this thread's warp, and waits until all of its lanes do; the slot that they use.
template <typename T> inline unsigned int offer(const T& value, int line) {
    static_assert(sizeof(T) <= sizeof(running->slot[0]), "some registers");
    fiber* self = running;
    unsigned int turn = self->turn++ & 1;
    memcpy(self->slot[turn], &value, sizeof value);
    self->now = IN_WARP;
    self->line = line;
    leave();
    return turn;
}

inline fiber* lane_of_warp(unsigned int lane) {
    unsigned int own = running->thread.x;
    return running - own + (own & ~(LANES - 1)) + lane % LANES;
}

// What a lane of this thread's warp offers.
template <typename T> inline T from_lane(T value, unsigned int lane, int line) {
    unsigned int turn = offer(value, line);
    memcpy(&value, lane_of_warp(lane)->slot[turn], sizeof value);
    return value;
}

// What every lane of this thread's warp offers.
template <typename T> inline void from_warp(const T& value, T* all, int line) {
    unsigned int turn = offer(value, line);
    for (unsigned int lane = 0; lane < LANES; lane++)
        memcpy(&all[lane], lane_of_warp(lane)->slot[turn], sizeof value);
}

// mma.sync by its fragments (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its like): the number
// of elements that share a register decides the rest.
template <typename T, typename Wide, typename Sum>
inline void mma(Sum* sum, const unsigned int* a, const unsigned int* b, int line) {
    struct fragment {
        unsigned int a[4], b[2];
    } own, all[32];
    const int pack = 4 / sizeof(T), chunk = 4 * pack;
    memcpy(own.a, a, sizeof own.a);
    memcpy(own.b, b, sizeof own.b);
    from_warp(own, all, line);
    for (int i = 0; i < 4; i++) {
        int lane = running->thread.x % LANES, row = lane / 4, column = lane % 4 * 2 + i % 2;
        Wide total = (Wide)sum[i];
        for (int k = 0; k < 2 * chunk; k++) {
            int place = k % chunk / pack, half = k / chunk;
            T left, right;
            const char* from = (const char*)&all[row * 4 + place].a[i / 2 + 2 * half];
            memcpy(&left, from + k % pack * sizeof(T), sizeof(T));
            from = (const char*)&all[column * 4 + place].b[half];
            memcpy(&right, from + k % pack * sizeof(T), sizeof(T));
            total += (Wide)left * (Wide)right;
        }
        sum[i] = (Sum)total;
    }
}

// -- turns

inline unsigned int random_number() {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

inline void arrange(unsigned int* places, unsigned int count, order how) {
    for (unsigned int i = 0; i < count; i++) places[i] = how == REVERSE ? count - 1 - i : i;
    for (unsigned int i = count; how == SHUFFLE && i > 1; i--) {
        unsigned int j = random_number() % i, other = places[i - 1];
        places[i - 1] = places[j];
        places[j] = other;
    }
}

inline uint3 block_at(unsigned int place) {
    return {place % gridDim.x, place / gridDim.x % gridDim.y, place / gridDim.x / gridDim.y};
}

inline void one_by_one(unsigned int blocks, unsigned int threads, order how) {
    unsigned int* order_of_blocks = (unsigned int*)malloc(blocks * sizeof(unsigned int));
    unsigned int* order_of_threads = (unsigned int*)malloc(threads * sizeof(unsigned int));
    arrange(order_of_blocks, blocks, how);
    for (unsigned int b = 0; b < blocks && !failed; b++) {
        blockIdx = block_at(order_of_blocks[b]);
        arrange(order_of_threads, threads, how);
        for (unsigned int t = 0; t < threads && !failed; t++) {
            threadIdx = {order_of_threads[t], 0, 0};
            try {
                body(arguments);
            } catch (stopped&) {
            }
        }
    }
    free(order_of_blocks);
    free(order_of_threads);
}

// -- fibers

inline void enter() {
    fiber* self = running;
    try {
        body(arguments);
    } catch (stopped&) {
    }
    self->now = LEFT;
    _longjmp(scheduler, 1);
}

inline void resume(fiber* f) {
    running = f;
    blockIdx = f->block;
    threadIdx = f->thread;
    if (!_setjmp(scheduler)) {
        if (f->begun) _longjmp(f->place, 1);
        f->begun = true;
        setcontext(&f->context);
    }
    running = nullptr;
}

inline void complain(fiber* block, unsigned int threads, state waiting, const char* what) {
    unsigned int count = 0, first = threads;
    for (unsigned int t = 0; t < threads; t++)
        if (block[t].now == waiting && count++ == 0) first = t;
    snprintf(message, sizeof message,
             "%u of %u threads of program (%u, %u, %u) wait at the %s of line %d, which the others "
             "do not reach", count, threads, block->block.x, block->block.y, block->block.z, what,
             block[first].line);
    failed = true;
    for (unsigned int t = 0; t < threads; t++)
        if (block[t].now != LEFT) block[t].now = READY;
}

// Lets each warp go on whose lanes are all in an exchange; whether one was let go.
inline bool release_warps(fiber* block, unsigned int threads) {
    bool any = false;
    for (unsigned int first = 0; first < threads; first += LANES) {
        unsigned int end = first + LANES < threads ? first + LANES : threads, in = 0;
        for (unsigned int t = first; t < end; t++) in += block[t].now == IN_WARP;
        if (in < end - first) continue;
        for (unsigned int t = first; t < end; t++) block[t].now = READY;
        any = true;
    }
    return any;
}

// Opens the barrier when every thread of the block is at it. Whether any thread is not done yet.
inline bool release(fiber* block, unsigned int threads) {
    if (release_warps(block, threads)) return true;
    unsigned int count[LEFT + 1] = {};
    int line = 0;
    bool same = true;
    for (unsigned int t = 0; t < threads; t++) {
        count[block[t].now]++;
        if (block[t].now != WAITING) continue;
        if (line && block[t].line != line) same = false;
        line = block[t].line;
    }
    if (count[READY] || count[LEFT] == threads) return count[LEFT] < threads;
    if (count[IN_WARP]) complain(block, threads, IN_WARP, "exchange of a warp");
    else if (count[LEFT] || !same) complain(block, threads, WAITING, "barrier");
    for (unsigned int t = 0; t < threads; t++)
        if (block[t].now == WAITING) block[t].now = READY;
    return true;
}

// A stack with a page below it that may not be touched.
inline char* new_stack() {
    void* at = mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (at == MAP_FAILED) abort();
    mprotect(at, PAGE, PROT_NONE);
    return (char*)at;
}

inline void prepare(fiber* f, unsigned int block, unsigned int thread) {
    f->block = block_at(block);
    f->thread = {thread, 0, 0};
    f->now = READY;
    f->begun = false;
    f->turn = 0;
    if (!f->stack) f->stack = new_stack();
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->stack + PAGE;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, enter, 0);
}

// Runs the blocks first … first + count - 1 side by side.
inline void side_by_side(
    fiber* fibers, unsigned int first, unsigned int count, unsigned int threads, order how) {
    size_t bytes = __start_cudasim_shared ? __stop_cudasim_shared - __start_cudasim_shared : 0;
    char* shared = (char*)malloc(bytes * count + 1);
    memset(shared, 0xcd, bytes * count);
    unsigned int *turn_of_blocks = (unsigned int*)malloc(count * sizeof(unsigned int)),
                 *turn_of_threads = (unsigned int*)malloc(threads * sizeof(unsigned int));
    for (unsigned int i = 0; i < count * threads; i++)
        prepare(&fibers[i], first + i / threads, i % threads);
    for (bool any = true; any;) {
        any = false;
        arrange(turn_of_blocks, count, how);
        for (unsigned int i = 0; i < count; i++) {
            unsigned int b = turn_of_blocks[i];
            fiber* block = &fibers[(size_t)b * threads];
            if (bytes) memcpy(__start_cudasim_shared, shared + b * bytes, bytes);
            arrange(turn_of_threads, threads, how);
            for (unsigned int t = 0; t < threads; t++)
                if (block[turn_of_threads[t]].now == READY) resume(&block[turn_of_threads[t]]);
            if (bytes) memcpy(shared + b * bytes, __start_cudasim_shared, bytes);
            any = release(block, threads) || any;
        }
    }
    free(shared);
    free(turn_of_blocks);
    free(turn_of_threads);
}

// Runs the kernel for every block of the grid; the message of the thread that stopped it, or null.
// resident: how many blocks run side by side; 0: no thread waits for another.
inline const char* launch(void (*kernel)(void**), void** given, const unsigned int* grid,
                          unsigned int threads, unsigned int resident, int how, unsigned int seed) {
    body = kernel;
    arguments = given;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {threads, 1, 1};
    random_state = seed;
    failed = false;
    unsigned int blocks = grid[0] * grid[1] * grid[2];
    if (resident == 0) one_by_one(blocks, threads, (order)how);
    unsigned int most = blocks < resident ? blocks : resident;
    fiber* fibers = (fiber*)calloc((size_t)most * threads + 1, sizeof(fiber));
    for (unsigned int b = 0; resident && b < blocks && !failed; b += resident)
        side_by_side(fibers, b, blocks - b < most ? blocks - b : most, threads, (order)how);
    for (unsigned int i = 0; i < most * threads; i++)
        if (fibers[i].stack) munmap(fibers[i].stack, STACK + PAGE);
    free(fibers);
    return failed ? message : nullptr;
}

// -- what the kernel's `printf` becomes: lines that `prints.py` puts together into blocks

static char* printed;
static size_t printed_size, printed_capacity;

// Adds a line. A byte before the value, the last of a line of more than three, says what it is: 1 a
// float, 2 a double, 3 anything else.
template <typename... Values> inline void print(const char* format, Values... values) {
    char marked[1024];
    const char* value = sizeof...(values) > 3 ? strrchr(format, '%') : nullptr;
    if (value && value[1] == 'f') {
        bool narrow = (false, ..., (sizeof values == sizeof(float)));
        snprintf(marked, sizeof marked, "%.*s%c%s%s", int(value - format), format, narrow ? 1 : 2,
                 narrow ? "%.9g" : "%.17g", value + 2);
        format = marked;
    } else if (value) {
        if (value - format > 2 && !strncmp(value - 2, "0x", 2)) value -= 2;
        snprintf(marked, sizeof marked, "%.*s\3%s", int(value - format), format, value);
        format = marked;
    }
    size_t needed = printed_size + snprintf(nullptr, 0, format, values...) + 1;
    if (needed > printed_capacity) {
        printed_capacity = 2 * needed;
        printed = (char*)realloc(printed, printed_capacity);
    }
    printed_size += sprintf(printed + printed_size, format, values...);
}

// Everything printed since the last call.
inline const char* take_printed() {
    if (printed_size == 0) return nullptr;
    printed_size = 0;
    return printed;
}

inline void check_aligned(const void* address, size_t bytes) {
    if ((size_t)address % bytes == 0) return;
    char text[256];
    snprintf(text, sizeof text, "a vector access of %zu bytes at %p, which is no multiple of that",
             bytes, address);
    stop(text);
}

template <typename To, typename From> inline To same_bits(From x) {
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

// What memory held, after it got the new value and others had their turn.
template <typename T> inline T exchange(T* address, T value) {
    T old = *address;
    *address = value;
    yield();
    return old;
}

}  // namespace cudasim

// -- CUDA's built-in functions

inline void __trap() { cudasim::stop("the kernel stopped itself (__trap)"); }
inline void __threadfence() {}

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

template <typename T> inline T __shfl_sync(
    unsigned int, T value, int lane, int line = __builtin_LINE()) {
    return cudasim::from_lane(value, lane, line);
}
template <typename T> inline T __shfl_xor_sync(
    unsigned int, T value, int bits, int line = __builtin_LINE()) {
    return cudasim::from_lane(value, threadIdx.x ^ bits, line);
}

template <typename T> inline T atomicAdd(T* address, T value) {
    return cudasim::exchange(address, (T)(*address + value));
}
template <typename T> inline T atomicMax(T* address, T value) {
    return cudasim::exchange(address, *address > value ? *address : value);
}
template <typename T> inline T atomicMin(T* address, T value) {
    return cudasim::exchange(address, *address < value ? *address : value);
}
template <typename T> inline T atomicAnd(T* address, T value) {
    return cudasim::exchange(address, (T)(*address & value));
}
template <typename T> inline T atomicOr(T* address, T value) {
    return cudasim::exchange(address, (T)(*address | value));
}
template <typename T> inline T atomicXor(T* address, T value) {
    return cudasim::exchange(address, (T)(*address ^ value));
}
template <typename T> inline T atomicExch(T* address, T value) {
    return cudasim::exchange(address, value);
}
template <typename T> inline T atomicCAS(T* address, T expected, T desired) {
    return cudasim::exchange(address, *address == expected ? desired : *address);
}
