"""Run every bench in tests/bench, each in a process of its own, and write the table of docs/benchmarks.md.

    python3 .ci/bench.py [--only card]

Rows come as lines of JSON (tests/bench/bench.py). The text of the page outside the table is kept.
Standard library only.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import pythons
import ready

PAGE = ready.ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"
HEAD = "| measured | ours | against | theirs | ratio | bar | |\n|---|---:|---|---:|---:|---:|---|"


def main(words):
    """Run, print, write; 1 where a bar does not hold or a bench failed."""
    ready.main(["bench"])
    python = ready.ROOT / ready.ROOMS["bench"][0] / "bin" / "python"
    only = words[1] if words[:1] == ["--only"] else ""
    rows, failed = [], []
    for bench in sorted((ready.ROOT / "tests" / "bench").glob("bench_*.py")):
        if only in bench.stem:
            found, code = run(python, bench)
            rows += found
            failed += [bench.name] * bool(code)
    print(
        f"\n{sum(row['holds'] is False for row in rows)} of {len(rows)} rows miss their bar",
        *failed,
        sep="\n",
    )
    if not only:
        write(rows, pythons.full(python).split()[0])
    return int(bool(failed) or any(row["holds"] is False for row in rows))


def run(python, bench):
    """Rows and exit code of one bench; each row is printed when it comes."""
    print(f"\n## {bench.stem}", flush=True)
    command = [str(python), str(bench)]
    rows = []
    with subprocess.Popen(command, cwd=str(ready.BUILD), stdout=subprocess.PIPE, text=True) as told:
        for line in told.stdout:
            if line.startswith("{"):
                rows.append(json.loads(line))
                print(drawn(rows[-1]), flush=True)
    return rows, told.returncode


def drawn(row):
    """One row of the table."""
    unit = row["unit"]
    what = row["what"] + (f" ({row['sizes']})" if row["sizes"] else "")
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    theirs = "" if row["theirs"] is None else amount(row["theirs"], unit)
    bar = "" if row["bar"] is None else f"{row['bar']:g}x" if row["against"] else amount(row["bar"], unit)
    verdict = {True: "holds", False: "**misses**", None: ""}[row["holds"]]
    told = (what, amount(row["ours"], unit), row["against"], theirs, ratio, bar, verdict)
    return f"| {' | '.join(told)} |"


def amount(value, unit):
    """A measured value: 12.3 ms, 4,096 B, 231 ns/object."""
    if unit != "s":
        return f"{value:,.0f} {unit}"
    for scale, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * scale >= 1 or name == "us":
            return f"{value * scale:.3g} {name}"
    return ""


def write(rows, version):
    """Put the table between its marks, with the command and the machine that made it."""
    cores = os.cpu_count()
    made = f"`make bench`, CPython {version}, Linux {platform.release()}, {cores} cores."
    table = "\n".join([BEGIN, made, "", HEAD, *map(drawn, rows), END])
    page = PAGE.read_text() if PAGE.exists() else f"# Benchmarks\n\n{BEGIN}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + table + rest.partition(END)[2])
    print(f"written: {PAGE.relative_to(ready.ROOT)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
