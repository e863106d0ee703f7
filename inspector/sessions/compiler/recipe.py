"""The recipe of a C cell's build: everything here is part of the key, and nothing else is."""

# SPDX-License-Identifier: MIT
import hashlib
import importlib.metadata
import sys
import sysconfig
from dataclasses import dataclass
from typing import Any, Final

FORMAT: Final = 3
"""To be increased when the text written around a cell changes."""

FLAGS: Final = ("-O2", "-g", "-fPIC", "-std=gnu11", "-fno-omit-frame-pointer", "-Wall", "-Wno-unused")
"""For every compilation; the user's arguments follow and take precedence."""

EXTENSION_FLAGS: Final = ("-fno-eliminate-unused-debug-types",)
"""For a cell with its own PyInit_: a type's struct may occur only in a sizeof."""

_NUMPY_WORDS: Final = ("PyArray", "npy_", "NPY_", "numpy/")


@dataclass(frozen=True, slots=True)
class Recipe:
    """One C cell. With `inputs` or `outputs` its code is the body of the function `name`, else functions."""

    code: str
    name: str = "cell"
    support: str = ""
    """C at global scope, before the code."""
    init: str = ""
    """C statements that run once, when the module is loaded."""
    cleanup: str = ""
    """C statements that run after each call of the body, failed or not."""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    cache_version: tuple[Any, ...] | None = None
    """Part of the key; () is never cached."""
    libraries: tuple[str, ...] = ()
    library_dirs: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    compile_args: tuple[str, ...] = ()

    @property
    def is_body(self) -> bool:
        """Whether the code is the body of one function, its inputs and outputs named."""
        return bool(self.inputs or self.outputs)

    @property
    def is_extension(self) -> bool:
        """Whether the code is a whole extension module, with a PyInit_ of its own."""
        return not self.is_body and "PyInit_" in self.code

    @property
    def is_cached(self) -> bool:
        """Whether a module of this recipe may be cached."""
        return self.cache_version != ()

    @property
    def needs_numpy(self) -> bool:
        """Whether it needs NumPy's C-API: arrays are arguments, or names of NumPy occur."""
        everything = "\n".join((self.code, self.support, self.init, self.cleanup))
        return self.is_body or any(word in everything for word in _NUMPY_WORDS)

    def key(self, compiler: str) -> str:
        """16 hex digits, equal for equal text, arguments, `compiler`, Python and NumPy."""
        numpy = importlib.metadata.version("numpy") if self.needs_numpy else ""
        around = (FORMAT, FLAGS, compiler, sys.version, sysconfig.get_config_var("SOABI"), numpy)
        return hashlib.sha256(repr((self, around)).encode()).hexdigest()[:16]
