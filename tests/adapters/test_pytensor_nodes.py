"""pytensor: each node of a call, checked against addresses and against a call without a trace."""

# SPDX-License-Identifier: MIT
import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.facts.nodes import GraphCall
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.libraries
pytensor = pytest.importorskip("pytensor", reason="not installed in this room: pytensor")

BY_NODE, WHOLE = ("cvm", "vm", "c|py", "py", "vm_nogc"), ("c", "numba")


def there(linker: str) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="cannot be installed beside the oldest NumPy")


def compiled(linker: str, **options: Any) -> tuple[Any, Any]:
    """The function of seven nodes: a view that may not leave it, a product with an addition, a sum."""
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    z, s = pt.dmatrix("z"), pytensor.shared(np.ones((50, 50)), "s")
    outputs = [z[:, ::2], pt.dot(z.T, s) + s, (2 * pt.exp(z)).sum()]
    mode = Mode(linker=linker, optimizer="fast_run")
    return pytensor.function([z], outputs, updates=[(s, s * 0.5)], mode=mode, name="f", **options), s


def traced(f: Any, *args: Any) -> tuple[Any, GraphCall]:
    with inspector.trace("pytensor") as t:
        result = f(*args)
    (one,) = t.report.nodes.calls
    return result, one


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", BY_NODE)
def test_each_node_says_what_it_did(linker: str) -> None:
    f, s = compiled(linker)
    z = np.asfortranarray(np.random.default_rng(0).random((50, 50)))
    kept = type(f).__call__
    thunks = f.vm
    wanted = f(z)
    s.set_value(np.ones((50, 50)))
    where = s.get_value(borrow=True).ctypes.data
    got, call = traced(f, z)
    assert type(f).__call__ is kept and f.vm is thunks
    assert all(np.array_equal(a, b) for a, b in zip(wanted, got, strict=True))
    assert (call.name, call.linker, call.unwatched) == ("f", linker.removesuffix("_nogc"), "")
    rows = {row.op.partition("{")[0]: row for row in call.nodes}
    assert [row.number for row in call.nodes] == list(range(len(call.nodes)))
    copy = rows["DeepCopyOp"]
    assert (copy.made, copy.bytes) == ("copied", 10_000) and not np.shares_memory(got[0], z)
    assert (rows["Subtensor"].made, rows["Subtensor"].of, rows["Subtensor"].bytes) == ("view", "z", 0)
    assert (rows["Gemm"].made, rows["Gemm"].bytes) == ("new", 20_000)
    update = next(row for row in call.nodes if row.of == "s" and row.made == "in place")
    assert update.declared and s.get_value(borrow=True).ctypes.data == where
    assert {row.by for row in call.nodes} == {"Python" if linker == "py" else "C"}
    assert all(isinstance(row.ns, int) and row.ns > 0 for row in call.nodes)
    assert np.array_equal(f(z)[1], got[1] * 0.5), "the next call, not traced, uses what this one left"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", WHOLE)
def test_one_compiled_function_is_not_said_to_be_watched(linker: str) -> None:
    there(linker)
    f, _ = compiled(linker)
    z = np.ones((50, 50))
    with inspector.trace("pytensor") as t:
        f(z)
    (call,) = t.report.nodes.calls
    assert "all nodes one function" in call.unwatched
    assert all(isinstance(row.ns, Unknown) and isinstance(row.bytes, Unknown) for row in call.nodes)
    text = " ".join(str(t).split())
    assert "Not watched inside" in text and "declares: view of z" in text
    assert call.doors[0].how == "borrowed, no copy"


@pytest.mark.filterwarnings("ignore")
def test_the_first_screen() -> None:
    f, _ = compiled("cvm")
    z = np.asfortranarray(np.ones((50, 50)))
    with inspector.trace("pytensor") as t:
        for _ in range(3):
            f(z)
    lines = str(t).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    text = " ".join(str(t).split())
    assert "× 3: 20 kB made, 10 kB copied, 20 kB worked in place; 7 nodes" in text
    assert "In(z, borrow=True) and Out(..., borrow=True) makes it a view of z" in text
    assert "No call into native code" not in text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["cvm", "vm", "numba"])
def test_the_advice_at_the_door_leaves_the_copy_out(linker: str) -> None:
    there(linker)
    from pytensor import In, Out
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    z, s, mode = pt.dmatrix("z"), pytensor.shared(np.ones((9, 9)), "s"), Mode(linker=linker)
    f = pytensor.function([z], [z[1:], s[1:]], mode=mode)
    _, call = traced(f, np.ones((9, 9)))
    first, second = (door.do for door in call.doors if door.side == "out")
    assert "In(z, borrow=True)" in first and "In(" not in second
    views = [Out(z[1:], borrow=True), Out(s[1:], borrow=True)]
    g = pytensor.function([In(z, borrow=True)], views, mode=mode)
    given = np.ones((9, 9))
    (one, two), call = traced(g, given)
    assert np.shares_memory(one, given) and np.shares_memory(two, s.get_value(borrow=True))
    assert not any(door.do for door in call.doors)


