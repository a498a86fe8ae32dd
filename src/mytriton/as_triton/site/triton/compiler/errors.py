"""`triton.compiler.errors`: what a kernel that cannot be compiled raises."""

from mytriton.errors import CompileError
from mytriton.language.debug import StaticAssertionError

CompilationError = CompileError
CompileTimeAssertionFailure = StaticAssertionError
TritonError = CompileError
UnsupportedLanguageConstruct = CompileError

__all__ = [
    "CompilationError",
    "CompileTimeAssertionFailure",
    "TritonError",
    "UnsupportedLanguageConstruct",
]
