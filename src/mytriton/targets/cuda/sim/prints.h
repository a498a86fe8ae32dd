// What the kernel's `printf` becomes: lines that `prints.py` puts together into blocks.

namespace cudasim {

static char* printed;
static size_t printed_size, printed_capacity;

// Adds a line. A byte before the value, the last of a line of more than three, says what it is: 1 a
// float, 2 a double, 3 anything else.
template <typename... Values> UNCHECKED inline void print(const char* format, Values... values) {
    char marked[1024];
    const char* value = sizeof...(values) > 3 ? strrchr(format, '%') : nullptr;
    if (value && value[1] == 'f') {
        bool narrow = (false, ..., (sizeof values == sizeof(float)));
        snprintf(marked, sizeof marked, "%.*s%c%s%s", int(value - format), format, narrow ? 1 : 2,
                 narrow ? "%.9g" : "%.17g", value + 2);
        format = marked;
    } else if (value) {
        if (value - format > 2 && !strncmp(value - 2, "0x", 2)) value -= 2;
        snprintf(marked, sizeof marked, "%.*s\3%s", int(value - format), format, value);
        format = marked;
    }
    size_t needed = printed_size + snprintf(nullptr, 0, format, values...) + 1;
    if (needed > printed_capacity) {
        printed_capacity = 2 * needed;
        printed = (char*)realloc(printed, printed_capacity);
    }
    printed_size += sprintf(printed + printed_size, format, values...);
}

// Everything printed since the last call.
UNCHECKED inline const char* take_printed() {
    if (printed_size == 0) return nullptr;
    printed_size = 0;
    return printed;
}

}  // namespace cudasim
