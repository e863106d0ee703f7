"""What each statement of a traced program did, against what NumPy itself says of the values afterwards."""

# SPDX-License-Identifier: MIT
import math
import re
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from apart import printed, ran

import inspector

PROGRAM = """\
import numpy as np
import pandas as pd

def doubled(x):
    y = x * 2
    return y[::2]

frame = pd.DataFrame({"t": np.arange(5000), "v": np.arange(5000) * 0.5})
a = frame.to_numpy()
b = np.asarray(frame["v"])
c = b[::2]
d = np.ascontiguousarray(c)
e = a.astype(
    np.float32
)
f = np.array([float(x) for x in range(3000)])
g = doubled(f)
h = a
u, v = a[:, 0], a[:, 1].copy()
a += 1
a[0] = 7
k = {name: frame[name].to_numpy() for name in frame}
for i in range(100):
    row = a[i]
    own = row.copy()
m = memoryview(f)
raw = f.tobytes()
s = pd.Series([9007199254740993, None, 3])
"""
EXPECTED = {
    "a": "copied", "b": "view", "c": "view", "d": "copied", "e": "copied", "f": "copied", "h": "same object",
    "u": "view", "v": "copied", "k": "view", "row": "view", "own": "copied", "m": "view", "raw": "copied",
}  # fmt: skip
OPERAND = {"a": "frame", "b": "frame", "c": "b", "d": "c", "e": "a", "f": "f", "h": "a", "u": "a", "v": "a",
           "k": "frame", "row": "a", "own": "row", "m": "f", "raw": "f"}  # fmt: skip


def traced(text: str, tmp_path: Path) -> tuple[Any, dict[str, Any], Path]:
    """The trace of a program in this process, its names, and its file."""
    path = tmp_path / "app.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "__main__"}
    with inspector.trace() as trace:
        exec(compile(text, str(path), "exec"), names)
    return trace, names, path


def verdicts(text: str, tmp_path: Path) -> dict[int, str]:
    """Line -> what a traced program's statement there did."""
    trace, _, _ = traced(text, tmp_path)
    return {row.site.line: row.verdict for row in trace.statements.rows}


SEVERAL = """import numpy as np
x = np.random.default_rng(1).random(4096) * 1e6
y = np.random.default_rng(2).random(4096)
m = y.reshape(64, 64)
a = np.linalg.det(m)
b = np.linalg.svd(m)
c = [x[:9], y]
d = x[x > 5e5]
e = np.concatenate([y, x])
f = np.isfinite(x)
g = np.fft.fft(x).real
"""


def test_new_elements_are_looked_for_in_all_operands(tmp_path: Path) -> None:
    """A number is no array in place; a namedtuple has items; a list of two operands is a view of both."""
    trace, _, path = traced(SEVERAL, tmp_path)
    said = {target: set() for target in "abcdefg"}  # type: dict[str, set[str]]
    for row in trace.statements.rows:
        if row.site.file == str(path) and (row.target or row.site.text[0]) in said:
            said[row.target or row.site.text[0]].add(row.verdict)
    assert "in place" not in said["a"]
    assert said["b"] == {"new values"} or said["b"] == {"new"}
    assert said["c"] == {"view"}
    assert said["d"] == said["e"] == {"copied"}
    assert said["f"] == said["g"] == {"new values"}


