// Host twins of the prelude's sections that use inline PTX, or what only the device's
// library promises.

// --- minimum
template <typename T> inline T minimum(T x, T y) {
    return x < y ? x : y;
}
inline float minimum(float x, float y) {
    return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y;
}
inline double minimum(double x, double y) {
    return x != x ? y : y != y ? x : x < y || (x == y && signbit(x)) ? x : y;
}

// --- maximum
template <typename T> inline T maximum(T x, T y) {
    return x > y ? x : y;
}
inline float maximum(float x, float y) {
    return x != x ? y : y != y ? x : x > y || (x == y && signbit(y)) ? x : y;
}
inline double maximum(double x, double y) {
    return x != x ? y : y != y ? x : x > y || (x == y && signbit(y)) ? x : y;
}

// --- quotient
inline float quotient(float x, float y) { return x / y; }

// --- fast_exp2
inline float fast_exp2(float x) { return exp2f(x); }

// --- fast_exp
inline float fast_exp(float x) { return expf(x); }

// --- fence_cta
inline void fence_cta() {}

// --- fence_gpu
inline void fence_gpu() {}

// --- fence_sys
inline void fence_sys() {}

// --- fail
inline void fail(const char* message, const char* file, int line, const char* function) {
    char text[1024];
    snprintf(text, sizeof text, "%s:%d in %s: %s [program (%u, %u, %u)]", file, line, function,
             message, blockIdx.x, blockIdx.y, blockIdx.z);
    cudasim::stop(text);
}

// --- volatile_load
template <typename T> UNCHECKED inline T volatile_load(T* address) {
    cudasim::yield();
    cudasim::simulator->touch(address, sizeof(T), cudasim::READ | cudasim::ATOMIC);
    return *address;
}

// --- compare_and_swap
template <typename Word>
UNCHECKED inline Word compare_and_swap(Word* address, Word expected, Word desired) {
    return atomicCAS(address, expected, desired);
}

// --- atomic_update
template <typename T, typename Value, typename Combine>
UNCHECKED inline Value atomic_update(T* address, Value value, Combine combine) {
    T old = cudasim::taken(address);
    *address = (T)combine((Value)old, value);
    cudasim::yield();
    return (Value)old;
}

// --- load_vector
template <int N, typename Local, typename T>
UNCHECKED inline void load_vector(Local* to, const T* from) {
    cudasim::read(from, sizeof(T) * N);
    for (int i = 0; i < N; i++) to[i] = (Local)from[i];
}

// --- store_vector
template <int N, typename Local, typename T>
UNCHECKED inline void store_vector(T* to, const Local* from) {
    T several[N];
    for (int i = 0; i < N; i++) several[i] = (T)from[i];
    cudasim::write(to, several, sizeof several);
}

// --- load_matrices
UNCHECKED inline void load_matrices(
    unsigned int* to, const void* from, int line = __builtin_LINE()) {
    const void* rows[32];
    cudasim::read(from, 16);
    cudasim::from_warp("ldmatrix", from, rows, line);
    unsigned int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++)
        to[i] = ((const unsigned int*)rows[8 * i + lane / 4])[lane % 4];
}

// --- load_matrices_transposed
UNCHECKED inline void load_matrices_transposed(
    unsigned int* to, const void* from, int line = __builtin_LINE()) {
    const void* rows[32];
    cudasim::read(from, 16);
    cudasim::from_warp("ldmatrix", from, rows, line);
    unsigned int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        to[i] = 0;
        for (int j = 0; j < 2; j++) {
            const void* row = rows[8 * i + 2 * (lane % 4) + j];
            to[i] |= (unsigned int)((const unsigned short*)row)[lane / 4] << 16 * j;
        }
    }
}

// --- pack_f16
inline unsigned int pack_f16(float low, float high) {
    return (unsigned int)f16(high).bits << 16 | f16(low).bits;
}

// --- pack_bf16
inline unsigned int pack_bf16(float low, float high) {
    return (unsigned int)bf16(high).bits << 16 | bf16(low).bits;
}

// --- mma_f16
UNCHECKED inline void mma_f16(
    float* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<f16, double>("mma", sum, a, b, line);
}

// --- mma_bf16
UNCHECKED inline void mma_bf16(
    float* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<bf16, double>("mma", sum, a, b, line);
}

// --- mma_tf32
UNCHECKED inline void mma_tf32(
    float* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<float, double>("mma", sum, a, b, line);
}

// --- mma_s8
UNCHECKED inline void mma_s8(
    int* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<signed char, long long>("mma", sum, a, b, line);
}

// --- mma_e4m3
UNCHECKED inline void mma_e4m3(
    float* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<f8e4m3fn, double>("mma", sum, a, b, line);
}

// --- mma_e5m2
UNCHECKED inline void mma_e5m2(
    float* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<f8e5m2, double>("mma", sum, a, b, line);
}

// --- mma_u8
UNCHECKED inline void mma_u8(
    int* sum, const unsigned int* a, const unsigned int* b, int line = __builtin_LINE()) {
    cudasim::mma<unsigned char, long long>("mma", sum, a, b, line);
}

// --- shared_address
inline unsigned int shared_address(const void* at) { return (unsigned int)(size_t)at; }
