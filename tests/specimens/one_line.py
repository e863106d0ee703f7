"""One statement under a trace, as a line of a user's own file."""

# SPDX-License-Identifier: MIT
import linecache
from typing import Any

import inspector

LINE = 2
"""Number of the statement's line in its file."""


def traced(setup: str, line: str, names: dict[str, Any]) -> Any:
    """The trace of `line`, which runs after `setup` in `names`; its file is there while the test runs."""
    exec(setup, names)
    text, file = f"\n{line}\n", f"<line {abs(hash((setup, line)))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    code = compile(text, file, "exec")
    with inspector.trace() as t:
        exec(code, names)
    return t


def row(t: Any) -> Any:
    """The first row of the statement."""
    return next(one for one in t.statements.rows if one.site.line == LINE)