@pytest.mark.filterwarnings("ignore")
def test_what_is_passed_is_converted_or_borrowed() -> None:
    f, _ = compiled("vm")
    _, call = traced(f, np.ones((50, 50), "f4"))
    assert (call.doors[0].how, call.doors[0].bytes) == ("converted to float64 (50, 50)", 20_000)
    assert call.copied_bytes == 30_000 and "pass a NumPy array of float64" in call.doors[0].do


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["cvm", "vm", "numba"])
def test_an_error_is_the_same_and_everything_is_put_back(linker: str) -> None:
    there(linker)
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    a, b = pt.dvector("a"), pt.dvector("b")
    f = pytensor.function([a, b], pt.dot(a, b), mode=Mode(linker=linker))
    kept, vm = type(f).__call__, f.vm
    with pytest.raises(Exception) as plain:
        f(np.ones(2), np.ones(3))
    with inspector.trace("pytensor"), pytest.raises(type(plain.value)):
        f(np.ones(2), np.ones(3))
    assert type(f).__call__ is kept and f.vm is vm
    assert f(np.ones(2), np.ones(2)) == 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["cvm", "vm"])
@pytest.mark.parametrize(
    "does", ["writes", "views", "leaked", "over-released", "reads past", "reads before", ""]
)
def test_an_op_that_breaks_its_word_is_told(does: str, linker: str) -> None:
    """Told on the first call, with the line of the op's source where only one can do it."""
    import theano_op
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    x, given = pt.dvector("x"), np.arange(5.0)
    kept = [given]
    with pytensor.config.change_flags(cxx="g++"):
        f = pytensor.function([x], theano_op.Careless(does)(x), mode=Mode(linker=linker, optimizer=None))
        call = traced(f, given)[1]
    counted = inspector.refcount(given) - len(kept) - 1
    (node,) = call.nodes
    wanted = {"": [], "views": []}
    refs = {"leaked": 1, "over-released": -1}.get(does, 0)
    assert [(one.did, one.of, one.refs) for one in node.breaches] == wanted.get(does, [(does, "x", refs)])
    assert counted == refs and node.declared == (does != "views") and (given[0] == 1) == (does == "writes")
    path, line = node.source.rsplit(":", 1)
    assert Path(path).read_text().splitlines()[int(line) - 1] == "// Op class Careless"
    if refs:
        (breach,) = node.breaches
        file, at = breach.place.rsplit(":", 1)
        assert f'"{does}"' in Path(file).read_text().splitlines()[int(at) - 1]
        change = ctypes.pythonapi.Py_DecRef if refs > 0 else ctypes.pythonapi.Py_IncRef
        change(ctypes.py_object(given))


