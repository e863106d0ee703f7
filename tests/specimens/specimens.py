"""C extensions made for one test: `specimens.build(name, source)` compiles, caches and imports one.

A specimen is an ordinary extension module, built as a user would build one: gcc -O2, the headers of the
running Python. Plants (references that a test hides) must be `volatile`, or the compiler deletes them;
check each one with and without. Built files are cached by the hash of all that goes in, so a second run
compiles nothing.

A specimen needs no table of methods and no init: where the C has no PyInit, `library` adds the table of all
functions `static PyObject *NAME(PyObject *self, PyObject *ARGUMENT)`, the module's definition, and the types
that are written as `static PyType_Spec NAME_type` or `static PyTypeObject NAME_type`.
"""

# SPDX-License-Identifier: MIT
import hashlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType

FLAGS = ("-O2", "-g", "-shared", "-fPIC", "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter")
METHOD = re.compile(
    r"^static PyObject \*(\w+)\(PyObject \*self, PyObject \*(const \*)?(\w+)([^)]*)\)", re.MULTILINE
)
TYPE = re.compile(r"^static (PyType_Spec|PyTypeObject) (\w+)_type = ", re.MULTILINE)
TAIL = """
static PyMethodDef methods[] = {%s{NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "%s", .m_methods = methods};
PyMODINIT_FUNC PyInit_%s(void) {
    %s
    PyObject *module = PyModule_Create(&definition);
    %s
    return module;
}
"""
KINDS = {"unused": "METH_NOARGS", "args": "METH_VARARGS"}
"""What a function takes, by the name of its argument; METH_O by any other."""


def build(name: str, *sources: str, flags: tuple[str, ...] = ()) -> ModuleType:
    """Compile C `sources` into the extension module `name` and import it, anew each time.

    Raises RuntimeError with the compiler's words when the C is wrong.
    """
    return imported(name, library(name, *sources, flags=flags))


def imported(name: str, path: Path) -> ModuleType:
    """The extension module of a file, anew each time."""
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def library(name: str, *sources: str, flags: tuple[str, ...] = ()) -> Path:
    """Path of the shared object built from `sources`; for a child process that imports it itself."""
    sources = (completed(name, sources[0]), *sources[1:])
    compiler = shutil.which("gcc") or shutil.which("cc") or "gcc"
    return compiled((compiler, *FLAGS, *flags), name, sources)


def compiled(compiler: tuple[str, ...], name: str, sources: tuple[str, ...], suffix: str = ".c") -> Path:
    """Path of the extension that this command of a compiler makes of the sources, or made before."""
    command = [*compiler, f"-I{sysconfig.get_path('include')}"]
    key = hashlib.sha256("\0".join([*command, sys.version, name, *sources]).encode()).hexdigest()[:16]
    path = _cache() / key / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        files = [path.parent / f"{name}{number or ''}{suffix}" for number in range(len(sources))]
        for source, file in zip(sources, files, strict=True):
            _placed(source, file)
        _compile([*command, *map(str, files)], name, path)
    return path


def completed(name: str, source: str) -> str:
    """The C with the table of its functions, its definition and its init, where it has none."""
    if "PyInit_" in source or not (METHOD.search(source) or TYPE.search(source)):
        return source
    rows = ""
    for function, several, argument, more in METHOD.findall(source):
        takes = "METH_FASTCALL" if several else KINDS.get(argument, "METH_O")
        takes += " | METH_KEYWORDS" if "PyObject" in more else ""
        rows += f'{{"{function}", (PyCFunction)(void (*)(void)){function}, {takes}, NULL}}, '
    begin = "import_array();" if "arrayobject.h" in source else ""
    types = "".join(
        f'PyModule_AddObject(module, "{kind}", PyType_FromSpec(&{kind}_type)); '
        if how == "PyType_Spec"
        else f"PyModule_AddType(module, &{kind}_type); "
        for how, kind in TYPE.findall(source)
    )
    return source + TAIL % (rows, name, name, begin, types)


def line_of(source: str, name: str, mark: str = "// fault") -> int:
    """The line of a C source where a comment marks the fault of a function."""
    lines = source.splitlines()
    start = next(number for number, line in enumerate(lines) if f" *{name}(" in line)
    return next(number for number, line in enumerate(lines[start:], start + 1) if mark in line)


def _compile(command: list[str], name: str, path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".so", delete=False) as unfinished:
        made = subprocess.run([*command, "-o", unfinished.name], capture_output=True, text=True)
    if made.returncode:
        Path(unfinished.name).unlink()
        raise RuntimeError(f"specimen {name} does not compile:\n{made.stderr}")
    Path(unfinished.name).replace(path)


def _placed(text: str, file: Path) -> None:
    """Write a file whole or not at all: another run may be reading it."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as unfinished:
        unfinished.write(text)
    Path(unfinished.name).replace(file)


def _cache() -> Path:
    default = Path(__file__).resolve().parents[2] / "build" / "specimens"
    return Path(os.environ.get("INSPECTOR_SPECIMENS", default))
