"""A bitonic sorting network over 64-bit words in memory, as an LLVM function.

A network compares pairs of places that do not depend on the values, so it runs in vectors without
branches. For every power of two k up to n it merges runs of k / 2 words into runs of k, which rise
where `i & k` is 0 and fall elsewhere, by comparing words k / 2, k / 4, … 1 apart (K. Batcher,
"Sorting networks and their applications", AFIPS 1968). Words at least a vector apart are compared
as vectors; nearer ones inside a vector, with its lanes permuted. A run that falls is one that
rises after all its bits are flipped.
"""

from __future__ import annotations

from collections.abc import Iterator


def network(lanes: int) -> str:
    """`sort_words(keys, n)`: sorts n unsigned words, a power of two and at least `lanes`."""
    return TEXT.format(
        lanes=lanes,
        vector=f"<{lanes} x i64>",
        zeros=f"<{lanes} x i32> zeroinitializer",
        small="\n".join(_sort_in_vector(lanes)),
        near="\n".join(_merge_in_vector(lanes, "n", "%n.flipped", lanes)),
    )


def _vector(lanes: int, type_: str, numbers: Iterator[int]) -> str:
    return f"<{', '.join(f'{type_} {number}' for number in numbers)}>"


def _sort_in_vector(lanes: int) -> Iterator[str]:
    """Runs of 2, 4, … lanes; the last of them rises or falls as the whole vector does."""
    vector, value, k = f"<{lanes} x i64>", "%s.loaded", 2
    while k < lanes:
        falls = _vector(lanes, "i64", (-1 if lane & k else 0 for lane in range(lanes)))
        yield f"  %s{k}.in = xor {vector} {value}, {falls}"
        yield from _merge_in_vector(lanes, f"s{k}", f"%s{k}.in", k)
        yield f"  %s{k}.out = xor {vector} %s{k}.merged, {falls}"
        value, k = f"%s{k}.out", 2 * k
    yield f"  %s.flipped = xor {vector} {value}, %s.falls"
    yield from _merge_in_vector(lanes, "s", "%s.flipped", lanes)


def _merge_in_vector(lanes: int, name: str, value: str, k: int) -> Iterator[str]:
    """Lanes k / 2, k / 4, … 1 apart: each lower one gets the smaller; the last is `name`.merged."""
    vector, apart = f"<{lanes} x i64>", k // 2
    picks = f"<{lanes} x i32>"
    while apart:
        here = f"%{name}.{apart}"
        other = _vector(lanes, "i32", (lane ^ apart for lane in range(lanes)))
        both = _vector(
            lanes, "i32", (lane + lanes if lane & apart else lane for lane in range(lanes))
        )
        result = here if apart > 1 else f"%{name}.merged"
        call = f"{vector} @llvm.u{{}}.v{lanes}i64({vector} {value}, {vector} {here}.other)"
        yield f"  {here}.other = shufflevector {vector} {value}, {vector} poison, {picks} {other}"
        yield f"  {here}.low = call {call.format('min')}"
        yield f"  {here}.high = call {call.format('max')}"
        yield (
            f"  {result} = shufflevector {vector} {here}.low, {vector} {here}.high, {picks} {both}"
        )
        value, apart = result, apart // 2


TEXT = """define internal void @sort_words(ptr %keys, i64 %n) noinline {{
entry:
  br label %small
small:
  %s = phi i64 [ 0, %entry ], [ %s.next, %small ]
  %s.at = getelementptr i64, ptr %keys, i64 %s
  %s.loaded = load {vector}, ptr %s.at, align 8
  %s.bit = and i64 %s, {lanes}
  %s.down = icmp ne i64 %s.bit, 0
  %s.mask = sext i1 %s.down to i64
  %s.one = insertelement {vector} poison, i64 %s.mask, i64 0
  %s.falls = shufflevector {vector} %s.one, {vector} poison, {zeros}
{small}
  %s.sorted = xor {vector} %s.merged, %s.falls
  store {vector} %s.sorted, ptr %s.at, align 8
  %s.next = add i64 %s, {lanes}
  %s.more = icmp ult i64 %s.next, %n
  br i1 %s.more, label %small, label %runs
runs:
  %half = phi i64 [ {lanes}, %small ], [ %k, %merged ]
  %k = shl i64 %half, 1
  %longer = icmp ule i64 %k, %n
  br i1 %longer, label %distances, label %done
distances:
  %j = phi i64 [ %half, %runs ], [ %j.next, %compared ]
  %j.low = sub i64 %j, 1
  %j.high = xor i64 %j.low, -1
  br label %far
far:
  %t = phi i64 [ 0, %distances ], [ %t.next, %far ]
  %t.high = and i64 %t, %j.high
  %t.up = shl i64 %t.high, 1
  %t.low = and i64 %t, %j.low
  %i = or i64 %t.up, %t.low
  %a.at = getelementptr i64, ptr %keys, i64 %i
  %b.at = getelementptr i64, ptr %a.at, i64 %j
  %a = load {vector}, ptr %a.at, align 8
  %b = load {vector}, ptr %b.at, align 8
  %low = call {vector} @llvm.umin.v{lanes}i64({vector} %a, {vector} %b)
  %high = call {vector} @llvm.umax.v{lanes}i64({vector} %a, {vector} %b)
  %i.bit = and i64 %i, %k
  %i.up = icmp eq i64 %i.bit, 0
  %first = select i1 %i.up, {vector} %low, {vector} %high
  %second = select i1 %i.up, {vector} %high, {vector} %low
  store {vector} %first, ptr %a.at, align 8
  store {vector} %second, ptr %b.at, align 8
  %t.next = add i64 %t, {lanes}
  %t.end = lshr i64 %n, 1
  %t.more = icmp ult i64 %t.next, %t.end
  br i1 %t.more, label %far, label %compared
compared:
  %j.next = lshr i64 %j, 1
  %j.more = icmp uge i64 %j.next, {lanes}
  br i1 %j.more, label %distances, label %near
near:
  %n.i = phi i64 [ 0, %compared ], [ %n.next, %near ]
  %n.at = getelementptr i64, ptr %keys, i64 %n.i
  %n.loaded = load {vector}, ptr %n.at, align 8
  %n.bit = and i64 %n.i, %k
  %n.down = icmp ne i64 %n.bit, 0
  %n.mask = sext i1 %n.down to i64
  %n.one = insertelement {vector} poison, i64 %n.mask, i64 0
  %n.falls = shufflevector {vector} %n.one, {vector} poison, {zeros}
  %n.flipped = xor {vector} %n.loaded, %n.falls
{near}
  %n.sorted = xor {vector} %n.merged, %n.falls
  store {vector} %n.sorted, ptr %n.at, align 8
  %n.next = add i64 %n.i, {lanes}
  %n.more = icmp ult i64 %n.next, %n
  br i1 %n.more, label %near, label %merged
merged:
  br label %runs
done:
  ret void
}}"""
