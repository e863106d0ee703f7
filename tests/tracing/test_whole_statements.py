"""A row is about its whole statement: a comprehension's list, the call that made bytes."""

# SPDX-License-Identifier: MIT
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector
from inspector.verdicts.statements.makers import is_passed_on


def rows(text: str, folder: Path) -> dict[int, Any]:
    path = folder / "app.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "__main__"}
    with inspector.trace() as trace:
        exec(compile(text, str(path), "exec"), names)
    return {row.site.line: row for row in trace.statements.rows if row.site.file == str(path)}


@pytest.mark.libraries
def test_a_list_of_a_comprehension_is_counted_once(tmp_path: Path) -> None:
    """Its passes are no passes of the statement; what torch arms made them more than are looked at."""
    pytest.importorskip("torch", reason="cannot be installed on this Python")
    text = (
        "import numpy as np\nimport torch\nfrom PIL import Image\n"
        "i = [Image.new('RGB', (320, 240), (n, 2 * n, 3 * n)) for n in range(8)]\n"
        "a = [np.asarray(one) for one in i]\n"
    )
    row = rows(text, tmp_path)[5]
    assert (row.target, row.bytes) == ("a", 8 * 3 * 320 * 240)


@pytest.mark.core
def test_what_returns_its_argument_writes_nothing(tmp_path: Path) -> None:
    text = (
        "import numpy as np\na = np.ones(1000)\nprint(np.asarray(a).sum() > 5)\n"
        "np.add(a, 1, out=a)\nprint(np.ascontiguousarray(a).shape)\n"
    )
    found = rows(text, tmp_path)
    assert [found[line].verdict for line in (3, 4, 5)] == ["same object", "in place", "same object"]


@pytest.mark.core
def test_a_statement_without_a_value_is_told_by_the_call_that_made_bytes(tmp_path: Path) -> None:
    text = "import numpy as np\na = np.ones((300, 400))\nprint(a.transpose(1, 0).astype('f4').sum() > 5)\n"
    row = rows(text, tmp_path)[3]
    assert (row.verdict, row.bytes) == ("copied", 480_000)


@pytest.mark.libraries
def test_a_view_is_of_the_column_and_not_of_its_method(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nimport pandas as pd\nd = pd.DataFrame({'a': np.arange(5000.0), 'b': 'x'})\n"
        "v = d['a'].to_numpy()\nw = d['a'].values\n"
    )
    found = rows(text, tmp_path)
    assert [(found[line].verdict, found[line].of) for line in (4, 5)] == [("view", "d['a']")] * 2


LARGE = """import numpy as np
import pandas as pd
a = np.random.default_rng(1).random((1000, 500))
d = pd.DataFrame({"x": a[:, 0], "y": a[:, 1]})
b = a[:, 2].copy()
d["z"] = d["x"] + d["y"]
d["w"] = b
a[10:20] = 5
a[10:20] = a[30:40]
v = a[a > 0.5]
u = a[[3, 1, 2]]
m = np.maximum(a, 2 * a)
d.pop("x")
c = pd.concat([d, d])
"""


@pytest.mark.core
def test_columns_items_and_selections_of_large_arrays_are_told(tmp_path: Path) -> None:
    """The screen spoke of 64 bytes of labels that pandas joined, of nothing, or of "new" memory."""
    pytest.importorskip("pandas")
    found = rows(LARGE, tmp_path)
    said = {line: (row.verdict, row.bytes) for line, row in found.items()}
    assert said[6] == ("new values", 8000) and said[7] == ("copied", 8000) and found[7].of == "b"
    assert said[8] == ("in place", 40_000)
    assert said[9] == ("copied", 40_000) and found[9].reason == "the elements of a[30:40]"
    assert said[10][0] == said[11][0] == "copied" and said[11][1] == 12_000
    assert said[12] == ("new values", 4_000_000)
    assert said.get(13, ("view", 0))[0] != "in place"
    assert said[14] == ("copied", 6 * 8000)


