"""R's memory under Python's views: what rpy2 shows of a vector lives no longer than R wants."""

# SPDX-License-Identifier: MIT
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from apart import printed

from inspector.sessions.leaks_launched import launch

pytestmark = pytest.mark.r
DANGLES = """
import gc, json, os
import numpy as np
import rpy2.rinterface as r
r.initr()
import inspector

def shown(items, held):
    vector = r.FloatSexpVector([1.5]) if items == 1 else r.evalr(f"as.numeric(seq_len({items}))")
    with inspector.leaks() as found:
        array = np.frombuffer(vector.memoryview())
        kept = vector if held else None
        del vector
        gc.collect()
        r.evalr("for (n in 1:3) gc()")
        r.evalr("rep(7, 50)")
    told = [(one.kind, one.object, one.certain, one.conversion.function) for one in found.certain]
    return told, array.shape[0], float(array[-1]) if items > 1 else None

print(json.dumps([shown(1, False), shown(100_000, False), shown(1_000_000, False), shown(100_000, True)]))
os._exit(0)
"""


def test_a_view_of_a_vector_that_r_freed_dangles(tmp_path: Path) -> None:
    """rpy2's buffer holds no reference to the vector: a large one goes back to malloc under the array.

    A small one lies in a page of R's own, which R uses again without a word: that is not seen. Asked for is
    what is certain: blocks that R itself takes meanwhile may be possible.
    """
    small, large, largest, held = json.loads(printed("-c", DANGLES, cwd=tmp_path).splitlines()[-1])
    assert small[0] == [] and held == [[], 100_000, 100_000.0]
    for told, items, last in (large, largest):
        assert ["dangling view", "memoryview", True, "free"] in told  # the array's base
        assert {tuple(one[2:]) for one in told} == {(True, "free")}
        assert last == items  # the bytes are kept apart: as they were


REPEATS = """
library(reticulate)
np <- import("numpy", convert = FALSE)
held <- np$array(c(1.5, 2.5))
for (i in 1:4) {
  given <- r_to_py(%s)
  cat(py_to_r(np$sum(given)), "\\n")
  rm(given)
  invisible(gc())
}
"""


def judged_in_r(values: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rscript converts new values four times."""
    monkeypatch.setenv("RETICULATE_PYTHON", sys.executable)
    (folder / "app.R").write_text(REPEATS % values)
    return launch(["Rscript", str(folder / "app.R")], quiet=True)


@pytest.mark.timeout(300)
def test_what_rscript_converts_honestly_is_not_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """reticulate never ends its Python: the verdicts come as the process exits. What R holds is no leak."""
    judged = judged_in_r("matrix(c(1, 2, 3, 4), 2)", tmp_path, monkeypatch)
    assert judged.code == 0 and judged.fact.suspects > 0
    assert [one for one in judged.fact if one.certain or one.method == "reticulate"] == []
    assert judged.notes == ()  # a Python that reticulate ran to choose one is none of the program's


@pytest.mark.timeout(300)
def test_the_bytes_of_reticulates_logical_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """reticulate 1.28 copies a logical matrix into memory from malloc, and hands it to PyArray_New with
    NPY_ARRAY_OWNDATA, which NumPy ignores for memory that it is given (mended in reticulate 1.36)."""
    judged = judged_in_r("matrix(rep(c(TRUE, FALSE), 5e4), 100)", tmp_path, monkeypatch)
    (lost,) = [one for one in judged.fact if one.method == "reticulate"]
    assert (lost.kind, lost.object, lost.certain) == ("bytes leaked outside objects", "100000 B", False)
    assert 2 <= lost.objects <= 4  # the addresses of two may stand in memory that is over
    assert lost.conversion.function == "malloc" and "r_to_py_numpy" in lost.conversion.symbol
    assert [touch.function for touch in lost.stack[1:3]] == ["r_to_py_cpp", "r_to_py_impl"]
    assert lost.rule == "every block from malloc needs free on each return path"
