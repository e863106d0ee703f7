"""Who may be traced: each refusal is one sentence with what to do; the system itself is asked."""

# SPDX-License-Identifier: MIT
import os
from pathlib import Path

import pytest
import refused_calls
from debugged import Program
from refused import refused

from inspector.debugger import preflight

pytestmark = [pytest.mark.core, pytest.mark.debugger, pytest.mark.quick]


@pytest.mark.parametrize(
    ("scope", "word"), [(0, "container"), (1, "parent"), (2, "CAP_SYS_PTRACE"), (3, "no process")]
)
def test_each_reason_has_its_words(scope: int, word: str) -> None:
    error = preflight.forbidden(os.getpid(), "Operation not permitted", scope)
    assert error.slug == "ptrace-forbidden"
    assert word in error.why and error.do
    assert error.what.count(".") == 1


def test_a_process_that_may_be_traced_passes_and_goes_on() -> None:
    with Program("say(here=1)\nsys.stdin.readline()\nsay(still=1)") as program:
        program.said()
        assert preflight.check(program.pid).endswith("gdb")
        program.go_on()
        assert program.said() == {"still": 1}


TRACED = """
import ctypes
libc = ctypes.CDLL(None)
child = os.fork()
if child == 0:
    libc.ptrace(0x4206, os.getppid(), 0, 0)
    say(tracing=os.getpid())
    while True:
        os.read(0, 1)
os.waitpid(child, 0)
"""


def test_one_that_is_traced_names_its_tracer() -> None:
    with Program(TRACED) as program:
        tracer = program.said()["tracing"]
        with refused("already-traced") as caught:
            preflight.check(program.pid)
        assert str(tracer) in caught.value.what
        os.kill(tracer, 9)


FILTERED = f"""
import errno, sys
sys.path.insert(0, {str(Path(refused_calls.__file__).parent)!r})
from refused_calls import ERRNO, PTRACE, refuse
from inspector.debugger.session import Breakpoints
from inspector.errors import InspectorError
refuse(ERRNO | errno.EPERM, PTRACE)
try:
    with Breakpoints("PyLong_FromLong"):
        say(slug="entered")
except InspectorError as error:
    say(slug=error.slug)
"""


@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="not on CPython for this processor: the filter is x86-64's"
)
def test_a_seccomp_filter_is_met_before_anything_is_touched() -> None:
    """The filter is inherited by the broker and by the probe: ptrace(2) is refused there as gdb would be."""
    with Program(FILTERED) as program:
        assert program.said() == {"slug": "ptrace-forbidden"}
