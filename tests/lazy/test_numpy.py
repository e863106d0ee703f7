"""NumPy and a lazy vector: what stays lazy (docs/reference/lazy.md), and the same results."""

# SPDX-License-Identifier: MIT
import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from refused import refused
from soak import rounds

import inspector
from inspector import _native, lazy
from inspector.lazy import check_lazy

pytestmark = pytest.mark.core

X = np.random.default_rng(3).standard_normal(40_000)
W = np.linspace(0, 1, 40_000)

LAZY = (
    "len(v)", "repr(v)", "v.shape", "np.shape(v)", "np.size(v)", "np.ndim(v)", "v[7]", "v[:5]", "v[::-3]",
    "v[[1, -1]]", "v[W > 0.9]", "sum(v)", "3.5 in v", "v.tolist()", "np.sum(v)", "np.mean(v)", "np.max(v)",
    "np.min(v)", "np.std(v)", "np.std(v, ddof=1)", "np.var(v)", "np.argmax(v)", "np.argmin(v)", "np.any(v)",
    "np.all(v)", "np.mean(v, axis=0)", "np.dot(v, W)", "np.isin(v, [0.0, 2.0, 1.5])",
    "np.isin(v, np.array([0.0, 2.0]), invert=True)", "v.astype('f4')", "v.astype(bool)", "v.astype(v.dtype)",
    "np.histogram(v, 7)[0]", "np.histogram(v, bins=7, range=(0.0, 2.0))[0]", "np.histogram(v, [0, 1, 2])[0]",
    "abs(v)", "np.abs(v)", "np.sqrt(v)", "np.isnan(v)", "-v", "v + 1", "2 / v", "v * W", "W * v", "v + v",
    "v > 1", "v == v", "np.maximum(v, np.float64(0.5))", "copy.copy(v)",
)  # fmt: skip
"""Expressions of a vector v that leave it lazy."""
MATERIALIZES = (
    "np.sort(v)", "np.argsort(v)", "np.median(v)", "np.unique(v)", "np.cumsum(v)", "np.asarray(v)",
    "np.concatenate([v, v])", "np.stack((v, v))", "np.where(v > 1, v, 0)", "np.linalg.norm(v)",
    "np.add.reduce(v)", "memoryview(v)", "bytes(v)", "np.sqrt(v, out=np.empty(len(v)))",
    "np.sum(v, dtype='f4')", "np.modf(v)", "v + np.ones((2, 1))", "np.add(v, 1, dtype='f8')", "v[None]",
    "np.from_dlpack(v)",
)  # fmt: skip


def of(v, expression):
    """Its value where v is this vector."""
    return eval(expression, globals(), {"v": v})


def plain(value):
    """A result as an array: lazy ones are materialized."""
    return tuple(map(plain, value)) if type(value) is tuple else np.asarray(value)


def close(left, right):
    left, right = plain(left), plain(right)
    if type(left) is tuple:
        return len(left) == len(right) and all(map(close, left, right))
    if left.dtype.kind in "US":
        return True
    alike = left.dtype == right.dtype and left.shape == right.shape
    return alike and np.allclose(left, right, 1e-13, equal_nan=True)


@pytest.mark.parametrize("name", LAZY)
def test_stays_lazy_and_is_what_numpy_says(name):
    vector = lazy.abs(X)
    result, truth = of(vector, name), of(np.abs(X), name)
    assert vector.state == "lazy" and vector.data2 is None, "the vector itself"
    if isinstance(result, lazy.Vector):
        assert result.state == "lazy"
    assert close(result, truth)


@pytest.mark.parametrize("name", MATERIALIZES)
def test_materializes_and_is_what_numpy_says(name):
    vector = lazy.abs(X)
    result = of(vector, name)
    assert vector.state == "materialized" and len(vector.events) == 1
    assert close(result, of(np.abs(X), name)) if name not in ("memoryview(v)", "bytes(v)") else result


@pytest.mark.parametrize("name", LAZY)
def test_a_materialized_vector_answers_the_same(name):
    vector = lazy.abs(X).materialize()
    assert close(of(vector, name), of(np.abs(X), name))


