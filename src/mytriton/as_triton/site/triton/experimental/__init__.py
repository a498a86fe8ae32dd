"""`triton.experimental` does not exist here: Gluon is tied to GPU layouts of another compiler."""

raise ImportError(
    "mytriton, which stands in for triton, has no triton.experimental (Gluon); the kernels that"
    " need it cannot run on it"
)
