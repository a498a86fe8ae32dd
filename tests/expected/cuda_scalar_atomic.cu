// Orders this thread's memory accesses for the threads of its device.
__device__ inline void fence_gpu() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

extern "C" __global__
void add_scalar(int* x, int* out) {
    __shared__ int shared0;
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_gpu();
        shared0 = atomicAdd(x, 1);
        fence_gpu();
    }
    __syncthreads();
    int v0 = shared0;
    int v1 = blockIdx.x;
    int v2 = (v1 * 32);
    int v4 = threadIdx.x;
    out[(v2 + v4)] = v0;
}
