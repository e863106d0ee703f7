"""`inspector trace` on a script for each library and framework, against what the script itself finds out.

The scripts are in tests/tracing/scripts. Each says beside its calls, by a second method that knows nothing of
the trace (told.py): whether bytes are shared (the source's are flipped, the result is read again), how many
there are, and which values went in and came out.
"""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path
from typing import Any

import pytest
import specimens
from programs import inspector

from inspector.facts.conversion import Call, Conversion, Copy, Trace, Value
from inspector.report import from_text

SCRIPTS = Path(__file__).parent / "scripts"
SMALL = (pytest.mark.libraries, pytest.mark.small)
MARKS: dict[str, Any] = {
    **dict.fromkeys(("numpy", "ctypes", "cffi", "pandas", "pyarrow"), pytest.mark.core),
    **dict.fromkeys(("lxml", "pydantic_core", "cython", "cython_numpy"), SMALL),
    **dict.fromkeys(("pybind11", "nanobind"), (*SMALL, pytest.mark.slow)),
    "torch": pytest.mark.libraries,
}
FRESH = ("copied", "computed", "made")


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in MARKS.items()])
def test_what_a_script_converts_and_copies(name: str) -> None:
    path = str(Path(specimens.__file__).parent)
    if name in ("cython", "cython_numpy", "pybind11", "nanobind"):  # the module that the script imports
        import bindings

        path += f":{Path(bindings.made_by(name).__file__).parent}"
    ran = inspector("trace", "--json", str(SCRIPTS / f"of_{name}.py"), PYTHONPATH=path)
    assert ran.returncode == 0, ran.stderr
    trace = from_text(ran.stdout, "stdout").trace
    said = [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("{")]
    assert said, ran.stderr
    for one in said:
        _judge(trace, one)


def _judge(trace: Trace, said: dict[str, Any]) -> None:
    if "bytes" in said:
        rows = [copy for copy in trace.copies if copy.site.text == said["bytes"]]
        _judge_bytes(rows, said)
        return
    calls = _within(
        [call for call in trace.calls if said.get("called", said.get("conversions")) == call.site.text]
    )
    assert calls, (said, [call.site.text for call in trace.calls])
    if "called" in said:
        made = {(call.name, _shown(call.result)) for call in calls}
        assert (said["name"], said["result"]) in made, (said, made)
    else:
        lines = iter([_line(one) for call in calls for one in call.conversions])
        shown = [_line(one) for call in calls for one in call.conversions]
        assert all(line in lines for line in said["lines"]), (said["lines"], shown)


def _judge_bytes(rows: list[Copy], said: dict[str, Any]) -> None:
    assert rows, said
    verdicts = {copy.verdict for copy in rows}
    if said["shares"]:
        assert verdicts <= {"shared", "in place"}, (said, rows)
        return
    fresh = [copy for copy in rows if copy.verdict in FRESH]
    assert said["size"] in {copy.copied_bytes for copy in fresh}, (said, rows)
    if said["equal"]:
        assert "copied" in verdicts, (said, rows)
    assert all(isinstance(copy.allocator, str) for copy in fresh if copy.copied_bytes >= 4096), (said, fresh)


def _within(calls: list[Call]) -> list[Call]:
    return [one for call in calls for one in (call, *_within(list(call.calls)))]


def _line(one: Conversion) -> str:
    """As views draw it: PyLong_AsLong ×3 → 1."""
    form = f" {one.format}" if one.format else ""
    times = f" ×{one.times:,}" if one.times > 1 else ""
    told = {"made": one.made_bytes, "copied": one.copied_bytes, "shared": one.shared_bytes}
    became = "".join(f", {word} {count} B" for word, count in told.items() if count)
    return f"{one.function}{form}{times}" + (f" → {', '.join(one.values)}" if one.values else "") + became


def _shown(value: Any) -> str:
    if not isinstance(value, Value):
        return ""
    kind = value.item_type.rpartition(".")[2]
    return value.text.strip("'") or f"{value.type_name} of {value.items:,} {kind}"


@pytest.mark.core
def test_a_child_that_the_script_forks_ends_as_in_python(tmp_path: Path) -> None:
    """Without a report of its own: it was printed twice, and files were written twice."""
    path = tmp_path / "app.py"
    path.write_text(
        "import os, sys\nimport numpy as np\na = np.arange(1000.0)\nb = a.copy()\n\n"
        "def child(how):\n    pid = os.fork()\n    if pid:\n"
        "        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "    if how == 'exit':\n        sys.exit(5)\n"
        "    if how == 'raise':\n        raise ValueError('in the child')\n\n"
        "codes = [child('exit'), child('raise'), child('end')]\n"
        "if None not in codes:\n    print('codes', codes, flush=True)\n"
    )
    ran = inspector("trace", str(path))
    assert ran.returncode == 0 and ran.stdout.count("copied by one line") == 1
    assert "codes [5, 1, 0]" in ran.stdout and "ValueError: in the child\n" in ran.stderr
