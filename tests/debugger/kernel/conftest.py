"""Where Jupyter finds the installed kernel, apart from this machine's own kernels and settings."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.faces.cli import main


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the kernel installed."""
    folder = tmp_path_factory.mktemp("jupyter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder / "share" / "jupyter"))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        assert main(["kernel", "install", "--prefix", str(folder)]) == 0
        yield folder
