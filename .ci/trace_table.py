"""Make a table about the trace in the environment `libraries`, and write it into docs/benchmarks.md.

    python3 .ci/trace_table.py corpus
    python3 .ci/trace_table.py coverage

Standard library only.
"""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ready

PAGE = ready.ROOT / "docs" / "benchmarks.md"
PROGRAMS = {"corpus": "trace_corpus.py", "coverage": "trace_coverage.py"}


def main(table):
    """Run, print, write."""
    ready.main(["libraries"])
    python = ready.ROOT / ready.ROOMS["libraries"][0] / "bin" / "python"
    program = ready.ROOT / "tests" / "specimens" / PROGRAMS[table]
    done = subprocess.run(
        [str(python), "-P", str(program)],
        cwd=str(ready.BUILD),
        env={**os.environ, "PYTHONPATH": str(program.parent)},  # its own folder, which -P leaves out
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        sys.exit(done.returncode)
    print(done.stdout)
    begin, end = f"<!-- make {table}: begin -->", f"<!-- make {table}: end -->"
    page = PAGE.read_text()
    before, rest = page.split(begin)
    PAGE.write_text(f"{before}{begin}\n{done.stdout.strip()}\n{rest[rest.index(end) :]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
