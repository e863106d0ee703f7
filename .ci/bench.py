"""Run the benches of tests/bench, each in its own process, and write the tables of docs/benchmarks.md.

    python3 .ci/bench.py [--only card]

A bench prints rows as lines of JSON (tests/bench/bench.py). One that succeeds replaces its section of the
page; text outside the sections is kept. Standard library only.
"""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import bench_page
import pythons
import ready


def main(words):
    """Run, print, write; returns 1 where a bar is missed or a bench failed."""
    ready.main(["bench"])
    python = ready.ROOT / ready.ROOMS["bench"][0] / "bin" / "python"
    version = pythons.full(python).split()[0]
    only = words[1] if words[:1] == ["--only"] else ""
    rows, failed = [], []
    for bench in sorted(bench_page.BENCHES.glob("bench_*.py")):
        if only in bench.stem:
            load = os.getloadavg()[0]
            found, code = run(python, bench)
            rows += found
            failed += [bench.name] * bool(code)
            if not code:
                bench_page.write(bench, found, version, load)
    missed = [row for row in rows if row["holds"] is False]
    print(
        f"\n{len(missed)} of {len(rows)} rows miss their bar",
        *map(bench_page.drawn, missed),
        *failed,
        sep="\n",
    )
    return int(bool(failed or missed))


def run(python, bench):
    """Rows and exit code of one bench; prints each row as it arrives."""
    print(f"\n## {bench.stem}", flush=True)
    command = [str(python), str(bench)]
    rows = []
    with subprocess.Popen(command, cwd=str(ready.BUILD), stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line.startswith("{"):
                rows.append(json.loads(line))
                print(bench_page.drawn(rows[-1]), flush=True)
    return rows, child.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
