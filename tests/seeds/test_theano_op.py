"""Article 004 on the real pytensor: its op, the stolen dtype, storage cells, updates that run in place."""

# SPDX-License-Identifier: MIT
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import specimens
from apart import printed

import inspector

pytestmark = pytest.mark.newest


@pytest.fixture(scope="module")
def pytensor() -> Any:
    """Imported by the tests only: one room has it."""
    import pytensor.tensor

    return pytensor


@pytest.fixture(scope="module", autouse=True)
def folder(pytensor: Any) -> Iterator[Path]:
    """The cache of compiled ops; with a compiler, which the adapter's tests do without."""
    with pytensor.config.change_flags(cxx="g++"):
        yield Path(pytensor.config.compiledir)


def compiled(pytensor: Any, first: str, loop_in_c: bool = True) -> Any:
    import theano_op
    from pytensor.link.vm import VMLinker

    x, y = pytensor.tensor.dvector("x"), pytensor.tensor.dscalar("y")
    mode = pytensor.compile.mode.Mode(linker=VMLinker(allow_gc=True, use_cloop=loop_in_c), optimizer=None)
    return pytensor.function([x, y], theano_op.VectorTimesScalar(first)(x, y), mode=mode)


@pytest.fixture(scope="module")
def seed(pytensor: Any) -> Any:
    return compiled(pytensor, "")


@pytest.fixture(scope="module")
def mended(pytensor: Any) -> Any:
    return compiled(pytensor, "Py_INCREF")


def verdicts(function: Callable[..., Any]) -> dict[str, str]:
    x, y = np.array([1.0, 2.0, 3.0]), np.array(2.0)
    result, call, error = inspector.call_c(function, {"x": x, "y": y})
    assert error is None and result.tolist() == [2, 4, 6]
    return {row.name: str(row.verdict) for row in call.balance}


def test_the_articles_op_loses_a_dtype_on_the_first_call(seed: Any) -> None:
    found = verdicts(seed)
    assert found["x.dtype"] == "over-released" and found["x"] == "balanced"


def test_with_a_reference_of_its_own_to_steal_it_is_balanced(mended: Any) -> None:
    assert verdicts(mended)["x.dtype"] == "balanced"


def test_strides_and_what_is_refused(pytensor: Any, mended: Any) -> None:
    import theano_op

    assert mended(np.arange(6.0)[::2], 3.0).tolist() == [0, 6, 12]
    assert mended(np.arange(4.0)[::-1], 1.0).tolist() == [3, 2, 1, 0]
    assert mended(np.empty(0), 1.0).tolist() == []
    with pytest.raises(TypeError, match="Wrong number of dimensions: expected 1, got 2"):
        mended(np.ones((2, 2)), 1.0)
    y = pytensor.tensor.dscalar("y")
    with pytest.raises(TypeError, match="needed, not 2 and 0 dimensions"):
        theano_op.VectorTimesScalar()(pytensor.tensor.dmatrix(), y)
    with pytest.raises(TypeError, match="needed, not 1 and 1 dimensions"):
        theano_op.VectorTimesScalar()(pytensor.tensor.dvector(), pytensor.tensor.dvector())


def test_inputs_are_only_borrowed_and_the_result_owns_its_bytes(mended: Any) -> None:
    x = np.arange(3.0)
    before = inspector.refcount(x)
    result = mended(x, 2.0)
    assert inspector.refcount(x) == before and inspector.refcount(result) == 1
    assert result.flags.owndata and result.base is None
    assert inspector.shares(result, x).overlap is False


def test_borrow_is_sharing_and_an_update_runs_in_the_users_array(pytensor: Any) -> None:
    array = np.ones(3)
    same, copied = pytensor.shared(array, borrow=True), pytensor.shared(array)
    cells = [one.container.storage[0] for one in (same, copied)]
    assert [inspector.shares(cell, array).overlap for cell in cells] == [True, False]
    assert cells[0] is array and same.get_value(borrow=True) is array
    assert inspector.shares(same.get_value(), array).overlap is False
    del cells
    array[0] = 5
    pytensor.function([], [], updates={same: same * 2})()
    assert array[0] == 10, "the caller's array was written"
    assert copied.get_value()[0] == 1


