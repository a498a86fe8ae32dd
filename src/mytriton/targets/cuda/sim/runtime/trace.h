// A record of every access to shared memory and to the launch's arrays, of the barriers, and of what
// lanes exchange, where one is asked for.

namespace cudasim {

enum { BARRIER = 16, EXCHANGE = 32 };   // besides READ, WRITE and ATOMIC

struct record {
    unsigned int block, thread, line;
    unsigned int epoch;     // how many barriers the thread has passed
    int how;
    int variable, array;    // one of them is not -1
    unsigned int bytes;
    long long offset;       // in bytes, from the variable's or array's beginning
    unsigned int before, after;     // a digest of the bytes, before the access and after it
};

static record* records;
static size_t record_count, record_room;
static const char* untold;      // where the last record's bytes lie, if they may still change

inline unsigned int digest(const char* at, size_t bytes) {
    unsigned int made = 2166136261u;    // FNV-1a
    for (size_t i = 0; i < bytes; i++) made = (made ^ (unsigned char)at[i]) * 16777619u;
    return made;
}

// What the last recorded access left.
inline void settle_record() {
    if (!untold) return;
    record& last = records[record_count - 1];
    last.after = digest(untold, last.bytes);
    untold = nullptr;
}

inline void note(const char* at, size_t bytes, int how, int variable, int array, long long offset) {
    if (record_count == record_room) {
        record_room = 2 * record_room + 1024;
        records = (record*)realloc(records, record_room * sizeof(record));
    }
    uint3 b = running->block, extents = run.indices[3];
    unsigned int made = digest(at, bytes);
    records[record_count++] = {b.x + extents.x * (b.y + extents.y * b.z),
                               running->thread.x,
                               (unsigned int)running->line,
                               running->barriers,
                               how & ~VECTOR,
                               variable,
                               array,
                               (unsigned int)bytes,
                               offset,
                               made,
                               made};
    untold = how & WRITE ? at : nullptr;
}

}  // namespace cudasim
