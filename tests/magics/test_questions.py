"""Questions from public issue trackers, typed as a user would type them: the first screen answers each.

Each has the issue that asked it; questions on R, leaks and hangs are asked in their rooms.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from programs import python

ROWS, COLUMNS, HEAD = 24, 80, 5
"""Lines and cells of a first screen; the lines of its head."""
Run = Callable[[str], tuple[Any, list[dict[str, str]]]]
XARRAY = """import xarray as xr, numpy as np
xr.Dataset({"v": (("x", "y"), np.random.rand(600, 400))}).to_zarr(folder, zarr_format=2)
at = [xr.DataArray(np.random.randint(0, 400, 300_000), dims="p") for _ in "xy"]
sel = xr.open_zarr(folder, chunks=None).v.isel(x=at[0], y=at[1])"""

LOST_IN_ARROW = """import ctypes, numpy, pyarrow as pa, pyarrow.compute as pc
x = pa.array(numpy.ones(3_000_000))
def lose(times):
    for _ in range(times):
        room = ctypes.create_string_buffer(200)
        pc.add(x, 1)._export_to_c(ctypes.addressof(room))"""
"""24 MB a call that C keeps: an exported array which nobody releases."""

QUESTIONS = [
    # tracker, cells before, cell typed, what the first screen says
    (
        "cupynumeric#1154",
        "import numpy as np\na = np.random.rand(1000, 1000)\nr = a.T.reshape(-1)",
        "%inspect a r",
        "No byte in common: r is a copy: a.T flattened.*not contiguous, so flattening it copies 8.0 MB",
    ),
    (
        "stumpy#1119",
        "import numpy as np, pandas as pd\ns = pd.Series([1.0, 2.0] * 500)\nT = np.asarray(s)",
        "%inspect T",
        r"A view of s: all 8.0 kB. Read-only because pandas shares it .*s.to_numpy\(copy=True\)",
    ),
    (
        "polars#14519",
        "import numpy as np, polars as pl\ndf = pl.DataFrame({n: np.random.rand(9999) for n in 'ab'})",
        "%inspect_trace df.to_numpy();",
        "160 kB copied by one line.*2 columns become one array",
    ),
    (
        "polars#14946",
        "import numpy as np, polars as pl\nvals = np.random.rand(1000)\np = pl.Series('v', vals)",
        "%inspect vals p",
        "vals and p share memory. All 8.0 kB belong to both",
    ),
    (
        "pytorch#764",
        "import torch\nt = torch.rand(100, 200)",
        "%%inspect_trace\nu = t.T\nv = u.reshape(-1)",
        r"80 kB copied by one line.*u = t.T +view.*v = u.reshape\(-1\) +copied +80 kB",
    ),
    (
        "pandas#52823",
        "import numpy as np, pandas as pd\ns = pd.Series([1.0, 2.0] * 500)\na = np.asarray(s)",
        "%inspect a s",
        "a is a view of s. All 8.0 kB belong to both; writing to s changes a, and a is read-only",
    ),
    (
        "arrow#47702",
        LOST_IN_ARROW,
        "%%inspect\nlose(10)",
        r"grew by 2\d\d MB that no name holds: 2\d\d MB more that libarrow\S+ mapped, which no Python object",
    ),
    (
        "arrow#47702 by run",
        LOST_IN_ARROW,
        "%%inspect_leaks --repeat 2 -m pyarrow.lib\nlose(2)",
        r"Native memory grew by 2\d\d MB, [45]\d MB a run: 2\d\d MB more that libarrow\S+ mapped",
    ),
    (
        "arrow#45504",
        "import numpy, pyarrow as pa, pyarrow.compute as pc\nx = pc.add(pa.array(numpy.ones(60_000_000)), 1)",
        "%inspect --memory",
        "This process holds .*480 MB are arrays and buffers.*of Arrow.*DoubleArray 480 MB",
    ),
    (
        "ipython#11204",
        "import numpy as np\nx = np.random.rand(100_000)",
        "x * 2\n---\n%inspect",
        r"800 kB more are held by Out\[\d\].*%reset out",
    ),
    (
        "ipython#11572",
        "import numpy as np\ndef f():\n    huge = np.zeros(100_000)\n    return 1 / 0",
        "f()\n---\n%inspect",
        "800 kB: huge, a local of f, kept by the traceback in sys.last_traceback",
    ),
    (
        "cpython#85269",
        "ba = bytearray(1000)\nviews = [memoryview(ba)]\nclass H: v = memoryview(ba)",
        "%inspect ba --owners",
        r"2 memoryviews stop it from growing: .*views\[0\].*; .release\(\) them",
    ),
    (
        "arrow#3580",
        "import numpy as np, pandas as pd\ndf = pd.DataFrame(np.random.rand(10_000, 2))\nsl = df[:100]",
        "%inspect sl",
        r"While sl lives, all 160 kB of that ndarray stay; sl.copy\(\) would keep 1.6 kB",
    ),
    (
        "arrow#3580 after del",
        "import numpy as np, pandas as pd\ndf = pd.DataFrame(np.random.rand(10_000, 2))\nsl = df[:100]",
        "del df\n---\n%inspect sl",
        r"While sl lives, all 160 kB of that ndarray stay; sl.copy\(\) would keep 1.6 kB",
    ),
    (
        "pytorch#65604",
        "import torch\nbig = torch.rand(1024, 1024)\ns = big[:1]\ndel big",
        "%inspect s",
        r"While s lives, all 4.2 MB of that Tensor stay, and pickle writes all of it; s.clone\(\)",
    ),
    (
        "pandas#56678",
        "import pandas as pd",
        "%%inspect_trace\ns = pd.Series([2**53 + 1, None, 2**53 + 1])",
        "2 of 3 values changed in line 1: 9007199254740993 → 9007199254740992.0",
    ),
    (
        "xarray#10311",
        XARRAY,
        "%inspect sel",
        "Not computed yet: 2.4 MB once it is; .* Until then it keeps 4.8 MB, 2.0 times as much",
    ),
    (
        "nanobind#69",
        "import bindings\nmade = bindings.made_by('nanobind')",
        "%%inspect_leaks -m made_by_nanobind\nw = made.Holder()\nw.held = [w]\ndel w",
        "One list is probably lost, with 96 B: a cycle through made_by_nanobind.Holder, which has no"
        " tp_traverse",
    ),
    (
        "nanobind#69 in pybind11",
        "import bindings\nmade = bindings.made_by('pybind11')",
        "%%inspect_leaks -m made_by_pybind11\nw = made.Holder()\nw.held = w\ndel w\n"
        "kept = made.Holder()\nkept.held = [kept]\nmade.cached(kept)\ndel kept",
        "One made_by_pybind11.Holder is probably lost, with 56 B: a cycle through its own field at byte 0"
        r" of the block at byte (16|24), and its type has no tp_traverse",
    ),
    (
        "nanobind#69 of itself",
        "import bindings\nmade = bindings.made_by('nanobind')",
        "%%inspect_leaks -m made_by_nanobind\nw = made.Holder()\nw.held = w\ndel w",
        "One made_by_nanobind.Holder is probably lost, with 32 B: a cycle through its own field at byte 24,"
        " and its type has no tp_traverse",
    ),
]
ALONE = ("arrow#45504",)
"""Asked in a process of its own: the answer is about the whole process, not about what other tests left."""
SHELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "inspector")
for cell in sys.argv[1:]:
    with capture_output() as captured:
        assert shell.run_cell(cell, store_history=True).success, captured.stdout
print(json.dumps([output.data for output in captured.outputs]))
"""
NEWEST = ("torch", "polars", "xarray", "stumpy", "pandas", "arrow", "nanobind")
"""Where the answer depends on the release: asked in the room of the newest ones only."""
PARAMETERS = [
    pytest.param(
        *row, id=row[0], marks=pytest.mark.newest if row[0].startswith(NEWEST) else pytest.mark.libraries
    )
    for row in QUESTIONS
]


