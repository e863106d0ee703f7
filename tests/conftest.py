"""Fixtures for every test: `no_bare_claim`, `fingerprint`, `specimens`; a heap that is quickly collected."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import claims
import fingerprints
import hypothesis
import pytest
import specimens as builder

# Tests that crash a child on purpose leave no core where they stand.
resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

# The same examples at every run of `make test`, so that a red run means a change; new ones in `make soak`.
hypothesis.settings.register_profile("test", derandomize=True, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=1000, deadline=None, print_blob=True)
hypothesis.settings.load_profile("soak" if os.environ.get("INSPECTOR_SOAK") == "1" else "test")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaks first: its tests search all memory, which grows. The house last: it keeps all sources parsed."""
    items.sort(key=lambda item: ("house" in item.path.parts) - ("leaks" in item.path.parts))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Write the test's name where .ci/matrix.py asks for it: a killed process cannot say it any more."""
    if told := os.environ.get("INSPECTOR_RUNNING"):
        Path(told).write_text(nodeid)


claims.watch()


@pytest.fixture(autouse=True)
def no_bare_claim() -> Iterator[None]:
    """What a test draws or answers claims nothing without what was looked at (tests/house/claims.py)."""
    yield
    seen, claims.found[:] = [*claims.found], []
    assert seen == []


@pytest.fixture
def fingerprint() -> Callable[[object], fingerprints.Fingerprint]:
    """`fingerprint(x)`: compare one from before a look with one from after."""
    return fingerprints.fingerprint


@pytest.fixture(scope="session")
def specimens() -> ModuleType:
    """`specimens.build(name, c_source)`: a C extension module made for this test."""
    return builder


@pytest.fixture(scope="module", autouse=True)
def small_heap() -> None:
    """What lives before the tests of a file is put aside: a collection looks at what they make."""
    gc.collect()
    gc.freeze()
