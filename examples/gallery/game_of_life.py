"""Conway's Game of Life on a torus.

One idea: a stencil is nine loads of one tile at shifted places. The edges of the torus need no
mask, only a remainder; eight of the nine loads hit the cache.

Programs: axes 0 and 1 are the tiles of the board; each launch makes one generation from the board
before. The arrays here are NumPy's, which run on the CPU where `triton.target("cpu")` says so.
"""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def life_kernel(
    board_ptr, next_ptr, height, width, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_Y + tl.arange(0, BLOCK_Y)[:, None]
    cols = tl.program_id(1) * BLOCK_X + tl.arange(0, BLOCK_X)[None, :]
    neighbours = tl.zeros([BLOCK_Y, BLOCK_X], tl.int8)
    for dy in tl.static_range(-1, 2):
        for dx in tl.static_range(-1, 2):
            if dy != 0 or dx != 0:
                y = (rows + dy + height) % height
                x = (cols + dx + width) % width
                neighbours += tl.load(board_ptr + y * width + x)
    mask = (rows < height) & (cols < width)
    alive = tl.load(board_ptr + rows * width + cols, mask=mask, other=0)
    survives = (neighbours == 3) | ((neighbours == 2) & (alive == 1))
    tl.store(next_ptr + rows * width + cols, survives.to(tl.int8), mask=mask)


def game_of_life(board: np.ndarray, generations: int) -> np.ndarray:
    """Return the int8 board (height, width) of zeros and ones after so many generations."""
    height, width = board.shape
    board, following = board.copy(), np.empty_like(board)
    grid = (triton.cdiv(height, 16), triton.cdiv(width, 32))
    for _ in range(generations):
        life_kernel[grid](board, following, height, width, BLOCK_Y=16, BLOCK_X=32)
        board, following = following, board
    return board


def reference(board: np.ndarray, generations: int) -> np.ndarray:
    for _ in range(generations):
        shifts = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
        neighbours = sum(np.roll(board, shift, axis=(0, 1)) for shift in shifts)
        board = ((neighbours == 3) | ((neighbours == 2) & (board == 1))).astype(np.int8)
    return board


def inputs(height: int, width: int, generations: int):
    return (np.random.default_rng(0).random((height, width)) < 0.4).astype(np.int8), generations


def main() -> None:
    board, generations = inputs(45, 75, 50)
    with triton.target("cpu"):
        after = game_of_life(board, generations)
    for upper, lower in zip(after[0:20:2], after[1:20:2]):
        print("".join(" ▄▀█"[2 * a + b] for a, b in zip(upper, lower)))
    same = np.array_equal(after, reference(board, generations))
    print(f"game_of_life, 45 x 75, 50 generations: {after.sum()} cells alive, exact: {same}")


if __name__ == "__main__":
    main()
