"""`inspector.trace`: calls, copies and their reasons on real objects; all put back on every way out."""

# SPDX-License-Identifier: MIT
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import events
import numpy as np
import pytest
from refused import refused
from threads import at_once

import inspector
from inspector import _native
from inspector.errors import InspectorError
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def line_of(trace: Any, text: str) -> Any:
    """The call from Python whose source text is this."""
    (found,) = [call for call in trace.calls if call.site.text == text]
    return found


def test_a_list_made_an_array_is_a_copy_of_its_bytes() -> None:
    rows = [float(i) for i in range(1000)]
    with inspector.trace("numpy") as t:
        made = np.array(rows)
    (copy,) = t.copies
    assert (copy.copied_bytes, copy.verdict, copy.function) == (made.nbytes, "copied", "numpy.array")
    assert copy.reason == "a list has no buffer"
    assert copy.site.text == "np.array(rows)"
    assert copy.site.file == __file__
    assert not t.zero_copy and not t.dropped


def test_a_call_that_becomes_hot_is_one_line() -> None:
    """CPython 3.11 has two instructions for a call, and specialises the first of them."""
    a = np.arange(3.0)
    with inspector.trace("numpy") as t:
        for _ in range(50):
            np.asarray(a)
    assert [call.times for call in t.calls if call.site.text == "np.asarray(a)"] == [50]


def test_a_view_crosses_without_a_copy() -> None:
    a = np.arange(1000.0)
    with inspector.trace("numpy") as t:
        np.asarray(a)
        np.frombuffer(a)
        a.reshape(10, 100)
    assert [copy.verdict for copy in t.zero_copy] == ["in place", "shared", "shared"]
    assert [copy.span_bytes for copy in t.zero_copy] == [8000] * 3
    assert t.copies == ()


def test_layout_and_type_are_named_as_reasons() -> None:
    m = np.arange(64.0).reshape(8, 8)
    with inspector.trace("numpy") as t:
        np.ascontiguousarray(m.T)
        m.astype("f4")
        np.concatenate([m, m])
    reasons = {copy.site.text: copy.reason for copy in t.copies}
    assert reasons["np.ascontiguousarray(m.T)"] == "layout changes: Fortran order → C order"
    assert reasons['m.astype("f4")'] == "element type changes: ndarray float64 → ndarray float32"
    assert reasons["np.concatenate([m, m])"] == "2 arrays are joined into one"
    assert {copy.confidence for copy in t.copies} == {"by sample"}


def test_a_strided_view_tells_elements_and_extent() -> None:
    m = np.arange(1000.0)[::2]
    with inspector.trace("numpy") as t:
        m.view()
    (shared,) = t.zero_copy
    assert shared.span_bytes == 499 * 16 + 8
    (span,) = line_of(t, "m.view()").result.spans
    assert (span.logical_bytes, span.contiguous) == (4000, "")


def test_calls_in_calls_are_nested_and_counted() -> None:
    a = np.array([3.0, 1.0, 2.0])
    with inspector.trace("numpy") as t:
        for _ in range(5):
            np.sort(a)
    call = line_of(t, "np.sort(a)")
    assert (call.times, call.failed) == (5, 0)
    assert [inner.name for inner in call.calls][-2:] == ["numpy.ndarray.copy", "numpy.ndarray.sort"]
    assert {inner.times for inner in call.calls} == {5}
    assert not isinstance(call.ns, Unknown) and not isinstance(call.own_ns, Unknown)
    assert call.own_ns <= call.ns
    told = [copy.function for copy in t.fact.copies if copy.verdict != "in place"]
    assert told == ["numpy.ndarray.copy"], "the same bytes are told of once"


def test_an_exception_leaves_everything_as_it_was() -> None:
    with pytest.raises(ValueError, match="inhomogeneous"), inspector.trace("numpy") as t:
        np.array([[1], [2, 3]])
    assert _native.calls_armed() == 0
    assert t.calls[0].failed == 1 and isinstance(t.calls[0].result, Unknown)


def test_threads_are_told_apart() -> None:
    a = np.arange(10.0)
    with inspector.trace("numpy") as t:
        at_once(a.copy)
        a.copy()
    assert len({call.thread for call in t.calls}) == 2


def test_the_subject_is_not_disturbed(fingerprint: Callable[[object], Any]) -> None:
    a = np.arange(100_000.0)
    view = memoryview(a)
    before = fingerprint(a), fingerprint(view)
    with inspector.trace("numpy"):
        np.frombuffer(view)
        np.asarray(a).copy()
    assert (fingerprint(a), fingerprint(view)) == before


