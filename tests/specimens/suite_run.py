"""Run a library's own tests twice in one process, the second time watched; print what differs.

python -P suite_run.py leaks numpy numpy.lib.tests.test_twodim_base ...
python -P suite_run.py deep pandas pandas.tests.series.methods.test_astype ...

Watched by the ledger, or by a trace of the grade that is named.
"""

# SPDX-License-Identifier: MIT
import json
import os
import sys
from typing import Any

import pytest

import inspector


class Outcomes:
    """What became of each test."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """The call's outcome; of setup and teardown only what went wrong."""
        if report.when == "call" or report.outcome != "passed":
            self.of[report.nodeid] = f"{report.when} {report.outcome}"


def ran(modules: list[str]) -> dict[str, str]:
    """The outcomes of one run. Modules are imported anew: their parameters may be iterators, used up."""
    for name, module in list(sys.modules.items()):
        if "/tests/" in str(getattr(module, "__file__", "")):
            del sys.modules[name]
    outcomes = Outcomes()
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", os.getcwd()]
    code = pytest.main([*options, "--pyargs", *modules], plugins=[outcomes])
    assert code in (0, 1), code
    return outcomes.of


def under_the_ledger(library: str, modules: list[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Outcomes, certain verdicts, how many were looked at."""
    with inspector.leaks(library) as found:
        outcomes = ran(modules)
    accused = [[one.kind, one.object, one.method, one.reason] for one in found if one.certain]
    return outcomes, {"accused": accused, "suspects": found.fact.suspects}


def under_a_trace(library: str, modules: list[str], grade: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Outcomes, and how much was recorded; of which the last records are read."""
    recorded = inspector.trace(library, grade=grade)
    # on 3.11 frames hold one more reference to their arguments, which pandas counts before it warns
    recorded.by_statement = sys.version_info >= (3, 12)
    with recorded as t:
        outcomes = ran(modules)
    return outcomes, {"events": t.fact.events + t.fact.dropped, "calls": len(t.calls)}


def main(watcher: str, library: str, modules: list[str]) -> None:
    """One line of JSON: how many tests, those that ended otherwise, what the watcher found."""
    plain = ran(modules)
    if watcher == "leaks":
        watched, found = under_the_ledger(library, modules)
    else:
        watched, found = under_a_trace(library, modules, watcher)
    both = {name: [plain.get(name), watched.get(name)] for name in plain.keys() | watched.keys()}
    other = {name: outcomes for name, outcomes in both.items() if outcomes[0] != outcomes[1]}
    print(json.dumps({"tests": len(plain), "other": other, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:3], sys.argv[3:])
