"""Run the cell of a magic as IPython would: last value to `Out`, errors with their traceback."""

# SPDX-License-Identifier: MIT
import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from types import CodeType, FrameType, TracebackType
from typing import NoReturn

from inspector.magics import awaiting
from IPython.core.interactiveshell import InteractiveShell


class Prepared:
    """A compiled cell, ready to run in the user's namespace; its exceptions reach the caller.

    It is compiled first, so that compiling is not part of what the cell changes.
    """

    def __init__(self, shell: InteractiveShell, cell: str) -> None:
        self.shell = shell
        source = shell.transform_cell(cell)
        number = shell.displayhook.prompt_count  # of the cell that runs; execution_count may be the next
        self.name = shell.compile.cache(source, number, raw_code=cell)
        try:
            self.codes = _compiled(shell, source, self.name)
        except SyntaxError as error:
            raise CellSyntaxError(shell, error) from None
        self._is_silent = shell.displayhook.semicolon_at_end_of_expression(source)
        self.awaits = any(map(awaiting.is_awaited, self.codes))

    def run(self) -> None:
        """Run a cell that does not await."""
        with self._own_traceback():
            for _ in self.statements():
                pass

    async def run_async(self) -> None:
        """Run a cell in the event loop that awaits this."""
        with self._own_traceback():
            for code in self.codes:
                await self.statement(code)

    def statements(self) -> Iterator[None]:
        """Run its statements, by C: no frame of ours lies between the caller's and the cell's."""
        return map(self._display, map(eval, self.codes, repeat(self.shell.user_ns)))

    async def statement(self, code: CodeType) -> None:
        """Run one in the event loop."""
        value = eval(code, self.shell.user_ns)
        self._display(await value if awaiting.is_awaited(code) else value)

    def alone(self, error: BaseException) -> BaseException:
        """What ended the cell, without our part of its traceback."""
        return error.with_traceback(_below(error, self.name) or error.__traceback__)

    def fail(self, error: BaseException) -> NoReturn:
        """Raise what ended the cell; IPython draws the user's frames."""
        _show_only(self.shell, error, self.name)
        raise error

    def _display(self, value: object) -> None:
        if not self._is_silent:
            sys.displayhook(value)

    @contextmanager
    def _own_traceback(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            _show_only(self.shell, error, self.name)
            raise


def numbers(shell: InteractiveShell) -> dict[str, int]:
    """IPython's file names of cells -> cell numbers."""
    return {**getattr(shell.compile, "_filename_map", {})}


def _compiled(shell: InteractiveShell, source: str, name: str) -> list[CodeType]:
    """The statements, then the last expression alone, so that its value is seen."""
    tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
    is_expression = tree.body and isinstance(tree.body[-1], ast.Expr)
    last: list[ast.expr] = [tree.body.pop().value] if is_expression else []
    flags = shell.compile.flags | (awaiting.FLAG if shell.autoawait else 0)
    codes = [compile(tree, name, "exec", flags)]
    return codes + [compile(ast.Expression(one), name, "eval", flags) for one in last]


class CellSyntaxError(Exception):
    """The cell does not parse; drawn as IPython draws a SyntaxError."""

    def __init__(self, shell: InteractiveShell, error: SyntaxError) -> None:
        super().__init__(str(error))
        self.lines: list[str] = shell.SyntaxTB.structured_traceback(type(error), error, None)

    def _render_traceback_(self) -> list[str]:
        return self.lines


def make_frames() -> None:
    """Make the objects of the frames that run now: an error of the cell would make them, as if they were its.

    Its traceback refers to the cell's frame, and that one to those that called it.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frame = frame.f_back


def _below(error: BaseException, name: str) -> TracebackType | None:
    """The traceback from the cell's frame on; None where it has none."""
    below = error.__traceback__
    while below is not None and below.tb_frame.f_code.co_filename != name:
        below = below.tb_next
    return below


def _show_only(shell: InteractiveShell, error: BaseException, name: str) -> None:
    """Let IPython draw the traceback from the cell's frame on, without the frames that called it."""
    below = _below(error, name)

    def drawn() -> list[str]:
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, below, tb_offset=0)
        return lines

    if below is not None and isinstance(error, Exception):
        error.__dict__["_render_traceback_"] = drawn
