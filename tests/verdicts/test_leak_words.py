"""Sentences and lines of verdicts on references, from facts written by hand."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any

import pytest

from inspector.facts.conversion import Site
from inspector.facts.leaks import KeptByC, Leaks, Touch, Verdict, WatchedModule
from inspector.facts.unknown import Unknown
from inspector.verdicts.leak_lines import lines_of
from inspector.verdicts.leak_words import leak_answers, told

pytestmark = [pytest.mark.quick, pytest.mark.core]
SITE = Site("app.py", 7, "<module>", Unknown("not in a notebook"), "make(d)")
MADE = Touch("new", "PyLong_FromLong", "", "ext.f", "f", "ext.c:2", SITE, 0, "/src/ext.c")
TAKEN = Touch("stolen on failure", "PyList_SetItem", "item", "ext.f", "f", "ext.c:3", SITE, 0, "/src/ext.c")
LEAK = Verdict("leaked", "int 5", True, 1, 1, MADE, (MADE,), "ext.f", "rule", "cure", "2 references, 1 owner")
OVER = replace(LEAK, kind="over-released", conversion=TAKEN, stack=(MADE, TAKEN))
WATCHED = WatchedModule("ext", 2, 3, 4, 5, "")
NONE = Leaks((), (), 0, 0, 0, 0, 1, 0, 0, 0, 3, watched=(WATCHED,))


def sentences(fact: Leaks) -> list[str]:
    return [row.text for row in leak_answers(told(fact, {})).rows]


def changes(verdict: Verdict, *lines: str) -> list[tuple[int, str, str]]:
    found = lines_of(verdict, {"/src/ext.c": lines})
    return [(line.number, line.text, line.change) for line in found if line.change]


def test_what_is_only_possible_is_not_said_as_a_fact() -> None:
    sure = "`ext.f` loses a reference: the int that `PyLong_FromLong` makes in ext.c:2 is never released."
    assert sentences(replace(NONE, verdicts=(LEAK,))) == [sure]
    assert sentences(replace(NONE, verdicts=(replace(LEAK, certain=False),)))[0].startswith(
        "`ext.f` may lose"
    )
    assert sentences(replace(NONE, verdicts=(LEAK, OVER)))[1] == "1 more fault, certain."


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, "No fault was found in the references of 4 calls."),
        ({"unlike": 300}, "of 4 calls; 300 objects were not searched: watch less code at a time."),
        ({"not_noted": 7}, "; 7 events were dropped."),
        ({"watched": (replace(WATCHED, calls=0),)}, "Nothing is known: no call of `ext` was seen."),
        ({"kept": (KeptByC("W", 3, "ext.so", "ext.f", (1, 1, 1)),)}, "grows: W, 1, 1, 1 more after 3 runs."),
    ],
)
def test_none_is_said_of_what_was_watched_only(change: dict[str, Any], wanted: str) -> None:
    assert any(one.endswith(wanted) for one in sentences(replace(NONE, **change)))
    assert sentences(replace(NONE, **change)) != sentences(NONE) or not change


def test_a_line_is_told_to_be_missing_only_where_the_variable_is_known() -> None:
    assert changes(LEAK, "", "PyObject *n = PyLong_FromLong(5);") == [(0, "Py_DECREF(n);", "missing")]
    assert changes(LEAK, "", "self->n = (PyObject *)PyLong_FromLong(5);") == [
        (0, "Py_DECREF(self->n);", "missing")
    ]
    assert changes(LEAK, "", "return wrap(PyLong_FromLong(5));") == []
    assert lines_of(LEAK, {}) == ()


def test_a_line_is_told_to_be_too_many_only_where_it_is_the_only_one() -> None:
    made, taken = "n = PyLong_FromLong(5);", "if (PyList_SetItem(list, 9, n) < 0) {"
    assert changes(OVER, "", made, taken, "Py_DECREF(n);", "}") == [(4, "Py_DECREF(n);", "surplus")]
    assert changes(OVER, "", made, taken, "Py_DECREF(n);", "Py_XDECREF(n);", "}") == []
    assert changes(OVER, "", made, taken, "}", "Py_DECREF(n);") == [], "of another function"
    assert changes(OVER, "", made, taken, "Py_DECREF(nn);", "}") == []
