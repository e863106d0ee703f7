"""A seed's system is missing, stripped or broken: one clear sentence each, with what to do; nothing dies."""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from refused import refused as expected

import inspector
from inspector.facts.unknown import Unknown

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
COMMAND = Path(sys.executable).parent / "inspector"


def ran(*command: object, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in this environment and `more` of it."""
    words, environment = list(map(str, command)), {**os.environ, **more}
    return subprocess.run(words, capture_output=True, text=True, timeout=100, cwd=cwd, env=environment)


def refused(*words: str, **environment: str) -> tuple[int, str]:
    """Exit code and the sentence: what `inspector WORDS` says where it cannot."""
    done = ran(COMMAND, *words, **environment)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


# ----- the system is missing -----


@pytest.mark.parametrize("words", [("break", "--preset", "reticulate", "--"), ("trace", "--")])
def test_no_r(words: tuple[str, ...]) -> None:
    code, said = refused(*words, "Rscript", "seed.R", PATH="/nowhere")
    assert code == 2 and "Rscript" in said and "docs/messages.md#no-program" in said


MISSING = {
    "10_reticulate": ("Rscript", "This tutorial needs R with reticulate: sudo apt-get install"),
    "30_torch_extension": ("torch", "This tutorial needs torch: %pip install torch"),
    "40_embedding_host": ("gcc", "This tutorial compiles a host in C: sudo apt-get install gcc"),
    "70_cluster": ("dask", "This tutorial needs Dask: %pip install distributed"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_tutorial_says_in_its_first_cell_what_it_needs(name: str, tmp_path: Path) -> None:
    """Its own first cell, run where the program is not on PATH and the library cannot be imported."""
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    first = "".join(next(cell for cell in cells if cell["cell_type"] == "code")["source"])
    what, sentence = MISSING[name]
    run = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell\n"
        f"sys.modules[{what!r}] = None\n"
        f"InteractiveShell.instance(colors='NoColor').run_cell({first!r})"
    )
    done = ran(sys.executable, "-P", "-c", run, cwd=tmp_path, PATH="/nowhere", IPYTHONDIR=str(tmp_path))
    assert done.stdout.startswith(sentence) and "Traceback" not in done.stdout + done.stderr, done


@pytest.mark.r
def test_r_without_reticulate(tmp_path: Path) -> None:
    """R's own sentence, and no place of the preset was ever there."""
    rscript = shutil.which("Rscript")
    assert rscript
    (tmp_path / "seed.R").write_text("library(reticulate)\n")
    nowhere = {"R_LIBS_SITE": "/nowhere", "R_LIBS_USER": "/nowhere", "R_LIBS": "/nowhere"}
    script = str(tmp_path / "seed.R")
    code, said = refused("break", "--preset", "reticulate", "--", rscript, script, **nowhere)
    assert code == 1 and "there is no package called" in said
    code, said = refused("trace", "--", rscript, script, **nowhere)
    assert code == 2 and "docs/messages.md#no-python" in said


# ----- the system has no names -----


@pytest.mark.debugger
def test_places_that_no_library_has_say_so() -> None:
    """As where torch is stripped of its symbols, or not loaded: nothing is guessed, each place says why."""
    done = ran(COMMAND, "break", "--preset", "torch", "--", sys.executable, "-c", "print(1)")
    rows = [line for line in done.stdout.splitlines() if "THPVariable" in line or "check_deprecated" in line]
    assert done.returncode == 0 and len(rows) >= 3
    assert all(row.endswith("no loaded library has a function of this name") for row in rows), rows


# ----- the compiler, and C that goes wrong -----


FAILING = "#!/bin/sh\necho 'gcc: fatal: no space left on device' >&2\nexit 4\n"


@pytest.mark.parametrize(
    ("gcc", "slug", "said"),
    [("", "no-compiler", "apt-get install"), (FAILING, "c-does-not-compile", "no space left on device")],
)
def test_no_compiler_and_one_that_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, gcc: str, slug: str, said: str
) -> None:
    """One that dies without a line of the cell: its last words are told."""
    monkeypatch.setenv("PATH", "/nowhere")
    if gcc:
        (tmp_path / "gcc").write_text(gcc)
        (tmp_path / "gcc").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with expected(slug) as caught:
        inspector.compile_c("int nobody_has_compiled_this;")
    assert said in f"{caught.value} {caught.value.do}"


CORRUPTS = """
char *block = malloc(24);
memset(block + 24, 0xff, 16);
free(block);
free(malloc(40));
for (int i = 0; i < 9; i++) free(malloc(1 << (4 + i)));
free(block);
abort();
"""


def test_c_that_corrupts_the_heap_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from inspector.sessions.compiler import call

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module = inspector.compile_c(CORRUPTS, name="bad", inputs=("x",), support="#include <stdlib.h>")
    result = call.apart(module.bad, {"x": np.ones(3)}, 20)[0]
    assert isinstance(result, Unknown) and result.reason.startswith("the child died of SIG")
    assert np.ones(1000).sum() == 1000  # and here the heap is whole
