"""pytensor: graphs wait, shared variables share or copy, functions keep cells between calls."""

# SPDX-License-Identifier: MIT
import os
import tempfile
from pathlib import Path

import pytest
from asking import Tell, adapter

os.environ.setdefault("PYTENSOR_FLAGS", f"cxx=,compiledir={Path(tempfile.gettempdir()) / 'pytensor'}")
pytestmark = pytest.mark.libraries
pytensor = pytest.importorskip("pytensor", reason="not installed in this room: pytensor")
np, pt = pytest.importorskip("numpy"), pytest.importorskip("pytensor.tensor")


def test_a_graph_is_a_recipe(told: Tell) -> None:
    x = pt.dvector("x")
    y = x * 2
    for variable in (x, y):
        answer = told(variable)
        assert (answer.layers[0].value, answer.waits_for) == ("lazy", "x.eval({...})")
        assert adapter(variable).elements(variable) == ()
    assert adapter(y).names(y)[0][0] == "owner.op" and adapter(x).names(x) == ()


def test_a_shared_variable_that_borrows_holds_the_very_array(told: Tell) -> None:
    a = np.ones(3)
    s = pytensor.shared(a, borrow=True)
    assert adapter(s).holds(s) == (("container.storage[0]", a),)
    assert adapter(s).owns(s) is False
    assert [found.slug for found in told(s).findings] == ["unnoticed-write"]
    assert adapter(s).elements(s)[0].address == a.ctypes.data
    double = pytensor.function([], updates={s: s * 2}, mode=pytensor.compile.mode.Mode("py", "fast_run"))
    double()
    kept = s.get_value(borrow=True)
    assert kept.tolist() == [2, 2, 2]


def test_a_shared_variable_that_copies_owns_its_array(told: Tell) -> None:
    a = np.ones(3)
    s = pytensor.shared(a)
    assert adapter(s).owns(s) is True and told(s).findings == ()
    assert adapter(s).elements(s)[0].address != a.ctypes.data


def test_a_constant_has_its_array(told: Tell) -> None:
    c = pt.constant(np.ones(3))
    ((where, array),) = adapter(c).holds(c)
    assert where == "data" and array.tolist() == [1, 1, 1]
    assert told(c).layers[0].value == "computed"


def test_a_function_keeps_intermediates_only_without_its_gc(told: Tell) -> None:
    from pytensor.compile.mode import Mode
    from pytensor.link.vm import VMLinker

    x = pt.dvector("x")
    kept = {}
    for allow_gc in (True, False):
        mode = Mode(VMLinker(allow_gc=allow_gc, use_cloop=False), None)
        f = pytensor.function([x], (x * 2 + 1).sum(), mode=mode)
        assert f(np.arange(3.0)) == 9
        told(f)
        kept[allow_gc] = [array.tolist() for _, array in adapter(f).parts(f)]
    assert [0, 2, 4] in kept[False] and [0, 2, 4] not in kept[True]


def test_what_a_call_writes_that_is_the_callers(told: Tell) -> None:
    from pytensor import In, Out
    from pytensor.compile.mode import Mode

    x = pt.dvector("x")
    mode = Mode("py", "fast_run")
    plain = pytensor.function([x], x + 1, mode=mode)
    plain(np.ones(3))
    assert told(plain).findings == ()
    writes = pytensor.function([In(x, mutable=True)], x + 1, mode=mode)
    a = np.ones(3)
    result = writes(a)
    assert a.tolist() == [2, 2, 2] and result.tolist() == [2, 2, 2], "what the finding says"
    (found,) = told(writes).findings
    assert (found.slug, "argument x" in found.what) == ("unnoticed-write", True)
    lends = pytensor.function([x], Out(x * 3, borrow=True), mode=mode)
    lends(np.ones(3))
    (found,) = told(lends).findings
    assert "Out(borrow=True)" in found.what
