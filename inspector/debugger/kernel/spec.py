"""The kernel as Jupyter finds it: a folder with kernel.json.

https://jupyter-client.readthedocs.io/en/stable/kernels.html#kernel-specs
"""

# SPDX-License-Identifier: MIT
import json
import shutil
import sys
from pathlib import Path
from typing import Any, Final

from inspector.debugger.kernel.ipykernel import check
from inspector.errors import InspectorError

NAME: Final = "python3-native-debugging"
TITLE: Final = "Python 3 (native debugging)"


def content() -> dict[str, Any]:
    """kernel.json."""
    command = [sys.executable, "-P", "-m", "inspector", "kernel", "run", "--file", "{connection_file}"]
    return {
        "argv": command,
        "display_name": TITLE,
        "language": "python",
        "metadata": {"debugger": True},
        "kernel_protocol_version": "5.5",
    }


def installed(prefix: str) -> Path:
    """Write the folder below `prefix`, or the user's own where that is empty.

    Raises InspectorError ipykernel-missing, debugpy-missing, kernel-folder.
    """
    check()
    folder = _folder(prefix)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.json").write_text(json.dumps(content(), indent=1) + "\n")
    except OSError as error:
        raise _refused(
            folder, error.strerror or "", "give --user, or a --prefix that you may write"
        ) from None
    return folder


def removed(prefix: str) -> Path:
    """Remove the folder. Raises InspectorError kernel-folder."""
    folder = _folder(prefix)
    if not (folder / "kernel.json").exists():
        raise _refused(folder, "there is no such kernel", "jupyter kernelspec list")
    shutil.rmtree(folder)
    return folder


def _folder(prefix: str) -> Path:
    if prefix:
        return Path(prefix).expanduser().absolute() / "share" / "jupyter" / "kernels" / NAME
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "kernels" / NAME


def _refused(folder: Path, why: str, do: str) -> InspectorError:
    return InspectorError(f"{folder} cannot be changed.", slug="kernel-folder", why=why, do=do)
