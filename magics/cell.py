"""Run the cell under `%%inspect` as IPython would: last value to `Out`, errors with their traceback."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType, TracebackType

from IPython.core.interactiveshell import InteractiveShell


def prepared(shell: InteractiveShell, cell: str) -> Callable[[], None]:
    """The compiled cell, ready to run in the user's names; whatever it raises goes on to the caller.

    Compiling comes first, so that it is no part of what the cell changes.
    """
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)
    try:
        codes = _compiled(shell, source, name)
    except SyntaxError as error:
        raise CellSyntaxError(shell, error) from None

    def run() -> None:
        try:
            for code in codes:
                exec(code, shell.user_ns)
        except BaseException as error:
            _show_only(shell, error, name)
            raise

    return run


def _compiled(shell: InteractiveShell, source: str, name: str) -> list[CodeType]:
    """The statements, then the last expression on its own, as IPython shows it: not after a semicolon."""
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    shown = tree.body and isinstance(tree.body[-1], ast.Expr)
    shown = shown and not shell.displayhook.semicolon_at_end_of_expression(source)
    last = [tree.body.pop()] if shown else []
    codes = [compile(tree, name, "exec", shell.compile.flags)]
    return codes + [compile(ast.Interactive([one]), name, "single", shell.compile.flags) for one in last]


class CellSyntaxError(Exception):
    """The cell does not parse; drawn as IPython draws a SyntaxError."""

    def __init__(self, shell: InteractiveShell, error: SyntaxError) -> None:
        super().__init__(str(error))
        self.lines: list[str] = shell.SyntaxTB.structured_traceback(type(error), error, None)

    def _render_traceback_(self) -> list[str]:
        return self.lines


def _show_only(shell: InteractiveShell, error: BaseException, name: str) -> None:
    """Let IPython draw the traceback from the cell on, without the frames that ran it."""
    below: TracebackType | None = error.__traceback__
    while below is not None and below.tb_frame.f_code.co_filename != name:
        below = below.tb_next

    def drawn() -> list[str]:
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, below, tb_offset=0)
        return lines

    if below is not None and isinstance(error, Exception):
        error.__dict__["_render_traceback_"] = drawn
