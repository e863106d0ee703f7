"""Make rooms ready: a virtual environment with the project's wheel in it, rebuilt only after a change.

    python3 .ci/ready.py test 3.12 3.13      rooms of the table below; prints one line for what it does

Standard library only, and nothing newer than Python 3.8: it runs before anything is installed.
A room has two stamps: one of what it was asked to install (pyproject.toml, the group, the interpreter),
one of the wheel's sources by content. Both unchanged: nothing is done, in about 0.1 s.
"""

# SPDX-License-Identifier: MIT
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pythons

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "native", "inspector", "magics")
ANY = ("3.11", "3.13", "3.12")
SANITIZE = ("-C", "cmake.define.INSPECTOR_SANITIZE=address,undefined", "-C", "cmake.build-type=Debug")

ROOMS = {
    # name: folder, Pythons in order of preference, dependency group, settings of the build (None: no wheel)
    "test": (".venv", ANY, "dev", ()),
    "demo": (".venv-demo", ANY, "demo", ()),
    "3.11": (".venv", ("3.11",), "dev", ()),
    "3.12": (".venv-3.12", ("3.12",), "small", ()),
    "3.13": (".venv-3.13", ("3.13",), "small", ()),
    "3.14": (".venv-3.14", ("3.14",), "small", ()),
    "3.15": (".venv-3.15", ("3.15",), "small", ()),
    "3.14t": (".venv-3.14t", ("3.14t",), "free-threaded", ()),
    "3.15t": (".venv-3.15t", ("3.15t",), "free-threaded", ()),
    "libraries": (".venv-libraries", ("3.11",), "libraries", ()),
    "libraries-oldest": (".venv-libraries-oldest", ("3.11",), "libraries-oldest", ()),
    "R": (".venv-R", ("3.11",), "R", ()),
    "aarch64": (".venv-aarch64", ("3.13",), "core", None),
    "sanitize": (".venv-sanitize", ANY, "core", SANITIZE),
    "bench": (".venv-bench", ANY, "bench", ()),
    "wheels": (".venv-wheels", ANY, "wheels", None),
}


def main(names):
    """Make each named room ready; exit with one sentence when that cannot be."""
    for name in names:
        with _locked(ROOMS[name][0]):
            room(name)


@contextlib.contextmanager
def _locked(name):
    """One process at a time makes a room, or a wheel, ready; others are made beside it."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / f"ready{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def room(name):
    """The interpreter of a room that is ready."""
    folder, versions, group, settings = ROOMS[name]
    venv = ROOT / folder
    python = venv / "bin" / "python"
    asked = _digest(["pyproject.toml"], [group, str(versions)])
    built = _digest(SOURCES, [str(settings)])
    is_asked = _stamped(venv / ".asked", asked) and python.exists()
    if is_asked and (settings is None or _stamped(venv / ".built", built)):
        return python
    if not is_asked:
        _environment(venv, versions)
    if settings is None:
        _packages(venv, group, asked)
        return python
    with ThreadPoolExecutor(1) as beside:  # packages are unpacked by one processor, C compiled by the others
        making = beside.submit(_wheel, venv, settings, built)
        if not is_asked:
            _packages(venv, group, asked)
        _install(venv, making.result(), built)
    return python


def _environment(venv, versions):
    """A virtual environment that can build the wheel."""
    found = pythons.first(versions)
    if not (venv / "bin" / "python").exists() or pythons.version(venv / "bin" / "python") not in versions:
        shutil.rmtree(str(venv), ignore_errors=True)
        _run(venv, f"{venv.name} with Python {pythons.full(found)}", found, "-m", "venv", venv)
    pip = (venv / "bin" / "python", "-m", "pip", "install", "-q")
    _run(venv, "", *pip, "pip>=25.1")
    _run(venv, "", *pip, "--group", "build")


def _packages(venv, group, asked):
    pip = (venv / "bin" / "python", "-m", "pip", "install", "-q")
    _run(venv, f"{venv.name}: group {group} of pyproject.toml", *pip, "--group", group)
    for stamp in (".built", ".asked"):
        (venv / stamp).write_text(asked if stamp == ".asked" else "")


def _wheel(venv, settings, built):
    """The wheel of the sources as they are: built once for a Python and settings, for all rooms."""
    python = venv / "bin" / "python"
    pip = (python, "-m", "pip")
    wheels = BUILD / "wheels" / "-".join((pythons.version(python), _digest([], settings)[:8]))
    with _locked(f"-wheel-{wheels.name}"):
        if not _stamped(wheels / ".built", built):
            shutil.rmtree(str(wheels), ignore_errors=True)
            made = ("wheel", "-q", "--no-build-isolation", "--no-deps", "-w", wheels, *settings, ROOT)
            _run(venv, f"{venv.name}: the wheel", *pip, *made)
            (wheels / ".built").write_text(built)
    return next(wheels.glob("*.whl"))


def _install(venv, wheel, built):
    pip = (venv / "bin" / "python", "-m", "pip")
    _run(venv, "", *pip, "install", "-q", wheel)  # with what it depends on, where that is missing
    _run(venv, "", *pip, "install", "-q", "--force-reinstall", "--no-deps", wheel)
    (venv / ".built").write_text(built)


def _digest(paths, words):
    total = hashlib.sha256("\0".join(words).encode())
    for start in paths:
        files = [ROOT / start] if (ROOT / start).is_file() else sorted((ROOT / start).rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                total.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def stamp_of_sources():
    """What changes with the sources of the wheel."""
    return _digest(SOURCES, [])


def _stamped(stamp, value):
    return stamp.exists() and stamp.read_text() == value


def _run(venv, words, *command):
    """Run a step with its output in a log; say it when it has words; end with the log's tail if it fails."""
    log = BUILD / f"ready{venv.name}.log"
    if words:
        print("· " + words, flush=True)
    line = [str(word) for word in command]
    with log.open("ab") as out:
        quiet = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
        code = subprocess.call(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=quiet)
    if code:
        print("\n".join(log.read_text(errors="replace").splitlines()[-25:]))
        sys.exit(f"{venv.name} is not ready: `{' '.join(line)}` failed; the whole log: {log}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["test"])
