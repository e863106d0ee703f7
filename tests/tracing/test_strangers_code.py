"""Verdicts on strangers' statements that were false or missing once; the truth of each is known otherwise."""

# SPDX-License-Identifier: MIT
import ctypes
from typing import Any

import numpy as np
import one_line
import pytest

LOTS = "x = np.random.default_rng(5).random((100, 60))"


def row(setup: str, line: str, **names: Any) -> Any:
    """The row of a statement that binds r."""
    return one_line.row(one_line.traced(setup, line, {"np": np, **names}))


@pytest.mark.core
@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ("r = x.astype('>f8')", "copied"),
        ("r = x.astype('>f4')", "copied"),
        ("r = np.empty_like(x)", "new"),
        ("r = np.zeros_like(x)", "new"),
        ("r = np.rec.fromarrays([x[:, 0], x[:, 1]], names='a,b')", "copied"),
        ("r = x.reshape(20, 100, 3)[..., ::-1] * 1.5", "new values"),
    ],
)
def test_of_numpy(line: str, verdict: str) -> None:
    assert row(LOTS, line).verdict == verdict


@pytest.mark.core
def test_channels_that_stand_in_another_order_are_copied() -> None:
    setup = "x = np.random.default_rng(5).integers(0, 255, (40, 30, 3), dtype='u1')"
    setup += "; turn = lambda a: a[..., ::-1].copy()"
    assert row(setup, "r = list(map(turn, [x]))[0]").verdict == "copied"


@pytest.mark.core
def test_bytes_read_as_another_type_lose_nothing() -> None:
    for line in ("r = x.view('i4')", "r = x.copy().view('i4')"):
        assert row("x = np.array([5, 2**31], 'u4')", line).losses == (), line
    assert row("x = np.array([5, 2**31], 'u4')", "r = x.astype('i4')").losses


@pytest.mark.core
def test_a_name_bound_anew_is_no_view_of_itself() -> None:
    line = "x = np.zeros(10); x = x + 1; x = x[::-1]; x = x.copy()"
    rows = one_line.traced("", line.replace("; ", "\n"), {"np": np}).statements.rows
    assert rows[-1].verdict == "copied" and rows[-1].bytes == 80


@pytest.mark.core
def test_what_an_object_keeps_is_told_by_the_path_that_leads_there() -> None:
    setup = f"{LOTS}\nclass Kept:\n    pass\nc = Kept(); c.rows = {{'a': x.copy()}}"
    setup += "; c.give = lambda: c.rows['a'][1:]"
    found = row(setup, "r = c.give()")
    assert (found.verdict, found.of) == ("view", "c.rows")


@pytest.mark.core
def test_one_segment_of_shared_memory_mapped_twice_is_no_new_memory() -> None:
    from multiprocessing.shared_memory import SharedMemory

    one = SharedMemory(create=True, size=1 << 16)
    names = {"SharedMemory": SharedMemory, "s": one}
    t = one_line.traced("", "r = SharedMemory(name=s.name)", names)
    found = [each for each in t.statements.rows if each.target == "r"]
    assert [(each.verdict, each.of, each.bytes) for each in found] == [("view", "s", 1 << 16)]
    names["r"].close()  # type: ignore[attr-defined]
    one.close()
    one.unlink()


@pytest.mark.core
def test_a_pointer_is_no_new_values() -> None:
    setup = "c = (ctypes.c_double * 3000)()"
    t = one_line.traced(setup, "r = ctypes.cast(c, ctypes.POINTER(ctypes.c_double))", {"ctypes": ctypes})
    assert [one.verdict for one in t.statements.rows if one.bytes] == []


@pytest.mark.core
def test_a_part_that_becomes_numbers_of_python_is_copied() -> None:
    setup = "import array, struct; a = array.array('d', range(2000)); c = (ctypes.c_double * 2000)(*a)"
    for line, size, kind in (
        ("r = struct.unpack_from('100d', a, 80)", 800, "float"),
        ("r = c[5:105]", 800, "float"),
        ("r = list(struct.iter_unpack('d', a))", 16_000, "tuple"),
    ):
        found = row(setup, line, ctypes=ctypes)
        assert (found.verdict, found.bytes) == ("copied", size) and kind in found.reason, line


@pytest.mark.core
def test_wrapping_is_told_of_functions_and_of_numbers_written_there() -> None:
    setup = "x = np.array([200, 100], 'u1')"
    for line in ("r = np.add(x, x)", "r = np.array([200, 9], 'u1') + np.array([100, 9], 'u1')"):
        assert [one.rule for one in row(setup, line).losses] == ["wrapped"], line
    assert row(setup, "r = np.add(x, 1)").losses == ()


@pytest.mark.core
def test_variables_of_a_comprehension_are_none_of_the_statement() -> None:
    found = row(f"{LOTS}; v = x[0]", "r = np.fromiter((v for v in x[0]), float)")
    assert (found.verdict, found.of) == ("copied", "x")


@pytest.mark.libraries
def test_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    setup = "d = pd.DataFrame({'x': np.random.default_rng(5).random(5000), 'i': np.arange(5000)})"
    assert row(setup, "r = d.to_records()", pd=pd).verdict == "copied"
    assert "values" in row(f"{setup}; d['x'] += 1", "r = d.to_dict('list')", pd=pd).reason


@pytest.mark.libraries
def test_of_torch() -> None:
    torch = pytest.importorskip("torch")
    found = row("s = torch.rand(50, 60).relu().sub(0.5).relu().to_sparse()", "r = s.to_dense()", torch=torch)
    assert found.verdict == "copied"


@pytest.mark.libraries
def test_of_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    setup = "t = pa.table({'x': np.random.default_rng(5).random(5000), 's': ['a'] * 5000})"
    line = "r = t.cast(pa.schema([('x', 'float32'), ('s', 'string')]))"
    rows = [one for one in one_line.traced(setup, line, {"np": np, "pa": pa}).statements.rows if one.target]
    assert [one.verdict for one in rows] == ["view", "copied"]


@pytest.mark.libraries
def test_of_files_of_arrays(tmp_path: Any) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        setup = f"{LOTS}; b = np.empty((100, 60))"
        names = {"d": file.create_dataset("x", data=np.ones((100, 60)))}
        for line, size in (("r = d[:10]", 4800), ("d[0] = x[1]", 480), ("d.read_direct(b)", 48_000)):
            found = row(setup, line, **names)
            assert (found.verdict, found.bytes) == ("copied", size), line


@pytest.mark.libraries
def test_a_store_of_zarr_may_be_memory() -> None:
    zarr = pytest.importorskip("zarr")
    found = row("", "r = z[:10]", z=zarr.ones((100, 60), dtype="f8"))
    assert (found.verdict, found.of) == ("copied", "the store of z")


@pytest.mark.newest  # JAX 0.4.30 gives no address of its arrays that is safe to ask for
def test_a_cast_of_jax_loses_fractions() -> None:
    jnp = pytest.importorskip("jax.numpy")
    names = {"x": jnp.asarray(np.linspace(0.5, 7, 500)), "wait": lambda y: y.block_until_ready()}
    lines = "r = x.astype('int32')\nwait(r)\nr = x.astype('int32'); wait(r)"
    assert any(one.losses for one in one_line.traced("", lines, names).statements.rows)


@pytest.mark.libraries
def test_copies_within_a_class_with_a_metaclass_are_of_its_library() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    setup = "x = np.random.default_rng(5).random((1000, 20))"
    found = row(setup, "r = PCA(2).fit_transform(x)", PCA=decomposition.PCA)
    assert {one.library for one in found.inside} <= {"sklearn"}
