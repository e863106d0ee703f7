"""Run a library's own tests twice in one process, the second time under the ledger; print what differs.

python -P suite_run.py numpy numpy.lib.tests.test_twodim_base ...
"""

from __future__ import annotations

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
    """The outcomes of one run."""
    outcomes = Outcomes()
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", os.getcwd()]
    code = pytest.main([*options, "--pyargs", *modules], plugins=[outcomes])
    assert code in (0, 1), code
    return outcomes.of


def main(library: str, modules: list[str]) -> None:
    """One line of JSON: how many tests, those that ended otherwise, certain verdicts, runs of each."""
    plain = ran(modules)
    with inspector.leaks(library) as found:
        watched = ran(modules)
    names = plain.keys() | watched.keys()
    told = {
        "tests": len(plain),
        "other": {
            name: [plain.get(name), watched.get(name)]
            for name in names
            if plain.get(name) != watched.get(name)
        },
        "accused": [[one.kind, one.object, one.method, one.reason] for one in found if one.certain],
        "suspects": found.fact.suspects,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
