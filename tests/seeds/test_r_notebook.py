"""R's own notebook: inspect.R's cards in the outputs of a real IRkernel, as HTML and as text."""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest
import reticulated

pytestmark = [pytest.mark.r, pytest.mark.timeout(300)]
CELLS = (
    'library(reticulate)\nsource(import("inspector")$r())',
    "x <- 1:1000000\ninspect(x)",
    "inspect_memory()",
    ".Internal(inspect(x))",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """The outputs of each cell, as the kernel sent them."""
    folder = tmp_path_factory.mktemp("ir")
    asks = "cat(system.file('kernelspec', package = 'IRkernel'))"
    found = subprocess.run([reticulated.rscript(), "-e", asks], capture_output=True, text=True).stdout
    assert found, "IRkernel is missing: python3 .ci/system.py R"
    shutil.copytree(found, folder / "kernels" / "ir")
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": source, "id": f"cell{n}"} for n, source in enumerate(CELLS)]
    spec = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}
    notebook = {"cells": cells, "metadata": spec, "nbformat": 4, "nbformat_minor": 5}
    (folder / "in.ipynb").write_text(json.dumps(notebook))
    command = [
        sys.executable,
        "-m",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        "--output",
        "out",
        "in.ipynb",
    ]
    environment = {**os.environ, "JUPYTER_PATH": str(folder), "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=250)
    assert done.returncode == 0, done.stderr
    return [one["outputs"] for one in json.loads((folder / "out.ipynb").read_text())["cells"]]


def shown(outputs: list[dict[str, Any]], kind: str) -> str:
    return "".join("".join(one.get("data", {}).get(kind, "")) for one in outputs)


def test_a_card_is_html_and_text(outputs: list[list[dict[str, Any]]]) -> None:
    text, html = shown(outputs[1], "text/plain"), shown(outputs[1], "text/html")
    assert "0 of 4.0 MB materialized" in " ".join(text.split()) and "held by  x" in text
    assert html.startswith("<div") and "0 of 4.0 MB materialized" in html and "<script" not in html


def test_memory_is_a_table_and_the_vector_stays_compact(outputs: list[list[dict[str, Any]]]) -> None:
    assert "<table" in shown(outputs[2], "text/html") and "compact sequence" in shown(
        outputs[2], "text/plain"
    )
    assert any("(compact)" in "".join(one.get("text", "")) for one in outputs[3])
