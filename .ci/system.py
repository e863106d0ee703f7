"""Programs beside Python that the tests need: installed where allowed, else the one command is said."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {"gcc": "gcc libc6-dev", "gdb": "gdb"}
"""Program -> the Debian packages that bring it."""


def main():
    """Install what is missing, as root or by passwordless sudo; otherwise say what to type and go on."""
    missing = [package for program in _absent() for package in PACKAGES[program].split()]
    if not missing:
        return
    wanted = " ".join(missing)
    if not shutil.which("apt-get"):
        print(f"! missing: {wanted}. Install them your system's way; the tests that need them will fail.")
        return
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and (not shutil.which("sudo") or subprocess.call([*sudo, "true"], stderr=subprocess.DEVNULL)):
        print(
            f"! missing: {wanted}; the tests that need them will fail.\n  do  sudo apt-get install {wanted}"
        )
        return
    _install(sudo, missing)
    if _absent():
        print(f"! apt-get did not bring {' '.join(_absent())}; see build/apt.log")


def _absent():
    return [program for program in PACKAGES if not shutil.which(program)]


def _install(sudo, missing):
    log = Path(__file__).resolve().parent.parent / "build" / "apt.log"
    log.parent.mkdir(exist_ok=True)
    print(f"· apt-get install {' '.join(missing)} (log: build/apt.log)", flush=True)
    with log.open("ab") as out:
        quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
            command = [*sudo, "apt-get", *step]
            subprocess.call(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=quiet)


if __name__ == "__main__":
    sys.exit(main())