HELD = """import numpy as np
import io
class Part:
    def __init__(self, rows): self.rows = rows
    def first(self): return self.rows[:100]
a = np.arange(200_000.0)
part = Part(a)
v = part.first()
r = np.genfromtxt(io.StringIO("1 2 3\\n4 5 6"))
"""


@pytest.mark.core
def test_a_view_of_what_the_statement_does_not_name_is_no_new_memory(tmp_path: Path) -> None:
    found = rows(HELD, tmp_path)
    assert (found[8].verdict, found[8].bytes) == ("view", 800)
    assert found[9].verdict != "copied", "all that it was given is a text"


PARTS = """import numpy as np
import pandas as pd
r = np.random.default_rng(1)
d = pd.DataFrame({"k": np.arange(7000) % 7, "a": r.random(7000), "b": r.integers(0, 9, 7000).astype("i1")})
p = [g for _, g in d.groupby("k")]
l = d["a"].tolist()
"""


@pytest.mark.core
def test_parts_of_a_table_are_counted_whole(tmp_path: Path) -> None:
    """Four blocks of 21 were looked at, and their bytes were told as the sum."""
    pytest.importorskip("pandas")
    found = rows(PARTS, tmp_path)
    assert (found[5].verdict, found[5].bytes) == ("copied", 7000 * 17)
    assert (found[6].verdict, found[6].bytes, found[6].of) == ("copied", 56_000, "d['a']")


