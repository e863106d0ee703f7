"""An interpreter whose structures are not those that the extension was built for is refused."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from types import ModuleType

import pytest

pytestmark = pytest.mark.core

OTHERWISE = """
import ctypes
runtime = (ctypes.c_uint64 * 64).in_dll(ctypes.pythonapi, "_PyRuntime")
assert bytes(runtime)[:8] == b"xdebugpy"
runtime[{word}] += 1024
import inspector._native
"""
"""The interpreter's account of itself, changed: nothing but debuggers reads it."""


FINALIZING, INTERPRETER_BYTES = 4, 6  # words of _Py_DebugOffsets, the same since 3.13


def told(word: int) -> str:
    run = subprocess.run([sys.executable, "-P", "-c", OTHERWISE.format(word=word)], capture_output=True)
    return run.stderr.decode()


@pytest.mark.skipif(sys.version_info < (3, 13), reason="not on CPython before 3.13, which says no layout")
def test_another_layout_of_the_interpreter_is_refused_in_one_sentence() -> None:
    assert told(FINALIZING) == ""  # not one that is read
    said = told(INTERPRETER_BYTES).splitlines()[-1]
    assert said.startswith("ImportError: inspector._native was built for CPython 3.")
    assert "is laid out differently: build it here" in said


def test_a_kernel_with_other_pages_is_refused_in_one_sentence(specimens: ModuleType) -> None:
    larger = specimens.library("pages", "long sysconf(int name) { return name == 30 ? 65536 : 1; }")
    code = "from inspector import _native"
    child = [sys.executable, "-P", "-c", code]
    ran = subprocess.run(child, env={**os.environ, "LD_PRELOAD": str(larger)}, capture_output=True, text=True)
    assert "pages of 4096 bytes, and this kernel's pages have 65536" in ran.stderr
