"""Three real extensions, mutated: only in the long run, for it asks PyPI and wants Debian's python3-dbg."""

# SPDX-License-Identifier: MIT
from pathlib import Path

import mutated
import mutation
import pytest
from mutants import opened
from soak import SOAK

SOURCE = """
static PyObject *first(PyObject *x) {
    Py_INCREF(x);
    other();
    if (x == Py_None) Py_DECREF(x);
    return Py_NewRef(x);
}
"""


def test_each_place_has_its_mutants() -> None:
    text, mutants = opened(SOURCE)
    told = [(one.text, one.variant) for one in mutants]
    assert told == [
        ("Py_INCREF(x)", "removed"), ("Py_INCREF(x)", "doubled"), ("Py_INCREF(x)", "moved"),
        ("Py_DECREF(x)", "removed"), ("Py_DECREF(x)", "doubled"),
        ("Py_NewRef(x)", "removed"), ("Py_NewRef(x)", "doubled"),
    ]  # fmt: skip
    assert len({one.number for one in mutants}) == 7 and text.count("mutant ==") == 5


if SOAK and Path(mutated.DEBUG).exists():

    @pytest.mark.parametrize("one", mutated.EXTENSIONS, ids=lambda one: one.name)
    def test_an_unmutated_extension_is_not_accused(one: mutated.Extension, tmp_path: Path) -> None:
        mutated.built(one)
        trial = mutation.Trial(one, tmp_path)
        assert mutation.proof(trial.answer("counts", 0, one.tests)) == ""
        assert trial.answer("leaks", 0, one.tests) == (0, [])
