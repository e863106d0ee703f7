"""Programs that are or embed Python, traced from their start: linked, by dlsym, killed, isolated."""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import hosts
import pytest
from programs import inspector
from refused import refused

from inspector import trace
from inspector.facts.conversion import Trace
from inspector.facts.unknown import Unknown
from inspector.report import from_text
from inspector.sessions import trace_launched
from inspector.tracing.ask.host_calls import IMMORTAL

HOST = r"""
#include <Python.h>
int main(int count, char **words) {
    PyConfig config;
    if (count > 2) PyConfig_InitIsolatedConfig(&config); else PyConfig_InitPythonConfig(&config);
    PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) return 70;
    int failed = PyRun_SimpleString(words[1]) != 0;
    return Py_FinalizeEx() < 0 ? 71 : failed;
}
"""
BY_NAME = r"""
#include <dlfcn.h>
int main(int count, char **words) {
    void *python = dlopen(words[2], RTLD_NOW | RTLD_GLOBAL);
    if (!python) return 70;
    ((void (*)(int))dlsym(python, "Py_InitializeEx"))(0);
    return ((int (*)(const char *))dlsym(python, "PyRun_SimpleString"))(words[1]) != 0; // never finalized
}
"""
POINTERS = r"""
#include <dlfcn.h>
#include <stdio.h>
typedef void *ref;
static ref (*from_long)(long); // .bss
static long (*as_long)(ref) = 0;
static struct { int before; void (*release)(ref); } table = {1, 0}; // .data
static void *python;
static void is_dlsyms(const char *when) {
    void *own[] = {*(void **)&from_long, *(void **)&as_long, *(void **)&table.release};
    const char *names[] = {"PyLong_FromLong", "PyLong_AsLong", "Py_DecRef"};
    int same = 0;
    for (int i = 0; i < 3; i++) same += own[i] == dlsym(python, names[i]);
    printf("%s %d\n", when, same);
}
int main(int count, char **words) {
    python = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    if (!python) return 70;
    *(void **)&from_long = dlsym(python, "PyLong_FromLong");
    *(void **)&as_long = dlsym(python, "PyLong_AsLong");
    *(void **)&table.release = dlsym(python, "Py_DecRef");
    ((void (*)(int))dlsym(python, "Py_InitializeEx"))(0);
    is_dlsyms("traced");
    ref object = from_long(1 << 20);
    long value = as_long(object);
    table.release(object);
    table.release(from_long(5)); // nobody counts the references of a small int
    ((int (*)(void))dlsym(python, "Py_FinalizeEx"))();
    is_dlsyms("over");
    return value != 1 << 20;
}
"""
CODE = "import json, array; print(json.loads('[1, 2.5]')); array.array('d', [1.0, 2.0]).tobytes()"


def linked() -> str:
    return str(hosts.host(HOST, *hosts.linked()))


def traced(*words: str, **options: str) -> Trace:
    """The trace of `inspector trace --json WORDS`."""
    ran = inspector("trace", "--json", *words, **options)
    assert ran.stdout.startswith("{"), ran.stderr
    return from_text(ran.stdout, "stdout").trace


def names(trace: Trace) -> set[str]:
    return {call.name for call in trace.calls}


@hosts.shared_library
@pytest.mark.quick
@pytest.mark.core
def test_a_host_that_is_linked_to_python() -> None:
    trace = traced("--of", "_json", "--of", "array", "--", linked(), CODE)
    assert "array.array.tobytes" in names(trace)
    (copy,) = [copy for copy in trace.copies if copy.function == "array.array.tobytes"]
    assert (copy.verdict, copy.copied_bytes) == ("copied", 16)
    assert trace.hosted.hosts == ()


@hosts.shared_library
def test_a_host_that_finds_python_by_name_and_never_ends_it() -> None:
    host = str(hosts.host(BY_NAME, "-ldl"))
    assert "Py" not in subprocess.run(["nm", "-D", host], capture_output=True, text=True).stdout
    trace = traced("--of", "array", "--", host, CODE, hosts.shared())
    assert "array.array.tobytes" in names(trace)
    assert 0 < trace.wall_ns < 60e9


