"""R's own notebook in JupyterLab: inspect.R's cards by IRkernel, in both themes."""

# SPDX-License-Identifier: MIT
import sys
from pathlib import Path

import pytest
from labs import brightness

CELLS = (
    f'Sys.setenv(RETICULATE_PYTHON = "{sys.executable}")\n'
    'suppressMessages(library(reticulate))\nsource(import("inspector")$r())',
    "x <- 1:1000000\ninspect(x)",
    "inspect_trace({ y <- x + 1L })",
    "inspect_memory()",
)


def test_cards_of_r_objects_are_drawn(lab) -> None:
    if not Path("/usr/share/jupyter/kernels/ir").exists():
        pytest.skip("cannot be installed: r-cran-irkernel")
    _, card, trace, memory = lab.run(*CELLS, kernel="ir")
    card.locator(".inspector").wait_for()
    told = " ".join(card.inner_text().split())
    assert "A compact sequence 1 : 1,000,000 (ALTREP): 136 B; 0 of 4.0 MB materialized." in told
    assert "held by x" in told and "list (" not in told, "R's own vector, not what reticulate makes of it"
    assert "x MATERIALIZED" in " ".join(trace.inner_text().split())
    assert "compact sequence" in memory.locator("table").last.inner_text()
    lab.theme("dark")
    assert brightness(card.locator(".inspector").first) > 0.5
    lab.theme("light")
    assert brightness(card.locator(".inspector").first) < 0.5