def test_the_generated_c_is_found_beside_the_module(mended: Any, folder: Path) -> None:
    sources = [path.read_text() for path in folder.rglob("mod.cpp")]
    words = ("PyArray_Empty(1, &length", "Py_INCREF(PyArray_DESCR")
    assert any(all(word in source for word in words) for source in sources)
    (row,) = [fact for fact in inspector.inspect(mended).buffer.facts if fact[0].startswith("thunk")]
    assert row[0] == "thunk of VectorTimesScalar" and Path(row[1]).read_text() in sources
    assert type(mended.vm.thunks[0].cthunk).__name__ == "PyCapsule"


APART = """
import json, sys
import numpy as np
import pytensor
import inspector

sys.path[:0] = json.loads(sys.argv[1])
from test_theano_op import compiled

"""
TRACED = """
found = []
with pytensor.config.change_flags(cxx="g++"):
    for loop_in_c in (False, True):
        function = compiled(pytensor, "PyErr_Clear(); Py_INCREF", loop_in_c)
        with inspector.trace("pytensor", grade="deep") as trace:
            assert function(np.arange(3.0), 2.0).tolist() == [0, 2, 4]
        cleared = [one.module for one in trace.conversions if one.function == "PyErr_Clear"]
        found.append([type(function.vm).__name__, cleared, [call.name for call in trace.calls]])
print(json.dumps(found))
"""


def apart(program: str) -> Any:
    """What a program says in a process of its own."""
    folders = [str(Path(__file__).parent), str(Path(specimens.__file__).parent)]
    return json.loads(printed("-c", APART + program, json.dumps(folders)).splitlines()[-1])


def test_a_trace_sees_the_generated_c_and_its_thunk_where_python_runs_the_loop() -> None:
    """pytensor leaves no module of the generated C in sys.modules; a trace runs its thunks one by one.

    In a process of its own: where pytensor was imported without a compiler it has no loop in C.
    """
    python, native = apart(TRACED)
    assert (python[0], native[0]) == ("Loop", "CVM")
    for _, cleared, _ in (python, native):
        assert len(cleared) == 1 and re.fullmatch("m[0-9a-f]{64}", cleared[0])
    assert python[2] == native[2] == ["cutils_ext.cutils_ext.run_cthunk"]


LEAKS = """
def told(found):
    made = [getattr(one.conversion, "function", "") for one in found]
    return [[one.kind, one.object, one.certain, call, one.method] for one, call in zip(found, made)]

found = []
with pytensor.config.change_flags(cxx="g++"):
    x = np.arange(3.0)
    for loop_in_c in (False, True):
        steals, mended = compiled(pytensor, "", loop_in_c), compiled(pytensor, "Py_INCREF", loop_in_c)
        with inspector.leaks("pytensor") as once:
            assert steals(x, 2.0).tolist() == [0, 2, 4]
        with inspector.leaks("pytensor") as honest:
            results = [mended(x, 2.0) for _ in range(9)] + [mended(x[:2], 3.0)]
        runs = inspector.leaks("pytensor").run(lambda: mended(x, 2.0))
        found.append([told(once), told(honest) + told(runs)])
print(json.dumps(found))
"""


def test_leaks_tells_the_stolen_dtype_on_the_first_call_whoever_runs_the_loop() -> None:
    """By default C does, and Python gave it no array: the account of NumPy's own dtypes says it."""
    told = ["borrowed reference stolen", "dtype('float64')", True, "PyArray_Empty"]
    python, native = apart(LEAKS)
    assert python == [[[*told, "cutils_ext.cutils_ext.run_cthunk"]], []]
    assert native == [[[*told, "pytensor.link.c.cvm.CVM.tp_call"]], []]
