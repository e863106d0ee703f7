"""`%%inspect_c` in a real shell: functions become names, a body is run, mistakes are one block."""

# SPDX-License-Identifier: MIT
import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.quick

Run = Callable[[str], tuple[Any, list[dict[str, str]]]]
STEAL = """%%inspect_c times -i x -o z
z = (PyArrayObject *)PyArray_Empty(1, PyArray_DIMS(x), PyArray_DESCR(x), 0);
if (z == NULL) FAIL;
"""


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of this test run's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "c-cells"))


def shown(displayed: list[dict[str, str]]) -> str:
    assert len(displayed) == 1
    return displayed[0]["text/plain"]


def test_functions_become_names(run: Run, shell: Any) -> None:
    _, displayed = run("%%inspect_c\nint twice(int a) { return 2 * a; }\n")
    assert "int twice(int a)" in shown(displayed) and "cffi" in shown(displayed)
    result, _ = run("twice(21)")
    assert result.result == 42


def test_a_body_is_run_and_its_theft_is_told(run: Run, shell: Any) -> None:
    run("import numpy as np; x = np.arange(3.).view(np.dtype('f8', metadata={'of': 'this test'}))")
    run("%%inspect_c\nPyObject *give(PyObject *d) { Py_INCREF(d); return Py_NewRef(d); }\n")
    run("give(x.dtype)")  # what will be stolen
    _, displayed = run(STEAL)
    text = shown(displayed)
    assert "→ ndarray float64 (3,)" in text and "warn     over-released: dtype('float64')" in text
    assert shell.user_ns["z"].shape == (3,)


def test_isolated_it_may_crash(run: Run, shell: Any) -> None:
    run("import numpy as np; x = np.arange(3.)")
    _, displayed = run("%%inspect_c crash -i x --isolate\n*(volatile int *)8 = 1;\n")
    assert "the child died of SIGSEGV" in shown(displayed)
    assert run("x.sum()")[0].result == 3.0


def test_sections_keep_their_lines(run: Run) -> None:
    support = "#pragma inspector support\nstatic int base = 40;\n#pragma inspector code\n"
    cell = f"%%inspect_c\n{support}int f(void) {{ return wrong; }}\n"
    _, displayed = run(cell)
    assert "line 4: " in shown(displayed) and "c-does-not-compile" in shown(displayed)
    _, displayed = run(cell.replace("wrong", "base + 2"))
    assert run("f()")[0].result == 42


def test_json(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("inspect_c", "--json", "int f(void) { return 1; }")
    told = json.loads(capsys.readouterr().out)
    assert told["facts"]["compiled"]["functions"][0]["name"] == "f"
