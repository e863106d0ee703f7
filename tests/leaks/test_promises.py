"""`no_leaks`, its marker, `--inspect-leaks`: a test fails where the extension certainly loses a reference."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import outside
import pytest
import specimens
from leak_corpus import SOURCE

import inspector
from inspector.errors import InspectorError

pytestmark = pytest.mark.core
TESTS = """
import pytest, leak_corpus

def test_honest():
    leak_corpus.tuple_set_item(1)

def test_faulty():
    leak_corpus.without_the_gil(1)

@pytest.mark.no_leaks("leak_corpus")
def test_marked():
    leak_corpus.without_the_gil(1)
"""


def pytest_in(folder: Path, *words: str) -> str:
    library = specimens.library("leak_corpus", SOURCE)
    (folder / library.name).symlink_to(library)
    (folder / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return ran.stdout


@pytest.mark.quick
def test_a_marked_test_fails_alone(tmp_path: Path) -> None:
    told = pytest_in(tmp_path)
    assert "1 failed, 2 passed" in told
    assert "C-API call without the GIL in leak_corpus.without_the_gil" in told


def test_the_option_asks_it_of_every_test(tmp_path: Path) -> None:
    told = pytest_in(tmp_path, "--inspect-leaks", "leak_corpus", "--junitxml", "told.xml")
    assert "2 failed, 1 passed" in told
    assert told.count("(test_it.py::test_faulty): PyGILState_Ensure") == 1
    assert 'failures="2"' in (tmp_path / "told.xml").read_text()


def test_a_block_raises_one_sentence() -> None:
    corpus = specimens.build("leak_corpus", SOURCE)
    with pytest.raises(InspectorError) as refused, inspector.no_leaks("leak_corpus"):
        corpus.without_the_gil(1)
    assert refused.value.slug == "leaked" and "leak_corpus.c:" in str(refused.value)


def test_a_test_suite_in_which_memory_is_forgotten_fails(tmp_path: Path) -> None:
    library = specimens.library("outside", outside.SOURCE)
    (tmp_path / library.name).symlink_to(library)
    tests = "import outside\n\ndef test_lost():\n    outside.strdup_each_call()\n\n"
    (tmp_path / "test_it.py").write_text(tests + "def test_freed():\n    outside.chain_of_realloc()\n")
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, "--inspect-leaks", "outside"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert "1 failed, 1 passed" in ran.stdout
    line = outside.line_of("strdup_each_call")
    assert f"bytes leaked outside objects in outside.strdup_each_call at outside.c:{line}" in ran.stdout
