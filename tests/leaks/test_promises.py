"""`no_leaks`, its marker, `--inspect-leaks`: a test fails where the extension certainly loses a reference."""

# SPDX-License-Identifier: MIT
import ast
import re
import subprocess
from pathlib import Path

import outside
import pytest
import specimens
from apart import ran
from leak_corpus import FAULTS, HONEST, SOURCE, TAKE_LISTS, argument
from refused import refused

import inspector
from inspector.faces.known_faults import Row, annotations

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


def pytest_in(folder: Path, *words: str, library: Path | None = None, tests: str = TESTS) -> str:
    library = library or specimens.library("leak_corpus", SOURCE)
    (folder / library.name).symlink_to(library)
    (folder / "test_it.py").write_text(tests)
    return ran("-m", "pytest", "-q", "-p", "no:cacheprovider", *words, cwd=folder).stdout


@pytest.mark.quick
def test_a_marked_test_fails_alone(tmp_path: Path) -> None:
    told = pytest_in(tmp_path)
    assert "1 failed, 2 passed" in told
    assert "C-API call without the GIL in leak_corpus.without_the_gil" in told


def test_the_option_asks_it_of_every_test(tmp_path: Path) -> None:
    told = pytest_in(tmp_path, "--inspect-leaks", "leak_corpus", "--junitxml", "told.xml")
    assert "2 failed, 1 passed" in told
    assert told.count("faults of native code in 2 tests") == told.count(", leak_corpus.c:") == 1, told
    assert re.search(r"test_it.py::test_faulty and 1 more\n +PyGILState_Ensure, or end", told)
    xml = (tmp_path / "told.xml").read_text()
    assert 'failures="2"' in xml and xml.count('<property name="native_fault"') == 2


HELD = """
import pytest, leak_corpus
known = {}

@pytest.fixture
def faulty():
    leak_corpus.without_the_gil(1)

@pytest.mark.parametrize("number", range(8))
def test_one(number):
    known[number] = leak_corpus.tuple_set_item(number)
    if number in (2, 6):
        leak_corpus.without_the_gil(1)
    if number in (3, 6):
        leak_corpus.key_not_released({})

def test_fixture(faulty):
    pass

@pytest.mark.xfail
def test_expected():
    leak_corpus.key_not_released({})

def test_fails():
    assert not leak_corpus.key_not_released({})
    assert not known

def test_left():
    pytest.exit("left")
"""


def test_tests_that_are_judged_together_fail_each_for_its_own_fault(tmp_path: Path) -> None:
    told = pytest_in(tmp_path, "--inspect-leaks", "leak_corpus", "-rA", tests=HELD)
    failed = re.findall(r"^(FAILED|ERROR|XFAIL) test_it.py::(\S+)", told, re.MULTILINE)
    names = ["test_one[2]", "test_one[3]", "test_one[6]", "test_fixture", "test_fails"]
    assert failed == [("XFAIL", "test_expected"), *(("FAILED", name) for name in names)], told
    assert "assert not {" in told and "left" in told  # its own failure stays, and what ran before the exit
    assert len(re.findall(r"leak_corpus.key_not_released loses", told)) == 3


CORPUS = """
import contextlib
import leak_corpus
import pytest
from typing import Any

{arguments}
kept = []

@pytest.mark.parametrize("name", {names!r})
def test_it(name):
    x = argument(name)
    kept.append(x)
    with contextlib.suppress(Exception):
        kept.append(getattr(leak_corpus, name)(x))
"""


def test_the_whole_corpus_judged_together(tmp_path: Path) -> None:
    names = sorted((*FAULTS, *HONEST), key=lambda name: name[::-1])  # mixed
    text = Path(argument.__code__.co_filename).read_text()  # the compiled module has the same name
    parts = [one for one in ast.parse(text).body if getattr(one, "name", "") in ("Thing", "argument")]
    arguments = "\n".join((f"{TAKE_LISTS = }", *map(ast.unparse, parts)))
    tests = CORPUS.format(arguments=arguments, names=names)
    told = pytest_in(tmp_path, "--inspect-leaks", "leak_corpus", "-rf", tests=tests)
    assert sorted(re.findall(r"^FAILED test_it.py::test_it\[(\w+)\]", told, re.MULTILINE)) == sorted(FAULTS)


def test_without_a_search_counts_are_told_and_the_rest_is_said_to_be_open(tmp_path: Path) -> None:
    told = pytest_in(tmp_path, "--inspect-leaks", "leak_corpus", "--inspect-leaks=fast", "-rf", tests=HELD)
    failed = re.findall(r"^FAILED test_it.py::(\S+)", told, re.MULTILINE)
    assert failed == ["test_one[2]", "test_one[6]", "test_fixture", "test_fails"], told
    assert re.search(r"counts only. Not looked for: who holds \d+ objects \(.*leak_corpus.key_not_rel", told)
    assert "No fault" not in told


def test_on_github_a_fault_is_an_error_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    told = pytest_in(tmp_path)
    assert "\n::error file=test_it.py,title=inspector::C-API call" in told
    monkeypatch.chdir(tmp_path)
    row = Row(
        "leaked", "m.f", "int", "PyLong_FromLong", "m.c:7 (x.c:9)", str(tmp_path / "src/m.c"), "50%", "t"
    )
    text = "leaked: m.f, int, PyLong_FromLong (t): 50%25"
    assert [*annotations([row])] == [f"::error file=src/m.c,line=7,title=inspector::{text}"]


