"""Elements that conversions do not keep: told by the trace, counted here again by plain Python."""

# SPDX-License-Identifier: MIT
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.facts.conversion import Trace
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire

pytestmark = [pytest.mark.core, pytest.mark.quick]
NAN = float("nan")


@pytest.fixture(autouse=True)
def numpy_says_nothing() -> Iterator[None]:
    """NumPy warns of some of these casts itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def differing(source: Any, result: Any) -> list[int]:
    """The second method: numbers of the elements that Python finds different; a NaN is like a NaN."""
    before = source.ravel().tolist() if isinstance(source, np.ndarray) else list(source)
    after = np.asarray(result)
    after = after.astype(str) if after.dtype.kind == "S" and isinstance(before[0], str) else after
    pairs = zip(before, after.ravel().tolist(), strict=True)
    return [i for i, (b, a) in enumerate(pairs) if not (b == a or (b != b and a != a))]


def i8(*values: int) -> Any:
    return np.array(values, "i8")


def f8(*values: float) -> Any:
    return np.array(values, "f8")


def objects(*values: Any) -> Any:
    return np.array(values, object)


LOSSY: dict[str, tuple[Any, Callable[[Any], Any], str]] = {
    "2**40 as int32": (i8(1, 2**40, 3), lambda a: a.astype("i4"), "overflow"),
    "300 as uint8": (i8(300, 1), lambda a: a.astype("u1"), "overflow"),
    "-1 as uint8": (np.array([5, -1, -2], "i1"), lambda a: a.astype("u1"), "sign"),
    "200 as int8": (np.array([200, 1], "u1"), lambda a: a.astype("i1"), "sign"),
    "int64 as float64": (i8(2**53 + 1, 2**53), lambda a: a.astype("f8"), "precision"),
    "int32 as float32": (np.array([2**24 + 1, 7], "i4"), lambda a: a.astype("f4"), "precision"),
    "float64 as float32": (f8(0.5, 0.1), lambda a: a.astype("f4"), "precision"),
    "1e300 as float32": (f8(1e300, 1.0), lambda a: a.astype("f4"), "overflow"),
    "1.7 as int": (f8(1.7, 2.0, -1.5), lambda a: a.astype("i8"), "fraction"),
    "1e30 as int": (f8(1e30, 2.0), lambda a: a.astype("i8"), "overflow"),
    "a float as a byte": (f8(256.0, -300.0, 70000.0, 3.0), lambda a: a.astype("u1"), "overflow"),
    "a float as a short": (f8(2.0, 40000.0 * 3, -1e9), lambda a: a.astype("i2"), "overflow"),
    "a negative float as a byte": (f8(-1.0, 3.0), lambda a: a.astype("u1"), "sign"),
    "float64 as float16": (f8(0.5, 0.1, 1e-8), lambda a: a.astype("f2"), "precision"),
    "70000 as float16": (f8(70000.0, 65504.0, -65520.0), lambda a: a.astype("f2"), "overflow"),
    "float16 as int": (np.array([1.5, 2.0], "f2"), lambda a: a.astype("i4"), "fraction"),
    "nan as int": (f8(2.0, NAN), lambda a: a.astype("i4"), "null"),
    "None as False": (objects(None, 1, 0), lambda a: a.astype(bool), "null"),
    "strided": (np.arange(2**31 - 4, 2**31 + 4)[::2], lambda a: a.astype("i4"), "sign"),
    "transposed": (i8(1, 2**40, 3, 2**41).reshape(2, 2).T, lambda a: a.astype("i4"), "overflow"),
    "NUL at the end": (["a\0", "b"], lambda a: np.array(a), "embedded NUL"),
    "NUL in bytes": ([b"ab\0\0", b"b"], lambda a: np.array(a), "embedded NUL"),
    "a text cut": (["abcdef", "b"], lambda a: np.array(a, "U3"), "cut"),
    "U to S": (np.array(["abcdef", "b"]), lambda a: a.astype("S3"), "cut"),
    "complex128 as float64": (np.array([3, 1 + 2j, 0.5]), lambda a: a.astype("f8"), "imaginary"),
    "complex64 as int32": (np.array([3 - 1j, 2], "c8"), lambda a: a.astype("i4"), "imaginary"),
    "a list of ints and floats": ([2**53 + 1, 1.5], lambda a: np.array(a), "precision"),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", LOSSY)
def test_what_is_lost_is_counted_and_shown(name: str) -> None:
    source, operation, rule = LOSSY[name]
    with inspector.trace("numpy") as t:
        result = operation(source)
    expected = differing(source, result)
    (loss,) = [one for one in t.losses if one.rule == rule]
    assert (loss.lost, loss.first, loss.elements) == (len(expected), expected[0], np.size(source))
    assert (loss.confidence, loss.compared) == ("certain", loss.elements)
    before = source.ravel().tolist() if isinstance(source, np.ndarray) else source
    changed = [one[expected[0]] for one in (before, np.asarray(result).ravel().tolist())]
    assert [loss.before, loss.after] == [repr(one).removeprefix("b") for one in changed]
    assert f"{loss.before} → {loss.after}" in " ".join(t.tree().split())


@pytest.mark.parametrize(
    ("operation", "source"),
    [
        (lambda a: a.astype("f8"), i8(1, 2**53, -(2**53))),
        (lambda a: a.astype("i4"), f8(1.0, -2.0)),
        (lambda a: a.astype("f4"), f8(0.5, NAN, 2.0**100)),
        (lambda a: a.astype("i8"), np.array([1, 255], "u1")),
        (lambda a: a.astype(bool), i8(0, 1, 7)),
        (lambda a: np.array(a), ["a", "b\0c"]),
        (lambda a: a.astype("f4"), np.array([0.1, 65504.0, 6e-8, NAN], "f2")),
        (lambda a: a.astype("f2"), f8(2048.0, -0.5, 2.0**-24, NAN)),
        (lambda a: np.add(a, 2**40), i8(1, 2)),
        (lambda a: np.argsort(a), f8(1.7, 0.2)),
        (lambda a: np.zeros_like(a, "i4"), f8(0.5, 0.25)),
        (lambda a: np.isnan(a), f8(NAN, 0.0)),
        (lambda a: np.cumsum(a), i8(2**53 + 1)),
        (lambda a: a.copy(), f8(0.1)),
        (lambda a: np.floor(a), f8(1.7)),
        (lambda a: np.abs(a), np.array([3 + 4j, 2j])),
        (lambda a: a.real.copy(), np.array([3 + 4j, 2j])),
        (lambda a: a.argmax(), f8(0.7)),
    ],
)
def test_what_is_kept_or_computed_is_no_loss(operation: Callable[[Any], Any], source: Any) -> None:
    with inspector.trace("numpy") as t:
        operation(source)
    assert t.losses == ()
    assert "no value was seen to change" in t.tree()


def test_a_destination_that_was_given() -> None:
    made = np.zeros(2, "i4")
    with inspector.trace("numpy") as t:
        np.copyto(made, i8(2**40 + 5, 1), casting="unsafe")
    (loss,) = t.losses
    assert (loss.rule, loss.before, loss.after) == ("overflow", str(2**40 + 5), "5")


def test_a_large_array_is_sampled_and_says_so() -> None:
    big = np.arange(100_000) * 2**33
    with inspector.trace("numpy") as t:
        big.astype("i4")
    (loss,) = t.losses
    assert loss.confidence == "by sample"
    assert loss.compared < loss.elements == 100_000
    assert f"in a sample of {loss.compared:,} of 100,000" in " ".join(t.tree().split())


def test_it_is_told_once_by_the_call_that_converted() -> None:
    pd = pytest.importorskip("pandas", reason="cannot be installed")
    with inspector.trace("numpy", "pandas") as t:
        pd.Series([2**53 + 1, None])
    (loss,) = t.losses
    assert (loss.rule, loss.before, loss.after) == ("precision", str(2**53 + 1), repr(float(2**53)))
    with inspector.trace("numpy", "pandas") as t:  # read as double and as int, and kept
        kept = pd.Series([2**53 + 1, 5])
    assert kept.dtype == "int64" and kept[0] == 2**53 + 1 and t.losses == ()
    assert any(one.function == "PyFloat_AsDouble" for one in conversions(t.calls)), "nothing was tried"


def conversions(calls: Any) -> Iterator[Any]:
    for call in calls:
        yield from call.conversions
        yield from conversions(call.calls)


def test_nulls_of_a_column_are_not_taken_for_values() -> None:
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    column = pa.array([2**53 + 1, None, 3])
    with inspector.trace("pyarrow") as t:
        column.to_numpy(zero_copy_only=False)
    assert [(one.rule, one.lost, one.elements) for one in t.losses] == [("precision", 1, 3)]
    with inspector.trace("pyarrow") as t:  # a null that a column keeps
        column = pa.array([1, None, 3])
    assert column.null_count == 1 and t.losses == ()


@pytest.mark.parametrize("cast", ["compute.cast", "Array.cast"])
def test_a_dispatcher_converts_where_it_is_asked_to(cast: str) -> None:
    compute = pytest.importorskip("pyarrow.compute", reason="cannot be installed")
    pa = pytest.importorskip("pyarrow", reason="cannot be installed")
    column = pa.array([1.5, 2.0, -3.5])
    convert = pa.Array.cast if cast == "Array.cast" else compute.cast
    with inspector.trace("pyarrow") as t:
        convert(column, pa.int32(), safe=False)
        compute.call_function("floor", [column])
    assert [(one.rule, one.lost, one.before, one.after) for one in t.losses] == [("fraction", 2, "1.5", "1")]


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.hstack, np.vstack])
def test_arrays_that_are_joined(join: Callable[[Any], Any]) -> None:
    whole, real = i8(3, 2**53 + 1), f8(0.5, 1.5)
    with inspector.trace("numpy") as t:
        result = join([real, whole])
    assert result.dtype == "f8"
    assert [(one.rule, one.lost, one.first, one.elements) for one in t.losses] == [("precision", 1, 1, 2)]
    assert t.losses[0].before == str(2**53 + 1)


def test_arrays_that_are_joined_side_by_side_are_not_compared_wrongly() -> None:
    whole, real = i8(3, 2**53, 5, 6).reshape(2, 2), f8(0.5, 1.5, 2.5, 4).reshape(2, 2)
    with inspector.trace("numpy") as t:
        np.concatenate([real, whole], axis=1)
        np.concatenate([real, whole])
    assert t.losses == ()


@pytest.mark.parametrize(
    ("source", "kind"),
    [(np.arange(1000) * 2**33, "i4"), (np.arange(1000.0), "u1"), (np.arange(1000) * 100.1, "f2")],
    ids=["int", "float", "half"],
)
def test_a_lossy_copy_is_still_a_copy(source: Any, kind: str) -> None:
    with inspector.trace("numpy") as t:
        source.astype(kind)
    assert [copy.verdict for copy in t.fact.copies] == ["copied"]


def test_losses_survive_a_file_and_are_unknown_without_copies(tmp_path: Any) -> None:
    a = i8(2**40)
    with inspector.trace("numpy") as t:
        a.astype("i4")
    t.save(tmp_path / "trace.npz")
    assert inspector.load(tmp_path / "trace.npz").losses == t.losses
    assert from_wire(Trace, to_wire(t.fact)) == t.fact
    with inspector.trace("numpy", copies=False) as without:
        a.astype("i4")
    assert isinstance(without.losses, Unknown)


def test_nothing_of_the_objects_runs(fingerprint: Any) -> None:
    class Loud(float):
        def __float__(self) -> float:
            raise AssertionError("ran")

        __index__ = __eq__ = __hash__ = __float__  # type: ignore[assignment]

    a = objects(Loud(1.5), 2)
    before = fingerprint(a)
    with inspector.trace("numpy") as t:
        a.copy()
        a.astype(object)
    assert t.losses == () and fingerprint(a) == before
