// What a host compiler needs to compile printed CUDA text: CUDA's words, and calls of the simulator.
//
// The text is compiled with -fsanitize=thread, by which a compiler calls a function before each
// access to memory that other threads might see. Those functions are defined here and lead to the
// simulator's checks; the sanitizer's own library is not linked.

#define UNCHECKED __attribute__((no_sanitize("thread")))

namespace cudasim {

static const api* simulator;
static uint3 indices[4];

// The numbers of a thread do not change while it runs, which `const` says.
#define CUDASIM_INDEX(NAME, PLACE) \
    UNCHECKED __attribute__((const, noinline)) static uint3 NAME() { return indices[PLACE]; }
CUDASIM_INDEX(thread_index, 0)
CUDASIM_INDEX(block_index, 1)
CUDASIM_INDEX(block_extents, 2)
CUDASIM_INDEX(grid_extents, 3)
#define threadIdx cudasim::thread_index()
#define blockIdx cudasim::block_index()
#define blockDim cudasim::block_extents()
#define gridDim cudasim::grid_extents()

UNCHECKED inline void at(int line) { simulator->at(line); }
UNCHECKED inline void stop(const char* text) { simulator->stop(text); }
UNCHECKED inline void yield() { simulator->yield(); }
UNCHECKED inline void* shared(unsigned int offset) { return simulator->shared(offset); }
UNCHECKED inline void barrier(int line) { simulator->barrier(0, 0, line); }
UNCHECKED inline void sync_warp(unsigned int mask, int line) { simulator->sync_warp(mask, line); }
UNCHECKED inline void read(const void* from, size bytes) {
    simulator->touch(from, bytes, READ | VECTOR);
}
UNCHECKED inline void write(void* to, const void* from, size bytes) {
    simulator->store(to, from, bytes, WRITE | VECTOR);
}

// What a lane of this thread's warp offers, of those in the mask.
template <typename T> UNCHECKED inline T from_lane(
    const char* what, unsigned int mask, T value, unsigned int lane, int line) {
    simulator->exchange(what, mask, &value, sizeof value, line);
    __builtin_memcpy(&value, simulator->offered(lane % 32), sizeof value);
    return value;
}

// What every lane of this thread's warp offers.
template <typename T> UNCHECKED inline void from_warp(
    const char* what, const T& value, T* all, int line) {
    simulator->exchange(what, 0xffffffffU, &value, sizeof value, line);
    for (unsigned int lane = 0; lane < 32; lane++)
        __builtin_memcpy(&all[lane], simulator->offered(lane), sizeof value);
}

// mma.sync by its fragments (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its like): the number
// of elements that share a register decides the rest.
template <typename T, typename Wide, typename Sum> UNCHECKED inline void mma(
    const char* what, Sum* sum, const unsigned int* a, const unsigned int* b, int line) {
    struct fragment {
        unsigned int a[4], b[2];
    } own, all[32];
    const int pack = 4 / sizeof(T), chunk = 4 * pack;
    __builtin_memcpy(own.a, a, sizeof own.a);
    __builtin_memcpy(own.b, b, sizeof own.b);
    from_warp(what, own, all, line);
    for (int i = 0; i < 4; i++) {
        int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2 + i % 2;
        Wide total = (Wide)sum[i];
        for (int k = 0; k < 2 * chunk; k++) {
            int place = k % chunk / pack, half = k / chunk;
            T left, right;
            const char* from = (const char*)&all[row * 4 + place].a[i / 2 + 2 * half];
            __builtin_memcpy(&left, from + k % pack * sizeof(T), sizeof(T));
            from = (const char*)&all[column * 4 + place].b[half];
            __builtin_memcpy(&right, from + k % pack * sizeof(T), sizeof(T));
            total += (Wide)left * (Wide)right;
        }
        sum[i] = (Sum)total;
    }
}

// What memory holds, which an atomic is about to change.
template <typename T> UNCHECKED inline T taken(T* address) {
    simulator->touch(address, sizeof(T), READ | WRITE | ATOMIC);
    return *address;
}

}  // namespace cudasim

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_assume(condition)
#define __syncthreads() cudasim::barrier(__LINE__)
inline void __syncwarp(unsigned int mask = 0xffffffffU, int line = __builtin_LINE()) {
    cudasim::sync_warp(mask, line);
}

