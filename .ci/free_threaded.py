"""A free-threaded CPython 3.13, built from Debian's source package: no distribution has one.

    python3 .ci/free_threaded.py     as root, once: five minutes on two cores, 0.7 GB while it builds

It is in ~/.cache/native-inspector/free/3.13t, or in the folder that INSPECTOR_FREE names. Standard library
only.
"""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("INSPECTOR_FREE", "~/.cache/native-inspector/free")).expanduser().absolute()
PYTHON = FOLDER / "3.13t" / "bin" / "python3.13t"
SOURCE = "deb-src http://deb.debian.org/debian trixie main\n"
LIBRARIES = ("libssl-dev", "zlib1g-dev", "libffi-dev", "xz-utils")
CONFIGURE = ("--disable-gil", "--disable-test-modules", "--without-doc-strings", "-q", "OPT=-O1 -DNDEBUG")


def main():
    """Build it; 0 if it is there."""
    if PYTHON.exists():
        return 0
    if os.geteuid() or not shutil.which("apt-get"):
        sys.exit("A free-threaded Python is built by root, with apt-get.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "source.list").write_text(SOURCE)
    (FOLDER / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    apart = (f"Dir::Etc::SourceList={FOLDER}/source.list", "Dir::Etc::SourceParts=/dev/null")
    apart += (f"Dir::State::Lists={FOLDER}/lists", "APT::Sandbox::User=root")
    apt = ("apt-get", "-qq", *(word for option in apart for word in ("-o", option)))
    with (FOLDER / "log").open("w") as log:
        _run(log, "apt-get", "-qq", "install", "-y", "--no-install-recommends", *LIBRARIES)
        _run(log, *apt, "update")
        _run(log, *apt, "source", "--download-only", "python3.13")
        _run(log, "tar", "xf", *map(str, FOLDER.glob("python3.13_*.orig.tar.xz")))
        (build,) = FOLDER.glob("Python-3.13.*")
        _run(log, "./configure", *CONFIGURE, f"--prefix={PYTHON.parent.parent}", at=build)
        _run(log, "make", "-s", f"-j{os.cpu_count()}", at=build)
        _run(log, "make", "-s", "install", at=build)
    shutil.rmtree(str(build))
    return 0


def _run(log, *command, at=FOLDER):
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    given = {"cwd": str(at), "env": quiet, "stdin": subprocess.DEVNULL}
    if subprocess.call(command, stdout=log, stderr=log, **given):
        sys.exit(f"{command[0]} failed: {log.name} says why")


if __name__ == "__main__":
    sys.exit(main())
