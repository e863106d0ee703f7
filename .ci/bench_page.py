"""The tables of docs/benchmarks.md: one section per bench, replaced when its bench has run.

Standard library only.
"""

# SPDX-License-Identifier: MIT
import ast
import datetime
import os
import platform
import re
from pathlib import Path

import ready

PAGE = ready.ROOT / "docs" / "benchmarks.md"
BENCHES = ready.ROOT / "tests" / "bench"
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"
HEAD = "| measured | ours | against | theirs | ratio | bar | |\n|---|---:|---|---:|---:|---:|---|"


def write(bench, rows, version, load):
    """Write the rows of one bench (a path) into its section; drop those of removed benches."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    text, _, after = rest.partition(END)
    found = {**sections(text), bench.stem: section(bench, rows, version, load)}
    kept = [found[path.stem] for path in sorted(BENCHES.glob("bench_*.py")) if path.stem in found]
    PAGE.write_text(before + "\n\n".join([BEGIN, *kept, END]) + after)


def sections(text):
    """Stem of a bench -> its section."""
    found = re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return {f"bench_{name}": f"### {name}\n{text}".strip() for name, text in found}


def section(bench, rows, version, load):
    """The text of a section: what was measured, where and when, and the table."""
    asks = ast.get_docstring(ast.parse(bench.read_text())).partition("\n")[0]
    day = datetime.date.today().isoformat()
    where = f"CPython {version}, Linux {platform.release()}, {cores()}, {day}, load {load:.1f}."
    name = bench.stem.partition("_")[2]
    table = side_by_side(rows) or [HEAD, *map(drawn, rows)]
    return "\n".join([f"### {name}", "", f"{asks} {where}", "", *table])


def side_by_side(rows):
    """The rows "work, way", several ways of each work: a row a work, a column a way; else None."""
    works = {}
    for row in rows:
        if "absent" not in row:
            work, _, way = row["what"].rpartition(", ")
            works.setdefault(work, {})[way] = row
    ways = list(next(iter(works.values()), ()))
    if len(works) < 3 or len(ways) < 3 or any(list(found) != ways for found in works.values()):
        return None
    head = f"| | untraced | {' | '.join(ways)} |\n|---|{'---:|' * (len(ways) + 1)}"
    return [head, *(f"| {work} | {' | '.join(compared(found))} |" for work, found in works.items())]


def compared(found):
    """The cells of a work: its own time untraced, then of each way the time, the ratio, and the bar on it."""
    last = list(found.values())[-1]
    yield amount(last["theirs"], last["unit"])
    for row in found.values():
        said = f"{amount(row['ours'], row['unit'])}, {row['ratio']:.2f}"
        said += "" if row["bar"] is None else f" {'≤' if row['holds'] else '>'} {row['bar']:g}"
        yield f"**{said}**" if row["holds"] is False else said


def cores():
    """The number of cores and the processor's name, on which all times depend."""
    text = Path("/proc/cpuinfo").read_text()
    name = next(
        (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")), ""
    )
    return f"{os.cpu_count()} cores" + (f" of {name.replace('(R)', '')}" if name else "")


def drawn(row):
    """One row of the table."""
    unit = row["unit"]
    what = row["what"] + (f" ({row['sizes']})" if row["sizes"] else "")
    if "absent" in row:
        return f"| {what} |  |  |  |  |  | not measured: {row['absent']} is not installed |"
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    theirs = "" if row["theirs"] is None else amount(row["theirs"], unit)
    bar = "" if row["bar"] is None else f"{row['bar']:g}x" if row["against"] else amount(row["bar"], unit)
    verdict = {True: "holds", False: "**misses**", None: ""}[row["holds"]]
    cells = (what, amount(row["ours"], unit), row["against"], theirs, ratio, bar, verdict)
    return f"| {' | '.join(cells)} |"


def amount(value, unit):
    """A measured value: 12.3 ms, 4,096 B, 231 ns/object, 1.04 x."""
    if unit == "x":
        return f"{value:.2f} x"
    if unit != "s":
        return f"{value:,.0f} {unit}"
    for scale, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * scale >= 1 or name == "us":
            return f"{value * scale:.3g} {name}"
    return ""
