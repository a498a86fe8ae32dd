"""What the tests share, one module a task.

backends         one kernel on every backend, compared with one expectation
block_functions  one function of blocks on every backend, compared with NumPy
build            small functions of the IR, built op by op
cuda             kernels as CUDA text: compiled by NVRTC, run by cudasim
memory           arrays as a launch passes them to a target
guarded          arrays that end, or begin, at a page that may not be touched
dtypes, values   NumPy's dtype of each element type; numbers on which implementations differ
compare          equality of arrays, with what it says when they differ
"""
