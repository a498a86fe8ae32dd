"""One step of k-means: assign every point to its nearest centre, then move the centres.

One idea: |x - c|² = |x|² - 2 x·c + |c|², and |x|² does not matter for which c is nearest; so the
distances of a block of points to all centres are one matrix product.

Programs: assignment, one program a block of points, which adds its points to the sums of their
centres atomically. Update, one program a centre; a centre without points stays where it is.
"""

import torch

import mytriton as triton
import mytriton.language as tl


@triton.jit
def assign_kernel(
    points_ptr, centres_ptr, labels_ptr, sums_ptr, counts_ptr, points, centres, width,
    BLOCK: tl.constexpr, BLOCK_CENTRES: tl.constexpr, BLOCK_WIDTH: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.arange(0, BLOCK_WIDTH)
    numbers = tl.arange(0, BLOCK_CENTRES)
    live = (rows[:, None] < points) & (cols[None, :] < width)
    x = tl.load(points_ptr + rows[:, None] * width + cols[None, :], mask=live, other=0.0)
    c = tl.load(
        centres_ptr + numbers[:, None] * width + cols[None, :],
        mask=(numbers[:, None] < centres) & (cols[None, :] < width),
        other=0.0,
    )
    distance = tl.sum(c * c, axis=1)[None, :] - 2 * tl.dot(x, c.T, input_precision="ieee")
    distance = tl.where(numbers[None, :] < centres, distance, float("inf"))
    label = tl.argmin(distance, axis=1)
    tl.store(labels_ptr + rows, label, mask=rows < points)
    tl.atomic_add(sums_ptr + label[:, None] * width + cols[None, :], x, mask=live)
    tl.atomic_add(counts_ptr + label, 1, mask=rows < points)


@triton.jit
def update_kernel(sums_ptr, counts_ptr, centres_ptr, moved_ptr, width, BLOCK: tl.constexpr):
    centre = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < width
    count = tl.load(counts_ptr + centre)
    if count > 0:
        moved = tl.load(sums_ptr + centre * width + cols, mask=mask) / count
    else:
        moved = tl.load(centres_ptr + centre * width + cols, mask=mask)
    tl.store(moved_ptr + centre * width + cols, moved, mask=mask)


def kmeans(points: torch.Tensor, centres: torch.Tensor):
    """Return the label of each point (points, width) and the moved centres (centres, width)."""
    (size, width), number = points.shape, len(centres)
    labels = torch.empty(size, dtype=torch.int32)
    sums, counts = torch.zeros_like(centres), torch.zeros(number, dtype=torch.int32)
    moved = torch.empty_like(centres)
    block_width = triton.next_power_of_2(width)
    assign_kernel[(triton.cdiv(size, 64),)](
        points, centres, labels, sums, counts, size, number, width,
        BLOCK=64, BLOCK_CENTRES=triton.next_power_of_2(number), BLOCK_WIDTH=block_width,
    )  # fmt: skip
    update_kernel[(number,)](sums, counts, centres, moved, width, BLOCK=block_width)
    return labels, moved


def reference(points: torch.Tensor, centres: torch.Tensor):
    points, centres = points.double(), centres.double()
    labels = torch.cdist(points, centres).argmin(dim=1)
    means = [
        points[labels == number].mean(dim=0) if (labels == number).any() else centre
        for number, centre in enumerate(centres)
    ]
    return labels.int(), torch.stack(means)


def inputs(points: int, centres: int, width: int):
    torch.manual_seed(0)
    return torch.randn(points, width), torch.randn(centres, width)


def main() -> None:
    arguments = inputs(5000, 20, 13)
    labels, moved = kmeans(*arguments)
    expected, expected_moved = reference(*arguments)
    error = (moved - expected_moved).abs().max()
    other = (labels != expected).sum()
    print(f"kmeans of 5000 points, 20 centres: {other} other labels, error of centres {error:.1e}")


if __name__ == "__main__":
    main()
