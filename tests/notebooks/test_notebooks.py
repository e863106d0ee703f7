"""Every tutorial runs, is committed as it ran, and reads well as a page without a network."""

# SPDX-License-Identifier: MIT
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
ROOMS = {
    "10_reticulate.ipynb": pytest.mark.r,
    "30_torch_extension.ipynb": pytest.mark.newest,
    "70_cluster.ipynb": pytest.mark.newest,
}
"""Those that need what only one room has."""
CARDS = {"10_reticulate.ipynb": 4, "40_embedding_host.ipynb": 6, "60_your_own_extension.ipynb": 7}
"""Fewer than the eight of the others: R prints most of its own; one extension is looked at."""
SECONDS = 300
"""For a cell, on a busy machine: gdb reads all of torch's symbols in one."""
SAYS = {
    "10_reticulate.ipynb": (r"py_to_r\(.*convert = TRUE", r"after R.s gc +1"),
    "20_lazy_vectors.ipynb": (r"10,000,000 +np.abs\(x\).mean\(\) +[\d.]+ µs +np.mean\(lazy.abs\(x\)\)",),
    "30_torch_extension.ipynb": (
        r"matched=addcmul\(Tensor input, Number\s+value, Tensor\s+tensor1.*deprecated #0\)",
        r"at::_ops::addcmul::ca.*\n.*torch::autograd::THPV.*\n(.*plumbing\n)?.*Py ",
        r"another thread went on during the product: True",
    ),
    "40_embedding_host.ipynb": (
        r"1 call without the GIL, 3 calls lost a value",
        r"2 named, 1 not stored anywhere",
    ),
    "50_c_op.ipynb": (
        r"calls into C: 10 one by one, 1 compiled together",
        r"1000 numbers +ten calls +[\d.]+ µs +one call +[\d.]+ µs +crossing is +\d+% of ten",
    ),
    "60_your_own_extension.ipynb": (
        # an old word in a block of the kernel's may hold the address of one: that one counts as kept
        r"runs loses a reference [23] times: the list that Py_BuildValue makes in\s+cell:11 is never.*"
        r"\n 11 .*\n 12 .*takes its own; yours stays\n +\+ +Py_DECREF\(run\); +missing",
        r"An ndarray that runlib.tail made shows memory that was freed in array_dealloc.\n 30 .*makes the",
    ),
    "80_step_into_c.ipynb": (
        r"PyArray_MatrixProduct2",
        r"▸ 6 +if \(values\[i\] < low\)",
        r"low +0 +double",
        r"1  2 → 7 .*\n +C +largest",
    ),
    "80_a_process_that_grows.ipynb": (
        r"dict +service\.seen\n",
        r"MB more in blocks of C code,\s+which no Python object",
        r"loses \d+ blocks? of 40000 B that malloc gave in cell:5",
        r"MB more free memory that\s+Python.s allocator keeps",
    ),
}
"""What a run must print, of what no other test says."""


def codes(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds(cell) -> list[str]:
    """What a cell put out: the type of each output and the forms it has that a page draws."""
    outputs = [(output.output_type, output.get("data", {})) for output in cell.outputs]
    return [
        f"{kind}: {', '.join(sorted(form for form in data if form.startswith('text/')))}"
        for kind, data in outputs
        if kind != "stream" and data.get("text/html") != ""  # where a bar was, on a busy machine
    ]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture
def committed(path):
    import nbformat  # not everywhere the file is collected

    return nbformat.read(path, as_version=4)


def printed(notebook) -> str:
    """Everything its cells put out, as text."""
    outputs = [output for cell in codes(notebook) for output in cell.outputs]
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs)


def test_there_is_a_start() -> None:
    assert [path.name for path in NOTEBOOKS][:1] == ["00_start.ipynb"]


