"""Show a report from a magic: display it where its value would be dropped, never through `Out`.

IPython keeps the value of a cell's last expression: `_`, `__`, `___` and `Out` shift, which may free an older
value. Inspecting must not free the user's objects; so the report is displayed, and the history is unchanged.
Where the value is used, as in `r = %inspect x`, it is returned and not displayed.
"""

# SPDX-License-Identifier: MIT
import dis
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from types import FrameType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from inspector.errors import InspectorError
from inspector.report import Report

_RUNNERS = ("run_line_magic", "run_cell_magic")
_PRINTS = ("PRINT_EXPR", "CALL_INTRINSIC_1")
"""The opcode after the call of a cell's last expression: in 3.11, and from 3.12 on."""


def give(shell: InteractiveShell, report: Report, view: Any = None) -> Report | None:
    """Display the report (or `view`) where the magic is a statement; else return the report."""
    if not _is_statement():
        return report
    display_result(shell, report, view)
    return None


def display_result(shell: InteractiveShell, report: Report, view: Any = None) -> None:
    """Display the report, or a view of it, as the cell's result, without storing it in `Out`."""
    show(report if view is None else view)
    shell.displayhook.fill_exec_result(report)


def show(shown: Any) -> None:
    """Display a report, or a view after its page."""
    outputs = getattr(shown, "outputs", None)
    if outputs is None:
        display(shown)
    else:
        display(*outputs, raw=True)


@contextmanager
def shown_if_raised(draw: Callable[[], Any]) -> Iterator[None]:
    """Where the user's code in the block raises, display what `draw` returns, and reraise."""
    try:
        yield
    except InspectorError:
        raise
    except BaseException:
        with suppress(InspectorError):  # what could not begin has nothing to show: the error is told
            show(draw())
        raise


def refuse(error: InspectorError, magic: str, cell: str | None = None) -> None:
    """Display the error as one block without traceback, named by `magic`; the cell continues."""
    say(error.block(f"{'%' if cell is None else '%%'}{magic}"))


def say(text: str) -> None:
    """Display lines of plain text as one block."""
    display(_Text(text))


class _Text:
    def __init__(self, block: str) -> None:
        self.block = block

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        font = "font-family:var(--jp-code-font-family, monospace);font-size:var(--jp-code-font-size, 13px)"
        style = f"margin:0;padding:0;background:transparent;color:inherit;{font}"
        return {
            "text/plain": self.block.rstrip("\n"),
            "text/html": f'<pre style="{style}">{escape(self.block)}</pre>',
        }


def _is_statement() -> bool:
    """Whether the magic was called as a statement: its value is printed or dropped."""
    caller = calling_frame()
    if caller is None:
        return False
    following = (i for i in dis.get_instructions(caller.f_code) if i.offset > caller.f_lasti)
    after = next(following, None)
    return after is not None and (after.opname == "POP_TOP" or after.opname in _PRINTS)


def calling_frame() -> FrameType | None:
    """The frame that runs the magic's line: the caller of IPython's `run_line_magic`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _RUNNERS and "shell" not in frame.f_code.co_varnames:
            return frame.f_back
        frame = frame.f_back
    return None
