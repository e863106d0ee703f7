"""Run the core tests with the extension under ASan and UBSan, after proving that both can fail.

Three steps must succeed:
1. a specimen with a planted overrun and one with a planted overflow die, in the same Python, environment
   and flags as the tests (which proves that the sanitizers can fail);
2. the installed extension calls the sanitizers' checks (so it is the sanitized build);
3. the tests pass, with pymalloc (the scan's owners need its blocks) and with plain malloc, where each
   small object is a block that ASan watches.
Standard library only.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import matrix
import ready

FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
PLANTED = """
#include <Python.h>
static PyObject *overrun(PyObject *self, PyObject *length) {
    volatile char *block = malloc(PyLong_AsLong(length));
    PyObject *past = PyLong_FromLong(block[PyLong_AsLong(length)]);
    free((void *)block);
    return past;
}
static PyObject *overflow(PyObject *self, PyObject *number) {
    volatile int n = PyLong_AsLong(number);
    return PyLong_FromLong(n + n);
}
static PyMethodDef methods[] = {
    {"overrun", overrun, METH_O, NULL}, {"overflow", overflow, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "planted", .m_methods = methods};
PyMODINIT_FUNC PyInit_planted(void) { return PyModule_Create(&definition); }
"""
CONTROLS = (
    ("planted.overrun(8)", "heap-buffer-overflow"),
    ("planted.overflow(2**30)", "signed integer overflow"),
)
SEEN_OTHERWISE = [
    *(
        f"tests/probes/test_{what}.py"
        for what in ("refs", "deques", "leftovers", "packed", "payloads", "further_bad_inputs")
    ),
    "tests/api/test_graph.py",
    "tests/compiler",
    "tests/leaks",
    "tests/tracing/test_border.py",
    "tests/test_line_table.py",
]
OTHERS = ["tests", *(f"--ignore={path}" for path in SEEN_OTHERWISE)]
ALLOCATORS = ("pymalloc", "malloc")
PARTS = ((OTHERS, True), (SEEN_OTHERWISE, False))
"""Tests, and whether they must pass. ASan brings its own malloc, whose blocks the search for owners
does not know: it names fewer, and a leak is only possible. It stands before libc too: `read` and `qsort` are
its own. Of those tests only the sanitizers' own verdict counts."""
STOPPED = 99
"""How a process ends that a sanitizer stopped; by default 1, as pytest where a test failed."""
STARTED = [f"tracing/test_{what}.py" for what in ("launch", "noise", "scripts")]
LEFT_OUT = (
    *(f"--ignore=tests/{path}" for path in ("house", "cli", "magics", "notebooks", *STARTED)),
    "--deselect=tests/probes/test_asked.py::test_the_program_asks_only_when_told_to",
    "--deselect=tests/tracing/test_pointers.py::test_in_a_terminal",
    "--deselect=tests/tracing/test_counted.py::test_a_program_tells_them_at_its_end_or_why_not",
    "--deselect=tests/tracing/test_saving.py::test_a_saved_trace_takes_some_bytes_a_record",
    "--deselect=tests/leaks/test_lent.py::"
    "test_a_lent_object_that_is_released_is_told_before_its_block_is_another_s",
    "--deselect=tests/leaks/test_in_place.py::test_a_fault_has_its_line",
    "--ignore=tests/native/test_pages_asked.py",
)
"""They start interpreters of their own, unsanitized; addresses lie farther apart here, and cost a saved trace
more bytes; what a planted fault freed under a dict is kept apart only where owners are found; the last one
asks for each page of what is mapped, and ASan's shadow is terabytes."""


def main(words):
    """Returns 0 when the controls fail as they must and the tests pass."""
    ready.main(["sanitize"])
    python = ready.ROOT / ready.ROOMS["sanitize"][0] / "bin" / "python"
    environment = sanitized()
    for statement, verdict in CONTROLS:
        control(python, environment, statement, verdict)
    instrumented(python)
    with ThreadPoolExecutor(matrix.AT_ONCE) as pool:
        return max(pool.map(lambda allocator: tested(python, environment, allocator, words), ALLOCATORS))


def tested(python, environment, allocator, words):
    """Run both parts under one allocator, each line behind its name; 0 unless a test or a sanitizer stopped.

    The allocators run beside each other: one after the other they took an hour and a half.
    """
    worst = 0
    given = {"cwd": str(ready.ROOT), "env": dict(environment, PYTHONMALLOC=allocator)}
    before = f"{allocator:<8}| "
    words = ["-o", f"cache_dir={ready.BUILD / ('sanitized-' + allocator)}", *words]
    for paths, strict in PARTS:
        code = matrix.printed(command(python, [*paths, *words]), dict(given), before)
        if not strict and code == 1:
            print(f"{before}(failed assertions do not count here: it came to its end, unstopped)", flush=True)
            code = 0
        worst = max(worst, abs(code))
    print(f"{before}{'ended well' if not worst else f'ended with {worst}'}", flush=True)
    return worst


def command(python, words):
    """The command of one run of pytest."""
    return [
        *(str(python), "-P", "-m", "pytest", "-q"),
        "--timeout=600",  # searching memory is ten times slower
        "--capture=sys",  # the sanitizers write to fd 2: capturing it would lose their last output
        *("-m", "core and not slow and not debugger and not libraries and not r"),
        *LEFT_OUT,
        *words,
    ]


def sanitized():
    """The environment in which a plain interpreter loads a sanitized extension."""
    libraries = [
        subprocess.check_output(["gcc", f"-print-file-name={name}"]).decode().strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    missing = [name for name in libraries if not name.startswith("/")]
    if missing:
        sys.exit(f"{' '.join(missing)} not found.\n  do  apt-get install gcc libgcc-$(gcc -dumpversion)-dev")
    return dict(
        os.environ,
        LD_PRELOAD=" ".join(libraries),
        ASAN_OPTIONS="detect_leaks=0:halt_on_error=1:handle_segv=0:handle_sigfpe=0:allocator_may_return_null=1"
        f":exitcode={STOPPED}",
        UBSAN_OPTIONS=f"halt_on_error=1:print_stacktrace=1:exitcode={STOPPED}",
        INSPECTOR_SANITIZED="1",
    )


def control(python, environment, statement, verdict):
    """Run a planted bug; exit unless the sanitizer stops it."""
    build = f"specimens.build('planted', {PLANTED!r}, flags={FLAGS!r})"
    script = (
        f"import sys; sys.path.insert(0, 'tests/specimens'); import specimens; planted = {build}; {statement}"
    )
    compiled = (
        f"import sys; sys.path.insert(0, 'tests/specimens'); import specimens; specimens.library{build[15:]}"
    )
    subprocess.check_call([str(python), "-c", compiled], cwd=str(ready.ROOT))  # gcc itself runs plain
    done = subprocess.run(
        [str(python), "-c", script], cwd=str(ready.ROOT), env=environment, stderr=subprocess.PIPE
    )
    if done.returncode != STOPPED or verdict not in done.stderr.decode():
        sys.exit(f"the control {statement} was not stopped as a {verdict}:\n{done.stderr.decode()[-2000:]}")
    print(f"control: {statement} is stopped: {verdict}")


def instrumented(python):
    """Exit unless the installed extension calls the checks."""
    where = "import importlib.util as u; print(u.find_spec('inspector._native').origin)"
    path = subprocess.check_output([str(python), "-P", "-c", where]).decode().strip()
    symbols = subprocess.check_output(["nm", "-D", path]).decode()
    for check in ("__asan_report_load", "__ubsan_handle"):
        if check not in symbols:
            sys.exit(f"{path} does not call {check}*: it is not the sanitized build")
    print(f"control: {Path(path).name} calls both sanitizers' checks")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