def test_it_is_committed_as_it_ran(committed) -> None:
    import nbformat

    nbformat.validate(committed)
    assert committed.cells[0].source.startswith("# ")
    assert [cell.execution_count for cell in codes(committed)] == list(range(1, len(codes(committed)) + 1))
    assert "widgets" not in committed.metadata
    assert not [cell for cell in codes(committed) if any("error" in kind for kind in kinds(cell))]
    forms = [form for cell in codes(committed) for output in cell.outputs for form in output.get("data", {})]
    assert not [form for form in forms if form.startswith("application/")], "no page draws it"
    assert not re.search(r"/root/|/home/|/work/|/tmp/", nbformat.writes(committed))


def test_it_asks_the_reader_and_checks_the_answer(committed) -> None:
    import lessons

    asked = [cell for cell in codes(committed) if lessons.tagged(cell, "now-you")]
    checks = [cell for cell in codes(committed) if lessons.tagged(cell, "check")]
    assert len(asked) == len(checks) > 0
    assert all(set(cell.metadata.answers) == {"wrong", "right"} for cell in asked)
    assert "now you" in "\n".join(cell.source for cell in committed.cells).lower()


def test_its_cards_have_a_text_and_a_page_form(path, committed) -> None:
    shown = [output.data for cell in codes(committed) for output in cell.outputs if "data" in output]
    cards = [data for data in shown if 'class="inspector"' in data.get("text/html", "")]
    assert len(cards) >= CARDS.get(path.name, 8)
    assert all("<script" not in data["text/html"] and data["text/plain"].strip() for data in cards)


def test_the_first_goes_on_where_pandas_is_not_installed(monkeypatch, capsys) -> None:
    import nbformat

    notebook = nbformat.read(FOLDER / "00_start.ipynb", as_version=4)
    (cell,) = [cell for cell in codes(notebook) if "import pandas" in cell.source]
    monkeypatch.setitem(sys.modules, "pandas", None)
    exec(cell.source.replace("%inspect price", ""), {})
    assert "%pip install pandas" in capsys.readouterr().out


OLD = "cat(packageVersion('reticulate') < '1.39')"


@pytest.mark.slow
def test_where_numpy_is_too_new_for_reticulate_the_cells_on_arrays_say_so(tmp_path, monkeypatch) -> None:
    import nbclient
    import nbformat
    import numpy

    rscript = shutil.which("Rscript")
    if rscript is None or subprocess.check_output([rscript, "-e", OLD], text=True) != "TRUE":
        pytest.skip("cannot be installed here: R with a reticulate that reads NumPy 1 alone")
    if numpy.__version__.startswith("1."):
        pytest.skip("not on CPython with NumPy 1: its arrays are read")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(FOLDER / "10_reticulate.ipynb", as_version=4)
    notebook.cells = [cell for cell in codes(notebook) if "NO_ARRAYS" in cell.source]
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=where).execute()
    wanted = f"no arrays here: this reticulate cannot read NumPy {numpy.__version__};"
    for cell in notebook.cells:
        assert wanted in "".join(output.get("text", "") for output in cell.outputs)
    assert len(notebook.cells) == 3


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=ROOMS.get(path.name, ()), id=path.name) for path in NOTEBOOKS]
)
def test_it_runs_and_puts_out_the_same_kinds(path, tmp_path, monkeypatch) -> None:
    import lessons
    import nbclient
    import nbconvert
    import nbformat

    committed = nbformat.read(path, as_version=4)

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "ipython"))
    before = [kinds(cell) for cell in codes(committed)]
    written = len(committed.cells)
    checks = lessons.with_answers(committed)
    nbclient.NotebookClient(
        committed, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert [lessons.said(check) for check, _ in checks] == [verdict for _, verdict in checks]
    del committed.cells[written:]
    assert [kinds(cell) for cell in codes(committed)] == before
    text = printed(committed)
    assert [said for said in SAYS.get(path.name, ()) if not re.search(said, text)] == []
    committed.metadata.pop("widgets", None)
    page, _ = nbconvert.HTMLExporter().from_notebook_node(committed)
    assert page.count('class="inspector"') >= CARDS.get(path.name, 8)
    assert os.listdir(tmp_path) in ([], ["ipython"])
