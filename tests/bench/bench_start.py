"""How long it takes until something happens: import, --help, the first card; in processes of their own.

Seconds of CPU, user's and system's: a busy machine changes them little, and on a quiet one they are the wait.
"""

# SPDX-License-Identifier: MIT
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import row

ROUNDS = 15
INSPECTOR = str(Path(sys.executable).parent / "inspector")


def interleaved(*commands: list[str]) -> list[float]:
    """Median seconds of each command, run in turn so that a busy moment hits all alike."""
    times: list[list[float]] = [[] for _ in commands]
    with tempfile.TemporaryDirectory() as folder:  # not the checkout: there the sources would be imported
        for _ in range(ROUNDS):
            for found, command in zip(times, commands, strict=True):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                found.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [statistics.median(found) for found in times]


def main() -> None:
    python = [sys.executable, "-c"]
    bare, imported, helped, shown, console = interleaved(
        [*python, "pass"],
        [*python, "import inspector"],
        [INSPECTOR, "--help"],
        [INSPECTOR, "show", "1"],
        [*python, "import rich.console"],
    )
    row("import inspector, above a bare interpreter", imported - bare, bar=0.030, sizes=f"median of {ROUNDS}")
    row("inspector --help, above a bare interpreter", helped - bare, bar=0.060, sizes=f"median of {ROUNDS}")
    row("inspector show 1", shown, against="python -c 'import rich.console'", theirs=console, bar=1.3)


if __name__ == "__main__":
    main()
