"""The pytest plug-in: `inspect_report(x)` in a test; its card is printed when the test fails.

Found by pytest through the entry point `pytest11`; pytest imports this file at every start, so it imports
nothing of the inspector before a test needs it. Switch it off with `-p no:inspector`.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from inspector.report import Report

SECTION = "inspected"
FAST = "fast"
LEAK = "native_fault"
"""Property of a test's report, and in JUnit's XML, for each certain fault: faces.known_faults.Row as JSON."""
PROMISES = ("no_copy", "no_materialize", "no_new")
"""Markers, each the name of the block that a marked test runs in."""
_KNOWN = pytest.StashKey[Any]()
"""The lines of the baseline file and their reasons; None: the session writes the file."""
_HELD = pytest.StashKey[Any]()
"""The tests that wait to be judged together."""
_UNSEARCHED = pytest.StashKey[Counter[str]]()
"""What a session of `fast` did not look at."""
_SEEN = pytest.StashKey[dict[str, Any]]()
"""Module of --inspect-leaks -> what was watched of it in the block that called it most."""


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
        help="fail each test in which the extension MODULE certainly loses a reference; may be repeated; "
        "`fast`: by counts alone, without a search of memory",
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
                from inspector.sessions.growth.budget import MemoryBudget

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
            _note_watched(item.config, kept.found)
        if kept is not None and kept.found.certain:
            _note_faults(item, kept)


def _no_leaks(item: pytest.Item) -> Any:
    """The block for the test's marker or the option, or None: also if the test is held, with others."""
    marker = item.get_closest_marker("no_leaks")
    modules = marker.args if marker is not None else _asked(item.config)
    is_asked = marker or item.config.getoption("--inspect-leaks")
    if not is_asked or _HELD in item.config.stash:
        return None
    from inspector.sessions.leaks import no_leaks

    block = no_leaks(*modules)
    block.is_known = _known(item.config)
    block.found.strict = marker is not None  # of the option's, some tests call nothing
    return block


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test of --inspect-leaks in one block with others, unless it needs a block of its own."""
    if not item.config.getoption("--inspect-leaks"):
        return None
    held = _held(item)
    if held is None:
        return None
    held.run(item, nextitem)
    if held.is_full or nextitem is None:
        _let_go(item.config)
    return True


def _held(item: pytest.Item) -> Any:
    """The tests that this one is held with; None if it needs a block of its own: then none is held."""
    config = item.config
    is_own = any(map(item.get_closest_marker, (*PROMISES, "no_leaks", "flaky")))
    if is_own or config.getoption("--inspect-memory") or config.getoption("reruns", None):
        _let_go(config)
        return None
    if _HELD not in config.stash:
        from inspector.errors import InspectorError
        from inspector.faces.held_tests import HeldTests

        try:
            config.stash[_HELD] = HeldTests(_asked(config), LEAK, _known(config), not _is_fast(config))
        except InspectorError:
            return None  # the test's own block tells it
    return config.stash[_HELD]


def _is_fast(config: pytest.Config) -> bool:
    return FAST in config.getoption("--inspect-leaks")


def _asked(config: pytest.Config) -> tuple[str, ...]:
    """The modules of the option; () for all."""
    return tuple(one for one in config.getoption("--inspect-leaks") if one != FAST)


def _let_go(config: pytest.Config) -> None:
    if (held := config.stash.get(_HELD, None)) is not None:
        del config.stash[_HELD]
        held.end()
        _note_watched(config, held.found)
        config.stash.setdefault(_UNSEARCHED, Counter()).update(held.found.unsearched)


def _known(config: pytest.Config) -> Callable[[Any], bool]:
    """Whether the baseline file lists a fault."""
    if not config.getoption("--inspect-leaks-baseline"):
        return lambda one: False
    from inspector.faces.known_faults import row_of

    known = _baseline(config)
    return lambda one: known is None or row_of(one, "").line in known


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
    from inspector.faces.held_tests import SECTION, told

    item.add_report_section("call", SECTION, block.found.report.to_text())
    item.user_properties += ((LEAK, row) for row in told(block.found.certain, item.nodeid))


def _note_watched(config: pytest.Config, found: Any) -> None:
    if found.strict or not found.is_judged:
        return
    seen = config.stash.setdefault(_SEEN, {})
    for one in found.fact.watched:
        before = seen.get(one.module)
        seen[one.module] = one if before is None else before.joined(one)


def _not_judged(config: pytest.Config) -> Any:
    """The error that no test watched or called a module of the option; None if some did."""
    seen = config.stash.get(_SEEN, {}).values()
    if not seen:
        return None
    from inspector.sessions.leaks_unwatched import partly, uncalled, unwatched

    return unwatched(seen) or uncalled(seen) or partly(seen)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session whose tests called nothing of a module of the option: passing proves nothing then."""
    _let_go(session.config)
    if session.exitstatus == pytest.ExitCode.OK and _not_judged(session.config) is not None:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write a table of the faults of native code found in tests, and a line for a module that none called."""
    if (unknown := _not_judged(config)) is not None:
        terminalreporter.write_line(f"--inspect-leaks: {unknown}")
    if _is_fast(config):
        from inspector.faces.held_tests import unsearched

        terminalreporter.write_line(unsearched(config.stash.get(_UNSEARCHED, Counter())))
    reports = [one for some in terminalreporter.stats.values() for one in some if hasattr(one, "when")]
    kept = [pair for one in reports if one.when == "call" for pair in one.user_properties]
    told = [text for key, text in kept if key == LEAK]
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
