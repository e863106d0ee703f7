"""A real IPython shell with the extension loaded, and what a cell displayed in it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    """A real kernel with the extension loaded, ended with the file."""
    import kernels

    with kernels.kernel(tmp_path_factory.mktemp("kernel")) as (_, client):
        yield client


@pytest.fixture
def bare_shell() -> Iterator[InteractiveShell]:
    """A shell without the extension."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield shell
    shell.run_line_magic("unload_ext", "inspector")
    shell.reset(new_session=False)
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell: InteractiveShell) -> InteractiveShell:
    """A shell after `%load_ext inspector`."""
    bare_shell.run_line_magic("load_ext", "inspector")
    return bare_shell


@pytest.fixture
def run(shell: InteractiveShell) -> Callable[[str], tuple[Any, list[dict[str, str]]]]:
    """`run(cell)`: (execution result, bundles displayed)."""

    def run(cell: str) -> tuple[Any, list[dict[str, str]]]:
        with capture_output() as captured:
            result = shell.run_cell(cell, store_history=True)
        return result, [output.data for output in captured.outputs]

    return run


@pytest.fixture
def shown(run: Callable[[str], tuple[Any, list[dict[str, str]]]]) -> Callable[[str], str]:
    """`shown(cell)`: the text of all that it displayed."""
    return lambda cell: "\n".join(bundle["text/plain"] for bundle in run(cell)[1])
