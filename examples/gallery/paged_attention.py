"""One decoding step of attention over a paged key and value cache with grouped heads.

One idea: keys live in pages anywhere in one pool, and a table names the pages of each sequence; the
kernel reads the table as it goes. The query heads that share a key head form the rows of a block,
so each key is read once for all of them.

Programs: one program a (sequence, key head); it loops over the pages of its sequence, however many
there are, with a streamed softmax.
"""

import math

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def paged_attention_kernel(
    q_ptr, keys_ptr, values_ptr, table_ptr, lengths_ptr, out_ptr, table_stride, width, scale,
    GROUP: tl.constexpr, PAGE: tl.constexpr, BLOCK_GROUP: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):  # fmt: skip
    sequence = tl.program_id(0)
    key_head = tl.program_id(1)
    key_heads = tl.num_programs(1)
    rows = tl.arange(0, BLOCK_GROUP)
    cols = tl.arange(0, BLOCK_WIDTH)
    slots = tl.arange(0, PAGE)
    head = (sequence * key_heads + key_head) * GROUP + rows
    q_mask = (rows[:, None] < GROUP) & (cols[None, :] < width)
    q_offsets = head[:, None] * width + cols[None, :]
    q = tl.load(q_ptr + q_offsets, mask=q_mask, other=0.0)
    length = tl.load(lengths_ptr + sequence)
    maximum = tl.full([BLOCK_GROUP], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_GROUP], tl.float32)
    acc = tl.zeros([BLOCK_GROUP, BLOCK_WIDTH], tl.float32)
    for number in range(tl.cdiv(length, PAGE)):
        page = tl.load(table_ptr + sequence * table_stride + number).to(tl.int64)
        live = number * PAGE + slots < length
        offsets = ((page * PAGE + slots) * key_heads + key_head)[:, None] * width + cols[None, :]
        mask = live[:, None] & (cols[None, :] < width)
        k = tl.load(keys_ptr + offsets, mask=mask, other=0.0)
        v = tl.load(values_ptr + offsets, mask=mask, other=0.0)
        scores = tl.where(live[None, :], tl.dot(q, k.T) * scale, -float("inf"))
        larger = tl.maximum(maximum, tl.max(scores, axis=1))
        shrink = tl.exp(maximum - larger)
        weights = tl.exp(scores - larger[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + tl.dot(weights.to(v.dtype), v)
        maximum = larger
    tl.store(out_ptr + q_offsets, acc / total[:, None], mask=q_mask)


def paged_attention(q, keys, values, table, lengths) -> torch.Tensor:
    """Return attention of q (sequences, heads, width) over pages (pages, PAGE, key heads, width).

    table (sequences, most pages) holds the page numbers, lengths (sequences,) the tokens so far.
    """
    sequences, heads, width = q.shape
    _, page, key_heads, _ = keys.shape
    group = heads // key_heads
    out = torch.empty_like(q)
    paged_attention_kernel[(sequences, key_heads)](
        q, keys, values, table, lengths, out, table.stride(0), width, 1 / math.sqrt(width),
        GROUP=group, PAGE=page, BLOCK_GROUP=triton.next_power_of_2(group),
        BLOCK_WIDTH=triton.next_power_of_2(width),
    )  # fmt: skip
    return out


def reference(q, keys, values, table, lengths) -> torch.Tensor:
    outs = []
    for row, pages, length in zip(q.double(), table, lengths):
        k, v = (pool[pages].flatten(0, 1)[:length].double() for pool in (keys, values))
        k, v = (t.repeat_interleave(len(row) // t.shape[1], dim=1) for t in (k, v))
        weights = (torch.einsum("hd,lhd->hl", row, k) / math.sqrt(q.shape[-1])).softmax(dim=1)
        outs.append(torch.einsum("hl,lhd->hd", weights, v))
    return torch.stack(outs)


def inputs(lengths: list[int], heads: int, key_heads: int, width: int, page: int):
    torch.manual_seed(0)
    most = triton.cdiv(max(lengths), page)
    pages = len(lengths) * most
    q = torch.randn(len(lengths), heads, width).half()
    keys, values = torch.randn(2, pages, page, key_heads, width).half()
    table = torch.randperm(pages).view(len(lengths), most).int()
    return q, keys, values, table, torch.tensor(lengths, dtype=torch.int32)


def main() -> None:
    arguments = inputs([1, 300, 77, 256], heads=12, key_heads=4, width=48, page=16)
    error = (paged_attention(*arguments) - reference(*arguments)).abs().max()
    print(f"paged_attention of 4 sequences up to 300 tokens, float16: largest error {error:.1e}")


if __name__ == "__main__":
    main()
