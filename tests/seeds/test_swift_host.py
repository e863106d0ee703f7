"""Article 003 in its own language: a host in Swift that finds Python by dlsym, traced and attached to."""

# SPDX-License-Identifier: MIT
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import embedded
import hosts
import pytest
import swift
from embedded import COMMAND, launched, ran

from inspector.facts.hosted import Hosted
from inspector.facts.unknown import Unknown

if swift.compiler() is None:
    pytest.skip(
        "cannot be installed from Debian 12: swiftc; `make seeds` makes a chroot that has it",
        allow_module_level=True,
    )
pytestmark = [
    pytest.mark.skipif(not Path(hosts.shared()).exists(), reason="not on CPython without a shared libpython"),
    pytest.mark.timeout(600),
]
SAID = r"""
x + 4 = 46
super stringy now
owned 2, borrowed 3, released 2
map and filter: 12 16
numbers[1:3] = [7, 8]
Array<Int>(numbers) = [6, 7, 8]
Array<Int>(mixed) = nil
arange: 3 references, shape (3, 5), 3 by 5
np.array([6, 7, 8], dtype: "i2") is int16
"""
SAID += embedded.CONVERTED


@pytest.fixture(scope="module", autouse=True)
def home() -> Iterator[None]:
    """A crash of Swift's prints no backtrace; its demangler is beside its compiler."""
    path = f"{Path(swift.compiler() or '').parent}{os.pathsep}{os.environ['PATH']}"
    with embedded.home(SWIFT_BACKTRACE="enable=no", PATH=path):
        yield


@pytest.fixture(scope="module")
def host() -> str:
    return str(swift.built("swift_host"))


@pytest.fixture(scope="module")
def asked(host: str, home: None) -> Hosted:
    """What the host asked of Python. At its end a thread without the GIL drops the last value of `a`."""
    return launched(host, "unlocked").trace.hosted


def test_each_call_has_its_line_of_swift(asked: Hosted) -> None:
    """Functions of the bridge, Object.swift and others, are passed over: a line is the program's own."""
    sites = [call.site for call in asked.calls if not isinstance(call.site, Unknown)]
    assert len(sites) > len(asked.calls) * 0.9 and {Path(site.file).name for site in sites} >= {"main.swift"}
    lost = {call.values[0]: call.site for call in asked.calls if call.lost}
    assert "UInt(" in lost[str(2**64 - 1)].text and lost[str(2**64 - 1)].inner.startswith("Conversions.swift")
    texts = Path(sites[0].file).read_text().splitlines()
    assert all(
        " ".join(texts[one.line - 1].split()) == one.text for one in sites if one.file == sites[0].file
    )


def test_it_does_what_the_article_says_and_links_no_symbol(host: str) -> None:
    done = ran(host, hosts.shared())
    assert (done.stdout.strip(), done.returncode) == (SAID.strip(), 0), done.stderr
    symbols = ran("nm", "-D", host).stdout.split()
    assert "dlsym" in {symbol.partition("@")[0] for symbol in symbols}
    assert [symbol for symbol in symbols if symbol.startswith(("Py", "_Py"))] == []
    for words, why in (([], "none"), (["/nowhere.so"], "/nowhere.so: cannot open shared object file")):
        done = ran(host, *words)
        assert done.returncode == -signal.SIGABRT and f"path of a libpython: {why}" in done.stdout


def test_owned_borrowed_released(asked: Hosted) -> None:
    assert asked.hosts == ("host",)
    assert embedded.changed(asked) == embedded.CHANGED


def test_members_calls_keywords_and_operators_are_seen_in_order(asked: Hosted) -> None:
    embedded.assert_in_order(asked, "'a'", "'x'", "'numbers'", "'numbers'")
    members = {call.values[:1] for call in embedded.of(asked, "PyObject_GetAttrString")}
    assert {("'array'",), ("'type'",)} <= members


def test_conversions_that_give_nil_set_an_error_that_is_cleared(asked: Hosted) -> None:
    assert embedded.failed(asked) == embedded.FAILED


def test_what_is_lost_without_an_error_is_said(asked: Hosted) -> None:
    assert embedded.lost(asked) == embedded.LOST


def test_a_deinit_on_a_thread_without_the_gil_is_a_finding(asked: Hosted) -> None:
    (call,) = [call for call in asked.calls if call.without_gil]
    assert call.function == "Py_DecRef" and isinstance(call.references, Unknown)
    assert call.thread != asked.calls[0].thread


def test_an_error_that_nobody_traps_ends_the_host_and_the_trace_tells(host: str) -> None:
    ended = launched(host, "untrapped")
    assert ended.code == -signal.SIGABRT
    told = [(call.function, call.object_type) for call in ended.trace.hosted.calls]
    assert ("PyObject_Str", "FileNotFoundError") in told[-6:]


@pytest.mark.debugger
def test_a_running_host_is_read_from_outside(host: str) -> None:
    with embedded.read_from_outside(host):
        pass


@pytest.mark.debugger
def test_it_is_stopped_where_it_enters_python(host: str) -> None:
    assert embedded.entered(host)


def test_leaks_accuses_it_of_what_it_loses_and_of_nothing_else(host: str) -> None:
    """`lost` takes a reference to a list for a call that it does not make; else each one is given back."""
    honest, loses = (ran(COMMAND, "leaks", "--", host, hosts.shared(), *words) for words in ([], ["lost"]))
    assert (honest.returncode, loses.returncode) == (0, 1)
    assert "No fault was found" in honest.stdout and "loses a reference" in loses.stdout
    assert "Object.swift:44  C.take(pointer)" in loses.stdout


@pytest.mark.debugger
def test_the_commands_of_the_page_draw_it(host: str) -> None:
    """`inspector trace -- ./host` and `inspector attach PID show EXPR`, as a terminal shows them."""
    done = ran(COMMAND, "trace", "--all", "--", host, hosts.shared())
    assert done.returncode == 0 and "host     3 calls lost a value" in done.stdout
    assert "Py_IncRef                   A                   refs 2 → 3" in done.stdout
    with hosts.waiting(host, hosts.shared(), "stay") as child:
        done = ran(COMMAND, "attach", str(child.pid), "owners", "a")
    assert "refs     3      2 named, 1 in native code" in done.stdout


@pytest.mark.debugger
def test_break_shows_where_its_own_code_enters_python_and_names_swift_functions(host: str) -> None:
    """Modules that Python itself imports are no entry of the host; `--startup` shows them."""
    done = ran(COMMAND, "break", "--preset", "host", "--", host, hosts.shared())
    told = " ".join(done.stdout.split())
    assert done.returncode == 0 and "of Python's own code left out (--startup)" in told
    assert len(done.stdout.splitlines()) <= 60
    hidden = ("_find_and_load", "PyImportZip", "$s")
    assert [one for one in hidden if one in done.stdout] == [], done.stdout
    assert re.search(r"C  \S+ +\S*main.swift:\d+", done.stdout), done.stdout
    whole = ran(COMMAND, "break", "--startup", "--preset", "host", "--", host, hosts.shared())
    assert "_find_and_load" in whole.stdout
