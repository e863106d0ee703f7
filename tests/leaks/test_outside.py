"""Blocks of malloc and its kin that a module forgot: told with their line; what is kept or freed is not."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import outside
import pytest
import specimens

import inspector
from inspector import _native

KIND = "bytes leaked outside objects"


@pytest.fixture(scope="module")
def module() -> Any:
    return specimens.build("outside", outside.SOURCE)


def call(module: Any, name: str) -> Callable[[], Any]:
    def run() -> Any:
        try:
            return getattr(module, name)()
        except ValueError:
            return None

    return run


def lost(found: Any) -> list[Any]:
    """The verdicts on memory outside objects."""
    return [one for one in found if one.kind == KIND]


@pytest.mark.core
@pytest.mark.quick
@pytest.mark.parametrize("name", outside.LEAKED)
def test_a_lost_block_is_told_on_the_first_call(module: Any, name: str) -> None:
    with inspector.leaks("outside") as found:
        call(module, name)()
    (one,) = lost(found)
    assert (one.certain, one.method) == (True, f"outside.{name}")
    assert one.conversion.function == outside.LEAKED[name]
    assert one.conversion.source == f"outside.c:{specimens.line_of(outside.SOURCE, name, '// leaks')}"
    assert one.conversion.site.file == __file__


@pytest.mark.parametrize("name", outside.LEAKED)
def test_a_lost_block_is_told_by_several_runs(module: Any, name: str) -> None:
    found = inspector.leaks("outside").run(call(module, name))
    (one,) = lost(found)
    assert one.certain and "blocks lost by 3 runs" in one.reason
    table = found.fact.raw_memory[0]
    assert table.module == "outside" and len(set(table.blocks)) == 1 and sum(table.lost) >= 2
    assert "by allocating module" in found.report.to_text()
    assert json.loads(found.report.to_json())


HONEST = [
    pytest.param(name, marks=pytest.mark.quick if name in ("in_list", "as_packed", "raw_freed") else ())
    for name in outside.HONEST
]


@pytest.mark.core
@pytest.mark.parametrize("name", HONEST)
def test_nothing_honest_is_accused(module: Any, name: str) -> None:
    with inspector.leaks("outside") as found:
        result = call(module, name)()
    assert not found.verdicts and not found.fact.raw_memory
    del result
    results = []
    again = inspector.leaks("outside").run(lambda: results.append(call(module, name)()))
    assert not again.verdicts


@pytest.mark.core
def test_what_a_static_keeps_is_listed(module: Any) -> None:
    found = inspector.leaks("outside").run(module.in_static)
    (one,) = found.fact.raw_memory
    assert (one.bytes, one.lost) == ((200, 200, 200), (0, 0, 0))
    assert one.holder == "static cache of outside"
    assert "a cache or a list?" in found.report.to_text()


@pytest.mark.core
@pytest.mark.quick
def test_everything_is_put_back(module: Any) -> None:
    def raw_domain() -> bytes:
        held = ctypes.create_string_buffer(40)  # PyMemAllocatorEx
        ctypes.pythonapi.PyMem_GetAllocator(0, held)
        return held.raw

    raw = raw_domain()
    before = {slot[4]: slot[-2] for slot in _native.got_slots() if slot[3] == -6}
    with inspector.leaks("outside"):
        assert any(slot[3] == -6 and slot[6] for slot in _native.got_slots())
    assert not any(slot[3] in (-5, -6) and slot[6] for slot in _native.got_slots())
    with pytest.raises(ZeroDivisionError):
        inspector.leaks("outside").run(lambda: 1 / 0)
    assert not any(slot[3] in (-5, -6) and slot[6] for slot in _native.got_slots())
    after = {slot[4]: slot[-2] for slot in _native.got_slots() if slot[3] == -6}
    assert before.items() <= after.items()
    assert raw_domain() == raw


@pytest.mark.core
def test_an_object_is_told_once_as_an_object(module: Any) -> None:
    with inspector.leaks("outside") as found:
        module.object_forgotten()
    assert not lost(found) and all(one.kind == "leaked" for one in found)


@pytest.mark.core
def test_memory_of_c_plus_plus() -> None:
    flags = ("-xc++", "-std=gnu++17", "-Wno-missing-field-initializers", "-Wl,--no-as-needed", "-lstdc++")
    module: Any = specimens.build("outsidecpp", outside.CPLUSPLUS, flags=flags)
    with inspector.leaks("outsidecpp") as found:
        module.deleted()
    assert not found.verdicts
    with inspector.leaks("outsidecpp") as found:
        module.forgotten()
    first = lost(found)[0]
    line = specimens.line_of(outside.CPLUSPLUS, "forgotten", "// leaks")
    assert first.certain and first.conversion.function == "operator new"
    assert first.conversion.source == f"outsidecpp.c:{line}"


OLD_WORDS = r"""
#include <Python.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
// A text in memory whose old words name a block: what the text does not write of its header stays.
static PyObject *left_in_text(PyObject *self, PyObject *unused) {
    volatile uintptr_t *block = malloc(400); // leaks: left_in_text
    size_t bytes = sizeof(PyASCIIObject) + 7; // and what a pool rounds it up to
    volatile uintptr_t *old = PyObject_Malloc(bytes);
    block[0] = 0;
    for (size_t i = 1; i < bytes / 8; i++) { old[i] = (uintptr_t)block; }
    PyObject_Free((void *)old);
    block = NULL;
    return PyUnicode_FromString("a text");
}
// The last word that malloc gave a type, behind all that the type asked for.
static PyObject *left_behind(PyObject *self, PyObject *type) {
    char *start = (char *)type - 16;
    size_t used = 16 + Py_TYPE(type)->tp_basicsize + (Py_SIZE(type) + 1) * Py_TYPE(type)->tp_itemsize;
    if (malloc_usable_size(start) < used + sizeof(void *)) { Py_RETURN_FALSE; }
    volatile uintptr_t *block = malloc(400); // leaks: left_behind
    block[0] = 0;
    ((volatile uintptr_t *)(start + malloc_usable_size(start)))[-1] = (uintptr_t)block;
    block = NULL;
    Py_RETURN_TRUE;
}
"""


@pytest.mark.core
def test_words_that_an_object_never_wrote_keep_no_block() -> None:
    oldwords: Any = specimens.build("oldwords", OLD_WORDS)
    kept: list[object] = []
    told: list[str] = []
    while (
        not told and len(kept) < 3
    ):  # an old word of somebody else's may name the place of a block, by chance
        with inspector.leaks("oldwords") as found:
            kept.append(oldwords.left_in_text())
        told = [one.method for one in lost(found)]
    assert told == ["oldwords.left_in_text"]
    if sys.flags.dev_mode:  # debug allocators write all that malloc gave
        return
    for _ in range(3):
        types = [type("Some", (), {"__slots__": tuple(names)}) for names in ("", "a", "ab")]
        with inspector.leaks("oldwords") as found:
            written = sum(oldwords.left_behind(one) for one in types)
        kept.append(types)
        if sum(one.objects for one in lost(found)) == written:
            break
    assert written and sum(one.objects for one in lost(found)) == written, found.fact.raw_memory


IN_KERNEL = r"""
#include <Python.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>
static PyObject *watch(PyObject *self, PyObject *file) { // its block is known to the kernel alone
    int number = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = calloc(1, 300)};
    epoll_ctl(number, EPOLL_CTL_ADD, (int)PyLong_AsLong(file), &event);
    event.data.ptr = NULL;
    __asm__ volatile("" : : "r"(&event) : "memory");
    return PyLong_FromLong(number);
}
static PyObject *forget(PyObject *self, PyObject *unused) {
    volatile char *block = calloc(1, 300);
    block[0] = 1;
    block = NULL;
    Py_RETURN_NONE;
}
static PyObject *open_ring(PyObject *self, PyObject *unused) {
    char parameters[256] = {0};
    return PyLong_FromLong(syscall(SYS_io_uring_setup, 4, parameters));
}
"""


@pytest.fixture(scope="module")
def in_kernel() -> Any:
    return specimens.build("inkernel", IN_KERNEL)


@pytest.mark.core
def test_a_block_that_an_epoll_knows_is_kept_while_it_is_open(in_kernel: Any) -> None:
    reading, writing = os.pipe()
    with inspector.leaks("inkernel") as found:
        number = in_kernel.watch(reading)
    assert number >= 0 and not found.verdicts
    with inspector.leaks("inkernel") as found:
        os.close(in_kernel.watch(reading))
    assert [one.certain for one in lost(found)] == [True]
    for one in (number, reading, writing):
        os.close(one)


@pytest.mark.core
def test_while_an_io_uring_is_open_a_lost_block_is_possible(in_kernel: Any) -> None:
    number = in_kernel.open_ring()
    if number < 0:
        pytest.skip("cannot be installed: the kernel gives no io_uring")
    with inspector.leaks("inkernel") as found:
        in_kernel.forget()
    os.close(number)
    assert [one.certain for one in lost(found)] == [False]
    assert "io_uring" in lost(found)[0].reason
