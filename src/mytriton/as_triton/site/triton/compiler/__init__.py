"""`triton.compiler`: compiling kernels ahead of their launch."""

from . import compiler, errors
from .compiler import (
    ASTSource,
    CompiledKernel,
    LazyDict,
    compile,
    get_cache_key,
    make_backend,
    max_shared_mem,
)
from .errors import CompilationError

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompiledKernel",
    "LazyDict",
    "compile",
    "compiler",
    "errors",
    "get_cache_key",
    "make_backend",
    "max_shared_mem",
]
