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
template <typename T> inline T volatile_load(T* address) {
    cudasim::yield();
    return *address;
}

// --- load_vector
template <int N, typename Local, typename T> inline void load_vector(Local* to, const T* from) {
    cudasim::check_aligned(from, sizeof(T) * N);
    for (int i = 0; i < N; i++) to[i] = (Local)from[i];
}

// --- store_vector
template <int N, typename Local, typename T> inline void store_vector(T* to, const Local* from) {
    cudasim::check_aligned(to, sizeof(T) * N);
    for (int i = 0; i < N; i++) to[i] = (T)from[i];
}
