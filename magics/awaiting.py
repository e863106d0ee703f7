"""`await` in a cell under `%%inspect`: IPython's event loop runs the cell.

IPython runs a cell in its event loop when the transformed cell itself awaits (`%autoawait`). A cell magic
hides its cell in a string; so our transformer puts `await` before the magic's call where the string awaits.
"""

# SPDX-License-Identifier: MIT
import ast
from inspect import CO_COROUTINE
from types import CodeType

from IPython.core.interactiveshell import InteractiveShell

from inspector.objects.quiet_compile import quietly

_CALLS = ("get_ipython().run_cell_magic('inspect',", "get_ipython().run_cell_magic('inspect_trace',")
FLAG = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def add(shell: InteractiveShell) -> None:
    """Append our transformer to the shell's transformers."""

    def transformer(lines: list[str]) -> list[str]:
        awaits = shell.autoawait and lines and lines[0].startswith(_CALLS)
        awaits = awaits and _hidden_await(shell, "".join(lines))
        return [f"await {lines[0]}", *lines[1:]] if awaits else lines

    transformer.__module__ = __name__
    shell.input_transformers_post.append(transformer)


def remove(shell: InteractiveShell) -> None:
    """Remove our transformer."""
    present = shell.input_transformers_post
    present[:] = [one for one in present if getattr(one, "__module__", "") != __name__]


def is_awaited(code: CodeType) -> bool:
    """Whether code compiled with FLAG must be awaited, not executed."""
    return bool(code.co_flags & CO_COROUTINE)


def _hidden_await(shell: InteractiveShell, call: str) -> bool:
    """Whether the cell in the last argument of `call` awaits at its top level."""
    try:
        cell = ast.literal_eval(ast.parse(call, mode="eval").body.args[-1])  # type: ignore[attr-defined]
        with quietly():
            return is_awaited(compile(shell.transform_cell(cell), "<cell>", "exec", FLAG))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
