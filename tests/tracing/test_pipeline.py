"""A user's own pipeline of pandas and scikit-learn: its dearest copies are named, with advice that works."""

# SPDX-License-Identifier: MIT
import re
from pathlib import Path
from typing import Any

import pytest

import inspector
from inspector.facts.statements import Statement

SCRIPT = Path(__file__).parent / "scripts" / "pipeline.py"


def run(text: str) -> tuple[Any, dict[int, Statement]]:
    """The trace of the script, and the row of each line that bound a value."""
    with inspector.trace() as trace:
        exec(compile(text, str(SCRIPT), "exec"), {"__name__": "__main__"})
    rows = [row for row in trace.statements.rows if row.site.file == str(SCRIPT) and row.target]
    return trace, {row.site.line: row for row in rows}


def shared(text: str, named: list[Statement]) -> list[bool]:
    """By NumPy's own test: whether what each of these lines binds shares memory with what it was made of."""
    lines, found = text.split("\n"), []  # type: tuple[list[str], list[bool]]
    for row in named:
        at = row.site.line - 1
        indent = re.match(" *", lines[at]).group()  # type: ignore[union-attr]
        of = re.search("matrix|found|test", row.instead).group()  # type: ignore[union-attr]
        given = f"_given = np.asarray({of})"
        told = f"_told(np.shares_memory(np.asarray({row.target}), _given))"
        lines[at] = f"{indent}{given}; {lines[at].strip()}; {told}"
    exec(compile("\n".join(lines), "<shared>", "exec"), {"__name__": "__main__", "_told": found.append})
    return found


@pytest.mark.newest
def test_the_three_dearest_copies_are_named_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    text = SCRIPT.read_text()
    trace, rows = run(text)
    printed = capsys.readouterr().out
    told = [one for one in trace.report.facts["answers"].rows if one.slug == "worth-a-change"]
    named = [rows[int(one.text.split()[1])] for one in told]
    assert len(named) == 3 and [one.do for one in told] == [row.instead for row in named]
    others = [row.copied_bytes for row in rows.values() if row.instead and row not in named]
    assert min(row.copied_bytes for row in named) > max(others)
    lines = text.split("\n")
    for row in named:
        lines[row.site.line - 1] = re.sub(r"= .*", f"= {row.instead}", lines[row.site.line - 1])
    changed = "\n".join(lines)
    _, after = run(changed)
    assert capsys.readouterr().out == printed
    assert [after[row.site.line].copied_bytes for row in named] == [0, 0, 0]
    assert not any(shared(text, named)) and all(shared(changed, named))
    saved = sum(row.copied_bytes for row in rows.values()) - sum(row.copied_bytes for row in after.values())
    assert saved == sum(one.costs_bytes for one in told) > 9e6
