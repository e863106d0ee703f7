"""`inspector leaks`: a program run under the ledger, its faults shown, exit code 1 where one is certain."""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path

import apart
import pytest
import specimens
from leak_corpus import SOURCE
from programs import inspector

pytestmark = pytest.mark.core


def program(tmp_path: Path, call: str) -> str:
    library = specimens.library("leak_corpus", SOURCE)
    (tmp_path / library.name).symlink_to(library)
    path = tmp_path / "app.py"
    path.write_text(f"import leak_corpus\n{call}\nprint('ran')\n")
    return str(path)


@pytest.mark.quick
def test_a_fault_is_shown_with_its_lines(tmp_path: Path) -> None:
    ran = inspector("leaks", "--of", "leak_corpus", program(tmp_path, "leak_corpus.capsule_lost(1)"))
    assert ran.returncode == 1 and ran.stderr == ""
    assert ran.stdout.startswith("ran\n")
    assert "leak_corpus.capsule_lost loses a reference: the PyCapsule that PyCapsule_New" in ran.stdout
    assert "leak_corpus.c:" in ran.stdout and "app.py:2" in ran.stdout


def test_nothing_found_and_a_module_that_is_not_there_are_said(tmp_path: Path) -> None:
    path = program(tmp_path, "leak_corpus.tuple_set_item(1)")
    ran = inspector("leaks", "--json", "--of", "leak_corpus", path)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["facts"]["leaks"]["verdicts"] == []
    ran = inspector("leaks", "--of", "no_such_module_at_all", path)
    assert ran.returncode == 2 and "unknown-module" in ran.stderr and "Traceback" not in ran.stderr


def test_a_python_that_adds_no_folder_finds_what_its_path_has(tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    path = program(tmp_path, "leak_corpus.capsule_lost(1)")
    alone = Path(path).rename(tmp_path / "apart" / "app.py")
    words = ("-P", "-m", "inspector", "leaks", "--of", "leak_corpus", str(alone))
    ran = apart.ran(*words, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ran.returncode == 1 and "leak_corpus.capsule_lost loses a reference" in ran.stdout, ran.stderr


def test_a_run_of_pytest_is_watched(tmp_path: Path) -> None:
    program(tmp_path, "pass")
    text = "import leak_corpus\ndef test_it():\n    leak_corpus.capsule_lost(1)\n"
    (tmp_path / "test_it.py").write_text(text)
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    ran = inspector("leaks", "--of", "leak_corpus", *words, cwd=tmp_path)
    assert ran.returncode == 1 and "1 passed" in ran.stdout
    assert "capsule_lost loses a reference" in ran.stdout and "test_it.py:3" in ran.stdout


@pytest.mark.parametrize("dashes", [(), ("--", sys.executable)])
def test_a_cycle_that_no_collection_frees_is_the_first_line(tmp_path: Path, dashes: tuple[str, ...]) -> None:
    """It said that no fault was found: the count of each reference is right."""
    path = tmp_path / "app.py"
    path.write_text("import numpy\na = numpy.empty(1, object)\na[0] = [a]\ndel a\n")
    ran = inspector("leaks", *dashes, str(path))
    assert ran.returncode == 1 and ran.stdout.split()[:4] == ["One", "list", "is", "lost,"]
    assert "No fault" not in ran.stdout


def test_what_is_possible_of_imports_is_one_line(tmp_path: Path) -> None:
    """NumPy's body leaves capsules and numbers of which not every owner is seen; its overrides.py a text."""
    path = tmp_path / "app.py"
    path.write_text("import numpy\n")
    ran, everything = inspector("leaks", str(path)), inspector("leaks", "--all", str(path))
    told = json.loads(inspector("leaks", "--json", str(path)).stdout)["facts"]["leaks"]["verdicts"]
    assert told
    sites = [one["conversion"]["site"] for one in told if not one["certain"]]
    assert len(sites) == len(told)
    assert all("<frozen" in site["file"] or site["function"] == "<module>" for site in sites)
    assert "may lose" not in ran.stdout and " possible, from module imports" in ran.stdout
    assert everything.stdout.count("may lose a reference") > 0


GROWS = """
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
def convert():
    ctypes.memset(libc.malloc(12_000_000), 1, 12_000_000)
for _ in range(5):
    convert()
"""


def test_native_memory_that_a_script_leaves_is_told(tmp_path: Path) -> None:
    """60 MB were left, and no word said so."""
    path = tmp_path / "app.py"
    path.write_text(GROWS)
    said = " ".join(inspector("leaks", str(path)).stdout.split())
    assert "Native memory grew by 6" in said and "MB more in blocks of C code, which no Python" in said
    assert "Around the calls, with inspector.growth() as grew: says which lines" in said
    assert "importing" not in said
    path.write_text("live = [bytes(1_000_000) for _ in range(40)]\n")
    assert "grew" not in inspector("leaks", str(path)).stdout
