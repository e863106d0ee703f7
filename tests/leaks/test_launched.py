"""`inspector leaks -- PROGRAM`: the ledger in programs that are or embed Python, judged as they end."""

# SPDX-License-Identifier: MIT
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hosts
import leak_corpus
import pytest
import specimens
from leak_corpus import FAULTS, HONEST, SOURCE
from programs import inspector
from refused import refused

from inspector.sessions.leaks_launched import launch

pytestmark = pytest.mark.core
HOST = r"""
#include <dlfcn.h>
#include <stdlib.h>
typedef void *ref;
static ref (*new_list)(long), (*from_text)(const char *), (*import)(const char *);
static int (*append)(ref, ref), (*run)(const char *), (*set)(ref, const char *, ref);
static void (*release)(ref);
static ref kept;
static void lose_an_item(void) {
    ref list = new_list(0), item = new_list(0);
    append(list, item); // keeps a reference of its own: that of the item is never given back
    ref main = import("__main__");
    set(main, "mine", list);
    release(list), release(main);
}
static void lose(void) { new_list(0); }
static void keep(void) { kept = new_list(0); }
static void give_back(void) { ref text = from_text("given back"); release(text); }
int main(int count, char **words) {
    void *python = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    if (!python) return 70;
#define ASK(name, of) *(void **)&name = dlsym(python, of)
    ASK(new_list, "PyList_New"), ASK(from_text, "PyUnicode_FromString"), ASK(append, "PyList_Append");
    ASK(import, "PyImport_ImportModule"), ASK(set, "PyObject_SetAttrString"), ASK(release, "Py_DecRef");
    ASK(run, "PyRun_SimpleString");
    ((void (*)(int))dlsym(python, "Py_InitializeEx"))(0);
    keep(), give_back();
    if (words[2][0] == 'l') lose_an_item(), lose();
    volatile ref held = new_list(0); // by a frame that runs when the process exits
    run("print('ran', flush=True)");
    if (words[3][0] == 'f') ((int (*)(void))dlsym(python, "Py_FinalizeEx"))();
    if (words[3][0] == 'e') exit(0);
    return held == NULL;
}
"""


@pytest.fixture(scope="module", autouse=True)
def home() -> Iterator[None]:
    """Where a host's Python finds its own modules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHOME", sys.base_prefix)
        yield


@pytest.fixture(scope="module")
def host() -> list[str]:
    """A program that asks dlsym for Python's functions, and the library it opens."""
    if not Path(hosts.shared()).exists():
        pytest.skip("not on CPython without a shared libpython")
    return [str(hosts.host(HOST, "-g", "-O0", "-ldl")), hosts.shared()]


def line(text: str) -> str:
    number = next(n for n, row in enumerate(HOST.splitlines(), 1) if text in row)
    return f"host.c:{number}"


@pytest.mark.quick
@pytest.mark.parametrize("ending", ["finalized", "exit", "return"])
def test_what_a_host_loses_is_told_however_it_ends(host: list[str], ending: str) -> None:
    """Its Python ended, or the process did without ending it."""
    fact = launch([*host, "lose", ending], quiet=True).fact
    told = {(one.kind, one.method, one.conversion.source) for one in fact if one.certain}
    lost = {line("item = new_list"), line("static void lose(void)")}
    gone = {line("volatile ref held")} if ending == "return" else set()  # the frame is over
    assert told == {("leaked", "host", source) for source in lost | gone}
    assert [one.holder.split("+")[0] for one in fact.kept] == ["host kept"]


@pytest.mark.parametrize("ending", ["finalized", "exit"])
def test_an_honest_host_is_not_accused(host: list[str], ending: str) -> None:
    judged = launch([*host, "honest", ending], quiet=True)
    assert (judged.code, judged.notes, [one for one in judged.fact if one.certain]) == (0, (), [])


CALLS = """
import importlib.util, sys
import leak_corpus as native
spec = importlib.util.spec_from_file_location("corpus", sys.argv[1])
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)
given = [corpus.argument(name) for name in sys.argv[2:]]
for name, x in zip(sys.argv[2:], given):
    try:
        getattr(native, name)(x)
    except Exception:
        pass
"""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A program that calls functions of the corpus."""
    folder = tmp_path_factory.mktemp("calls")
    library = specimens.library("leak_corpus", SOURCE)
    (folder / library.name).symlink_to(library)
    (folder / "app.py").write_text(CALLS)
    return [sys.executable, str(folder / "app.py"), leak_corpus.__file__]


@pytest.mark.parametrize("name", ["key_not_released", "capsule_lost", "release_of_argument", "leak_on_error"])
def test_an_interpreter_is_a_program_too(calls: list[str], name: str) -> None:
    (one,) = launch([*calls, name], "leak_corpus", quiet=True).fact
    assert (one.kind, one.certain, one.method) == (FAULTS[name][0], True, f"leak_corpus.{name}")
    assert getattr(one.conversion, "source", "") == f"leak_corpus.c:{specimens.line_of(SOURCE, name)}"


def test_what_only_looks_like_a_fault_in_a_program_of_its_own(calls: list[str]) -> None:
    assert [one for one in launch([*calls, *HONEST], quiet=True).fact if one.certain] == []


def test_a_crash_is_a_verdict() -> None:
    judged = launch([sys.executable, "-c", "import ctypes; ctypes.string_at(0)"])
    (one,) = judged.fact
    assert (judged.code, one.kind, one.certain) == (-signal.SIGSEGV, "crash", False)
    assert one.reason == "SIGSEGV in the program, while the ledger was open"


PYTHON = [sys.executable, "-c"]
REFUSED = [
    ([*PYTHON, "import os; os.kill(os.getpid(), 9)"], "no-verdicts", "was ended by signal 9 (SIGKILL)"),
    ([*PYTHON, "import os; os._exit(3)"], "no-verdicts", "left with code 3, past its exit handlers"),
    ([*PYTHON, "import os; os.execvp('true', ['true'])"], "no-verdicts", "left with code 0"),
    (["/no/such/program"], "no-program", ""),
    (["/bin/true"], "no-python", ""),
    ([sys.executable, "-I", "-c", ""], "python-isolated", ""),
    ([*PYTHON, ""], "unknown-module", ""),
]


@pytest.mark.parametrize(("words", "slug", "says"), REFUSED)
def test_what_cannot_be_watched_or_judged_is_refused(words: list[str], slug: str, says: str) -> None:
    with refused(slug) as caught:
        launch(words, *(["no_such_module_x"] if slug == "unknown-module" else []))
    assert says in caught.value.what


def test_a_process_that_was_forked_judges_nothing() -> None:
    """Its exit handlers run too, and its Python's."""
    code = "import os, sys\npid = os.fork()\nif pid == 0: sys.exit(0)\nos.waitpid(pid, 0)"
    judged = launch([sys.executable, "-c", code])
    assert judged.code == 0 and [one for one in judged.fact if one.certain] == []


@pytest.mark.quick
def test_the_terminal_shows_it_and_leaves_with_1(host: list[str]) -> None:
    home = {"PYTHONHOME": sys.base_prefix}
    ran = inspector("leaks", "--", *host, "lose", "exit", **home)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("ran\n") and "host loses a reference: the list that PyList_New" in ran.stdout
    assert inspector("leaks", "--", *host, "honest", "finalized", **home).returncode == 0
    failed = inspector("leaks", "--", sys.executable, "-c", "raise SystemExit(4)")
    assert (
        failed.returncode == 1
        and "exited with 4" in failed.stderr
        and "watched  all extensions" in failed.stdout
    )
