"""Debian sid in a chroot: Pythons that this system and its packages do not have, and what runs on them.

    python3 .ci/sid.py 3.15 COMMAND ...      run a command in it, in the same folder

Rows of .ci/matrix.py enter it by themselves. As root, once: 0.7 GB, two minutes. It is in
~/.cache/native-inspector/sid, or in the folder that INSPECTOR_SID names. The home, /tmp, the certificates,
pip's settings and the checkout are the same inside as outside. The mounts end with the command. Standard
library only.
"""

# SPDX-License-Identifier: MIT
import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import system

FOLDER = Path(os.environ.get("INSPECTOR_SID", "~/.cache/native-inspector/sid")).expanduser().absolute()
VERSIONS = ("3.14", "3.15")
MAKING = threading.Lock()
PACKAGES = ("gcc", "g++", "gdb", "libc6-dev", "mount", "procps", "git", "make")
FOLDERS = ("/dev", "/sys", "/tmp", "/opt", "/etc/ssl/certs", "/usr/share/ca-certificates", "/etc/xdg")
OLD_MIRROR = ("--aptopt=Acquire::Check-Valid-Until false",)
FILES = ("/etc/pip.conf", "/etc/resolv.conf", "/etc/hosts")
ENTER = r"""
root=$1 here=$2; shift 2
mount --bind "$root" "$root" && mount -t proc proc "$root/proc" || exit 1
for path in {folders}; do
    [ ! -d "$path" ] || {{ mkdir -p "$root$path" && mount --rbind "$path" "$root$path" || exit 1; }}
done
for path in {files}; do
    [ ! -f "$path" ] || {{ touch "$root$path" && mount --bind "$path" "$root$path" || exit 1; }}
done
exec chroot "$root" /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c 'cd "$0" && exec "$@"' "$here" "$@"
"""


def entering(wanted):
    """The words before a command that run it where Python `wanted` is; None where that cannot be had."""
    root = FOLDER / "root"
    if wanted not in VERSIONS or os.geteuid() or not shutil.which("unshare"):
        return None
    packages = [f"python{version}-{part}" for version in VERSIONS for part in ("dev", "venv")]
    with MAKING:
        if not (root / ".made").exists() and not made(root, "sid", (*packages, *PACKAGES)):
            return None
    return within(root)


def within(root):
    """The words before a command that run it in a chroot, in this checkout's folder."""
    here = str(Path(__file__).resolve().parent.parent)
    folders = shlex.join(dict.fromkeys((*FOLDERS, str(Path.home()), here)))
    script = ENTER.format(folders=folders, files=shlex.join(FILES))
    return ["unshare", "--mount", "sh", "-c", script, "sh", str(root), here]


def made(root, suite, packages, architecture=""):
    """Whether the chroot of a suite could be made; an unfinished one is made again."""
    if not system.ready("sid"):
        return False
    shutil.rmtree(str(root), ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    log = root.parent / "log"
    print(f"· Debian {suite} {architecture} in {root} (log: {log})", flush=True)
    command = ["mmdebstrap", "--variant=apt", "--dpkgopt=force-unsafe-io", *OLD_MIRROR]
    command += [f"--dpkgopt=path-exclude=/usr/share/{unread}/*" for unread in ("doc", "locale", "man")]
    command += [f"--architectures={architecture}"] if architecture else []
    command += ["--include=" + ",".join(packages), suite]
    with log.open("w") as out:
        failed = subprocess.call([*command, str(root)], stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    if not failed:
        (root / ".made").touch()
    return not failed


def main(words):
    """Run the command; its exit code."""
    if len(words) < 2:
        sys.exit(__doc__)
    before = entering(words[0])
    if before is None:
        sys.exit(
            f"Python {words[0]} is not in a chroot: only root can make one, with unshare and mmdebstrap."
        )
    return subprocess.call([*before, *words[1:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