@hosts.shared_library
@pytest.mark.quick
@pytest.mark.core
def test_pointers_that_dlsym_gave_are_hooked_and_given_back() -> None:
    ran = inspector("trace", "--json", "--", str(hosts.host(POINTERS, "-ldl")), hosts.shared())
    assert ran.stderr.startswith("traced 0\nover 3\n"), ran.stderr
    hosted = from_text(ran.stdout, "stdout").trace.hosted
    assert (hosted.hosts, hosted.asked, hosted.calls_left_out) == (("host",), 6, 0)
    told = [(call.function, call.values, call.object_type) for call in hosted.calls]
    assert told == [
        ("PyLong_FromLong", ("1048576",), "int"),
        ("PyLong_AsLong", ("1048576",), "int"),
        ("Py_DecRef", (), "int"),
        ("PyLong_FromLong", ("5",), "int"),
        ("Py_DecRef", (), "int"),
        ("Py_FinalizeEx", (), Unknown("it is about no object")),  # asked for late: dlsym's own answer
    ]
    assert (hosted.calls[2].references, hosted.calls[2].references_after) == (1, 0)
    assert {str(call.references) for call in hosted.calls[3:5]} == {"? " + IMMORTAL.reason}


@hosts.shared_library
@pytest.mark.core
def test_a_linked_host_is_seen_unless_modules_are_chosen() -> None:
    hosted = traced("--", linked(), CODE).hosted
    assert hosted.hosts == ("host",)
    called = {call.function for call in hosted.calls}
    assert "Py_FinalizeEx" in called and any(name.startswith("PyRun_SimpleString") for name in called)


@hosts.shared_library
def test_an_isolated_python_is_said() -> None:
    ran = inspector("trace", "--", linked(), CODE, "isolated")
    assert ran.returncode == 2 and "python-isolated" in ran.stderr and "[1, 2.5]" in ran.stdout
    for option in ("-I", "-S"):
        ran = inspector("trace", "--", sys.executable, option, "-c", "pass")
        assert ran.returncode == 2 and "python-isolated" in ran.stderr, option


def test_a_program_without_python_and_one_that_is_none() -> None:
    ran = inspector("trace", "--", "true")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("inspector: true ran no Python.") and "no-python" in ran.stderr
    ran = inspector("trace", "--", "no-such-program-x")
    assert ran.returncode == 2 and "no-program" in ran.stderr