// -- what the compiler calls

#define CUDASIM_ACCESS(BYTES) \
    UNCHECKED void __tsan_read##BYTES(void* at) { \
        cudasim::simulator->touch(at, BYTES, cudasim::READ); \
    } \
    UNCHECKED void __tsan_write##BYTES(void* at) { \
        cudasim::simulator->touch(at, BYTES, cudasim::WRITE); \
    } \
    UNCHECKED void __tsan_unaligned_read##BYTES(void* at) { \
        cudasim::simulator->touch(at, BYTES, cudasim::READ); \
    } \
    UNCHECKED void __tsan_unaligned_write##BYTES(void* at) { \
        cudasim::simulator->touch(at, BYTES, cudasim::WRITE); \
    }
extern "C" {
CUDASIM_ACCESS(1)
CUDASIM_ACCESS(2)
CUDASIM_ACCESS(4)
CUDASIM_ACCESS(8)
CUDASIM_ACCESS(16)
UNCHECKED void __tsan_read_range(void* at, cudasim::size bytes) {
    cudasim::simulator->touch(at, bytes, cudasim::READ);
}
UNCHECKED void __tsan_write_range(void* at, cudasim::size bytes) {
    cudasim::simulator->touch(at, bytes, cudasim::WRITE);
}
UNCHECKED void* __tsan_memcpy(void* to, const void* from, cudasim::size bytes) {
    cudasim::simulator->touch(from, bytes, cudasim::READ);
    cudasim::simulator->touch(to, bytes, cudasim::WRITE);
    return __builtin_memcpy(to, from, bytes);
}
UNCHECKED void* __tsan_memset(void* to, int value, cudasim::size bytes) {
    cudasim::simulator->touch(to, bytes, cudasim::WRITE);
    return __builtin_memset(to, value, bytes);
}
UNCHECKED void __tsan_init() {}
UNCHECKED void __tsan_func_entry(void*) {}
UNCHECKED void __tsan_func_exit() {}
}

// -- CUDA's functions that other threads notice

inline void __trap() { cudasim::stop("the kernel stopped itself (__trap)"); }
inline void __threadfence() {}
template <typename T> UNCHECKED inline T __shfl_sync(
    unsigned int mask, T value, int lane, int line = __builtin_LINE()) {
    return cudasim::from_lane("shuffle", mask, value, lane, line);
}
template <typename T> UNCHECKED inline T __shfl_xor_sync(
    unsigned int mask, T value, int bits, int line = __builtin_LINE()) {
    return cudasim::from_lane("shuffle", mask, value, threadIdx.x ^ bits, line);
}

// An atomic: NEXT is what memory holds after it, made of `old` and `value`.
#define CUDASIM_ATOMIC(NAME, NEXT) \
    template <typename T> UNCHECKED inline T NAME(T* address, T value) { \
        T old = cudasim::taken(address); \
        *address = (T)(NEXT); \
        cudasim::yield(); \
        return old; \
    }
CUDASIM_ATOMIC(atomicAdd, old + value)
CUDASIM_ATOMIC(atomicMax, old > value ? old : value)
CUDASIM_ATOMIC(atomicMin, old < value ? old : value)
CUDASIM_ATOMIC(atomicAnd, old & value)
CUDASIM_ATOMIC(atomicOr, old | value)
CUDASIM_ATOMIC(atomicXor, old ^ value)
CUDASIM_ATOMIC(atomicExch, value)
template <typename T> UNCHECKED inline T atomicCAS(T* address, T expected, T desired) {
    T old = cudasim::taken(address);
    if (old == expected) *address = desired;
    cudasim::yield();
    return old;
}
