"""Seed 003 on the tutorial's host in C, which finds Python by dlsym, and on programs of Debian."""

# SPDX-License-Identifier: MIT
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import embedded
import hosts
import pytest
from embedded import launched, of, ran
from refused import refused

from inspector.facts.hosted import Hosted
from inspector.facts.unknown import Unknown
from inspector.report import Report
from inspector.sessions import running
from inspector.sessions.trace import Traced
from inspector.sessions.trace_launched import launch

pytestmark = pytest.mark.skipif(
    not Path(hosts.shared()).exists(), reason="not on CPython without a shared libpython"
)
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "40_embedding_host.ipynb"
SAID = r"""
x + 4 = 46
super stringy now
owned 2, borrowed 3, released 2
map and filter: 12 16
numbers[1:3] = [7, 8]
Array<Int>(mixed) = nil: element 2 is no Int
arange: 3 references, 2 without the method
shape (3, 5)
Int(shape.0) = 3
Int(shape.1) = 5
np.array(numbers, dtype: "i2") is int16
"""
SAID += embedded.CONVERTED


def source() -> str:
    """The host as the tutorial has it."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    (cell,) = [cell for cell in cells if cell["source"][:1] == ["%%writefile host.c\n"]]
    return "".join(cell["source"][1:])


@pytest.fixture(scope="module")
def host() -> str:
    return str(hosts.host(source(), "-ldl"))


@pytest.fixture(scope="module", autouse=True)
def home() -> Iterator[None]:
    with embedded.home():
        yield


@pytest.fixture(scope="module")
def asked(host: str, home: None) -> Hosted:
    """What the host asked of Python, one reference given back without the GIL."""
    return launched(host, "unlocked").trace.hosted


def test_it_does_what_the_article_says_and_links_no_symbol(host: str) -> None:
    done = ran(host, hosts.shared())
    assert (done.stdout.strip(), done.returncode) == (SAID.strip(), 0)
    assert "Py" not in ran("nm", "-D", host).stdout


def test_owned_borrowed_released(asked: Hosted) -> None:
    assert embedded.changed(asked) == embedded.CHANGED
    assert "freed" in str(Report("host", {"hosted": asked}))


def test_members_calls_keywords_and_operators_are_seen_in_order(asked: Hosted) -> None:
    embedded.assert_in_order(asked, "'a'", "'x'", "'numbers'")


def test_conversions_that_give_nothing_set_an_error_that_is_cleared(asked: Hosted) -> None:
    assert embedded.failed(asked) == embedded.FAILED


def test_what_is_lost_without_an_error_is_said(asked: Hosted) -> None:
    assert embedded.lost(asked) == embedded.LOST


def test_a_reference_given_back_without_the_gil_is_a_finding(asked: Hosted) -> None:
    (call,) = [call for call in asked.calls if call.without_gil]
    assert call.function == "Py_DecRef" and isinstance(call.references, Unknown)
    assert str(Report("host", {"hosted": asked})).startswith(" host     1 call without the GIL, 3 calls lost")


def test_the_first_lines_say_what_the_host_did_and_what_was_copied(host: str) -> None:
    """The host has no lines of Python: what it made NumPy copy is not called nothing."""
    trace = launched(host, "unlocked").trace
    told = " ".join(str(trace).split())
    assert told.startswith(
        f"host called Python's C API {trace.hosted.asked:,} times. 3 values lost, the first"
    )
    assert "; 5 conversions refused, the first: PyLong_AsLong of a str." in told
    assert ". 6 B copied by 1 call from no line of yours." in told
    assert sum(copy.copied_bytes for copy in trace.copies) == 6


def test_an_error_that_nobody_traps_ends_the_host_and_the_trace_tells(host: str) -> None:
    ended = launched(host, "untrapped")
    assert ended.code == -signal.SIGABRT
    told = [(call.function, call.object_type) for call in ended.trace.hosted.calls[-4:]]
    assert told[:2] == [("PyErr_Fetch", "type"), ("PyObject_Str", "FileNotFoundError")]


LATE = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void *ref;
static void *python; // the only word of Python's that this host keeps in its own data
static void *ask(const char *name) { return dlsym(python, name); }
int main(int argc, char **argv) {
    python = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    ((void (*)(int))ask("Py_InitializeEx"))(0);
    ref (**made)(long) = malloc(sizeof *made); // as a lazy global of Swift, and on the heap
    *made = (ref (*)(long))ask("PyLong_FromLong");
    ref forty = (*made)(40000), one = (*made)(1234);
    ref sum = ((ref (*)(ref, ref))ask("PyNumber_Add"))(forty, one);
    printf("sum %ld\n", ((long (*)(ref))ask("PyLong_AsLong"))(sum));
    Dl_info type = {0}, other = {0};
    dladdr(ask("PyLong_Type"), &type);
    dladdr(dlsym(RTLD_NEXT, "malloc"), &other);
    printf("untouched %s %s %d\n", strstr(type.dli_fname, "python") ? "data" : "?",
           strstr(other.dli_fname, "libc.so") ? "malloc" : "?", ask("Py_NoSuchName") == NULL);
    void (*release)(ref) = (void (*)(ref))ask("Py_DecRef");
    release(forty), release(one), release(sum);
    int ended = ((int (*)(void))ask("Py_FinalizeEx"))();
    ((void (*)(int))ask("Py_InitializeEx"))(0); // the trace is over, and what it gave still leads on
    sum = (*made)(77777);
    printf("again %ld %d\n", ((long (*)(ref))ask("PyLong_AsLong"))(sum), ended);
    release(sum);
    fflush(stdout);
    _Exit(0);
}
"""


