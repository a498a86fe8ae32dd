"""The project in a minute: one kernel through every stage, then four kernels on this machine's CPU.

`make demo` runs this file.
"""

import matmul
import numpy as np
import sigmoid
import softmax
import vector_add


def show_stages() -> None:
    """NumPy arguments and no target compile only: what the compiler made of add_kernel."""
    x, y, out = np.zeros((3, 1000), np.float32)
    _, ssa, cuda = vector_add.add_kernel[(4,)](x, y, out, x.size, BLOCK=256)
    print("The typed SSA of add_kernel:\n")
    print(ssa)
    print("\nand the CUDA C++ that it becomes:\n")
    print(cuda)


def main() -> None:
    show_stages()
    print("\nOn this machine's CPU, against NumPy:\n")
    for example in (vector_add, sigmoid, softmax, matmul):
        example.main()


if __name__ == "__main__":
    main()
