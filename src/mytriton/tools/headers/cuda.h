/* @about@

   Made by mytriton for @arch@. Link -lcuda; a context must be current.

   @name@_load(file, &module, &kernel) loads the cubin beside this header. @name@(kernel, nx, ny,
   nz, stream, ...) starts nx * ny * nz blocks of @threads@ threads, and does not wait for them.
   Both return CUDA's result, CUDA_SUCCESS where all went well. @sharing@ */
#ifndef @guard@
#define @guard@

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline CUresult @name@_load(const char *file, CUmodule *module, CUfunction *kernel) {
    CUresult result = cuModuleLoad(module, file);
    if (result == CUDA_SUCCESS) result = cuModuleGetFunction(kernel, *module, "@symbol@");
    if (result == CUDA_SUCCESS && @shared@ > 0)
        result = cuFuncSetAttribute(
            *kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, @shared@);
    return result;
}

static inline CUresult @name@(
    CUfunction kernel, uint32_t nx, uint32_t ny, uint32_t nz, CUstream stream@parameters@) {
    void *arguments[] = {@given@};
    if (!nx || !ny || !nz) return CUDA_SUCCESS;
    return cuLaunchKernel(kernel, nx, ny, nz, @threads@, 1, 1, @shared@, stream, arguments, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
