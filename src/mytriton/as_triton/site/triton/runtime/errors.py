"""`triton.runtime.errors`: what a launch raises that is no fault of the kernel's text."""

from mytriton.errors import CompileError as TritonError
from mytriton.errors import KernelError as InterpreterError


class OutOfResources(TritonError):
    """A kernel that needs more of something than the device has.

    required, limit: amounts in the unit that `name` names (bytes of "shared memory", "threads").
    """

    def __init__(self, required: int, limit: int, name: str) -> None:
        self.required, self.limit, self.name = required, limit, name
        super().__init__(
            f"out of resource: {name}, required: {required}, limit: {limit}; smaller blocks or"
            " fewer `num_stages` need less"
        )

    def __reduce__(self) -> tuple[type, tuple[int, int, str]]:
        return type(self), (self.required, self.limit, self.name)


class PTXASError(TritonError):
    """The assembler of PTX refused a kernel."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "ptxas failed")


class AutotunerError(TritonError):
    """An autotuner could not choose."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "no configuration could be chosen")


__all__ = ["AutotunerError", "InterpreterError", "OutOfResources", "PTXASError", "TritonError"]
