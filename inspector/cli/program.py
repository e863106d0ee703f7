"""Run a script or a module as `python` would, inside this process, with its own arguments."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from inspector.cli.target import ProgramFailed, failed, running, source_of


def run(program: str, arguments: Sequence[str], *, as_module: bool, quiet: bool) -> None:
    """Run it to its end; `quiet` sends what it prints to stderr.

    Raises ProgramFailed where it raised or exited with a code other than 0.
    """
    with _arguments(program, arguments, as_module), running(quiet):
        try:
            _run(program, as_module)
        except SystemExit as error:
            if error.code not in (None, 0):
                raise failed(f"{program} exited with {error.code!r:.60}", error) from None
        except ProgramFailed:
            raise
        except BaseException as error:
            raise failed(f"{program} raised {type(error).__name__}: {str(error)[:200]}", error) from None


def readable(program: str) -> None:
    """Refuse a script that cannot be read, before anything is traced."""
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
    """sys.argv and sys.path[0] as the program expects them."""
    sys.argv = [program, *arguments]
    sys.path[0] = os.getcwd() if as_module else os.path.dirname(os.path.abspath(program))  # noqa: PTH109, PTH100, PTH120
    yield
