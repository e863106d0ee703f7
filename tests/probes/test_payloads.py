"""The owners scan leaves out the payloads of numeric buffers the user has a name for, and only those."""

# SPDX-License-Identifier: MIT
import sys
from types import ModuleType

import numpy as np
import pytest
from unnamed import Thing

from inspector._native import Subject
from inspector.facts.refs import Owners, Scan
from inspector.objects.probes.refs import owners

pytestmark = [pytest.mark.core, pytest.mark.quick]


def searched(subject: Subject) -> tuple[Owners, Scan]:
    found = owners(subject, scan=True)
    assert isinstance(found.scan, Scan)
    return found, found.scan


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A `__main__` of the test's own: IPython shells of other tests leave theirs in its place."""
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    return module


def test_numbers_that_look_like_its_address_are_not_read(main: ModuleType) -> None:
    thing = Thing()
    subject = Subject(thing)
    numbers = np.full(1_000_000, subject.address)
    _, before = searched(subject)
    assert before.hits > 100_000, "an array without a name is searched"
    vars(main)["numbers"] = numbers
    _, after = searched(subject)
    assert after.hits < before.hits - 100_000
    assert after.left_out_bytes >= 7_900_000


def test_an_array_of_objects_is_read(main: ModuleType) -> None:
    thing = Thing()
    subject = Subject(thing)
    vars(main)["objects"] = np.full(20_000, None)
    without, _ = searched(subject)
    main.objects[15_000] = thing
    found, _ = searched(subject)
    assert found.references == without.references + 1  # type: ignore[operator]
    assert found.named == without.named + 1
