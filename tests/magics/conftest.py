"""A real IPython shell with the extension loaded, and what a cell displayed in it."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

SECONDS = 60


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingKernelClient]:
    """A real kernel, ended with the file; what a file wants to have run there first is its SETUP."""
    from jupyter_client.manager import start_new_kernel

    folder = tmp_path_factory.mktemp("kernel")  # not the checkout: there the sources would be imported
    environment = os.environ | {"IPYTHONDIR": str(folder)}
    manager, client = start_new_kernel(
        kernel_name="python3", startup_timeout=SECONDS, cwd=str(folder), env=environment
    )
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


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