def test_one_function_alone() -> None:
    with inspector.trace("numpy.zeros", "numpy.ndarray.copy") as t:
        np.ones(3)
        np.zeros(3).copy()
    assert [call.name for call in t.calls] == ["numpy.zeros", "numpy.ndarray.copy"]


def test_a_decorated_function_is_traced() -> None:
    @inspector.trace("numpy")
    def make(count: int) -> Any:
        """Makes."""
        return np.zeros(count)

    assert make(5).nbytes == 40
    assert (make.__name__, make.__doc__) == ("make", "Makes.")
    assert make.trace.calls[0].name == "numpy.zeros"


@pytest.mark.parametrize("name", ["no_such_module_at_all", "", "numpy..x y"])
def test_a_name_that_fits_nothing_is_refused(name: str) -> None:
    with refused("unknown-module"), inspector.trace(name):
        pass
    assert _native.calls_armed() == 0


def test_a_module_is_given_by_itself() -> None:
    with inspector.trace(np) as t:
        np.zeros(4)
        math.gcd(4, 6)
    assert {call.name for call in t.calls} == {"numpy.zeros"}
    with inspector.no_copy(math):
        math.gcd(4, 6)
    with inspector.leaks(math) as found:
        math.gcd(4, 6)
    assert not found.verdicts


class Lying:
    """No string and no module, whatever it says."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise AssertionError("its own code was run")

    __repr__ = __str__ = lambda self: 1 / 0  # type: ignore[assignment,return-value]


@pytest.mark.parametrize("given", [lambda: 7, lambda: None, lambda: len, Lying, lambda: Lying])
@pytest.mark.parametrize("verb", [inspector.trace, inspector.leaks, inspector.no_copy, inspector.no_leaks])
def test_what_is_no_module_is_refused(verb: Callable[..., object], given: Callable[[], object]) -> None:
    with refused("unknown-module", "is no module"):
        verb(given())


def test_a_decorator_without_parentheses_is_told_so() -> None:
    with pytest.raises(InspectorError) as caught:

        @inspector.trace  # type: ignore[arg-type]
        def decorated() -> None: ...

    assert "@inspector.trace()" in str(caught.value.do)


def test_two_traces_at_once_are_refused() -> None:
    with inspector.trace("numpy"), refused("trace-running"), inspector.trace("numpy"):
        pass
    with inspector.trace("numpy") as t:
        np.zeros(3)
    assert len(t.calls) == 1


def test_a_trace_is_read_after_its_block() -> None:
    with inspector.trace("numpy") as t, refused("trace-not-finished"):
        t.copies
    assert repr(inspector.trace("numpy")) == "<Traced: not finished>"


@pytest.mark.parametrize("grade", ["record", "deep"])
def test_the_gcd_of_the_seed_shows_what_it_parsed_and_built(specimens: ModuleType, grade: Any) -> None:
    sample = specimens.build("gcd_module", events.GCD)
    with inspector.trace("gcd_module", grade=grade) as t:
        assert sample.gcd(35, 42) == 7
    (call,) = t.calls
    parsed, built = ((one.function, one.format, one.values, one.result) for one in call.conversions)
    assert parsed[:3] == ("PyArg_ParseTuple", '"ii"', ("35", "42"))
    assert built == ("Py_BuildValue", '"i"', ("7",), "new")
    assert [value.text for value in call.arguments] == ["35", "42"]
    assert 'PyArg_ParseTuple "ii" → 35, 42' in t.tree() and 'Py_BuildValue "i" → 7' in t.tree()
    assert _native.calls_armed() == 0 and not any(slot[6] for slot in _native.got_slots())


def test_a_function_that_its_line_does_not_name_is_named() -> None:
    a, copied = np.arange(1000.0), np.ndarray.copy
    with inspector.trace("numpy") as t:
        copied(a)
        a.copy()
        a + 1
    drawn = " ".join(t.tree().split())
    assert "copied(a) numpy.ndarray.copy ndarray 8.0 kB" in drawn  # in the calls
    assert "copied(a) numpy.ndarray.copy ndarray float64" in drawn  # in the copies
    assert "a.copy() ndarray 8.0 kB" in drawn
    assert "a + 1 numpy.add ndarray 8.0 kB, 1" in drawn


def test_out_is_advised_only_where_the_function_has_it() -> None:
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    m, table = np.ones((500, 2)), pa.table({"a": np.arange(5000), "b": np.arange(5000)})
    with inspector.trace("numpy", "pyarrow", "pandas") as found:
        np.concatenate([m, m])
        table.to_pandas()
    avoid = {copy.site.text: copy.avoid for copy in found.copies if copy.span_bytes > 8000}
    assert "out=" in avoid["np.concatenate([m, m])"] and "out=" not in avoid["table.to_pandas()"]
    assert np.concatenate([m, m], out=np.empty((1000, 2))).all()
