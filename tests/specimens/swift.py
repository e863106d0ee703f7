"""Programs of tests/seeds in Swift, compiled once for each content where there is a swiftc."""

# SPDX-License-Identifier: MIT
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import specimens

SEEDS = Path(__file__).resolve().parents[1] / "seeds"


def compiler() -> str | None:
    """The swiftc of PATH, or the one that `make seeds` put beside its chroot."""
    folder = Path(os.environ.get("INSPECTOR_SWIFT", "~/.cache/native-inspector/swift")).expanduser()
    return shutil.which("swiftc") or shutil.which("swiftc", path=folder)


def built(name: str) -> Path:
    """The program of tests/seeds/`name`/*.swift."""
    swiftc = compiler()
    assert swiftc, "the caller skips where there is none"
    sources = sorted((SEEDS / name).glob("*.swift"))
    key = hashlib.sha256("\0".join([swiftc, *(path.read_text() for path in sources)]).encode())
    program = specimens._cache() / key.hexdigest()[:16] / "host"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        for source in sources:  # they stay beside it: a trace shows their lines
            shutil.copy(source, program.parent)
        command = [swiftc, "-O", "-g", "-warnings-as-errors", "-o", "made", *(path.name for path in sources)]
        subprocess.run(command, cwd=program.parent, check=True, timeout=500)
        (program.parent / "made").replace(program)
    return program
