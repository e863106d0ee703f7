"""Where ptrace is refused each tutorial still runs: the step says why, and shows its saved picture."""

# SPDX-License-Identifier: MIT
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
REFUSED = {
    "10_reticulate": ["10_py_to_r", "10_r_to_py_cpp"],
    "30_torch_extension": ["30_addcmul"],
    "40_embedding_host": ["40_inspect", "40_item", "40_owners", "40_stacks"],
}
"""Tutorial -> the pictures of the steps that trace another process, in their order."""
ROOMS = {"10_reticulate": pytest.mark.r, "30_torch_extension": pytest.mark.newest}
SAYS = re.compile(r"the system forbids tracing it.*?(seccomp|ptrace)", re.DOTALL)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [pytest.param(name, marks=ROOMS.get(name, ())) for name in REFUSED])
def test_it_runs_from_top_to_bottom(name: str, tmp_path: Path) -> None:
    import nbformat

    program, notebook = Path(__file__).with_name("refusing.py"), FOLDER / f"{name}.ipynb"
    command = [sys.executable, "-P", str(program), str(notebook), "out"]
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    cells = [cell for cell in nbformat.read(tmp_path / "out", as_version=4).cells if cell.cell_type == "code"]
    shown = []
    for cell in cells:
        text = "".join(output.get("text", "") for output in cell.outputs)
        data = "".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
        if found := re.findall(r"\(pictures/(\w+)\.svg\)", data):
            assert SAYS.search(text), text
            shown += found
    assert shown == REFUSED[name]


@pytest.mark.parametrize("picture", [one for pictures in REFUSED.values() for one in pictures])
def test_its_picture_is_there(picture: str) -> None:
    drawn = (FOLDER / "pictures" / f"{picture}.svg").read_text()
    assert drawn.startswith("<svg") and "</svg>" in drawn
