"""Debian for aarch64 in a chroot, run by qemu: the room `aarch64` of .ci/matrix.py.

    python3 .ci/aarch64.py COMMAND ...      run a command in it, in the same folder

As root, once: 0.5 GB, nine minutes. It is in ~/.cache/native-inspector/aarch64, or in the folder that
INSPECTOR_AARCH64 names. The wheel is the one of `make wheels`, and packages are downloaded and compiled to
bytecode by this machine's own Python: the emulated one takes thirty times as long. Standard library only.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pythons
import ready
import sid

FOLDER = Path(os.environ.get("INSPECTOR_AARCH64", "~/.cache/native-inspector/aarch64")).expanduser()
ROOM, SUITE, VERSION = "aarch64", "trixie", "3.13"
PACKAGES = (f"python{VERSION}-dev", f"python{VERSION}-venv", *sid.PACKAGES)
BINFMT = Path("/proc/sys/fs/binfmt_misc")
QEMU = Path("/usr/bin/qemu-aarch64-static")
ELF = (
    r":qemu-aarch64:M::\x7f\x45\x4c\x46\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
    r":\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:%s:F"
)
"""The head of a program or shared library for aarch64; F: qemu is opened now, for it is not in the chroot."""
PLATFORMS = (*(f"manylinux_2_{n}" for n in (17, 24, 26, 27, 28, 34)), "manylinux2014")


def entering():
    """The words before a command that run it in the chroot; None where it cannot be had."""
    if os.geteuid() or not _emulated():
        return None
    root = FOLDER / SUITE
    with sid.MAKING:
        if not (root / ".made").exists() and not sid.made(root, SUITE, PACKAGES, "arm64"):
            return None
    return sid.within(root)


def _emulated():
    """Whether the kernel runs programs for aarch64; it is told to until it is started anew."""
    if not QEMU.exists():
        return False
    if not (BINFMT / "register").exists():
        subprocess.call(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)])
    if not (BINFMT / "qemu-aarch64").exists() and (BINFMT / "register").exists():
        (BINFMT / "register").write_text(ELF % QEMU)
    return (BINFMT / "qemu-aarch64").exists()


def make_ready(before):
    """A virtual environment in the chroot with the wheel of dist/ and what the tests need."""
    folder = ready.ROOT / ready.ROOMS[ROOM][0]
    ready.main(["wheels"])
    tools = ready.ROOT / ready.ROOMS["wheels"][0] / "bin" / "python"
    sources = ready.stamp_of_sources()
    if (folder / ".built").exists() and (folder / ".built").read_text() == sources:
        return
    command = [str(tools), "-P", ".ci/wheels.py", VERSION, "aarch64", "manylinux"]
    subprocess.check_call(command, cwd=str(ready.ROOT))
    (wheel,) = (ready.ROOT / "dist").glob(f"*-cp{VERSION.replace('.', '')}-*manylinux*aarch64.whl")
    environment(before, folder, tools, [str(wheel), "--group", "core"])
    (folder / ".built").write_text(sources)


def environment(before, folder, tools, words):
    """A new virtual environment in the chroot; the Python `tools` fetches what pip understands by `words`."""
    subprocess.check_call(
        [*before, f"python{VERSION}", "-m", "venv", "--clear", "--without-pip", str(folder)]
    )
    packages = folder / "lib" / f"python{VERSION}" / "site-packages"
    options = ["--target", str(packages), "--only-binary=:all:", "--python-version", VERSION]
    options += [word for tag in PLATFORMS for word in ("--platform", f"{tag}_aarch64")]
    subprocess.check_call([str(tools), "-m", "pip", "install", "-q", *options, *words], cwd=str(ready.ROOT))
    subprocess.check_call([pythons.first((VERSION,)), "-m", "compileall", "-q", str(packages)])


def main(words):
    """Run the command; its exit code."""
    before = entering()
    if not words or before is None:
        sys.exit(f"{__doc__}\nOnly root can, where {QEMU} (Debian: qemu-user-static) and mmdebstrap are.")
    return subprocess.call([*before, *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
