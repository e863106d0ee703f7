"""The object of a command: an expression over a script's names, or over modules imported on demand."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import os
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TextIO

from inspector.errors import EXIT_FINDINGS, InspectorError
from inspector.objects.quiet_compile import quietly

if TYPE_CHECKING:
    from pathlib import Path

NICKNAMES: Final = {
    "np": "numpy",
    "pd": "pandas",
    "pl": "polars",
    "pa": "pyarrow",
    "plt": "matplotlib.pyplot",
}
FRAMES_SHOWN: Final = 3


class ProgramFailed(InspectorError):
    """The inspected program itself raised or exited."""

    exit_code = EXIT_FINDINGS


class Target:
    """The names that an expression may use: those of a script, or none."""

    def __init__(self, script: str | None, quiet: bool = False) -> None:
        """Run `script`, if any; `quiet` sends its output to stderr, so that stdout has only our report."""
        self.script = script
        self.left: SystemExit | None = None
        self.module = types.ModuleType("__main__")
        self.module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.module
        if script:
            from pathlib import Path

            with running(quiet):
                self._run(Path(script))

    @property
    def names(self) -> dict[int, str]:
        """The id of the namespace -> the name that reports show for it."""
        return {
            id(self.module.__dict__): self.script.rpartition("/")[2] if self.script else "the command line"
        }

    @property
    def known(self) -> dict[int, str]:
        """The ids of the namespace's objects -> their names."""
        return {id(value): name for name, value in self.module.__dict__.items()}

    def evaluate(self, expression: str) -> Any:
        """The value of `expression`; unknown first names are imported as modules."""
        tree, code = _parsed(expression)
        self._import_names(tree)
        try:
            return eval(code, self.module.__dict__)
        except NameError as error:
            raise self._unknown_name(error) from None
        except BaseException as error:
            raise failed(f"{_clip(expression)} raised {said(error)}", error) from None

    def _run(self, path: Path) -> None:
        source = source_of(path)
        namespace = self.module.__dict__
        namespace["__file__"] = str(path)
        sys.argv = [str(path)]
        search_first(str(path.resolve().parent))
        try:
            exec(compile(source, str(path), "exec"), namespace)
        except SystemExit as error:
            if error.code not in (None, 0):
                exited = f"{path} exited with {error.code!r:.60}"
                raise failed(exited, error, "only a script that exits with 0 is inspected") from None
            self.left = error.with_traceback(None)
        except BaseException as error:
            raise failed(f"{path} raised {said(error)}", error) from None

    def _import_names(self, tree: ast.Expression) -> None:
        """Import modules that the expression names: `numpy`, `np`, `xml.dom`; a script's names come first."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and not self._has(node.id):
                module = _imported(NICKNAMES.get(node.id, node.id))
                if module is not None and not self.script:
                    self.module.__dict__[node.id] = module
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (dotted := _dotted(node)):
                self._import_submodule(dotted)

    def _import_submodule(self, dotted: list[str]) -> None:
        found = self.module.__dict__.get(dotted[0])
        for name in dotted[1:]:
            if type(found) is not types.ModuleType:
                return
            if name not in found.__dict__ and "__path__" in found.__dict__:
                _imported(f"{found.__name__}.{name}")
            found = found.__dict__.get(name)

    def _has(self, name: str) -> bool:
        return name in self.module.__dict__ or name in builtins.__dict__

    def _unknown_name(self, error: NameError) -> InspectorError:
        if self.left is not None:
            return ProgramFailed(
                f"{error}: {self.script} exited before the name was set.",
                slug="script-failed",
                do="set the name before the exit",
            )
        where = self.script or "an installed module or a builtin"
        return InspectorError(
            f"{error}.",
            slug="unknown-name",
            why=f"{where} has no such name",
            do="give --script FILE that sets it",
        )


def _parsed(expression: str) -> tuple[ast.Expression, types.CodeType]:
    try:
        with quietly():
            tree = ast.parse(expression.strip(), "<expression>", "eval")
            return tree, compile(
                tree, "<expression>", "eval"
            )  # refuses what is valid only in a function: await
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InspectorError(
            f"{_clip(expression) if expression.strip() else 'an empty EXPR'} is not an expression.",
            slug="not-an-expression",
            why=said(error),
            do="check the quotes",
        ) from None


def search_first(folder: str) -> None:
    """Put the program's folder first, as `python` does: in the place of ours, which -P does not put there."""
    if not sys.flags.safe_path:
        sys.path[0] = folder
    elif sys.path[:1] != [folder]:
        sys.path.insert(0, folder)


def source_of(path: Path) -> bytes:
    """The source of a script. Raises InspectorError `unreadable-file`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InspectorError(
            f"cannot read the script {path}: {error.strerror}.",
            slug="unreadable-file",
            do="give the path of a Python file",
        ) from None


def _imported(name: str) -> types.ModuleType | None:
    """The module called `name`; None where there is none. Raises ProgramFailed where importing it fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise failed(f"import {name} raised {said(error)}", error) from None
    except BaseException as error:
        raise failed(f"import {name} raised {said(error)}", error) from None


def _dotted(node: ast.Attribute) -> list[str]:
    """The names of `a.b.c`; [] for an attribute of anything but a name."""
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        inner = inner.value
    return [inner.id, *names] if isinstance(inner, ast.Name) else []


def failed(what: str, error: BaseException, do: str = "check whether plain python runs it") -> ProgramFailed:
    """The program's failure, with the last FRAMES_SHOWN frames of its own code."""
    import traceback
    from pathlib import Path

    ours = str(Path(__file__).parent)
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if not f.filename.startswith((ours, "<frozen", "<expression"))
    ]
    rows = [f"{Path(f.filename).name}:{f.lineno} in {f.name}   {f.line or ''}".rstrip() for f in frames]
    left_out = len(rows) - FRAMES_SHOWN
    if left_out > 0:
        rows = [f"… {left_out} calls before", *rows[left_out:]]
    return ProgramFailed(f"{what}.", slug="script-failed", why="\n".join(rows), do=do)


def said(error: BaseException) -> str:
    """Type and text of an exception, at most 200 characters; making the text may run failing user code."""
    try:
        text = str(error)
    except BaseException:
        text = "(its __str__ failed)"
    name = type(error).__name__
    return _clip(f"{name}: {text}" if text else name, 200)


def _clip(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


@contextlib.contextmanager
def running(quiet: bool) -> Iterator[None]:
    """Around a program: `quiet` sends its output to stderr; its changes to sys.stdout are undone."""
    with _stdout_to_stderr() if quiet else contextlib.nullcontext():
        kept = sys.stdout, sys.stderr
        try:
            yield
        finally:
            sys.stdout, sys.stderr = (_open(*pair) for pair in enumerate(kept, 1))


def _open(number: int, stream: TextIO) -> TextIO:
    """The stream, or one for the same file descriptor where the program closed it (as `json.tool` does)."""
    if not stream.closed:
        return stream
    return open(number, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)


@contextlib.contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    """Send the output of the script and its native code to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
