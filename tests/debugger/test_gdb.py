"""Which gdb is here is asked of gdb itself."""

# SPDX-License-Identifier: MIT
import shutil

import pytest

from inspector.debugger import gdb

pytestmark = [pytest.mark.core, pytest.mark.debugger, pytest.mark.quick]


def test_gdb_is_asked_for_its_version_and_python() -> None:
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    check = gdb.check()
    assert check.state == "ok"
    assert " with Python 3." in check.says


def test_without_gdb_the_mend_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert gdb.check() == gdb.Check("gdb", "no", "not found", "sudo apt-get install gdb")


@pytest.mark.parametrize(
    ("told", "state", "says"),
    [
        ("GNU gdb (Debian 13.1-3) 13.1\npython 3.11.2\n", "ok", "13.1 with Python 3.11.2"),
        ("GNU gdb (GDB) 9.2\npython 3.8.10\n", "part", "9.2 with Python 3.8.10: older than 3.11"),
        ("GNU gdb (GDB) 12.1\nPython scripting is not supported\n", "no", "12.1, built without Python"),
        ("", "no", "unknown version, built without Python"),
    ],
)
def test_what_gdb_prints_is_judged(told: str, state: str, says: str) -> None:
    check = gdb.judged(told)
    assert (check.state, check.says) == (state, says)
