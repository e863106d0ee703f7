"""Rows that come with the inspector, called again on the installed release: a sample, the same each time."""

# SPDX-License-Identifier: MIT
import importlib.util
import multiprocessing
from collections import Counter

import pytest

from inspector.facts.catalogue import Catalogue
from inspector.sessions.catalogue import run, stored
from inspector.sessions.catalogue.kinds import LIBRARIES

EACH = 12
"""Operations of each library."""
REACHED = 0.005
"""Of the compared cases of a release, so many may disagree with the trace."""
DOUBTED = (
    "numpy 1.26.4",
    "numpy 2.4.6",
    "pandas 2.2.0",
    "pandas 3.1.1",
    "polars 1.0.0",
    "polars 2.1.0",
    "pyarrow 17.0.0",
    "pyarrow 26.0.1",
)
"""Releases whose rows have the trace's doubt."""


def installed(library: str) -> Catalogue:
    """The stored rows of the release that is installed."""
    if importlib.util.find_spec(library.partition(".")[0]) is None:
        pytest.skip(f"cannot be installed: {library} in this room")
    version = run.version(library)
    found = [one for one in stored.every(library) if one.version == version]
    if not found:
        pytest.skip(f"cannot be installed: rows of {library} {version}, which were not made")
    return found[0]


@pytest.mark.libraries
@pytest.mark.parametrize("library", LIBRARIES)
def test_rows_are_what_the_calls_do(library: str) -> None:
    rows = installed(library)
    names = sorted({case.operation for case in rows.cases if case.did != "unknown"})
    chosen = names[:: max(1, len(names) // EACH)][:EACH]
    with multiprocessing.get_context("spawn").Pool(1) as fresh:  # JAX, once imported, warns of every fork
        again = fresh.apply(run.run, (library, chosen))
    told = {(one.operation, one.call, one.kind): one.did for one in again.cases}
    wanted = {(one.operation, one.call, one.kind): one.did for one in rows.cases if one.operation in chosen}
    both = told.keys() & wanted.keys()
    assert len(both) > max(EACH, 0.75 * len(wanted))
    assert {key: told[key] for key in both} == {key: wanted[key] for key in both}


@pytest.mark.quick
def test_enough_operations_are_known_and_few_traces_are_wrong() -> None:
    known = stored.every()
    operations = {case.operation for one in known for case in one.cases}
    assert len(operations) >= 2000
    assert {one.library for one in known} <= set(LIBRARIES)
    for one in known:
        said = Counter(case.agrees for case in one.cases)
        assert said["no"] <= REACHED * (said["yes"] + said["no"]), (one.library, one.version, said)


@pytest.mark.quick
def test_no_verdict_that_is_certain_is_wrong() -> None:
    doubted = [one for one in stored.every() if f"{one.library} {one.version}" in DOUBTED]
    cases = [case for one in doubted for case in one.cases]
    said = [case for case in cases if case.agrees == "no" and case.traced != "new"]  # which names no values
    wrong = [case for case in said if run.DOUBT not in case.traced]
    assert wrong == [] and sum(case.agrees == "yes" for case in cases) > 4000
