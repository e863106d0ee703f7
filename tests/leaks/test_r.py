"""R's memory under Python's views: what rpy2 shows of a vector lives no longer than R wants."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
    told = [(one.kind, one.object, one.certain, one.conversion.function) for one in found]
    return told, array.shape[0], float(array[-1]) if items > 1 else None

print(json.dumps([shown(1, False), shown(100_000, False), shown(1_000_000, False), shown(100_000, True)]))
os._exit(0)
"""


def ran(program: str, folder: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=100, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_view_of_a_vector_that_r_freed_dangles(tmp_path: Path) -> None:
    """rpy2's buffer holds no reference to the vector: a large one goes back to malloc under the array.

    A small one lies in a page of R's own, which R uses again without a word: that is not seen.
    """
    small, large, largest, held = ran(DANGLES, tmp_path)
    assert small[0] == [] and held == [[], 100_000, 100_000.0]
    for told, items, last in (large, largest):
        assert sorted(told) == [
            ["dangling view", "memoryview", True, "free"],
            ["dangling view", "ndarray", True, "free"],
        ]
        assert last == items  # the bytes are kept apart: as they were
