"""Free-threaded CPythons, built from Debian's source packages: Debian has no package of one.

    python3 .ci/free_threaded.py 3.14t     as root, once: six minutes on two cores, 0.7 GB while it builds

It is in ~/.cache/native-inspector/free/3.14t, or beside it in the folder that INSPECTOR_FREE names. Standard
library only.
"""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ.get("INSPECTOR_FREE", "~/.cache/native-inspector/free")).expanduser().absolute()
VERSIONS = ("3.14t", "3.15t")
SOURCE = "deb-src http://deb.debian.org/debian sid main\n"
LIBRARIES = ("libssl-dev", "zlib1g-dev", "libffi-dev", "xz-utils")
CONFIGURE = ("--disable-gil", "--disable-test-modules", "--without-doc-strings", "-q", "OPT=-O1 -DNDEBUG")


def python(version):
    """Where the Python of a version is once it is built."""
    return FOLDER / version / "bin" / f"python{version}"


def main(words):
    """Build those that are asked for; 0 if they are there."""
    if not words or not set(words) <= set(VERSIONS):
        sys.exit(__doc__)
    for version in words:
        if not python(version).exists():
            _build(version)
    return 0


def _build(version):
    if os.geteuid() or not shutil.which("apt-get"):
        sys.exit("A free-threaded Python is built by root, with apt-get.")
    at, package = FOLDER / f"{version}-source", f"python{version[:-1]}"
    (at / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (at / "source.list").write_text(SOURCE)
    apart = (f"Dir::Etc::SourceList={at}/source.list", "Dir::Etc::SourceParts=/dev/null")
    apart += (f"Dir::State::Lists={at}/lists", "APT::Sandbox::User=root")
    apt = ("apt-get", "-qq", *(word for option in apart for word in ("-o", option)))
    with (FOLDER / f"{version}.log").open("w") as log:
        _run(log, at, "apt-get", "-qq", "install", "-y", "--no-install-recommends", *LIBRARIES)
        _run(log, at, *apt, "update")
        _run(log, at, *apt, "source", "--download-only", package)
        _run(log, at, "tar", "xf", *map(str, at.glob(f"{package}_*.orig.tar.xz")))
        (build,) = at.glob("Python-3.*")
        _run(log, build, "./configure", *CONFIGURE, f"--prefix={FOLDER / version}")
        _run(log, build, "make", "-s", f"-j{os.cpu_count()}")
        _run(log, build, "make", "-s", "install")
    shutil.rmtree(str(at))


def _run(log, at, *command):
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    given = {"cwd": str(at), "env": quiet, "stdin": subprocess.DEVNULL}
    if subprocess.call(command, stdout=log, stderr=log, **given):
        sys.exit(f"{command[0]} failed: {log.name} says why")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