SCRIPT = """
import array, json, os, signal, subprocess, sys
rows = array.array("d", range(1000))
told = rows.tobytes()
inner = (
    "import os, sys, json;"
    "print(json.dumps([os.environ.get('PYTHONPATH'), 'INSPECTOR_TRACE' in os.environ]))"
)
print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout, end="")
print(json.dumps([os.environ.get("PYTHONPATH"), "INSPECTOR_TRACE" in os.environ, sys.argv[1:]]))
print("numpy" in sys.modules, any("startup" in path for path in sys.path))
sys.stdout.flush()
if sys.argv[1:2] == ["die"]:
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.quick
@pytest.mark.core
def test_a_script_its_environment_and_its_exit_code(script: Path) -> None:
    """The program and its children meet nothing of ours but the trace."""
    ran = inspector("trace", "--of", "array", "--", sys.executable, str(script), "3", "--", "x")
    assert ran.returncode == 1 and "exited with 3" in ran.stderr
    inner, outer, loaded, rest = ran.stdout.split("\n", 3)
    user = os.environ.get("PYTHONPATH")
    assert json.loads(inner) == [user, False]
    assert json.loads(outer) == [user, False, ["3", "--", "x"]]
    assert loaded == "False False"
    assert rest.startswith(" 8.0 kB copied by") and " 4  told = rows.tobytes()" in rest


@pytest.mark.core
def test_what_a_killed_program_wrote_is_read_back(script: Path) -> None:
    ran = inspector("trace", "--of", "array", "--", sys.executable, str(script), "die")
    assert ran.returncode == 1 and "signal 9" in ran.stderr
    assert " 4  told = rows.tobytes()" in ran.stdout and " 8.0 kB copied by" in ran.stdout


MEMORY = """
import array, os, signal, sys
import numpy as np
a = np.arange(5000.0)
b = a.copy()
c = bytes(a)
d = array.array("d", c)
if sys.argv[1:] == ["die"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", [(), ("die",)])
def test_who_gave_the_memory_is_told_as_in_one_process(tmp_path: Path, how: tuple[str, ...]) -> None:
    """Also of a program that is killed: what its slots and addresses mean is written as it comes."""
    path = tmp_path / "app.py"
    path.write_text(MEMORY)
    with trace("numpy", "array") as here:
        exec(compile(MEMORY, str(path), "exec"), {})
    ran = trace_launched.launch([sys.executable, str(path), *how], "numpy", "array")
    assert ran.code == (-signal.SIGKILL if how else 0)
    assert given(ran.trace.fact) == given(here.fact)
    assert len(given(here.fact)) == 4
    assert not any(isinstance(allocator, Unknown) for _, _, allocator in given(here.fact))


def given(fact: Trace) -> set[tuple[str, int, str | Unknown]]:
    """Each line of MEMORY that copied: bytes, and who asked for them."""
    copies = {(copy.site.text, copy.copied_bytes, copy.allocator) for copy in fact.copies}
    return {copy for copy in copies if copy[0].endswith(")") and copy[1] > 4096}  # without the import


def test_how_far_a_launched_program_is(tmp_path: Path) -> None:
    """It goes on until it was told of: no clock decides."""
    said: list[tuple[int, float]] = []
    go_on = tmp_path / "go_on"

    def told(records: int, seconds: float) -> None:
        said.append((records, seconds))
        if records > 2:
            go_on.touch()

    code = f"import array, os, time\nwhile not os.path.exists({str(go_on)!r}):\n"
    code += " array.array('d', [1.0]).tobytes(); time.sleep(0.01)"
    ran = trace_launched.launch([sys.executable, "-c", code], "array", told=told)
    assert ran.code == 0 and len(said) >= 1
    assert said == sorted(said) and said[-1][0] > 2


def test_the_users_own_sitecustomize_runs_after_ours(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.own = 'mine'; MARK = 1\n")
    code = "import sys, sitecustomize; print(sys.own, sitecustomize.MARK, sitecustomize.__file__)"
    ran = inspector("trace", "--", sys.executable, "-c", code, PYTHONPATH=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"mine 1 {tmp_path / 'sitecustomize.py'}\n")


def test_a_python_without_a_build_is_told_what_to_install(
    tmp_path: Path, monkeypatch: Any, capfd: Any
) -> None:
    """Where ours does not fit, the program's own is taken if it is the same version."""
    real = trace_launched.settings
    more = {"package": str(tmp_path)}
    monkeypatch.setattr(trace_launched, "settings", lambda *given: {**real(*given), **more})
    command = [sys.executable, "-c", "import array; array.array('d', [1.0]).tobytes()"]
    assert "array.array.tobytes" in names(trace_launched.launch(command, "array").trace.fact)
    more["version"] = "0"
    with refused("no-build") as caught:
        trace_launched.launch(command, "array")
    assert caught.value.do == f"{sys.executable} -m pip install native-inspector"
    assert capfd.readouterr() == ("", "")


R_PROGRAM = """
library(reticulate)
np <- import("numpy", convert = FALSE)
x <- np$array(c(1.5, 2.5, 3.5))
y <- np$ascontiguousarray(r_to_py(matrix(c(1, 2, 3, 4), 2)))
cat(py_to_r(np$sum(y)), "\\n")
said <- system("python3 -c 'import os; print(os.getenv(\\"PYTHONPATH\\"))'", intern = TRUE)
cat(sprintf("[%s]", said), "\\n")
"""


@pytest.mark.r
@pytest.mark.timeout(300)
def test_reticulate_in_rscript(tmp_path: Path) -> None:
    """A host that keeps pointers by dlsym; it never finalizes its Python, and starts another before."""
    if shutil.which("Rscript") is None:
        pytest.skip("cannot be installed here: R")
    (tmp_path / "app.R").write_text(R_PROGRAM)
    words = ("trace", "--of", "numpy", "--", "Rscript", str(tmp_path / "app.R"))
    ran = inspector(*words, RETICULATE_PYTHON=sys.executable)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("10 \n[None] \n"), ran.stdout[:200]
    assert "numpy.ascontiguousarray" in ran.stdout and "layout changes: Fortran order → C order" in ran.stdout


def test_a_module_that_cannot_be_traced_is_refused() -> None:
    ran = inspector("trace", "--of", "no_such_module_x", "--", sys.executable, "-c", "print(1)")
    assert (ran.returncode, ran.stdout) == (2, "1\n")
    assert "unknown-module" in ran.stderr


def test_the_pythons_it_starts_are_counted_and_traced_when_asked() -> None:
    command = ("sh", "-c", f"{sys.executable} -c 'import array; array.array(\"d\", [1.0]).tobytes()'; true")
    ran = inspector("trace", "--", *command)
    assert ran.returncode == 2 and "programs that it started did: 1" in ran.stderr, ran.stderr
    assert "array.array.tobytes" in names(traced("--children", "--of", "array", "--", *command))


SAMPLED = "import array\nrow = array.array('d', [1.0])\nfor _ in range(1000): row.tobytes()"


def test_a_launched_program_is_sampled_and_says_what_was_left_out() -> None:
    ran = trace_launched.launch([sys.executable, "-c", SAMPLED], "array", mode="sample", every=10)
    whole = trace_launched.launch([sys.executable, "-c", SAMPLED], "array").trace.fact
    fact = ran.trace.fact
    counts = [sum(one.times for one in found.copies) for found in (fact, whole)]
    assert counts == [101, 1001]  # with the array from the list
    assert (fact.calls_skipped, whole.calls_skipped) == (900, 0)