def test_known_faults_pass_and_new_ones_fail(tmp_path: Path) -> None:
    words = ("--inspect-leaks", "leak_corpus", "--inspect-leaks-baseline", "known")
    assert "3 passed" in pytest_in(tmp_path, *words)
    known = (tmp_path / "known").read_text().splitlines()
    fault = known[1].partition("  # ")[0]
    assert fault.startswith("C-API call without the GIL | leak_corpus.without_the_gil | ") and len(known) == 2
    assert "known: 1 known fault seen, 0 not seen" in told_again(tmp_path, *words)
    (tmp_path / "known").write_text("leaked | leak_corpus.other | int | PyLong_FromLong  # issue 7\n")
    told = told_again(tmp_path, *words)
    assert "2 failed, 1 passed" in told and f"not in known: {fault}\n" in told
    assert "0 known faults seen, 1 not seen\nnot seen: leaked | leak_corpus.other" in told
    (tmp_path / "known").write_bytes(b"\xff")
    assert "known cannot be read" in told_again(tmp_path, *words)


def test_known_faults_are_a_file_of_a_repository(tmp_path: Path) -> None:
    words = ("--inspect-leaks", "leak_corpus", "--inspect-leaks-baseline", "known")
    first, clone = tmp_path / "first", tmp_path / "clone"
    first.mkdir()
    pytest_in(first, *words)
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(first, "init", "-q")
    git(first, "add", "known", "test_it.py")
    git(first, *author, "commit", "-q", "-m", "known faults")
    git(tmp_path, "clone", "-q", str(first), str(clone))
    library = specimens.library("leak_corpus", SOURCE)
    (clone / library.name).symlink_to(library)
    assert "known: 1 known fault seen, 0 not seen" in told_again(clone, *words)
    (clone / "known").unlink()
    told_again(clone, *words)  # made anew in another folder: the same bytes
    assert git(clone, "status", "--porcelain", "--untracked-files=no") == ""


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def told_again(folder: Path, *words: str) -> str:
    done = ran("-m", "pytest", "-q", "-p", "no:cacheprovider", *words, cwd=folder)
    return done.stdout + done.stderr


def test_a_block_raises_one_sentence() -> None:
    corpus = specimens.build("leak_corpus", SOURCE)
    with refused("leaked", r"leak_corpus\.c:"), inspector.no_leaks("leak_corpus"):
        corpus.without_the_gil(1)


FORGETS = """
import outside

def test_lost():
    outside.strdup_each_call()

def test_freed():
    outside.chain_of_realloc()
"""


def test_a_test_suite_in_which_memory_is_forgotten_fails(tmp_path: Path) -> None:
    library = specimens.library("outside", outside.SOURCE)
    told = pytest_in(tmp_path, "--inspect-leaks", "outside", library=library, tests=FORGETS)
    assert "1 failed, 1 passed" in told
    line = specimens.line_of(outside.SOURCE, "strdup_each_call", "// leaks")
    assert f"bytes leaked outside objects in outside.strdup_each_call at outside.c:{line}" in told


# A project with an extension of its own and `--inspect-leaks` in its pyproject.toml.
SHELF = r"""
#include <Python.h>
static PyObject *filled(const char *format, PyObject *count, int releases) {
    long n = PyLong_AsLong(count);
    PyObject *list = PyList_New(0);
    for (long i = 0; list && i < n; i++) {
        PyObject *text = PyUnicode_FromFormat(format, i); // made
        PyList_Append(list, text); // given
        if (releases) { Py_XDECREF(text); }
    }
    return list;
}
static PyObject *titles(PyObject *self, PyObject *count) {
    return filled("title number %ld of a shelf", count, 0);
}
static PyObject *labels(PyObject *self, PyObject *count) {
    return filled("label number %ld of a shelf", count, 1);
}
"""
PROJECT = """
[project]
name = "shelf"
version = "1.0"

[tool.pytest.ini_options]
addopts = "--inspect-leaks shelf._shelf"
testpaths = ["tests"]
pythonpath = ["src"]
"""
PROJECTS_TESTS = """
import shelf

def test_titles():
    assert len(shelf.titles(7)) == 7

def test_labels():
    assert shelf.labels(2)[1].startswith("label number 1")
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `pytest` prints in the project."""
    root = tmp_path_factory.mktemp("project")
    package = root / "src" / "shelf"
    package.mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "tests" / "test_shelf.py").write_text(PROJECTS_TESTS)
    (package / "__init__.py").write_text("from shelf._shelf import labels, titles\n")
    library = specimens.library("_shelf", SHELF)
    (package / library.name).symlink_to(library)
    ended = ran("-m", "pytest", "-p", "no:cacheprovider", cwd=root)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return ended.stdout


def test_only_the_test_of_the_leaking_function_fails(told: str) -> None:
    assert "1 failed, 1 passed" in told
    assert "FAILED tests/test_shelf.py::test_titles" in told


def test_the_failure_names_function_count_and_lines(told: str) -> None:
    made, given = (
        next(number for number, text in enumerate(SHELF.splitlines(), 1) if call in text)
        for call in ("// made", "// given")
    )
    (failure,) = (line for line in told.splitlines() if line.startswith("leaked in "))
    assert failure.startswith(f"leaked in shelf._shelf.titles at _shelf.c:{made}: str 'title number ")
    (count,) = re.findall(r" of a shelf' ×(\d+)\. · why: ", failure)
    assert 2 <= int(count) <= 7  # an old pointer in a live block may account for some
    assert failure.endswith(f"do: release it: Py_DECREF after _shelf.c:{given}")
    assert "pytest_plugin.py" not in told  # no line of ours between


def test_of_many_alike_only_some_are_searched_and_this_is_said() -> None:
    shelf = specimens.build("_shelf", SHELF)
    with refused("leaked", r"_shelf\.titles at .* ×\d+ or more"), inspector.no_leaks("_shelf"):
        shelf.titles(200)