LOSSES = [
    (lambda pt, x: x + 1, "b", [100, 300], ("i as int8", "300", "44")),
    (lambda pt, x: x * 2, "f", [0.5, 0.1], ("i as float32", "0.1", repr(float(np.float32(0.1))))),
    (lambda pt, x: x + x, "b", np.array([100, -3], "i1"), ("Add", "200", "-56")),
    (lambda pt, x: 3 + x * x, "h", np.array([300, 2], "i2"), ("Sqr", "90000", str(90000 - (1 << 16)))),
    (lambda pt, x: pt.cast(x, "int8") * 2, "d", np.array([1.5, 2]), ("Cast{int8}", "1.5", "1")),
    (lambda pt, x: pt.cast(x, "int32"), "l", np.array([2**40 + 1, 2]), ("Cast{int32}", str(2**40 + 1), "1")),
    (lambda pt, x: pt.cast(x, "float64"), "l", np.array([5, 2**53 + 1]),
     ("Cast{float64}", str(2**53 + 1), "9007199254740992.0")),
    (lambda pt, x: pt.exp(x) + x, "d", np.array([1.5, 2]), None),
    (lambda pt, x: x + x * 3, "l", np.array([2**60, 2]), None),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("linker", ["cvm", "vm", "c|py", "py", "numba"])
@pytest.mark.parametrize(("expression", "kind", "given", "wanted"), LOSSES)
def test_a_value_that_does_not_fit_is_told_at_the_line_that_calls(
    linker: str, expression: Any, kind: str, given: Any, wanted: tuple[str, ...] | None
) -> None:
    """Before and after; where all nodes are one function, only at the door."""
    there(linker)
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    x = pt.vector("i", dtype=np.dtype(kind).name)
    mode = Mode(linker=linker, optimizer="fast_run")
    f = pytensor.function([x], expression(pt, x), mode=mode, allow_input_downcast=True)
    try:
        with inspector.trace("pytensor") as t:
            result = f(given)
    except OverflowError:  # Python's own numbers refuse it: nothing is lost
        assert linker == "py"
        return
    assert np.array_equal(result, f(given))
    lost = [(one.function, one.before, one.after) for one in t.losses]
    if wanted is None or (linker == "numba" and " as " not in wanted[0]):
        assert [one for one in lost if one[0]] == []
        return
    assert lost == [wanted]
    first, row = t.report.answers.rows[0], next(row for row in t.statements.rows if row.losses)
    assert first.slug == "values-changed" and f"`{wanted[1]}` → `{wanted[2]}`" in first.text
    assert row.site.text == "result = f(given)"


@pytest.mark.filterwarnings("ignore")
def test_an_explicit_cast_to_fewer_digits_is_no_surprise() -> None:
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    x = pt.dvector("x")
    f = pytensor.function([x], pt.cast(x, "float32"), mode=Mode(linker="vm"))
    with inspector.trace("pytensor") as t:
        f(np.array([0.1]))
    assert [one.is_asked_for for one in t.losses] == [True]
    assert not any(one.slug == "values-changed" for one in t.report.answers)


@pytest.mark.filterwarnings("ignore")
def test_the_articles_op_is_told_with_the_line_of_its_template() -> None:
    import theano_op
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    x, y = pt.dvector("x"), pt.dscalar("y")
    with pytensor.config.change_flags(cxx="g++"):
        for first in ("", "Py_INCREF"):
            op = theano_op.VectorTimesScalar(first)
            f = pytensor.function([x, y], op(x, y), mode=Mode(linker="cvm", optimizer=None), name="f")
            with inspector.trace("pytensor") as t:
                f(np.arange(3.0), 2.0)
            said = " ".join(str(t).split())
            assert ("x's dtype that it does not own: theano_op.py:17." in said) == (first == "")


@pytest.mark.filterwarnings("ignore")
def test_the_picture_of_a_graph_has_its_copies_in_red() -> None:
    from inspector.views.theme import css

    f, _ = compiled("cvm")
    with inspector.trace("pytensor") as t:
        f(np.ones((50, 50)))
    svg = t.report.to_html().partition("<svg")[2].partition("</svg>")[0]
    red = css("danger").rpartition("color:")[2]
    boxes = {box.partition("</text>")[0].rpartition(">")[2]: red in box for box in svg.split("<rect")[1:]}
    assert set(boxes) >= {"z", "s"} and len(boxes) == 2 + len(t.report.nodes.calls[0].nodes)
    assert [name.split()[1] for name, is_red in boxes.items() if is_red] == ["DeepCopyOp"]


@pytest.mark.filterwarnings("ignore")
def test_a_lazy_node_decides_by_itself() -> None:
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode
    from pytensor.ifelse import ifelse

    a, c = pt.dvector("a"), pt.iscalar("c")
    f = pytensor.function([c, a], ifelse(c, pt.exp(a), a), mode=Mode(linker="cvm"))
    got, call = traced(f, np.int32(0), np.ones(3))
    assert np.array_equal(got, np.ones(3)) and "lazy" in call.unwatched


@pytest.mark.filterwarnings("ignore")
def test_a_c_loop_that_keeps_memory_is_left_alone() -> None:
    f, _ = compiled("cvm_nogc")
    _, call = traced(f, np.ones((50, 50)))
    assert "keeps memory between its calls" in call.unwatched


@pytest.mark.filterwarnings("ignore")
def test_a_line_of_several_outputs_counts_the_copied_one_and_names_whose_elements_it_has() -> None:
    """It named the function, which is written by its update, and counted all outputs as copied."""
    from pytensor import tensor as pt
    from pytensor.compile.mode import Mode

    z, s = pt.dmatrix("z"), pytensor.shared(np.ones((50, 40)), "s")
    f = pytensor.function([z], [pt.exp(z), z.T], updates=[(s, s * 0.5)], mode=Mode(linker="cvm"))
    given = np.random.default_rng(1).random((60, 70))
    f(given)
    with inspector.trace("pytensor") as t:
        result = f(given)
    assert not np.shares_memory(result[1], given) and (result[1] == given.T).all()
    row = next(one for one in t.report.statements.rows if one.target == "result")
    assert (row.verdict, row.copied_bytes) == (
        "copied",
        given.nbytes,
    ) and row.reason == "the elements of given"
