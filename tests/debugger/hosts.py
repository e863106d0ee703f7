"""Programs for attach: other Pythons of this machine, and hosts in C that have a Python inside."""

# SPDX-License-Identifier: MIT
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import specimens

from inspector.debugger import healing
from inspector.debugger.memory import proc

shared_library = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="not on CPython without libpython.so"
)
EMBEDS = r"""
#include <Python.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    volatile unsigned long turns = 0;
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    PyConfig_SetBytesString(&config, &config.home, argv[2]);
    Py_InitializeFromConfig(&config);
    PyRun_SimpleString("cache = {'k': [1, 2, 'three']}");
    puts("{\"ready\": 1}");
    fflush(stdout);
    if (!strcmp(argv[1], "holds")) {
        for (;;) turns++;
    }
    PyEval_SaveThread();
    while (!strcmp(argv[1], "without")) turns++;
    sleep(1000);
    return 0;
}
"""
OPENS = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    void *python = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    if (!python) { puts(dlerror()); return 1; }
    void (*start)(int) = (void (*)(int))dlsym(python, "Py_InitializeEx");
    int (*run)(const char *) = (int (*)(const char *))dlsym(python, "PyRun_SimpleString");
    start(0);
    run("cache = {'k': [1, 2, 'three']}");
    puts("{\"ready\": 1}");
    fflush(stdout);
    for (;;) sleep(!strcmp(argv[1], "asleep") ? 1000 : 0);
}
"""


def others() -> list[str]:
    """Paths of the CPythons of this machine that attach reads, one a version: this one, pyenv's, Debian's."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in ("3.11", "3.12", "3.13"):
        for folder in sorted(versions.glob(f"{name}.*"), reverse=True):
            found.setdefault(name, str(folder / "bin" / f"python{name}"))
    debian = Path("/usr/bin/python3").resolve()
    static = [str(debian)] if debian.name in ("python3.11", "python3.12", "python3.13") else []
    return [path for path in (*found.values(), *static) if Path(path).exists()]


def host(source: str, *flags: str, stripped: bool = False) -> Path:
    """A program built from C, cached by all that goes in."""
    command = [shutil.which("gcc") or "gcc", "-O1", f"-I{sysconfig.get_path('include')}"]
    key = hashlib.sha256("\0".join([source, *command, *flags, str(stripped), sys.version]).encode())
    folder = specimens._cache() / key.hexdigest()[:16]
    path = folder / "host"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "host.c").write_text(source)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as made:
            pass
        subprocess.run([*command, str(folder / "host.c"), "-o", made.name, *flags], check=True)
        if stripped:
            subprocess.run(["strip", made.name], check=True)
        Path(made.name).replace(path)
    return path


def linked() -> tuple[str, ...]:
    """Flags that link a host with this Python."""
    get = sysconfig.get_config_var
    folder, name = get("LIBDIR"), f"-lpython{get('LDVERSION')}"
    return (f"-L{folder}", f"-Wl,-rpath,{folder}", name, "-ldl", "-lm", "-lpthread", "-rdynamic")


def shared() -> str:
    """The path of this Python's libpython, to be opened."""
    return str(Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME"))


@contextmanager
def waiting(*command: str, until: bytes = b"ready", **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has said it is ready; ended afterwards."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    child = subprocess.Popen(command, **pipes, env={**os.environ, **environment})  # type: ignore[call-overload]
    try:
        told = b""
        while until not in told:
            line = child.stdout.readline()  # type: ignore[union-attr]
            assert line, told
            told += line
        child.said = told.splitlines()  # type: ignore[attr-defined]
        yield child
    finally:
        child.kill()
        child.communicate()


@contextmanager
def hosting(*command: str) -> Iterator[int]:
    """The number of a host that is ready; afterwards it runs, untraced, its code that of its files."""
    with waiting(*command, PYTHONHOME=sys.base_prefix) as child:
        yield child.pid
        assert child.poll() is None and proc.tracer(child.pid) == 0
        assert not proc.thread_states(child.pid) & {"T", "t"}
        assert healing.differences(child.pid) == []
