"""`triton.tools.tensor_descriptor`: the host's tensor descriptors."""

from ..runtime.descriptor import TensorDescriptor

__all__ = ["TensorDescriptor"]
