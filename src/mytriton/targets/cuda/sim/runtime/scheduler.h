// Turns: who runs next, and what threads that wait are let go by.
//
// The threads of a block take turns, each until it waits; then the scheduler looks which barriers
// and exchanges are complete. Blocks run one after the other, or several side by side where programs
// may wait for each other.

namespace cudasim {

// -- what a thread calls

inline void at(int line) {
    settle();
    running->line = line;
}

inline void stop(const char* text) {
    if (!stopped) snprintf(message, sizeof message, "%s", text);
    stopped = true;
    abandon();
}

inline void yield() {
    settle();
    if (run.resident) leave();
}

inline void wait_as(state now, const char* what, unsigned int number, unsigned int mask) {
    settle();
    running->now = now;
    running->waits = what;
    running->number = number;
    running->mask = mask;
    leave();
}

inline void barrier(int number, unsigned int count, int) {
    if (run.tracing) note("", 0, BARRIER, -1, -1, number);
    wait_as(AT_BARRIER, "barrier", (unsigned int)number, count ? count : run.threads);
    running->barriers++;
}

inline void exchange(const char* what, unsigned int mask, const void* value, size bytes, int) {
    if (!(mask >> own_lane & 1)) {
        report found = here(NO_MEMBER);
        snprintf(found.what, sizeof found.what, "%s", what);
        found.lanes = mask;
        add(found);
    }
    if (run.tracing) note((const char*)value, bytes, EXCHANGE, -1, -1, mask);
    memcpy(running->offer, value, bytes);
    wait_as(IN_WARP, what, 0, mask | 1u << own_lane);
}

inline fiber* warp_start(fiber* any) { return any - any->thread.x % LANES; }

inline const void* offered(unsigned int lane) {
    fiber* other = warp_start(running) + lane;
    if (!(running->mask >> lane & 1)) {
        report found = here(ABSENT_LANE);
        snprintf(found.what, sizeof found.what, "%s", running->waits);
        found.lanes = running->mask;
        found.other_thread = lane;
        add(found);
    }
    return other->taken;
}

inline void sync_warp(unsigned int mask, int line) { exchange("__syncwarp", mask, "", 0, line); }

inline void* shared(unsigned int offset) { return current->memory + offset; }

// -- what waiting threads are let go by

// The warps of a set have met: what each has seen, all have now.
inline void meet(block& b, unsigned int warps) {
    unsigned int joined[WARPS] = {};
    for (unsigned int w = 0; w < WARPS; w++)
        for (unsigned int v = 0; (warps >> w & 1) && v < WARPS; v++) {
            unsigned int seen = v == w ? b.segment[w] : b.seen[w][v];
            if (seen > joined[v]) joined[v] = seen;
        }
    for (unsigned int w = 0; w < WARPS; w++)
        if (warps >> w & 1) {
            memcpy(b.seen[w], joined, sizeof joined);
            b.segment[w]++;
        }
}

inline void two_lines(const fiber& one, const fiber& other) {
    report found = {};
    found.kind = TWO_LINES;
    found.line = one.line, found.other_line = other.line;
    found.thread = one.thread.x, found.other_thread = other.thread.x;
    found.block = one.block;
    found.variable = found.array = -1;
    snprintf(found.what, sizeof found.what, "%s", one.waits);
    add(found);
}

// Lets the lanes of an exchange go if all that its mask names are in it; whether they were.
inline bool release_exchange(block& b, fiber* warp, unsigned int lanes, unsigned int first) {
    unsigned int mask = warp[first].mask;
    if (lanes < LANES) mask &= (1u << lanes) - 1;
    for (unsigned int l = 0; l < lanes; l++) {
        bool same = warp[l].now == IN_WARP && warp[l].mask == warp[first].mask &&
                    warp[l].waits == warp[first].waits;
        if ((mask >> l & 1) && !same) return false;
    }
    bool told = false;
    for (unsigned int l = 0; l < lanes; l++) {
        if (!(mask >> l & 1)) continue;
        if (warp[l].line != warp[first].line && !told) two_lines(warp[first], warp[l]), told = true;
        memcpy(warp[l].taken, warp[l].offer, WORDS);
        warp[l].now = READY;
    }
    if (!strcmp(warp[first].waits, "__syncwarp") && warp[first].mask == 0xffffffffu)
        meet(b, 1u << (warp - b.threads) / LANES);
    return true;
}

inline bool release_warps(block& b) {
    bool any = false;
    for (unsigned int start = 0; start < run.threads; start += LANES) {
        unsigned int lanes = run.threads - start < LANES ? run.threads - start : LANES;
        for (unsigned int l = 0; l < lanes; l++)
            if (b.threads[start + l].now == IN_WARP)
                any = release_exchange(b, b.threads + start, lanes, l) || any;
    }
    return any;
}

// Opens a barrier when as many threads are at it as it is for; whether it did.
inline bool release_barrier(block& b, const fiber& first) {
    unsigned int count = 0, warps = 0, number = first.number, wanted = first.mask;
    const fiber* other = nullptr;
    for (unsigned int t = 0; t < run.threads; t++) {
        const fiber& f = b.threads[t];
        if (f.now != AT_BARRIER || f.number != number) continue;
        count++;
        warps |= 1u << t / LANES;
        if (f.line != first.line && !other) other = &f;
    }
    if (count < wanted) return false;
    if (other) two_lines(first, *other);
    for (unsigned int t = 0; t < run.threads; t++)
        if (b.threads[t].now == AT_BARRIER && b.threads[t].number == number)
            b.threads[t].now = READY;
    meet(b, warps);
    return true;
}

inline bool release_barriers(block& b) {
    bool any = false;
    for (unsigned int t = 0; t < run.threads; t++)
        if (b.threads[t].now == AT_BARRIER) any = release_barrier(b, b.threads[t]) || any;
    return any;
}

// Threads wait, and none can go on: says for whom.
inline void report_stuck(block& b) {
    const fiber* first = nullptr;
    for (unsigned int t = 0; t < run.threads && !first; t++)
        if (b.threads[t].now != LEFT) first = &b.threads[t];
    report found = {};
    found.kind = STUCK;
    found.line = first->line;
    found.thread = first->thread.x;
    found.block = first->block;
    found.variable = found.array = -1;
    found.other_line = -1;
    unsigned int start = first->now == IN_WARP ? first->thread.x & ~(LANES - 1) : 0;
    unsigned int end = first->now == IN_WARP ? start + LANES : run.threads;
    if (end > run.threads) end = run.threads;
    for (unsigned int t = start; t < end; t++) {
        const fiber& f = b.threads[t];
        bool same = f.now == first->now && f.waits == first->waits && f.line == first->line;
        bool named = first->now != IN_WARP || first->mask >> t % LANES & 1;
        found.lanes += named;
        found.waiting += same && named;
        if (!same && named && found.other_line < 0) {
            found.other_line = f.now == LEFT ? 0 : f.line;
            found.other_thread = t;
        }
    }
    snprintf(found.what, sizeof found.what, "%s", first->waits);
    add(found);
    ended = true;
}

// Lets go who can go on. Whether any thread of the block is not done yet.
inline bool release(block& b) {
    unsigned int count[LEFT + 1] = {};
    bool released = release_warps(b) | release_barriers(b);
    for (unsigned int t = 0; t < run.threads; t++) count[b.threads[t].now]++;
    if (count[LEFT] == run.threads) return false;
    if (!released && !count[READY]) {
        if (!report_count && !stopped) report_stuck(b);
        ended = true;
    }
    return true;
}

// -- turns

inline unsigned int random_number() {
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

inline void arrange(unsigned int* places, unsigned int count) {
    for (unsigned int i = 0; i < count; i++)
        places[i] = run.order == REVERSE ? count - 1 - i : i;
    for (unsigned int i = count; run.order == SHUFFLE && i > 1; i--) {
        unsigned int j = random_number() % i, other = places[i - 1];
        places[i - 1] = places[j];
        places[j] = other;
    }
}

inline uint3 block_at(unsigned int place) {
    uint3 extents = run.indices[3];
    return {place % extents.x, place / extents.x % extents.y, place / extents.x / extents.y};
}

inline void enter() {
    run.body(run.arguments);
    settle();
    abandon();
}

inline void resume(fiber* f) {
    running = f;
    own_warp = f->thread.x / LANES;
    own_lane = f->thread.x % LANES;
    run.indices[0] = f->thread;
    run.indices[1] = f->block;
    stack_top = f->stack ? f->stack + PAGE + STACK : (char*)__builtin_frame_address(0);
    if (_setjmp(scheduler)) return;
    if (f->begun) _longjmp(f->place, 1);
    f->begun = true;
    if (!f->stack) enter();
    setcontext(&f->context);
}

// A stack with a page below it that may not be touched. Stacks are kept for later launches.
static char* stacks[1 << 14];
inline char* stack_of(unsigned int number) {
    if (number < sizeof stacks / sizeof *stacks && stacks[number]) return stacks[number];
    void* at = mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (at == MAP_FAILED) abort();
    mprotect(at, PAGE, PROT_NONE);
    if (number < sizeof stacks / sizeof *stacks) stacks[number] = (char*)at;
    return (char*)at;
}

inline void prepare(fiber* f, unsigned int place, unsigned int thread, char* stack) {
    f->block = block_at(place);
    f->thread = {thread, 0, 0};
    f->now = READY;
    f->begun = false;
    f->line = 0;
    f->barriers = 0;
    f->stack = stack;
    if (!stack) return;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stack + PAGE;
    f->context.uc_stack.ss_size = STACK;
    f->context.uc_link = nullptr;
    makecontext(&f->context, enter, 0);
}

inline void begin_block(block& b, unsigned int place, unsigned int slot) {
    for (unsigned int t = 0; t < run.threads; t++) {
        char* stack = run.resident ? stack_of(slot * run.threads + t) : nullptr;
        prepare(&b.threads[t], place, t, stack);
    }
    memset(b.memory, 0xcd, run.shared_bytes);
    memset(b.cells, 0, run.shared_bytes * sizeof(cell));
    for (unsigned int i = 0, v = 0; i < run.shared_bytes; i++) {
        while (v < run.variable_count && i >= run.variables[v].offset + run.variables[v].bytes) v++;
        b.cells[i].outside = v == run.variable_count || i < run.variables[v].offset;
    }
    for (unsigned int w = 0; w < WARPS; w++) b.segment[w] = 1;
    memset(b.seen, 0, sizeof b.seen);
    memset(b.group, 0, run.threads * sizeof *b.group);
    b.copy_count = 0;
}

// Runs `count` blocks from a place on side by side, until all are done or a report ends them.
inline void side_by_side(block* blocks, unsigned int place, unsigned int count,
                         unsigned int* block_turns, unsigned int* thread_turns) {
    for (unsigned int i = 0; i < count; i++) begin_block(blocks[i], place + i, i);
    for (unsigned int a = 0; a < run.array_count && run.arrays[a].cells; a++)
        memset(run.arrays[a].cells, 0, (run.arrays[a].high - run.arrays[a].low) * sizeof(cell));
    for (bool any = true; any && !ended && !stopped;) {
        any = false;
        arrange(block_turns, count);
        for (unsigned int i = 0; i < count && !ended; i++) {
            current = &blocks[block_turns[i]];
            arrange(thread_turns, run.threads);
            for (unsigned int t = 0; t < run.threads; t++)
                if (current->threads[thread_turns[t]].now == READY)
                    resume(&current->threads[thread_turns[t]]);
            any = release(*current) || any;
        }
    }
}

inline void run_blocks(unsigned int blocks) {
    unsigned int most = run.resident < blocks ? run.resident : blocks;
    if (!most) most = 1;
    block* made = (block*)calloc(most, sizeof(block));
    fiber* fibers = (fiber*)calloc((size_t)most * run.threads, sizeof(fiber));
    for (unsigned int i = 0; i < most; i++) {
        made[i].threads = fibers + (size_t)i * run.threads;
        made[i].memory = (char*)aligned_alloc(1024, (run.shared_bytes + 1024) & ~1023u);
        made[i].cells = (cell*)calloc(run.shared_bytes + 1, sizeof(cell));
        made[i].group = (unsigned int*)calloc(run.threads, sizeof(unsigned int));
    }
    unsigned int* turns = (unsigned int*)calloc(blocks + run.threads, sizeof(unsigned int));
    unsigned int *order_of_blocks = turns, *order_of_threads = turns + blocks;
    unsigned int* single = (unsigned int*)calloc(blocks, sizeof(unsigned int));
    arrange(single, blocks);
    for (unsigned int b = 0; b < blocks && !report_count && !stopped; b += most) {
        unsigned int count = blocks - b < most ? blocks - b : most;
        unsigned int place = most == 1 ? single[b] : b;
        side_by_side(made, place, count, order_of_blocks, order_of_threads);
    }
    for (unsigned int i = 0; i < most; i++) {
        free(made[i].memory), free(made[i].cells), free(made[i].group), free(made[i].copies);
    }
    free(made), free(fibers), free(turns), free(single);
}

static const api table = {at,      touch,     store,      shared, barrier,     exchange, offered,
                          yield,   sync_warp, copy_later, commit, wait_copies, stop};

}  // namespace cudasim

#define EXPORTED extern "C" __attribute__((visibility("default")))

// The accesses of the last launch that was traced, and how many there are.
EXPORTED const void* cudasim_trace(unsigned long long* count) {
    *count = cudasim::record_count;
    return cudasim::records;
}

EXPORTED const void* cudasim_table() { return &cudasim::table; }

// Runs the kernel for every block of the grid. The message of the thread that stopped it, or null;
// and how many reports there are.
EXPORTED const char* cudasim_launch(const cudasim::launch* given, unsigned int blocks,
                                    const cudasim::report** found, unsigned int* count) {
    using namespace cudasim;
    run = *given;
    random_state = run.seed;
    stopped = ended = has_suspect = false;
    report_count = 0;
    record_count = 0;
    untold = nullptr;
    for (unsigned int a = 0; a < run.array_count; a++) {
        array& one = run.arrays[a];
        bool wanted = run.checks & GLOBAL_RACES;
        one.cells = wanted ? (cell*)calloc(one.high - one.low + 1, sizeof(cell)) : nullptr;
    }
    run_blocks(blocks);
    for (unsigned int a = 0; a < run.array_count; a++) free(run.arrays[a].cells);
    *found = reports;
    *count = report_count;
    return stopped ? message : nullptr;
}
