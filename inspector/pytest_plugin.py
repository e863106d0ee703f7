"""The pytest plug-in: `inspect_report(x)` in a test; its card is printed when the test fails.

Found by pytest through the entry point `pytest11`; pytest imports this file at every start, so it imports
nothing of the inspector before a test needs it. Switch it off with `-p no:inspector`.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from inspector.report import Report

SECTION = "inspected"
PROMISES = ("no_copy", "no_materialize", "no_new")
"""Markers, each the name of the block that a marked test runs in."""
LEAKS = "references lost"
LEAK = "native_fault"
"""Property of a test's report, and in JUnit's XML, for each certain fault: faces.known_faults.Row as JSON."""
_KNOWN = pytest.StashKey[Any]()
"""The lines of the baseline file and their reasons; None: the session writes the file."""
_SEEN = pytest.StashKey[dict[str, Any]]()
"""Module of --inspect-leaks -> what was watched of it in the test that called it most."""


class InspectReport:
    """The fixture: call it with an object to get its Report; the card is added to the test's sections."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def __call__(self, x: Any, name: str = "object", *, scan: bool = False) -> Report:
        """The Report of `x`, headed `name`; `scan` searches the process's memory for its owners."""
        from inspector import api

        report = api.inspect(x, name=name, scan=scan)
        self._node.add_report_section("call", SECTION, report.to_text())
        return report


def pytest_configure(config: pytest.Config) -> None:
    """Register our markers; read the baseline file."""
    if config.getoption("--inspect-leaks-baseline"):
        _baseline(config)
    config.addinivalue_line(
        "markers", "no_copy(*modules, least_bytes=1): the test fails if it copies bytes in native code"
    )
    config.addinivalue_line(
        "markers", "no_materialize(*, least_bytes=1): the test fails if it materializes lazy data"
    )
    config.addinivalue_line(
        "markers", "no_new(match): the test fails if it leaves new objects of a type, or of a pattern, alive"
    )
    config.addinivalue_line(
        "markers", "no_leaks(*modules): the test fails if native code certainly loses a reference"
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our option."""
    parser.getgroup("inspector").addoption(
        "--inspect-leaks",
        metavar="MODULE",
        action="append",
        default=[],
        help="fail each test in which the extension MODULE certainly loses a reference; may be repeated",
    )
    parser.getgroup("inspector").addoption(
        "--inspect-leaks-baseline",
        metavar="FILE",
        help="let faults that FILE lists pass; if there is no FILE, write all that are found into it",
    )
    parser.getgroup("inspector").addoption(
        "--inspect-memory",
        metavar="BYTES",
        type=_bytes,
        help="fail each test that leaves more memory in use (10MB); names what grew and who holds it",
    )


def _bytes(text: str) -> int:
    from argparse import ArgumentTypeError

    from inspector.facts.amounts import bytes_in

    try:
        return bytes_in(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number of bytes; write 800, 64kB or 10MB.") from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run a marked test in the block of its marker: a breach fails it, with the call and the line."""
    found = {name: marker for name in PROMISES if (marker := item.get_closest_marker(name)) is not None}
    kept, budget = _no_leaks(item), item.config.getoption("--inspect-memory")
    if not found and kept is None and budget is None:
        return (yield)
    from inspector.errors import InspectorError
    from inspector.sessions import no_new, promises

    is_over = False
    try:
        with ExitStack() as blocks:
            if budget is not None:
                from inspector.sessions.growth import MemoryBudget

                blocks.enter_context(MemoryBudget(budget))
            for name, marker in found.items():
                room = no_new if name == "no_new" else promises
                blocks.enter_context(getattr(room, name)(*marker.args, **marker.kwargs))
            if kept is not None:
                blocks.enter_context(kept)
            result = yield
            is_over = True
        return result
    except InspectorError as error:
        if not is_over:
            raise
        # No traceback: no line of ours explains the breach.
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    finally:
        if kept is not None:
            _note_watched(item, kept)
        if kept is not None and kept.found.certain:
            _note_faults(item, kept)


def _no_leaks(item: pytest.Item) -> Any:
    """The block for the test's marker or the option, or None."""
    marker = item.get_closest_marker("no_leaks")
    modules = marker.args if marker is not None else tuple(item.config.getoption("--inspect-leaks"))
    if marker is None and not modules:
        return None
    from inspector.sessions.leaks import no_leaks

    block = no_leaks(*modules)
    if item.config.getoption("--inspect-leaks-baseline"):
        from inspector.faces.known_faults import row_of

        known = _baseline(item.config)
        block.is_known = lambda one: known is None or row_of(one, "").line in known
    block.found.strict = marker is not None  # of the option's, some tests call nothing
    return block


def _baseline(config: pytest.Config) -> Any:
    """Lines of the baseline file -> their reasons; None without a file."""
    if _KNOWN not in config.stash:
        from inspector.faces.known_faults import known_in

        file = Path(config.getoption("--inspect-leaks-baseline"))
        try:
            config.stash[_KNOWN] = known_in(file) if file.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise pytest.UsageError(f"--inspect-leaks-baseline: {file} cannot be read: {error}") from None
    return config.stash[_KNOWN]


def _note_faults(item: pytest.Item, block: Any) -> None:
    from inspector.faces.known_faults import row_of

    item.add_report_section("call", LEAKS, block.found.report.to_text())
    for one in block.found.certain:
        item.user_properties.append((LEAK, json.dumps(row_of(one, item.nodeid))))


def _note_watched(item: pytest.Item, block: Any) -> None:
    if block.found.strict or not block.found.is_judged:
        return
    seen = item.config.stash.setdefault(_SEEN, {})
    for one in block.found.fact.watched:
        before = seen.get(one.module)
        if before is None or before.why or one.calls + one.uses > before.calls + before.uses:
            seen[one.module] = one


def _not_judged(config: pytest.Config) -> Any:
    """The error that no test watched or called a module of the option; None if some did."""
    seen = config.stash.get(_SEEN, {}).values()
    if not seen:
        return None
    from inspector.sessions.leaks_unwatched import uncalled, unwatched

    return unwatched(seen) or uncalled(seen)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session whose tests called nothing of a module of the option: passing proves nothing then."""
    if session.exitstatus == pytest.ExitCode.OK and _not_judged(session.config) is not None:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write a table of the faults of native code found in tests, and a line for a module that none called."""
    if (unknown := _not_judged(config)) is not None:
        terminalreporter.write_line(f"--inspect-leaks: {unknown}")
    reports = [one for some in terminalreporter.stats.values() for one in some if hasattr(one, "when")]
    told = [text for one in reports if one.when == "call" for key, text in one.user_properties if key == LEAK]
    file = config.getoption("--inspect-leaks-baseline")
    if not told and not file:
        return
    from inspector.faces.known_faults import Row, annotations, compared, new_of, table, title, written

    rows = [Row(*json.loads(text)) for text in told]
    known = _baseline(config) if file else {}
    new = new_of(rows, known)
    if new:
        terminalreporter.section(title(new))
    on_github = annotations(new) if os.environ.get("GITHUB_ACTIONS") == "true" else ()
    for line in (*table(new), *on_github, *(compared(rows, known, file) if file else ())):
        terminalreporter.write_line(line)
    if known is None:
        Path(file).write_text(written(rows), encoding="utf-8")


@pytest.fixture
def inspect_report(request: pytest.FixtureRequest) -> InspectReport:
    """`report = inspect_report(x)`: inspect `x`; if the test fails, its card is shown with the failure."""
    return InspectReport(request.node)
