"""`inspector trace`: a program run traced, its own output and exit code kept."""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path

import pytest
from programs import inspector

from inspector.report import from_text

pytestmark = pytest.mark.core


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(
        "import sys\nimport numpy as np\n"
        "rows = [float(i) for i in range(int(sys.argv[1]))]\n"
        "print('sum', np.array(rows).sum())\n"
        "if len(sys.argv) > 2:\n    raise KeyError(sys.argv[2])\n"
    )
    return path


@pytest.mark.quick
def test_a_script_with_its_arguments(program: Path) -> None:
    ran = inspector("trace", str(program), "1000")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("sum 499500.0\n 8.0 kB copied by one line.\n 4  print('sum', np.array(rows)")


@pytest.mark.quick
def test_a_module_and_json(program: Path) -> None:
    ran = inspector("trace", "--of", "numpy", "--json", "-m", "app", "10", cwd=program.parent)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "sum 45.0\n"
    fact = from_text(ran.stdout, "stdout").trace
    assert fact.copies[0].copied_bytes == 80
    assert json.loads(ran.stdout)["facts"]["trace"]["copies"][0]["verdict"] == "copied"


def test_a_long_run_and_native_frames(program: Path) -> None:
    for words, said in (("stream", "0 dropped"), ("sample --every 2", "left")):
        ran = inspector("trace", "--of", "numpy", "--mode", *words.split(), "--all", str(program), "1000")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert said in ran.stdout.splitlines()[-1]
    ran = inspector("trace", "--of", "numpy", "--native", "--all", str(program), "1000")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "            from   " in ran.stdout and "(_multiarray_umath.so)" in ran.stdout


def test_a_program_that_fails_is_shown_and_said(program: Path) -> None:
    ran = inspector("trace", str(program), "10", "boom")
    assert ran.returncode == 1
    assert "np.array(rows)" in ran.stdout
    assert "raised KeyError: 'boom'" in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("no_such_file.py",),
        ("--of", "no_such_module_x", "app.py"),
        ("--mode", "sample", "--every", "0", "app.py"),
        ("--mode", "stream", "--", "python3"),
        ("--native", "--", "python3"),
    ],
)
def test_a_wrong_request_is_one_block(program: Path, words: tuple[str, ...]) -> None:
    ran = inspector("trace", *words, cwd=program.parent)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("inspector: ") and "docs/messages.md#" in ran.stderr


def test_a_module_beside_the_script_does_not_stand_in_for_one_of_pythons(tmp_path: Path) -> None:
    """`html` and `difflib` are what the report imports, after the script has run."""
    for name in ("html", "difflib"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError\n")
    (tmp_path / "app.py").write_text("import numpy\na = numpy.arange(1000.0)\nb = a.copy()\n")
    ran = inspector("trace", "--html", "page.html", "app.py", cwd=tmp_path)
    assert ran.returncode == 0 and "8.0 kB copied by one line" in ran.stdout, ran.stderr
    assert "a.copy()" in (tmp_path / "page.html").read_text()