def test_what_a_host_asks_dlsym_for_at_first_use_is_traced_too(capfd: pytest.CaptureFixture[str]) -> None:
    """No pointer in its data when its Python starts: the answers of its own dlsym are hooked."""
    late = str(hosts.host(LATE, "-D_GNU_SOURCE", "-ldl"))
    plain = ran(late, hosts.shared())
    assert plain.stdout.splitlines() == ["sum 41234", "untouched data malloc 1", "again 77777 0"]
    ended = launched(late)
    assert ended.code == 0 and capfd.readouterr().err.splitlines()[-3:] == plain.stdout.splitlines()
    asked = ended.trace.hosted
    assert asked.hosts == (Path(late).name,)
    told = [(call.function, call.values, call.references) for call in asked.calls]
    assert told[:4] == [
        ("PyLong_FromLong", ("40000",), 1),
        ("PyLong_FromLong", ("1234",), 1),
        ("PyNumber_Add", (), 1),
        ("PyLong_AsLong", ("41234",), 1),
    ]
    assert [(call.times, call.references_after) for call in of(asked, "Py_DecRef")] == [(3, 0)]


def test_without_hosts_nothing_is_said() -> None:
    plain = launch([sys.executable, "-c", "print(1)"], quiet=True).trace
    assert plain.hosted.hosts == () and "host  " not in str(plain)


@pytest.mark.debugger
def test_a_running_host_is_read_from_outside(host: str) -> None:
    with embedded.read_from_outside(host) as other, refused("no-such-path"):
        other.inspect("a.x.y")


@pytest.mark.debugger
def test_it_is_stopped_where_it_enters_python(host: str) -> None:
    mixed = [{frame["kind"] for frame in hit["stack"]["frames"]} for hit in embedded.entered(host)]
    assert any({"native", "python"} <= kinds for kinds in mixed)  # site and NumPy are imported in between


# ----- programs that were never built to be looked at -----

KEPT = "kept = {'rows': [1, 2, 'three']}"


@pytest.mark.debugger
def test_gdb_itself() -> None:
    code = f"python {KEPT}; print('ready', flush=True); import time; time.sleep(1000)"
    with hosts.waiting("gdb", "-nx", "-batch", "-ex", code, PYTHONPATH="") as child:
        assert running.attach(child.pid).inspect("kept['rows'][2]").value == "str 'three'"