@pytest.mark.core
def test_the_first_screen_says_what_a_new_column_is(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    path = tmp_path / "app.py"
    path.write_text(LARGE)
    with inspector.trace() as trace:
        exec(compile(LARGE, str(path), "exec"), {"__name__": "__main__"})
    screen = str(trace).splitlines()[:24]
    assert " copied by " in screen[0] and max(map(len, screen)) <= 80
    said = {row.split()[0]: " ".join(row.split()) for row in screen if row.split()[:1]}
    assert said["6"].startswith('6 d["z"] = d["x"] + d["y"] new values 8.0 kB')
    assert said["9"].startswith("9 a[10:20] = a[30:40] copied 40 kB")


@pytest.mark.core
def test_a_call_of_pythons_own_is_no_copy_for_what_its_library_copied(tmp_path: Path) -> None:
    """`df.to_csv()` was "copied ×3", `model.fit(X)` "copied ×48": the copies are inside, and count there."""
    text = (
        "import numpy as np\nimport pandas as pd\nd = pd.DataFrame(np.arange(2000.0).reshape(500, 4))\n"
        "t = d.to_csv()\nr = {'x': np.arange(9000.0).astype('i4'), 'y': np.random.rand(90_000)}\n"
    )
    path = tmp_path / "app.py"
    path.write_text(text)
    with inspector.trace() as trace:
        exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
    found = {row.site.line: row for row in trace.statements.rows}
    assert (found[4].verdict, found[4].copied_bytes) == ("no bytes", 0)
    assert (found[5].verdict, found[5].copied_bytes) == ("new", 0)
    drawn = trace.report.to_text()
    assert "no bytes" not in drawn and f"inside {found[4].inside[0].library}: " in drawn


@pytest.mark.core
def test_long_lists_and_dicts_of_views_have_a_row(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nfrom collections import OrderedDict\na = np.arange(25_600.0).reshape(400, 64)\n"
        "b = [one for one in a]\nc = dict(zip(map(str, range(400)), a))\nd = [one.copy() for one in a]\n"
        "e = OrderedDict(x=a[0], y=a[1:])\n"
    )
    found = rows(text, tmp_path)
    told = [(found[line].verdict, found[line].of, found[line].bytes) for line in (4, 5, 7)]
    assert told == [("view", "a", 204_800)] * 3
    assert (found[6].verdict, found[6].copied_bytes) == ("copied", 204_800)


@pytest.mark.libraries
def test_the_weight_of_a_model_is_not_new(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="cannot be installed on this Python")
    text = (
        "import torch\nm = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU())\n"
        "w = m[0].weight\n"
        "s = m.state_dict()\nc = m[0].weight.clone()\nb = torch.stack([torch.zeros(64)] * 100)\n"
    )
    found = rows(text, tmp_path)
    assert [(found[line].verdict, found[line].of) for line in (3, 4)] == [("view", "m[0]"), ("view", "m")]
    assert found[5].verdict == "copied" and found[6].reason == "100 arrays are joined into one"


TRAINED = """
import torch
m = torch.nn.Sequential(torch.nn.Linear(64, 320), torch.nn.ReLU(), torch.nn.Linear(320, 8))
o = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)
m(torch.rand(16, 64)).sum().backward(); o.step()
w = m[0].weight
g = w.grad
grads = [p.grad for p in m.parameters()]
s = o.state[w]["momentum_buffer"]
flat = torch.cat([p.grad.flatten() for p in m.parameters()])
twice = [p.grad.clone() for p in m.parameters()]
twos = torch.cat([p.grad.flatten() for p in m.parameters()]).mul_(2)
"""


@pytest.mark.libraries
def test_gradients_and_the_state_of_an_optimizer_are_not_new(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="cannot be installed on this Python")
    found = rows(TRAINED.lstrip(), tmp_path)
    assert [(found[line].verdict, found[line].of) for line in (6, 7, 8)] == [
        ("view", "the gradient of w"), ("view", "the gradients of m"), ("view", "the state of o")
    ]  # fmt: skip
    flat, twice, twos = found[9], found[10], found[11]
    assert (flat.verdict, flat.copied_bytes, twos.verdict) == ("copied", 93_472, "new values")
    assert (twice.verdict, twice.copied_bytes, twice.inside) == ("copied", 93_472, ())


@pytest.mark.core
def test_the_end_of_a_loop_binds_nothing_more(tmp_path: Path) -> None:
    found = rows(
        "import numpy as np\nxs = [np.ones(n) for n in (90, 80, 70)]\nfor x in xs:\n    y = x * 2\n", tmp_path
    )
    assert (found[3].verdict, found[3].times, found[3].bytes) == ("view", 3, 240 * 8)


@pytest.mark.core
def test_what_a_call_only_gives_on_is_counted_once(tmp_path: Path) -> None:
    """`tile` gives a reshaped view of what `repeat` made: labels of pandas counted as two copies."""
    with inspector.trace() as trace:
        np.tile(np.arange(40_000), 2)
        np.arange(40_000).repeat(2)
    found = {one.call.name: is_passed_on(one) for one in trace._asked().evidence()}
    assert found.pop("numpy.tile") and not any(found.values()) and "numpy.ndarray.repeat" in found


@pytest.mark.core
def test_of_a_table_that_is_copied_in_part_the_other_columns_are_told(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nimport pandas as pd\nr = np.random.default_rng(1)\n"
        "d = pd.DataFrame({'k': r.integers(0, 900, 8000) * 1_000_003, 'v': r.normal(size=8000)})\n"
        "g = d.groupby('k', as_index=False)['v'].mean()\n"
        "m = (d['k'] % 3).map({0: 1.5, 1: 2.5, 2: 3.5})\n"
    )
    path = tmp_path / "app.py"
    path.write_text(text)
    with inspector.trace() as trace:
        exec(compile(text, str(path), "exec"), names := {"__name__": "__main__"})
    said = [(row.site.line, row.target, row.verdict, row.bytes) for row in trace.statements.rows]
    size = 8 * len(names["g"])
    assert {(5, "g", "copied", size), (5, "v", "new", size)} <= {*said}
    assert [one[2] for one in said if one[0] == 6] in (["new"], ["new values"])
