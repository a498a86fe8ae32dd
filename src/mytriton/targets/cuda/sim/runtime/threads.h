// The threads of a launch: what the scheduler and the checks know of them.

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace cudasim {

static const size_t STACK = 1 << 20, PAGE = 1 << 14, WORDS = 64;
static const unsigned int LANES = 32, WARPS = 32;
enum order { FORWARD, REVERSE, SHUFFLE };
enum state { READY, AT_BARRIER, IN_WARP, LEFT };

// A thread, which is a fiber with a stack of its own where threads wait for each other.
struct fiber {
    ucontext_t context;
    jmp_buf place;
    bool begun;
    uint3 block, thread;
    char* stack;
    state now;
    int line;               // of the kernel's text, where it is
    const char* waits;      // what it waits in
    unsigned int barriers;  // how many it has passed
    unsigned int number;    // of the barrier
    unsigned int mask;      // the lanes of the exchange; how many threads the barrier is for
    char offer[WORDS];      // to the lanes of its warp
    char taken[WORDS];      // what it had offered when the exchange was complete
};

// A copy that is made some time before its thread waits for it.
struct copy {
    char *to, *from;
    size_t bytes, filled;
    unsigned int thread, group;
    int line;
};

struct cell;

// A block that runs: its memory, and what its warps know of each other. `segment` counts the parts
// of a warp's run between its synchronisations; `seen[w][v]` is the last segment of warp v that
// came before what warp w does now (a vector clock: Lamport 1978; Fidge 1988).
struct block {
    fiber* threads;
    char* memory;
    cell* cells;
    unsigned int segment[WARPS], seen[WARPS][WARPS];
    copy* copies;
    unsigned int copy_count, copy_room;
    unsigned int* group;    // of each thread: the number of the group that its next copy joins
};

// An array of the launch.
struct array {
    char *low, *high;
    int writable, index;
    cell* cells;
};

// A variable of shared memory.
struct variable {
    unsigned int offset, bytes;
};

// All that a launch is made of.
struct launch {
    void (*body)(void**);
    void** arguments;
    uint3* indices;             // threadIdx, blockIdx, blockDim, gridDim of the kernel's object
    unsigned int threads, resident, shared_bytes, variable_count, array_count, line_count;
    const variable* variables;
    array* arrays;
    const unsigned long long* roots;    // by line, the arrays that it may touch; 0: any
    unsigned long long unknown;         // the arguments whose extent is not known
    int order, checks, open;    // open: pointers may come from memory
    unsigned int seed, tracing;
};
enum { RACES = 1, UNWRITTEN = 2, BOUNDS = 4, ALIGNMENT = 8, GLOBAL_RACES = 16 };

static launch run;
static fiber* running;
static block* current;
static unsigned int own_warp, own_lane;
static jmp_buf scheduler;
static char* stack_top;
static char message[2048];
static bool stopped, ended;
static unsigned int random_state;

inline unsigned int thread_number() { return running->thread.x; }

// Leaves the running thread for good.
[[noreturn]] inline void abandon() {
    running->now = LEFT;
    _longjmp(scheduler, 1);
}

// Back to the scheduler. Switching by jumps saves no signal masks, and so needs no system calls.
inline void leave() {
    fiber* self = running;
    if (!_setjmp(self->place)) _longjmp(scheduler, 1);
}

}  // namespace cudasim
