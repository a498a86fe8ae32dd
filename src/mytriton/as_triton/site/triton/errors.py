"""`triton.errors`: the base of the errors that compiling and launching raise."""

from mytriton.errors import CompileError as TritonError

__all__ = ["TritonError"]
