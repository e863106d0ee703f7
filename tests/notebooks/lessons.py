"""The "now you" cells of a tutorial: a cell to be answered, and the next cell that checks the answer.

The cell to be answered has the tag `now-you` and, in its metadata, a wrong and a right answer; the check has
the tag `check` and gives a text that begins with "not yet" or "right".
"""

# SPDX-License-Identifier: MIT
from typing import Any

import nbformat


def tagged(cell: Any, tag: str) -> bool:
    return tag in cell.metadata.get("tags", ())


def with_answers(notebook: Any) -> list[tuple[Any, str]]:
    """Append each lesson's answers, wrong then right, each with the check again: (check, what to say)."""
    expected = []
    for number, cell in enumerate(list(notebook.cells)):
        if tagged(cell, "now-you"):
            check = next(later for later in notebook.cells[number:] if tagged(later, "check"))
            expected.append((check, "not yet"))
            for kind, verdict in (("wrong", "not yet"), ("right", "right")):
                again = nbformat.v4.new_code_cell(check.source)
                answer = nbformat.v4.new_code_cell(cell.metadata.answers[kind])
                notebook.cells += [answer, again]
                expected.append((again, verdict))
    return expected


def said(check: Any) -> str:
    """The first words of a check's value."""
    return check.outputs[-1].data["text/plain"].strip("'\"").partition(":")[0]
