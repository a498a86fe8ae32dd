/* @about@

   Made by mytriton for processors like the one that it ran on. Link the object file beside this
   header, and -lpthread -lm.

   int @name@(nx, ny, nz, threads, ...) runs nx * ny * nz programs on so many threads, and returns
   when all have ended: 0; a number from 1 if an assert of the kernel failed; -1 for an extent above
   2^31 - 1, -2 where there is no memory, -3 for an array that is not aligned to its elements.
   @name@_message(code) says it in words. @sharing@ */
#ifndef @guard@
#define @guard@

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
@fields@
@slots@
} @name@_record;

typedef struct {
    @name@_record *record;
    char *arena;
    pthread_t thread;
} @name@_worker;

/* Runs programs until none is left; any number of threads may do so with one record. */
void @name@_run(void *record, void *arena);

static inline void *@name@_work(void *given) {
    @name@_worker *worker = (@name@_worker *)given;
    @name@_run(worker->record, worker->arena);
    return NULL;
}

static inline int @name@(
    uint32_t nx, uint32_t ny, uint32_t nz, int threads@parameters@) {
    const size_t arena = (@arena@ + 63) / 64 * 64;
    @name@_record record;
    @name@_worker *workers;
    char *memory;
    int started = 1, i;
    if (nx > INT32_MAX || ny > INT32_MAX || nz > INT32_MAX) return -1;
    if (!nx || !ny || !nz) return 0;
@aligned@    memset(&record, 0, sizeof record);
    record.total = (int64_t)nx * ny * nz;
    record.nx = (int32_t)nx;
    record.ny = (int32_t)ny;
    record.nz = (int32_t)nz;
@given@
    if (threads > record.total) threads = (int)record.total;
    if (threads < 1) threads = 1;
    record.chunk_divisor = threads > 1 ? 2 * (int64_t)threads : 1;
    memory = (char *)malloc((size_t)threads * (arena + sizeof *workers) + 64);
    if (!memory) return -2;
    workers = (@name@_worker *)(memory + (64 - (uintptr_t)memory % 64) + (size_t)threads * arena);
    for (i = 0; i < threads; i++) {
        workers[i].record = &record;
        workers[i].arena = memory + (64 - (uintptr_t)memory % 64) + (size_t)i * arena;
    }
    while (started < threads) {
        @name@_worker *worker = &workers[started];
        if (pthread_create(&worker->thread, NULL, @name@_work, worker)) break;
        started++;
    }
    @name@_work(&workers[0]);
    for (i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
    free(memory);
    return (int)record.error;
}

static inline const char *@name@_message(int code) {
    switch (code) {
    case 0: return "done";
    case -1: return "an extent of the grid is above 2^31 - 1";
    case -2: return "there is no memory";
    case -3: return "an array is not aligned to its elements";
@messages@
    default: return "unknown";
    }
}

#ifdef __cplusplus
}
#endif
#endif
