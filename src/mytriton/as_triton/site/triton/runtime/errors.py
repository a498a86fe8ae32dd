"""`triton.runtime.errors`: what a launch raises that is no fault of the kernel's text."""

from mytriton.errors import CompileError as TritonError
from mytriton.errors import KernelError as InterpreterError
from mytriton.errors import OutOfResources


class PTXASError(TritonError):
    """The assembler of PTX refused a kernel."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "ptxas failed")


class AutotunerError(TritonError):
    """An autotuner could not choose."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "no configuration could be chosen")


__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