@pytest.mark.debugger
def test_vim() -> None:
    lines = f"{KEPT}; import os; os.write(1, b'ready\\n'); import time; time.sleep(1000)"
    vim = shutil.which("vim.nox")
    assert vim, "python3 .ci/system.py installs vim-nox"
    with hosts.waiting(vim, "-u", "NONE", "-es", "-c", f"py3 {lines}", PYTHONPATH="") as child:
        other = running.attach(child.pid)
        assert other.inspect("kept['rows'][2]").value == "str 'three'"
        (owner,) = [one for one in other.owners("kept").owners if one.certain]
        assert (owner.kind, owner.key) == ("global", "kept")
        assert "sleep" in str([frame.function for frame in other.stacks().threads[0].frames])


WSGI = """
kept = {'rows': [1, 2, 'three']}
def application(environ, start_response): pass
"""


@pytest.mark.debugger
def test_uwsgi(tmp_path: Path) -> None:
    """Its worker waits for a request with the GIL, and has its thread's number from before the fork."""
    (tmp_path / "app.py").write_text(WSGI)
    uwsgi = shutil.which("uwsgi-core")
    assert uwsgi, "python3 .ci/system.py installs uwsgi-core"
    words = f"--plugin python3 --master --socket {tmp_path}/socket --pythonpath {tmp_path} --module app"
    with hosts.waiting(uwsgi, *words.split(), until=b"spawned uWSGI worker 1", PYTHONPATH="") as child:
        (said,) = [line for line in child.said if b"worker 1" in line]  # type: ignore[attr-defined]
        other = running.attach(int(said.partition(b"pid: ")[2].partition(b",")[0]))
        assert other.inspect("app.kept['rows'][2]").value == "str 'three'"
        (owner,) = [one for one in other.owners("app.kept").owners if one.certain]
        assert owner.key == "kept"
        traced = other.trace(0.05, deadline_s=60)
        assert isinstance(traced, Traced), traced.instead
        assert traced.hosted.hosts == ("uwsgi-core",)


HIDING = r"""
#include <Python.h>
int main(void) {
    Py_Initialize();
    PyRun_SimpleString("import time\nrows = [1, 2, 'three']\nprint('ready', flush=True)\n"
                       "while True: time.sleep(0.05)");
}
"""


@pytest.mark.debugger
def test_a_host_that_hides_its_python(tmp_path: Path) -> None:
    """libpython is linked into it, and its names are stripped off: nothing says where Python is."""
    archives = Path("/usr/lib").glob("python3*/config-3*/libpython3.*[0-9].a")
    python = next(archives, None)
    assert python, "python3 .ci/system.py installs libpython3-dev"
    (tmp_path / "host.c").write_text(HIDING)
    words = f"gcc -no-pie -s -I/usr/include/{python.parts[3]} host.c {python} -o host"
    libraries = ("-lm", "-ldl", "-lz", "-lexpat", "-lpthread", "-lutil")
    subprocess.run([*words.split(), *libraries], check=True, cwd=tmp_path)
    with hosts.waiting(str(tmp_path / "host"), PYTHONHOME="/usr") as child:
        other = running.attach(child.pid)
        assert other.inspect("rows").references == 1 and other.inspect("rows[2]").value == "str 'three'"
        (owner,) = [one for one in other.owners("rows").owners if one.certain]
        assert (owner.kind, owner.key) == ("global", "rows")
        looked = other.trace(0.3)
        assert not isinstance(looked, Traced) and "the program hides its Python" in str(looked.instead)


EARLY = r"""
#include <dlfcn.h>
int main(int count, char **words) {
    void *python = dlopen(words[count - 1], RTLD_NOW | RTLD_GLOBAL);
    void (*begin)(void) = (void (*)(void))dlsym(python, "Py_Initialize");
    void *(*of)(double) = (void *(*)(double))dlsym(python, "PyFloat_FromDouble");
    void (*end)(void) = (void (*)(void))dlsym(python, "Py_Finalize");
    begin();
    of(2.25);
    end();
    return 0;
}
"""


def test_addresses_that_a_host_keeps_on_its_stack_are_not_called_no_call() -> None:
    found = launched(str(hosts.host(EARLY, "-ldl")))
    (said,) = [one for one in found.trace.report.facts["answers"].rows if one.slug == "no-copy-in-your-lines"]
    assert not said.certain and said.text.startswith("No call by host was seen. Not watched: functions")
