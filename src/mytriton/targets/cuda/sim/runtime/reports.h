// What the checks found: alike ones are counted, not repeated.

namespace cudasim {

enum kind {
    RACE, NOT_WRITTEN, OUT_OF_BOUNDS, READ_ONLY, MISALIGNED, BEFORE_WAIT, STUCK, TWO_LINES,
    NO_MEMBER, ABSENT_LANE, BETWEEN_PROGRAMS
};

struct report {
    int kind, line, other_line;
    int how, other_how;             // READ or WRITE, of both accesses
    unsigned int thread, other_thread;
    uint3 block;
    long long offset;               // in bytes from the variable's or array's beginning
    int variable, array;            // -1: none
    unsigned int bytes, count;      // of the access; threads or accesses that are alike
    unsigned int lanes, waiting;    // STUCK: those that wait, of the lanes or threads that should
    char what[32];
};

static const unsigned int MOST_REPORTS = 16;
static report reports[MOST_REPORTS];
static unsigned int report_count;

inline bool alike(const report& one, const report& other) {
    return one.kind == other.kind && one.line == other.line && one.other_line == other.other_line &&
           one.variable == other.variable && one.array == other.array;
}

inline void add(const report& found) {
    for (unsigned int i = 0; i < report_count; i++)
        if (alike(reports[i], found)) {
            reports[i].count++;
            return;
        }
    if (report_count < MOST_REPORTS) {
        reports[report_count] = found;
        reports[report_count++].count = 1;
    }
}

// A report about what the running thread does at its line.
inline report here(int kind) {
    report made = {};
    made.kind = kind;
    made.line = running->line;
    made.thread = thread_number();
    made.block = running->block;
    made.variable = made.array = -1;
    return made;
}

}  // namespace cudasim