@pytest.mark.quick
@settings(max_examples=rounds(120, 1200), deadline=None)
@given(
    x=hnp.arrays(st.sampled_from(["?", "i1", "u2", "i8", "f4", "f8"]), st.integers(1, 40)),
    name=st.sampled_from(["sum", "mean", "max", "min", "argmax", "argmin", "any", "all"]),
)
def test_reductions_of_every_kind(x, name):
    """The dtype is NumPy's too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result, truth = getattr(np, name)(lazy.abs(x)), getattr(np, name)(np.abs(x))
        assert type(result) is type(truth)
        big = name in ("sum", "mean") and x.dtype.kind == "f"
        tolerance = 1e-4 if x.dtype == "f4" else 1e-10
        huge = big and not np.abs(x.astype("f8")).sum() < 1e30
        assert huge or np.isclose(result, truth, rtol=tolerance, equal_nan=True)


@pytest.mark.parametrize(
    ("f", "dtypes"),
    [(np.isnan, {"f8": "?"}), (np.sqrt, {"i4": "f8", "f4": "f4", "i1": None}), (np.sign, {"i2": "i2"})],
)
def test_ufunc_dtypes_are_the_ufuncs(f, dtypes):
    for kind, expected in dtypes.items():
        x = np.ones(3, kind)
        result = f(lazy.abs(x))
        truth = f(x).dtype
        assert np.asarray(result).dtype == truth and (expected is None or truth == np.dtype(expected))


def test_array_protocol_follows_numpy_2():
    v = lazy.abs(X)
    with pytest.raises(ValueError, match="without computing"):
        v.__array__(copy=False)
    assert v.state == "lazy"
    view = v.__array__()
    assert not view.flags.writeable and view.ctypes.data == v.dataptr()
    assert v.__array__(copy=False).ctypes.data == v.dataptr()
    own = v.__array__(copy=True)
    assert own.flags.writeable and own.ctypes.data != v.dataptr()
    assert v.__array__("f4").dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        v.__array__("f4", copy=False)


def test_mean_of_nothing_warns_as_numpys():
    with pytest.warns(RuntimeWarning, match="empty"):
        assert np.isnan(np.mean(lazy.abs(np.empty(0))))
    with pytest.raises(ValueError):
        np.max(lazy.abs(np.empty(0)))


@pytest.mark.quick
def test_a_lazy_vector_is_not_written_to():
    v = lazy.abs(X)
    with pytest.raises(TypeError, match="out="):
        np.sqrt(W, out=v)
    with pytest.raises(TypeError):
        v[0] = 1
    assert v.state == "lazy"


def test_shared_inputs_do_not_grow_without_end():
    """v = v + v, fifty times: the 2**50 ways down are cut by materializing in between."""
    v = lazy.abs(np.ones(10))
    for _ in range(50):
        v = v + v
    assert v[3] == 2.0**50
    assert len(v.inspect().stack) <= 64


@pytest.mark.quick
def test_composition_stays_lazy():
    z = lazy.abs(lazy.abs(np.array([-1.0, 2, -3])))
    assert np.mean(z) == 2 and z.state == z.data1.state == "lazy"
    m = np.sqrt(lazy.map(lambda v: v * v, z, dtype="f8"))
    assert m.tolist() == [1, 2, 3] and m.data1.state == "lazy"


def test_sequence_methods():
    v = lazy.abs(np.array([-1.0, 2, -1]))
    assert (v.count(1.0), v.index(2.0), list(reversed(v)), 7.0 in v) == (2, 1, [1, 2, 1], False)
    with pytest.raises(ValueError):
        v.index(9)
    assert v.extract_subset([2, -1, 0]).tolist() == [1, 1, 1] and v.state == "lazy"
    with pytest.raises(IndexError):
        v.extract_subset([3])


def test_foreign_array_types_are_left_to_answer():
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "other"

    assert np.concatenate([lazy.abs(X), Other()]) == "other"


def test_a_recursive_container_ends():
    assert np.block([[lazy.abs(np.ones(2)), lazy.abs(np.ones(1))]]).tolist() == [[1, 1, 1]]


def test_the_event_says_who():
    v = lazy.abs(X)
    np.sort(v)
    (event,) = v.inspect().events
    assert (event.kind, event.by, event.bytes) == ("materialize", "np.sort", X.nbytes)
    assert event.function == "test_the_event_says_who" and event.file == __file__ and event.ns > 0
    assert inspector.materialization(v).materialized_by.startswith("np.sort")

    def asks(vector):
        return memoryview(vector)

    v = lazy.abs(X)
    asks(v).release()
    (event,) = v.inspect().events
    assert event.by == "memoryview" and event.function.endswith("asks")
    v = lazy.abs(X)
    np.asarray(v)
    assert v.inspect().events[0].by == "np.asarray"


def test_events_are_bounded():
    v = lazy.arange(40 * _native.LAZY_BLOCK_BYTES // 8)
    for block in range(20):
        v.materialize(block * 16384, block * 16384 + 1)
    fact = v.inspect()
    assert len(fact.events) == 16 and fact.events_dropped == 4 and fact.stack[0].blocks_done == 20


def test_isin_keeps_its_own_values_and_astype_the_kinds_there_are():
    values = np.array([1.0, 2.0])
    found = np.isin(lazy.abs(np.array([-1.0, 5.0, 2.0])), values)
    values[:] = 0
    assert found.tolist() == [True, False, True]
    assert copy.copy(found).tolist() == found.tolist()
    assert pickle.loads(pickle.dumps(found)).tolist() == found.tolist()
    assert check_lazy(found).ok and check_lazy(lazy.arange(5).astype("f4")).ok
    with refused("lazy-kind"):
        lazy.arange(5).astype("U3")
