"""Find the CPythons to test on: by PATH, pyenv or uv; else install them; else print the command to type."""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE

sys.path.insert(0, str(Path(__file__).parent))
import free_threaded

FITS = (
    "import sys, sysconfig, os, venv, ensurepip; "
    "assert os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')); "
    "free = 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else ''; "
    "print('%d.%d' % sys.version_info[:2] + free, sys.version.split()[0], sys.executable)"
)
"""A suitable Python can make a virtual environment, and has its headers; 3.14t is one without the GIL."""


def ask(python):
    """(minor version, full version, real path) of a suitable interpreter; None of any other."""
    try:
        told = subprocess.run([str(python), "-c", FITS], stdout=PIPE, stderr=DEVNULL)
    except OSError:
        return None
    words = told.stdout.decode().split(None, 2)
    return words if told.returncode == 0 and len(words) == 3 else None


def version(python):
    """The minor version of a Python, "3.11"; "" where there is none."""
    return (ask(python) or ("",))[0]


def full(python):
    """The full version and path of a Python: "3.11.7 (/usr/bin/python3.11)"."""
    _, exact, path = ask(python)
    return f"{exact} ({path.strip()})"


def first(versions):
    """The first of `versions` that is found or can be installed; else exits with the command to type."""
    for wanted in versions:
        python = find(wanted)
        if python:
            return python
    for wanted in versions:
        python = install(wanted)
        if python:
            return python
    x = versions[0]
    sys.exit(
        f"Python {' or '.join(versions)} was not found and could not be installed.\n"
        f"  do  pyenv install {x}    or: uv python install {x}    or: apt-get install python{x}-dev"
    )


def find(wanted):
    """Path of a suitable Python `wanted` ("3.12"), or None."""
    for candidate in _candidates(wanted):
        told = ask(candidate)
        if told and told[0] == wanted:
            return told[2].strip()
    return None


def _candidates(wanted):
    yield "python" + wanted
    pyenv = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"
    for folder in sorted(pyenv.glob(wanted + ".*"), reverse=True):
        yield folder / "bin" / "python"
    for place in ("/usr/bin", "/usr/local/bin", f"/opt/python{wanted}/bin"):
        yield f"{place}/python{wanted}"
    yield free_threaded.python(wanted)
    if shutil.which("uv"):
        told = subprocess.run(["uv", "python", "find", wanted], stdout=PIPE, stderr=DEVNULL)
        if told.returncode == 0:
            yield told.stdout.decode().strip()


def install(wanted):
    """Install Python `wanted` by the first available means; its path, or None."""
    means = [[sys.executable, free_threaded.__file__, wanted]] if wanted in free_threaded.VERSIONS else []
    if shutil.which("apt-get") and os.geteuid() == 0:
        packages = [f"python{wanted}-dev", f"python{wanted}-venv"]
        means.append(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages])
    if shutil.which("uv"):
        means.append(["uv", "python", "install", wanted])
    if shutil.which("pyenv"):
        means.append(["pyenv", "install", "-s", wanted])
    for command in means:
        print(f"· Python {wanted} is missing: {' '.join(command)}", flush=True)
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.call(command, env=quiet, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
        python = find(wanted)
        if python:
            return python
    return None
