"""What an installed wheel must do: draw a card, trace a script, find the leak of a C extension.

    /path/to/bare/venv/bin/python -P .ci/smoke.py

Prints a line for each check, and what could not be checked here; exit code 1 where one fails. The standard
library only.
"""

# SPDX-License-Identifier: MIT
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROGRAM = "import numpy\n\ntable = numpy.array([[1.0, 2.0]] * 10_000)\nview = table[::2]\n"
LOSES = """\
#include <Python.h>
static PyObject *lose(PyObject *self, PyObject *number)
{
    Py_INCREF(number);
    return PyUnicode_FromString("lost");
}
static PyMethodDef methods[] = {{"lose", lose, METH_O, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "losing", NULL, -1, methods};
PyMODINIT_FUNC PyInit_losing(void) { return PyModule_Create(&module); }
"""
LEAKS = "import losing\n\nfor number in range(1000, 1010):\n    losing.lose(number * 1001)\n"
INSPECTOR = (sys.executable, "-P", "-m", "inspector")


def main():
    """Run the checks in a folder of their own; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "program.py").write_text(PROGRAM)
        passed = [
            _check("version", (*INSPECTOR, "--version"), here, "native-inspector"),
            _check("show", (*INSPECTOR, "show", "view", "--script", "program.py"), here, "A view of table"),
            *(_refused(here) if "t" in sys.abiflags else _recorded(here)),
        ]
    return 0 if all(passed) else 1


def _recorded(here):
    """Whether a copy is traced and a leak is found."""
    traced = _check("trace", (*INSPECTOR, "trace", "--of", "numpy", "program.py"), here, "copied")
    return traced, _leaks(here)


def _refused(here):
    """Whether a trace is refused by its name, where there is no GIL."""
    command = (*INSPECTOR, "trace", "--of", "numpy", "program.py")
    return (_check("trace is refused", command, here, "#free-threaded", codes=(2,)),)


def _check(title, command, here, wanted, codes=(0,)):
    """Whether a command ends as it should and says what is wanted."""
    told = subprocess.run(command, cwd=str(here), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = told.stdout.decode(errors="replace")
    passed = told.returncode in codes and wanted in text
    print(f"    {'passed' if passed else 'FAILED'}  {title}", flush=True)
    if not passed:
        print(f"{text}\n    exit code {told.returncode}, wanted: {wanted!r}", flush=True)
    return passed


def _leaks(here):
    """The same for a leak of an extension that is compiled here; True where nothing can compile it."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    headers = sysconfig.get_path("include")
    if not compiler or not (Path(headers) / "Python.h").exists():
        print("    not checked here: leaks (no C compiler, or no headers of this Python)", flush=True)
        return True
    (here / "losing.c").write_text(LOSES)
    (here / "leaks.py").write_text(LEAKS)
    built = (compiler, "-g", "-shared", "-fPIC", f"-I{headers}", "losing.c", "-o", "losing.so")
    subprocess.run(built, cwd=str(here), check=True)
    command = (*INSPECTOR, "leaks", "--of", "losing", "leaks.py")
    return _check("leaks", command, here, "losing.lose", codes=(0, 1))


if __name__ == "__main__":
    sys.exit(main())