@pytest.mark.core
@pytest.mark.quick
def test_each_line_does_what_its_values_say(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    trace, names, path = traced(PROGRAM, tmp_path)
    rows = {row.target: row for row in reversed(trace.statements.rows) if row.site.file == str(path)}
    assert {name: rows[name].verdict for name in EXPECTED} == EXPECTED
    for name, did in EXPECTED.items():  # the second method
        shared = did in ("view", "same object")
        assert shares(names[name], names[OPERAND[name]]) is (shared or name == "f")
    assert all(rows[name].certain for name in EXPECTED)
    assert rows["b"].of == "frame['v']" and rows["e"].last_line == rows["e"].site.line + 2
    assert rows["e"].reason == "float64 → float32" and rows["e"].copied_bytes == names["e"].nbytes
    assert (rows["row"].at_least, rows["own"].times) == (True, 100)
    assert rows["g"].verdict == "new" and rows["g"].reason == "in line 6"  # 0, 4, 8 ... are in f too
    assert rows["g"].copied_bytes == 0
    assert trace.lines["app.py", 5].verdict == "new values" and trace.lines["app.py", 14].target == "e"
    in_place = [row.site.line for row in trace.statements.rows if row.verdict == "in place"]
    assert in_place == [20, 21]
    (loss,) = rows["s"].losses
    assert (loss.before, loss.lost, loss.elements) == ("9007199254740993", 1, 3)


def shares(value: Any, operand: Any) -> bool:
    """By NumPy's own exact test, array by array."""
    return any(np.shares_memory(x, y) for x in arrays(value) for y in arrays(operand))


def arrays(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if hasattr(value, "columns"):
        return [value[name].to_numpy() for name in value]
    return [np.frombuffer(value, "u1") if isinstance(value, bytes | memoryview) else value]


COPIED = {
    "pyarrow.compute.dictionary_encode(t)": False, "pyarrow.compute.run_end_encode(p)": False,
    "t.to_numpy(zero_copy_only=False)": False, "s.str.lower()": False,
    "s.astype('category').to_numpy()": False, "p.fill_null(2)": False,
    "numpy.void(x)": False, "numpy.longdouble(x)": False, "numpy.sort_complex(x)": False,
    "m.tobytes(order='F')": False, "numpy.interp(o, o, o)": False, "o.copy()": True,
}  # fmt: skip
"""A copy of an operand's values -> whether that is certain."""
NEW = {
    "numpy.argsort(x)": True, "numpy.fft.fft(x)": True, "t.is_valid()": True,
    "numpy.interp(x, [0, 5e5, 1e9], [0, 5e5, 5e5])": False,    "numpy.cumsum(o)": True,
}  # fmt: skip
"""New values -> whether they are certain to be none of an operand's."""


@pytest.mark.parametrize(("call", "certain"), {**COPIED, **NEW}.items(), ids=str)
def test_values_of_an_operand_are_never_certain_to_be_new(tmp_path: Path, call: str, certain: bool) -> None:
    """Beside codes, as objects and characters, in another type or order; equal by chance proves nothing."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    text = (
        "import numpy, pandas, pyarrow, pyarrow.compute\n"
        "x = numpy.random.default_rng(1).random(1024) * 1e6\nm = x.reshape(32, 32)\no = numpy.ones(1000)\n"
        "texts = [f'a text of some length {i}' for i in range(300)]\n"
        "t, s = pyarrow.array(texts), pandas.Series(texts)\n"
        "p = pyarrow.array(numpy.arange(512).astype('M8[s]') + numpy.timedelta64(10**9, 's'))\n"
        f"r = {call}\n"
    )
    trace, _, _ = traced(text, tmp_path)
    (row,) = [row for row in trace.statements.rows if row.target == "r"]
    assert (row.verdict == "copied") is (call in COPIED)
    assert row.certain is certain


@pytest.mark.core
def test_the_first_screen_is_the_users_lines(tmp_path: Path) -> None:
    trace, _, _ = traced(PROGRAM, tmp_path)
    lines = str(trace.report.drawn(width=80)).splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    assert lines[0].startswith(" 1 of 3 values changed in line 28: 9007199254740993")
    assert "copied by" in lines[1] and "shared by" in lines[1]
    (line,) = [line for line in lines if "np.ascontiguousarray(c)" in line]
    assert line.split()[0] == "12" and "copied" in line and "gaps" in line
    again = inspector.load(saved(trace, tmp_path))
    assert again.statements == trace.statements


@pytest.mark.core
def test_what_is_written_into_a_given_array_and_what_a_list_gives(tmp_path: Path) -> None:
    text = """\
import io, numpy as np
x = np.arange(4096.0)
z = np.ones(8192)
a = np.concatenate([x, x], out=z)
b = np.add(x, 1, out=z[:4096])
c = np.add(z, 1, out=z)
z[:] = 3
rows = [x, z]
d = rows[0]
e = np.broadcast_to(x, (10, 4096))
f = np.where(x > 5, x, 0)
raw = x.tobytes()
file = io.BytesIO(raw)
again = file.getvalue()
"""
    trace, _, _ = traced(text, tmp_path)
    rows = {row.site.line: row for row in trace.statements.rows}
    assert (rows[4].verdict, rows[4].copied_bytes) == ("copied", 65_536)
    assert [rows[line].verdict for line in (6, 7, 9)] == ["in place", "in place", "same object"]
    assert (rows[10].verdict, rows[10].bytes) == ("view", 32_768)
    assert (rows[11].verdict, rows[11].reason) == ("copied", "chosen by a mask")
    assert (rows[14].verdict, rows[14].of) == ("same object", "raw")


@pytest.mark.core
def test_every_line_is_there_with_all(tmp_path: Path) -> None:
    text = "import numpy as np\na = np.arange(1000.0)\n"
    trace, *_ = traced(text + "".join(f"x{n} = a[{n}:].copy()\n" for n in range(30)), tmp_path)
    short, whole = (str(trace.report.drawn(width=80, everything=every)) for every in (False, True))
    assert short.count(".copy()") == 20 and "… 11 more lines" in short
    assert whole.count("copied") > 30 and "more lines" not in whole


@pytest.mark.core
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("x = [1]\n", r" No call into native code was seen; [\d,]+ functions of \d+ modules? were watched\."),
        ("import math\nmath.gcd(4, 6)\n", r" No copy was seen in 1 call into native code\."),
    ],
    ids=["no call", "no copy"],
)
def test_nothing_is_said_with_what_was_looked_at(tmp_path: Path, text: str, first: str) -> None:
    path = tmp_path / "app.py"
    path.write_text(text)
    with inspector.trace("math") as trace:
        exec(compile(text, str(path), "exec"), {})
    line, *_ = str(trace.report.drawn(width=80)).splitlines()
    assert re.fullmatch(first, line), line


@pytest.mark.core
def test_what_was_not_asked_for_is_not_called_nothing() -> None:
    with inspector.trace("math", copies=False) as trace:
        math.gcd(4, 6)
    assert str(trace).splitlines()[0] == " 1 call into native code; copies were not looked for."


def saved(trace: Any, tmp_path: Path) -> Path:
    trace.save(tmp_path / "a.trace")
    return tmp_path / "a.trace"


@pytest.mark.core
def test_looking_keeps_no_reference(tmp_path: Path) -> None:
    """A local that is deleted dies at once; an array that only one name holds can be resized in place."""
    text = (
        "import numpy as np, weakref\n"
        "def run():\n"
        "    a = np.arange(10.0)\n"
        "    a.resize(2000)\n"
        "    also = a\n"
        "    try:\n"
        "        a.resize(3000)\n"
        "    except ValueError:\n"
        "        also = np.resize(a, 9000)\n"
        "    b = a[::2]\n"
        "    died = []\n"
        "    weakref.finalize(b, died.append, 1)\n"
        "    del b\n"
        "    return list(died), also.size\n"
        "found = run()\n"
    )
    trace, names, _ = traced(text, tmp_path)
    assert names["found"] == ([1], 9000), "a second name still refuses"
    assert "view" in [one.verdict for one in trace.statements.rows], "lines beside a `resize` are looked at"


@pytest.mark.core
@pytest.mark.parametrize(
    ("line", "did", "copied"), [("y = scaled(x)", "in place", 0), ("copyto(x[:4], w)", "copied", 32)]
)
def test_a_small_copy_on_the_way_is_not_what_a_change_in_place_did(
    line: str, did: str, copied: int, tmp_path: Path
) -> None:
    names: dict[str, Any] = {"np": np, "copyto": np.copyto, "x": np.arange(9000.0), "w": np.ones(4)}
    library = "def scaled(x):\n    np.copyto(x[:4], x[4:8])\n    x *= 2\n    return x\n"
    exec(compile(library, str(tmp_path / "site-packages" / "scales.py"), "exec"), names)
    path = tmp_path / "app.py"
    path.write_text(f"{line}\n")
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), names)
    (row,) = trace.statements.rows
    assert (row.verdict, row.copied_bytes) == (did, copied)


@pytest.mark.core
def test_statements_that_wait(tmp_path: Path) -> None:
    """What `await` and `yield` give is bound after other code ran; what they yield has a row too."""
    text = (
        "import asyncio\n"
        "import numpy as np\n"
        "def halves(x):\n"
        "    got = yield x[::2]\n"
        "    yield got\n"
        "async def load(x):\n"
        "    await asyncio.sleep(0)\n"
        "    return x * 2\n"
        "async def main():\n"
        "    one, two = await asyncio.gather(load(a), load(a))\n"
        "    three = await load(one)\n"
        "    return three[5:]\n"
        "a = np.arange(9000.0)\n"
        "it = halves(a)\n"
        "p = next(it)\n"
        "q = it.send(a)\n"
        "s = asyncio.run(main())\n"
    )
    trace, names, _ = traced(text, tmp_path)
    assert np.shares_memory(names["p"], names["a"])
    rows = {(row.site.line, row.target): row for row in trace.statements.rows}
    assert [(rows[key].verdict, rows[key].of) for key in ((4, ""), (4, "got"), (5, ""), (12, ""))] == [
        ("view", "x"), ("same object", "x"), ("same object", "got"), ("view", "three"),
    ]  # fmt: skip
    reasons = [rows[key].reason for key in ((10, "one"), (11, "three"))]
    assert reasons == ["in line 8", "in a function that it calls"]
    assert (rows[15, "p"].verdict, rows[15, "p"].of) == ("view", "a")


@pytest.mark.core
def test_attributes_of_objects_are_operands(tmp_path: Path) -> None:
    """`m.x` is looked at as a name is; a value made of several has each of them."""
    text = (
        "import numpy as np\n"
        "class M:\n"
        "    def __init__(self):\n        self.x, self.w = np.arange(9000.0), np.arange(5000.0)\n"
        "    def halved(self):\n        return self.x[::2]\n"
        "m = M()\n"
        "y = m.x[5:]\n"
        "d = {'x': m.x, 'w': m.w}\n"
        "c = m.x.copy()\n"
        "both = y, c\n"
        "m.x += 1\n"
        "h = m.halved()\n"
        "k = {i: c for i in range(50)}\n"
    )
    trace, names, _ = traced(text, tmp_path)
    rows = {row.site.line: row for row in trace.statements.rows}
    assert np.shares_memory(names["d"]["w"], names["m"].w)
    assert [(rows[line].verdict, rows[line].of, rows[line].bytes) for line in (6, 8, 9, 10, 11)] == [
        ("view", "self.x", 36_000), ("view", "m.x", 71_960), ("view", "m.x, m.w", 112_000),
        ("copied", "m.x", 72_000), ("view", "y, c", 143_960),
    ]  # fmt: skip
    assert (rows[12].verdict, rows[12].of) == ("in place", "m.x")
    assert (rows[14].verdict, rows[14].bytes) == ("view", 72_000), "each byte once"


@pytest.mark.core
def test_statements_that_raise_and_lying_objects(tmp_path: Path) -> None:
    """A name keeps its old value where its statement raised: no row. No code of an object is run."""
    text = (
        "import numpy as np\n"
        "class Lies:\n"
        "    def __getattr__(self, name):\n        raise SystemError(name)\n"
        "    def __eq__(self, other):\n        raise SystemError('eq')\n"
        "    __hash__ = None\n"
        "x = Lies()\na = np.arange(3000.0)\nb = a[:5]\n"
        "try:\n    b = a.reshape(7)\nexcept ValueError:\n    c = a[1:]\n"
        "x.kept = a[2:]\n"
    )
    trace, _, path = traced(text, tmp_path)
    found = [row for row in trace.statements.rows if row.site.line > 9 and row.verdict != "no bytes"]
    rows = [(row.site.line, row.target, row.verdict) for row in found]
    assert rows == [(10, "b", "view"), (14, "c", "view"), (15, "x.kept", "view")]
    assert {row.site.file for row in trace.statements.rows} == {str(path)}


def test_another_tool_that_traces_lines_keeps_its_events(tmp_path: Path) -> None:
    """Then the rows follow from recorded calls alone, and the report says so by `values_seen`."""
    lines: list[int] = []

    def listening(frame: Any, event: str, value: Any) -> Any:
        lines.append(frame.f_lineno)
        return listening

    before = sys.gettrace()
    sys.settrace(listening)
    try:
        trace, _, _ = traced("import numpy as np\na = np.arange(3000.0)\nb = a.copy()\n", tmp_path)
        assert sys.gettrace() is listening
    finally:
        sys.settrace(before)
    assert {2, 3} <= set(lines)
    assert trace.lines["app.py", 3].verdict == "copied"
    if sys.version_info < (3, 12):
        assert not trace.statements.values_seen


@pytest.mark.core
@pytest.mark.parametrize("late", [True, False], ids=["in the loop", "while it begins"])
def test_an_interrupt_reaches_the_program_and_nothing_stays_armed(late: bool) -> None:
    """SIGINT while a trace begins, or in a loop of short statements, most of which is our looking."""
    text = (
        "import inspector, math, signal, sys, _thread, threading\n"
        "from inspector.tracing.record.recorder import Recorder\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's `&` leaves it ignored
        "began = Recorder.start\n"
        "def begin(self):\n    began(self)\n    _thread.interrupt_main()\n"
        f"if not {late}:\n    Recorder.start = begin\n"
        "try:\n"
        "    with inspector.trace('math') as t:\n"
        f"        threading.Timer(0.3, _thread.interrupt_main).start() if {late} else None\n"
        "        while True:\n"
        "            exec(compile('a = math.gcd(4, 6)\\nb = [a]\\n', 'x.py', 'exec'))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', t.dropped, sys.gettrace())\n"
    )
    done = ran("-c", text)
    assert done.stdout == "interrupted 0 None\n", done.stderr
    assert done.returncode == 0 and signal.SIGINT


LISTS = """import numpy as np
x = np.arange(1000.0)
same = np.zeros(100)
a = x.tolist()
b = [2 * one for one in a]
c = tuple(x[::2].tolist())
d = [0.0] * len(same)
"""


def test_a_list_of_the_elements_is_a_copy_of_them(tmp_path: Path) -> None:
    """A list that holds other numbers has no row, nor one of equal numbers, which prove nothing."""
    trace, names, _ = traced(LISTS, tmp_path)
    rows = {row.target: row for row in trace.statements.rows}
    assert (rows["a"].verdict, rows["a"].copied_bytes, rows["a"].reason) == (
        "copied",
        8_000,
        "became 1,000 floats",
    )
    assert not {"b", "c", "d"} & {name for name, row in rows.items() if row.verdict == "copied"}
    assert names["a"] == list(names["x"])


LISTED = """import numpy as np
x = np.arange(600, dtype="f4").reshape(20, 30)
rows = x.tolist()
column = x[:, 1].tolist()
turned = x.T[2:4].tolist()
twice = (x * 2).tolist()
one = x[3, 4].tolist()
"""


def test_a_list_of_a_part_or_of_rows_is_a_copy_of_them(tmp_path: Path) -> None:
    """Not one of computed elements, nor a single number."""
    trace, names, _ = traced(LISTED, tmp_path)
    rows = {row.target: (row.copied_bytes, row.reason) for row in trace.statements.rows if row.copied_bytes}
    assert rows == {
        "rows": (names["x"].nbytes, "became 600 floats"),
        "column": (80, "became 20 floats"),
        "turned": (160, "became 40 floats"),
    }


IN_PART = """\
import numpy as np, pandas as pd, pyarrow as pa
x = np.arange(5000.0)
table = pa.table({"n": x, "m": x + 0.5, "s": [f"name {n}" for n in range(5000)]})
frame = table.to_pandas()
both = {"seen": x[::2], "made": x * 2, "again": x.copy()}
whole = {"one": x[:10], "other": x[10:]}
same = np.zeros(5000)
equal = {"seen": same[1:], "zeros": np.zeros(5000)}
"""


def test_a_value_that_is_a_view_in_part_has_a_row_for_its_other_parts(tmp_path: Path) -> None:
    """A frame whose texts are Arrow's was told to be a view as a whole: its numbers and offsets are not."""
    trace, names, _ = traced(IN_PART, tmp_path)
    found: dict[str, dict[str, Any]] = {}
    for row in trace.statements.rows:
        found.setdefault(row.site.text.partition(" = ")[0], {})[row.target] = row
    copied = not np.shares_memory(names["frame"]["n"].to_numpy(), names["table"]["n"].to_numpy())
    assert found["frame"]["frame"].verdict == "view"
    assert found["frame"]["frame"].bytes == sum(map(len, names["frame"]["s"])) + 80_000 * (not copied)
    both = found["frame"].get("n, m")
    assert copied is (both is not None and (both.verdict, both.bytes) == ("copied", 80_000))
    assert (found["frame"]["s"].verdict, found["frame"]["s"].bytes) == ("new", 8 * 5001)
    rows = {target: (row.verdict, row.bytes) for target, row in found["both"].items()}
    assert rows == {"both": ("view", 20_000), "made": ("new", 40_000), "again": ("copied", 40_000)}
    assert {row.verdict for row in found["whole"].values()} == {"view"}
    assert found["equal"]["zeros"].verdict == "new", "equal zeros prove nothing"


SELECTIONS = {
    "np.roll(a, 5)": "moved", "np.repeat(a, 2)": "repeated", "a.repeat(2)": "repeated",
    "np.tile(a, 3)": "repeated", "np.take(a, picked)": "selected", "a.take(picked)": "selected",
    "np.compress(mask, a)": "selected", "a.compress(mask)": "selected", "np.extract(mask, a)": "selected",
    "np.delete(a, [1, 2])": "selected", "np.sort(a)": "sorted", "np.partition(a, 9)": "sorted",
}  # fmt: skip
SELECTING = """import numpy as np
a = np.random.default_rng(1).random(5000)
mask, picked = a > 0.5, np.arange(0, 5000, 3)
r = {}
other = np.exp(np.roll(a, 5))
b = a + 1
"""


@pytest.mark.parametrize("text", SELECTIONS)
def test_elements_in_another_order_are_a_copy_of_them(text: str, tmp_path: Path) -> None:
    trace, names, path = traced(SELECTING.format(text), tmp_path)
    row = trace.lines[str(path), 4]
    assert (row.verdict, row.of, row.certain, row.copied_bytes) == ("copied", "a", True, names["r"].nbytes)
    assert np.isin(names["r"], names["a"]).all() and SELECTIONS[text] in row.reason
    assert [trace.lines[str(path), line].verdict for line in (5, 6)] == ["new values", "new values"]


IN_PLACE = """\
import sys
sys.path.insert(0, {folder!r})
import numpy as np, inspector
from inspector import lazy
with inspector.trace("numpy") as t:
    b = np.asarray(lazy.abs(np.arange(4096.0)))
    inspector.compare(b, b[::2])
print(inspector.__file__, *{{row.site.file for row in t.statements.rows}})
"""


def test_the_tools_own_lines_are_no_users_lines_where_it_is_installed_in_place(tmp_path: Path) -> None:
    """Outside of site-packages, as `pip install -e .` leaves it."""
    (tmp_path / "inspector").symlink_to(Path(inspector.__file__).parent)
    program = tmp_path / "program.py"
    program.write_text(IN_PLACE.format(folder=str(tmp_path)))
    assert printed(program).split() == [str(tmp_path / "inspector/__init__.py"), str(program)]


INSIDE = """import numpy as np
import pandas as pd
x = np.random.default_rng(1).random((32, 32)).astype("f4")
z = np.zeros(4096)
s = pd.Series(pd.date_range("2020-01-01", periods=512, freq="h"))
t = pd.DataFrame({"a": x[0].astype(float), "b": np.arange(32) * 7, "c": x[1].astype(float)})
a = np.linalg.inv(x)
b = np.fft.rfft(x)
c = s.dt.day
d = t.nunique()
e = pd.cut(t["a"], 3)
f = np.complex128(x)
g = t.T
h = bytes(z)
"""


def test_a_copy_inside_a_library_is_no_proof(tmp_path: Path) -> None:
    """The last steps of a to e copy results of the library's own; f to h are the operand's values again."""
    pytest.importorskip("pandas")
    trace, _, path = traced(INSIDE, tmp_path)
    rows = {row.target: row.verdict for row in trace.statements.rows if row.site.file == str(path)}
    assert {rows[name] for name in "abcde"} <= {"new", "new values"}
    assert {rows[name] for name in "fgh"} == {"copied"}


def test_an_argument_of_a_lambda_is_not_what_its_line_bound(tmp_path: Path) -> None:
    """`r` is the statement's result and the lambda's argument; on 3.11 a comprehension has a frame too."""
    text = (
        "import numpy as np\nx = np.arange(12.0).reshape(3, 4)\n"
        "r = np.apply_along_axis(lambda r: r * 1.7, 0, x)\n"
        "s = [s.copy() for s in x]\n"
    )
    found = verdicts(text, tmp_path)
    assert found[3] == "new values" and found[4] == "copied"


def test_a_constant_column_does_not_hide_that_a_matrix_is_a_copy_of_a_table(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nimport pandas as pd\n"
        "d = pd.DataFrame({'a': np.arange(500), 'b': np.ones(500)})\n"
        "m = d.to_numpy()\nn = m * 3\n"
    )
    found = verdicts(text, tmp_path)
    assert (found[4], found[5]) == ("copied", "new values")