@pytest.mark.parametrize(("tracker", "before", "typed", "wanted"), PARAMETERS)
def test_the_first_screen_answers(
    run: Run, shell: Any, tmp_path: Any, tracker: str, before: str, typed: str, wanted: str
) -> None:
    cells = (before, *typed.split("\n---\n"))
    shell.user_ns["folder"] = str(tmp_path)
    bundles = json.loads(python(SHELL, *cells)) if tracker in ALONE else [run(cell)[1] for cell in cells][-1]
    text = bundles[-1]["text/plain"].splitlines()
    assert len(text) <= ROWS and max(map(len, text)) <= COLUMNS, "\n".join(text)
    assert re.search(wanted, " ".join(" ".join(text).split())), "\n".join(text)
    first = wanted.split(".*")[0]
    assert re.search(first, " ".join(" ".join(text[:HEAD]).split())), "it stands too low"
    assert re.search(first, _words(bundles[-1]["text/html"])[:1_000])


def _words(page: str) -> str:
    """What a reader sees of a page."""
    inline = re.sub(r"</?(code|span|a)\b[^>]*>", "", page)
    blocks = re.sub(r"<style.*?</style>|<[^>]*>", " ", inline, flags=re.DOTALL)
    return " ".join(html.unescape(blocks).split())
