// Host twins of asynchronous copies (PTX ISA, "cp.async", "cp.async.wait_group"): a copy is made
// when its thread waits for its group, not before, and the simulator reports who touches its
// destination until then.

// --- copy_async commit_copies await_copies
template <int BYTES>
UNCHECKED inline void copy_async(void* to, const void* from, bool inside = true) {
    cudasim::simulator->copy_later(to, from, BYTES, inside ? BYTES : 0);
}
UNCHECKED inline void commit_copies() { cudasim::simulator->commit(); }
template <int GROUPS> UNCHECKED inline void await_copies() {
    cudasim::simulator->wait_copies(GROUPS);
}
