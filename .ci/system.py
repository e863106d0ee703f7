"""Install programs that the tests need; where that is not allowed, print the command to type.

python3 .ci/system.py           what every row needs
python3 .ci/system.py compiler  what the wheel needs, and no more: asked by make demo
python3 .ci/system.py R         R, its packages, and what rpy2 links to: asked by the row "R" only
python3 .ci/system.py swift     what makes a chroot with swiftc: asked by `make seeds`
python3 .ci/system.py sid       what makes a chroot with newer Pythons: asked by .ci/sid.py
python3 .ci/system.py chromium  the browser of tests/browser: asked by a row of all tests
"""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL

R_PACKAGE = "Rscript -e \"quit(status = !nzchar(system.file(package = '{}')))\""
LINKS = "gcc -shared -o /dev/null $(R CMD config --ldflags) -lblas"
PACKAGES = {
    "": [
        ("command -v gcc", "gcc libc6-dev"),
        ("command -v g++", "g++"),
        ("command -v gdb", "gdb"),
        ("command -v /usr/bin/python3", "python3-minimal"),  # Debian's holds libpython in the program
        ("command -v rustc", "rustc"),  # a host in Rust
        ("command -v vim.nox", "vim-nox"),  # embeds Python
        ("ls /usr/lib/python3*/config-3*/libpython3.*[0-9].a", "libpython3-dev"),  # linked into a program
        (
            "command -v uwsgi-core && ls /usr/lib/uwsgi/plugins/python3_plugin.so",
            "uwsgi-core uwsgi-plugin-python3",
        ),
    ],
    "swift": [("command -v debootstrap", "debootstrap")],
    "sid": [("command -v mmdebstrap", "mmdebstrap")],
    "compiler": [("command -v gcc", "gcc libc6-dev")],
    "chromium": [
        ("command -v chromium", "chromium fonts-dejavu-core"),
        (R_PACKAGE.format("IRkernel"), "r-cran-irkernel"),
        (R_PACKAGE.format("reticulate"), "r-cran-reticulate"),
    ],
    "R": [
        ("command -v g++", "g++"),
        ("command -v R", "r-base-core"),
        (R_PACKAGE.format("reticulate"), "r-cran-reticulate"),
        (R_PACKAGE.format("IRkernel"), "r-cran-irkernel"),
        ("command -v cargo && ls -d /usr/share/cargo/registry/pyo3-0*", "cargo librust-pyo3-dev"),
        (R_PACKAGE.format("vroom"), "r-cran-vroom"),  # its columns are ALTREP vectors
        (LINKS, "libblas-dev libbz2-dev libicu-dev liblzma-dev libpcre2-dev libtirpc-dev zlib1g-dev"),
    ],
}
"""For each set: a shell command that succeeds where it is there, and the Debian packages that bring it."""


def main(words):
    """Install what is missing, as root or by passwordless sudo; else print what to type and go on."""
    for name in words or [""]:
        ready(name)


def ready(name):
    """Whether one set is present, now or after installing it."""
    missing = _absent(name)
    if not missing:
        return True
    wanted = " ".join(missing)
    if not shutil.which("apt-get"):
        print(f"! missing: {wanted}. Install them your system's way; the tests that need them will fail.")
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and (not shutil.which("sudo") or subprocess.call([*sudo, "true"], stderr=DEVNULL)):
        print(
            f"! missing: {wanted}; the tests that need them will fail.\n  do  sudo apt-get install {wanted}"
        )
        return False
    _install(sudo, missing)
    left = _absent(name)
    if left:
        print(f"! apt-get did not install {' '.join(left)}; see build/apt.log")
    return not left


def _absent(name):
    quiet = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
    return [
        package
        for command, packages in PACKAGES[name]
        if subprocess.call(["sh", "-c", command], **quiet)
        for package in packages.split()
    ]


def _install(sudo, missing):
    log = Path(__file__).resolve().parent.parent / "build" / "apt.log"
    log.parent.mkdir(exist_ok=True)
    print(f"· apt-get install {' '.join(missing)} (log: build/apt.log)", flush=True)
    with log.open("ab") as out:
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
            command = [*sudo, "apt-get", "-o", "DPkg::Lock::Timeout=300", *step]
            subprocess.call(command, stdout=out, stderr=out, stdin=DEVNULL, env=quiet)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
