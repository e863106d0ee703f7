"""`%%inspect_writes`: who wrote to an array's element in a cell."""

# SPDX-License-Identifier: MIT
import pytest

from inspector.objects.probes.machine import writes as probed

pytestmark = [
    pytest.mark.skipif(probed().state != "ok", reason="cannot be installed: watchpoints of this machine"),
    pytest.mark.quick,
]


def test_a_cell_that_writes_is_shown_with_its_line(run, shown) -> None:
    run("import numpy as np; watched = np.zeros(8)")
    text = shown("%%inspect_writes watched[2:3]\nwatched[0] = 1\nwatched[2] = 2.5")
    assert "1 write" in text and "0 → 2.5" in text
    text = shown("%inspect_writes watched[2:3] -- watched.fill(4)")
    assert "2.5 → 4" in text


def test_an_exception_is_the_users_and_the_writes_come_first(run) -> None:
    run("import numpy as np; watched = np.zeros(8)")
    result, displayed = run("%%inspect_writes watched[:1]\nwatched[0] = 1\n1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "1 write" in displayed[0]["text/plain"]
