// What a compiled kernel and the simulator know of each other: a table of functions, so that neither
// is linked with the other.

struct uint3 {
    unsigned int x, y, z;
};

namespace cudasim {

typedef __SIZE_TYPE__ size;

// How memory is touched: any of these together.
enum { READ = 1, WRITE = 2, ATOMIC = 4, VECTOR = 8 };

struct api {
    // The running thread is at this line of the kernel's text.
    void (*at)(int line);
    // Checks an access before it is made.
    void (*touch)(const void* address, size bytes, int how);
    // Writes bytes after checking; the two that other threads may see differ are compared.
    void (*store)(void* to, const void* from, size bytes, int how);
    // A variable of the running block's shared memory, by its offset.
    void* (*shared)(unsigned int offset);
    // Waits at a barrier for `count` threads; 0 stands for all of the block.
    void (*barrier)(int number, unsigned int count, int line);
    // Offers a value to the lanes of the mask and waits for theirs.
    void (*exchange)(const char* what, unsigned int mask, const void* value, size bytes, int line);
    // What a lane of this warp has offered in the exchange.
    const void* (*offered)(unsigned int lane);
    // Lets other threads run.
    void (*yield)();
    // Orders the memory accesses of the lanes of a warp.
    void (*sync_warp)(unsigned int mask, int line);
    // Copies between memories some time before the wait for its group.
    void (*copy_later)(void* to, const void* from, size bytes, size filled);
    void (*commit)();
    void (*wait_copies)(unsigned int pending);
    // Ends the launch with a message.
    void (*stop)(const char* text);
};

}  // namespace cudasim
