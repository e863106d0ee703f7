"""All objects over one range of bytes are found, whatever library and container they are in."""

# SPDX-License-Identifier: MIT
import ctypes
import gc
from typing import Any

import fingerprints
import numpy as np
import pandas as pd
import pytest
from awaiting import after_waiting

import inspector
from inspector.facts.aliases import Aliases
from inspector.report import Report

pytestmark = pytest.mark.core
KEPT: list[Any] = []
"""What no local variable of a test holds."""


def addresses(fact: Aliases) -> set[int]:
    return {row.address for row in fact.rows}


def test_views_memoryviews_and_pointers_over_the_same_bytes() -> None:
    base = np.arange(1000.0)
    content = bytearray(80)
    held = {"view": base[500:], "deep": [(base[::2],)]}
    pointer = (ctypes.c_double * 4).from_address(base.ctypes.data)
    fact = inspector.aliases(base)
    assert fact.rows[0].subject and fact.rows[0].address == id(base)
    assert {id(held["view"]), id(held["deep"][0][0]), id(pointer)} <= addresses(fact)  # type: ignore[index]
    assert id(content) not in addresses(fact)
    by_address = {row.address: row for row in fact.rows}
    assert by_address[id(held["view"])].common_bytes == 4000  # type: ignore[index]
    assert by_address[id(pointer)].state == "borrowed"
    assert by_address[id(pointer)].library == "ctypes"


def test_a_local_of_the_caller_is_found_and_named() -> None:
    base = np.arange(10.0)
    local = base[5:]
    fact = inspector.aliases(base, names={id(local): "local"})
    assert ("local", 40) in {(row.name, row.common_bytes) for row in fact.rows}


def test_a_frame_over_an_array() -> None:
    base = np.arange(10.0).reshape(5, 2)
    frame = pd.DataFrame(base, copy=False)
    fact = inspector.aliases(base)
    assert id(frame) in addresses(fact)
    assert {row.library for row in fact.rows} >= {"numpy", "pandas"}


def test_a_look_keeps_nothing_and_changes_nothing() -> None:
    base = np.arange(10.0)
    views = [base[i:] for i in range(5)]
    before = [fingerprints.fingerprint(x) for x in (base, *views)]
    assert len(inspector.aliases(base).rows) >= 6
    assert [fingerprints.fingerprint(x) for x in (base, *views)] == before


def test_what_has_no_bytes_has_no_aliases() -> None:
    for x in (5, np.zeros(0), range(3)):
        fact = inspector.aliases(x)
        assert fact.rows == ()
        assert "lays no bytes open" in Report("x", {"aliases": fact}).to_text()


def test_many_aliases_are_bounded() -> None:
    base = np.arange(200.0)
    views: list[Any] = [base[i:] for i in range(150)]
    fact = inspector.aliases(base)
    assert len(fact.rows) == 64
    assert fact.left_out >= len(views) - 64
    report = inspector.inspect(base, name="base", also=("aliases",))
    assert "beyond the bound" in report.to_text()
    assert "<table" in report.to_html()


LOOKS = """
import resource
import _asyncio
import numpy as np
import inspector
from inspector.objects.probes.held import held
from inspector.ledger.second_reading import grown
from inspector.tracing.record.own_parts import own_parts
from inspector._native import Subject
has = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (has + (4 << 30), has + (4 << 30)))
base = np.arange(10.0)
view = base[5:]
for turn in range(3):
    assert len(inspector.aliases(base).rows) == 2
    held(Subject(_asyncio))
    grown(int, 2)
    own_parts(_asyncio)
asyncio.run(main())
"""


def test_a_modules_free_list_is_left_alone() -> None:
    """That of _asyncio holds dead objects on CPython 3.12: a reference to one made the next look endless."""
    assert after_waiting(LOOKS) == ""


def test_what_is_put_aside_is_still_seen() -> None:
    """`gc.freeze()`, which servers call before they fork, takes objects out of `gc.get_objects()`."""
    base = np.zeros(1000)
    KEPT.append([base[10:]])
    gc.freeze()
    try:
        assert len(inspector.aliases(base).rows) == 2
    finally:
        gc.unfreeze()
        KEPT.clear()
