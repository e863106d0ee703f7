"""Free-threaded CPythons, built from Debian's source packages: Debian has no package of one.

    python3 .ci/free_threaded.py 3.14t     as root, once: six minutes on two cores, 0.7 GB while it builds

The source is the one that sid names; where the pool no longer has that, an older one whose sum stands here.
It is in ~/.cache/native-inspector/free/3.14t, or beside it in the folder that INSPECTOR_FREE names. Standard
library only.
"""

# SPDX-License-Identifier: MIT
import hashlib
import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

FOLDER = Path(os.environ.get("INSPECTOR_FREE", "~/.cache/native-inspector/free")).expanduser().absolute()
VERSIONS = ("3.14t", "3.15t")
SOURCE = "deb-src http://deb.debian.org/debian sid main\n"
OLDER = {
    "3.14t": ("3.14.7", "3b48dac8fb59f62eaa67ac83c1eb12bda1b7a08406dd286e252c11a66be27f81"),
    "3.15t": ("3.15.0~rc2", "8d93af5eaaaea5adfd41bd786a7ba3f03f2ad1ab57c6a65e0b963deab91d5ad7"),
}
"""Versions that the pool keeps when it is behind its own index, and the SHA-256 of their sources."""
POOL = "http://deb.debian.org/debian/pool/main/p/{package}/{package}_{version}.orig.tar.xz"
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
    at = FOLDER / f"{version}-source"
    (at / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"{version}.log").open("w") as log:
        _run(log, at, "apt-get", "-qq", "install", "-y", "--no-install-recommends", *LIBRARIES)
        source = _newest(log, at, version) or _older(at, version)
        _run(log, at, "tar", "xf", str(source))
        (build,) = at.glob("Python-3.*")
        _run(log, build, "./configure", *CONFIGURE, f"--prefix={FOLDER / version}")
        _run(log, build, "make", "-s", f"-j{os.cpu_count()}")
        _run(log, build, "make", "-s", "install")
    shutil.rmtree(str(at))


def _newest(log, at, version):
    """The source that sid names; None where it cannot be had."""
    package = f"python{version[:-1]}"
    (at / "source.list").write_text(SOURCE)
    apart = (f"Dir::Etc::SourceList={at}/source.list", "Dir::Etc::SourceParts=/dev/null")
    apart += (f"Dir::State::Lists={at}/lists", "APT::Sandbox::User=root")
    apt = ("apt-get", "-qq", *(word for option in apart for word in ("-o", option)))
    if _call(log, at, *apt, "update") or _call(log, at, *apt, "source", "--download-only", package):
        return None
    return next(at.glob(f"{package}_*.orig.tar.xz"), None)


def _older(at, version):
    """The source of OLDER, by its sum."""
    number, wanted = OLDER[version]
    source = at / "older.tar.xz"
    urllib.request.urlretrieve(POOL.format(package=f"python{version[:-1]}", version=number), str(source))
    found = hashlib.sha256(source.read_bytes()).hexdigest()
    if found != wanted:
        sys.exit(f"The source of Python {number} has the SHA-256 {found}, and not {wanted}.")
    return source


def _run(log, at, *command):
    if _call(log, at, *command):
        sys.exit(f"{command[0]} failed: {log.name} says why")


def _call(log, at, *command):
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    return subprocess.call(command, stdout=log, stderr=log, cwd=str(at), env=quiet, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
