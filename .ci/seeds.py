"""Run the tests of the Swift host, which `make test` skips where there is no swiftc, as on Debian 12.

    python3 .ci/seeds.py

Where swiftc is not on PATH, this makes a chroot of Debian 13 with it: as root, once, 3 GB, two minutes. The
chroot is in ~/.cache/native-inspector/swift, or in the folder that INSPECTOR_SWIFT names. Beside it is a
`swiftc` that compiles in the chroot. What it links runs outside the chroot, with the chroot's libraries.
"""

# SPDX-License-Identifier: MIT
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ready
import system

FOLDER = Path(os.environ.get("INSPECTOR_SWIFT", "~/.cache/native-inspector/swift")).expanduser().absolute()
PACKAGES = ("swiftlang", "g++")
"""g++ brings the headers of C and C++ that swiftc reads."""
APT = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-qq")
SWIFTC = r"""#!/bin/sh
# swiftc of a chroot, run on the files of the current folder. Its mounts end with it.
exec unshare --mount sh -c '
    mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && mount --bind "$PWD" "$0/mnt" || exit 1
    exec chroot "$0" sh -c "cd /mnt && exec swiftc \"\$@\"" swiftc "$@"
' {root} "$@" {flags}
"""

DEMANGLE = r"""#!/bin/sh
libraries=/usr/libexec/swift/lib/swift/linux
exec chroot {root} env LD_LIBRARY_PATH=$libraries /usr/libexec/swift/bin/swift-demangle "$@"
"""
"""Names of a backtrace, by the chroot's own demangler, which finds its libraries by /proc."""


def main():
    """Provide swiftc and run pytest; its exit code."""
    if not shutil.which("swiftc"):
        if (FOLDER / "swiftc").exists():
            write_programs(FOLDER / "trixie")
        else:
            make_chroot()
    ready.main(["test"])
    python = ready.ROOT / ready.ROOMS["test"][0] / "bin" / "python"
    words = ("-P", "-m", "pytest", "-q", "--durations=4", "tests/seeds/test_swift_host.py", *sys.argv[1:])
    return subprocess.call([str(python), *words], cwd=str(ready.ROOT))


def make_chroot():
    """The chroot and its `swiftc`; makes an unfinished one again."""
    if os.geteuid():
        sys.exit("There is no swiftc, and only root can make a chroot that has it.")
    if not system.ready("swift"):
        sys.exit("There is no swiftc, and no debootstrap to make a chroot that has it.")
    root = FOLDER / "trixie"
    shutil.rmtree(str(root), ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = FOLDER / "log"
    print(f"· Debian 13 with swiftc in {root} (log: {log})", flush=True)
    steps = [
        ("debootstrap", "--variant=minbase", "trixie", root),
        ("chroot", root, *APT, "install", "--no-install-recommends", *PACKAGES),
        ("chroot", root, *APT, "clean"),
    ]
    with log.open("w") as out:
        for step in steps:
            command = [str(word) for word in step]
            if subprocess.call(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL):
                sys.exit(f"`{shlex.join(command)}` failed; the log: {log}")
    write_programs(root)


def write_programs(root):
    """Linker flags: programs use the chroot's dynamic linker, and the chroot's libraries first."""
    linker = next(root.glob("usr/lib/*-linux-gnu/ld-linux-*.so.*"))
    found = f"{linker.parent}:{root}/usr/libexec/swift/lib/swift/linux"
    words = (f"--dynamic-linker={linker}", "--disable-new-dtags", f"-rpath={found}")
    flags = shlex.join(word for given in words for word in ("-Xlinker", given))
    for name, text in (("swiftc", SWIFTC), ("swift-demangle", DEMANGLE)):
        script = FOLDER / name
        script.write_text(text.format(root=shlex.quote(str(root)), flags=flags))
        script.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
