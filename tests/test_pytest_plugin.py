"""The plug-in in a pytest of its own: found by entry point, the card printed when a test fails."""

# SPDX-License-Identifier: MIT
import subprocess
import sys
from pathlib import Path

import programs
import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]

TESTS = """
def test_shown(inspect_report):
    rows = [1, 2, 3]
    report = inspect_report(rows, "rows")
    assert report.object.type_name == "list"
    assert report.object.length == 4

def test_hidden(inspect_report):
    inspect_report((1,), "pair")
"""


KEEPS = """
import pytest

class Session:
    pass

kept = []

@pytest.mark.no_new("*.Session")
def test_keeps():
    kept.append(Session())

@pytest.mark.no_new("*.Session")
def test_lets_go():
    session = Session()
"""


def pytest_in(folder: Path, *words: str, tests: str = TESTS) -> str:
    (folder / "test_shown.py").write_text(tests)
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return ran.stdout


def test_the_card_is_printed_with_the_failure_only(tmp_path: Path) -> None:
    told = pytest_in(tmp_path)
    assert "1 failed, 1 passed" in told
    assert "Captured inspected call" in told
    assert "\n rows" in told
    assert "\n pair" not in told


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    assert "fixture 'inspect_report' not found" in pytest_in(tmp_path, "-p", "no:inspector")


def test_it_loads_nothing_before_a_test_asks() -> None:
    script = "import sys, inspector.pytest_plugin; print(sorted(m for m in sys.modules if 'inspector' in m))"
    assert programs.python(script) == "['inspector', 'inspector.pytest_plugin']\n"


def test_a_test_that_leaves_new_objects_fails_with_the_path_that_holds_them(tmp_path: Path) -> None:
    told = pytest_in(tmp_path, "--strict-markers", tests=KEEPS)
    assert "1 failed, 1 passed" in told
    assert "1 new object of" in told and "test_shown.kept[0]" in told


GROWS = """
import ctypes

libc, kept, blocks = ctypes.CDLL(None), [], []
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)

def test_keeps():
    kept.append(bytearray(30_000_000))

def test_keeps_in_c():
    blocks.extend(libc.malloc(50_000) for _ in range(400))
    for block in blocks:
        ctypes.memset(block, 1, 50_000)

def test_lets_go():
    assert len(bytearray(30_000_000)) == 30_000_000
"""


def test_a_test_above_its_budget_of_memory_names_what_grew_and_who_holds_it(tmp_path: Path) -> None:
    told = " ".join(pytest_in(tmp_path, "--inspect-memory=10MB", tests=GROWS).split())
    assert "2 failed, 1 passed" in told, told
    assert "30 MB more are in use at the end of the block; its budget is 10 MB" in told, told
    assert "30 MB held by test_shown.kept[0]. `bytearray(30_000_000)` in test_shown.py:8 asked for" in told, (
        told
    )
    assert "'ten' is no number of bytes" in pytest_in(tmp_path, "--inspect-memory=ten", tests=GROWS)
    assert "20 MB more in blocks of C code" in told, told
