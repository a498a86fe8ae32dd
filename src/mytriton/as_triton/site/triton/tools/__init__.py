"""`triton.tools`: descriptors made on the host, and what stands beside them."""

from triton.tools import tensor_descriptor

__all__ = ["tensor_descriptor"]
