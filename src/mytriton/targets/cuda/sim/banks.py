"""Bank conflicts of a traced launch.

Shared memory has 32 banks of 4 bytes. A warp's access is served in phases of 128 bytes: 32 lanes
of up to 4 bytes, 16 lanes of 8, 8 lanes of 16 (CUDA C++ Programming Guide, "Shared Memory"). Lanes
of a phase that touch one bank in different words wait for each other; those that read the same word
do not.

    bank_conflicts(sim.trace(source, grid, arguments))      # {31: 1, 44: 8}: line 44 takes 8 turns
"""

from __future__ import annotations

from collections import defaultdict

from .structures import READ, WRITE, Records

BANKS, BANK_BYTES, PHASE_BYTES, LANES = 32, 4, 128, 32


def bank_conflicts(records: Records) -> dict[int, int]:
    """For each line of the kernel's text that touches shared memory, the most different words of
    one bank in a phase: 1 where there is no conflict.

    The n-th access of a line by a lane belongs to the n-th by the others of its warp.
    """
    turns: dict[tuple[int, int, int, int], int] = defaultdict(int)
    phases: dict[tuple[int, ...], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    shared = records[(records["variable"] >= 0) & (records["how"] & (READ | WRITE) != 0)]
    fields = ("block", "thread", "line", "how", "offset", "bytes")
    for block, thread, line, how, offset, width in shared[list(fields)].tolist():
        turn = turns[block, thread, line, how]
        turns[block, thread, line, how] = turn + 1
        lanes = min(LANES, PHASE_BYTES // max(BANK_BYTES, width))
        phase = phases[line, how, block, turn, thread // lanes]
        for word in range(offset // BANK_BYTES, (offset + width - 1) // BANK_BYTES + 1):
            phase[word % BANKS].add(word)
    worst: dict[int, int] = {}
    for (line, *_), banks in phases.items():
        worst[line] = max(worst.get(line, 1), max(map(len, banks.values())))
    return worst
