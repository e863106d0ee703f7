"""The two extension modules of tutorial 30, which tests/seeds builds too: reader and tests have one text."""

# SPDX-License-Identifier: MIT
import json
from pathlib import Path

TUTORIAL = Path(__file__).resolve().parents[2] / "notebooks" / "30_torch_extension.ipynb"


def _cell(number: str) -> str:
    """The C of a cell, without the magic's line."""
    cells = json.loads(TUTORIAL.read_text())["cells"]
    (source,) = ["".join(cell["source"]) for cell in cells if cell["id"] == f"cell-{number}"]
    magic, _, text = source.partition("\n")
    assert magic == "%%inspect_c"
    return text


SUPPORT, SAMPLE = _cell("03").removeprefix("#pragma inspector support\n").split("#pragma inspector code\n")
TALLY = _cell("12")
