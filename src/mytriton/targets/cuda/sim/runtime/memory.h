// The checks of accesses: shadow memory.
//
// Beside each byte of shared memory lies a cell, which says who wrote the byte last, by an atomic or
// else, and who has read it since, each as a thread, its line, and the segment of its warp. An access is a race with an
// earlier one of another thread, one of the two writing, unless the earlier segment is among those
// that this thread's warp has seen (FastTrack: Flanagan and Freund, PLDI 2009). Two readers are
// enough to remember: at least one of them is another thread than a later writer.

namespace cudasim {

struct access {
    unsigned int segment;
    unsigned short thread, line;
};

struct cell {
    access writer, atomic, reader, second;  // segment 0: nobody
    unsigned char outside, pending;
};

// Whether what an access did comes before what the running thread does.
inline bool ordered(const access& earlier) {
    if (!earlier.segment || earlier.thread == thread_number()) return true;
    return earlier.segment <= current->seen[own_warp][earlier.thread / LANES];
}

inline access this_access() {
    return {current->segment[own_warp], (unsigned short)thread_number(),
            (unsigned short)running->line};
}

// A write that found another thread's access, not ordered: it is a race if it changes the bytes.
struct suspect {
    report what;
    char* at;
    unsigned int bytes;
    char before[128];
};
static suspect suspected;
static bool has_suspect;

inline void settle() {
    settle_record();
    if (!has_suspect) return;
    has_suspect = false;
    if (memcmp(suspected.at, suspected.before, suspected.bytes)) add(suspected.what);
}

inline void suspect_race(const report& what, char* at, size_t bytes) {
    if (bytes > sizeof suspected.before) bytes = sizeof suspected.before;
    suspected.what = what;
    suspected.at = at;
    suspected.bytes = (unsigned int)bytes;
    memcpy(suspected.before, at, bytes);
    has_suspect = true;
}

inline report located(int kind, char* at, size_t bytes, int how, int variable, int array,
                      char* base) {
    report made = here(kind);
    made.how = how;
    made.bytes = (unsigned int)bytes;
    made.variable = variable;
    made.array = array;
    made.offset = at - base;
    return made;
}

inline report against(report made, const access& other, int how) {
    made.other_line = other.line;
    made.other_thread = other.thread;
    made.other_how = how;
    return made;
}

inline const access* other_reader(const cell& c) {
    if (!ordered(c.reader)) return &c.reader;
    return ordered(c.second) ? nullptr : &c.second;
}

inline void note_reader(cell& c) {
    bool mine = c.reader.thread == thread_number() || ordered(c.reader);
    (mine ? c.reader : c.second) = this_access();
}

// Checks one access of cells for races; `make()` is what a report begins with.
template <typename Make>
inline void check_races(cell* cells, char* at, size_t bytes, int how, Make make) {
    bool told = false;
    for (size_t i = 0; i < bytes; i++) {
        cell& c = cells[i];
        const access* write = ordered(c.writer) ? nullptr : &c.writer;
        if (!write && !(how & ATOMIC) && !ordered(c.atomic)) write = &c.atomic;
        const access* read = (how & WRITE) && !write ? other_reader(c) : nullptr;
        if ((write || read) && !told) {
            report found = against(make(), write ? *write : *read, write ? WRITE : READ);
            if (how & WRITE) suspect_race(found, at, bytes);
            else add(found);
            told = true;
        }
        if (how & WRITE) (how & ATOMIC ? c.atomic : c.writer) = this_access();
        else if (!(how & ATOMIC)) note_reader(c);
    }
}

inline int variable_at(long long offset) {
    int found = -1;
    for (unsigned int i = 0; i < run.variable_count; i++)
        if (found < 0 || (long long)run.variables[i].offset <= offset) found = (int)i;
    return found;
}

inline report shared_report(int kind, char* at, size_t bytes, int how) {
    int variable = variable_at(at - current->memory);
    unsigned int offset = variable < 0 ? 0 : run.variables[variable].offset;
    return located(kind, at, bytes, how, variable, -1, current->memory + offset);
}

inline bool is_written(const cell& c) { return c.writer.segment || c.atomic.segment; }

inline void touch_shared(char* at, size_t bytes, int how) {
    cell* cells = current->cells + (at - current->memory);
    bool unwritten = false, pending = false;
    for (size_t i = 0; i < bytes; i++) {
        if (cells[i].outside) {
            add(shared_report(OUT_OF_BOUNDS, at, bytes, how));
            abandon();
        }
        pending |= cells[i].pending != 0;
        unwritten |= !is_written(cells[i]);
    }
    if (pending && (run.checks & RACES)) add(shared_report(BEFORE_WAIT, at, bytes, how));
    if (unwritten && (how & READ) && (run.checks & UNWRITTEN))
        add(shared_report(NOT_WRITTEN, at, bytes, how));
    if (run.tracing) {
        report made = shared_report(RACE, at, bytes, how);
        note(at, bytes, how, made.variable, -1, made.offset);
    }
    if (run.checks & RACES) check_races(cells, at, bytes, how, [&] { return shared_report(RACE, at, bytes, how); });
    for (size_t i = 0; unwritten && i < bytes; i++)
        if ((how & WRITE) && !is_written(cells[i])) cells[i].writer = this_access();
}

inline bool allowed(int index, unsigned long long roots) {
    return !roots || (index < 64 && roots >> index & 1);
}

// The array that a report about an address names: the one whose range is nearest.
inline int nearest(char* at, unsigned long long roots) {
    int best = -1;
    unsigned long long distance = 0;
    for (unsigned int i = 0; i < run.array_count; i++) {
        const array& a = run.arrays[i];
        if (!allowed(a.index, roots)) continue;
        unsigned long long away = at < a.low ? a.low - at : at >= a.high ? at - a.high : 0;
        if (best < 0 || away < distance) best = (int)i, distance = away;
    }
    return best;
}

inline void touch_global(char* at, size_t bytes, int how) {
    unsigned int line = (unsigned int)running->line;
    unsigned long long roots = line < run.line_count ? run.roots[line] : 0;
    for (unsigned int i = 0; i < run.array_count; i++) {
        array& a = run.arrays[i];
        if (at < a.low || at + bytes > a.high || !allowed(a.index, roots)) continue;
        if ((how & WRITE) && !a.writable)
            add(located(READ_ONLY, at, bytes, how, -1, (int)i, a.low));
        if (run.tracing) note(at, bytes, how, -1, a.index, at - a.low);
        if (a.cells && (run.checks & GLOBAL_RACES))
            check_races(a.cells + (at - a.low), at, bytes, how,
                        [&] { return located(RACE, at, bytes, how, -1, (int)i, a.low); });
        return;
    }
    bool known = roots ? !(roots & run.unknown) : !run.open;
    if (!known || !(run.checks & BOUNDS)) return;
    int i = nearest(at, roots);
    add(located(OUT_OF_BOUNDS, at, bytes, how, -1, i, i < 0 ? nullptr : run.arrays[i].low));
    abandon();
}

inline bool is_own_stack(char* at) {
    return at >= (char*)__builtin_frame_address(0) && at < stack_top;
}

inline bool is_shared(char* at) {
    return current->memory && at >= current->memory && at < current->memory + run.shared_bytes;
}

inline void touch(const void* address, size bytes, int how) {
    char* at = (char*)address;
    if (is_own_stack(at)) return;
    settle();
    bool shared = is_shared(at);
    bool odd = bytes & (bytes - 1) || bytes == 0 || (bytes > 8 && !(how & VECTOR));
    if (!odd && (size_t)at % bytes && (run.checks & ALIGNMENT)) {
        int i = nearest(at, 0);
        add(shared ? shared_report(MISALIGNED, at, bytes, how)
                   : located(MISALIGNED, at, bytes, how, -1, i, i < 0 ? at : run.arrays[i].low));
    }
    if (shared) touch_shared(at, bytes, how);
    else touch_global(at, bytes, how);
}

inline void store(void* to, const void* from, size bytes, int how) {
    touch(to, bytes, how);
    memcpy(to, from, bytes);
    settle();
}

// -- copies that are made later

inline void mark_pending(char* to, size_t bytes, int by) {
    if (!is_shared(to)) return;
    for (size_t i = 0; i < bytes; i++) current->cells[to - current->memory + i].pending += by;
}

inline void copy_later(void* to, const void* from, size bytes, size filled) {
    if (filled) touch(from, filled, READ | VECTOR);
    touch(to, bytes, WRITE | VECTOR);
    memset(to, 0xcd, bytes);
    settle();
    if (current->copy_count == current->copy_room) {
        current->copy_room = 2 * current->copy_room + 64;
        current->copies = (copy*)realloc(current->copies, current->copy_room * sizeof(copy));
    }
    unsigned int thread = thread_number();
    current->copies[current->copy_count++] = {(char*)to, (char*)from, bytes, filled, thread,
                                              current->group[thread], running->line};
    mark_pending((char*)to, bytes, 1);
}

inline void commit() { current->group[thread_number()]++; }

// Makes this thread's copies of all groups but the last `pending` ones.
inline void wait_copies(unsigned int pending) {
    unsigned int thread = thread_number(), end = current->group[thread], kept = 0;
    int line = running->line;
    for (unsigned int i = 0; i < current->copy_count; i++) {
        copy one = current->copies[i];
        if (one.thread != thread || one.group + pending >= end) {
            current->copies[kept++] = one;
            continue;
        }
        mark_pending(one.to, one.bytes, -1);
        running->line = one.line;
        touch(one.to, one.bytes, WRITE | VECTOR);
        memcpy(one.to, one.from, one.filled);
        memset(one.to + one.filled, 0, one.bytes - one.filled);
        settle();
    }
    running->line = line;
    current->copy_count = kept;
}

}  // namespace cudasim
