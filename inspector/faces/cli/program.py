"""Run a script or a module in this process as `python` would; describe how a child process ended."""

# SPDX-License-Identifier: MIT
import argparse
import os
import runpy
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from inspector.errors import InspectorError
from inspector.faces.cli.target import ProgramFailed, failed, running, said, search_first, source_of


def behind_dashes(options: argparse.Namespace) -> bool:
    """Whether PROGRAM followed `--`, which argparse removes."""
    words: list[str] = options.words
    at = len(words) - len(options.arguments) - 1
    return words[at - 1 : at + 1] == ["--", options.program]


def how_it_ended(program: str, code: int) -> InspectorError | None:
    """The error of a child that exited with `code` or was ended by signal -`code`; None for 0."""
    if not code:
        return None
    how = f"was ended by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exited with {code}"
    return ProgramFailed(
        f"{program[:60]} {how}.",
        slug="script-failed",
        why="the report shows what it did until then",
        do="check whether it runs without inspector",
    )


def run(program: str, arguments: Sequence[str], *, as_module: bool, quiet: bool) -> None:
    """Run the program to its end; `quiet` sends its output to stderr.

    Raises ProgramFailed where it raised or exited with a code other than 0, and SystemExit in a child that it
    forked: the report is its parent's.
    """
    own = os.getpid()
    with _arguments(program, arguments, as_module), running(quiet):
        try:
            _run(program, as_module)
        except ProgramFailed:
            raise
        except BaseException as error:
            if os.getpid() != own:
                raise SystemExit(_as_python_ends(error)) from None
            if not isinstance(error, SystemExit):
                raise failed(f"{program} raised {said(error)}", error) from None
            if error.code not in (None, 0):
                raise failed(f"{program} exited with {error.code!r:.60}", error) from None
    if os.getpid() != own:
        raise SystemExit(0)


def _as_python_ends(error: BaseException) -> Any:
    """The exit code of a program that ends by an error, which is written as Python does."""
    if isinstance(error, SystemExit):
        return error.code
    sys.excepthook(type(error), error, error.__traceback__)
    return 1


def run_within(
    block: AbstractContextManager[Any], options: argparse.Namespace
) -> tuple[Any, InspectorError | None]:
    """What the block yields with the program run in it, and the program's error or None.

    Raises InspectorError `unreadable-file` before the block begins.
    """
    if not options.module:
        readable(options.program)
    found: Any = None
    try:
        with block as found:
            run(options.program, options.arguments, as_module=options.module, quiet=options.json)
    except InspectorError as error:
        if error.slug != "script-failed":
            raise
        return found, error
    return found, None


def readable(program: str) -> None:
    """Raise InspectorError `unreadable-file` for a script that cannot be read, before tracing starts."""
    source_of(Path(program))


def _run(program: str, as_module: bool) -> None:
    if as_module:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    import types

    source = source_of(Path(program))
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=program, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    exec(compile(source, program, "exec"), main.__dict__)


@contextmanager
def _arguments(program: str, arguments: Sequence[str], as_module: bool) -> Iterator[None]:
    """Set sys.argv and sys.path[0] as `python` would; what is imported after the program, as for the report,
    is not looked for beside it first: it may have a html.py."""
    sys.argv = [program, *arguments]
    folder = os.getcwd() if as_module else os.path.dirname(os.path.abspath(program))  # noqa: PTH109, PTH100, PTH120
    search_first(folder)
    try:
        yield
    finally:
        if sys.path[:1] == [folder]:
            sys.path.append(sys.path.pop(0))
