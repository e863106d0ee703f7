"""Floor 6: the terminal. Parse, call the api, show; one `<name>_command.py` a command, found by folder."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Final, NoReturn

from inspector.errors import EXIT_DONE, InspectorError, OurFault
from inspector.faces.cli.width import columns

GROUPS: Final = (
    "look at objects",
    "look at running programs",
    "look at saved reports",
    "look at this machine",
)
"""The jobs that `--help` groups the commands by; a command file names its own in GROUP."""

INVITATION: Final = """\
inspector: see what happens where Python meets native code.

  inspector show 'numpy.arange(12).reshape(3, 4).T'    one object whole
  inspector show data --script app.py                  a name of a script, after it ran
  inspector heap --script app.py                       what fills its memory
  inspector trace app.py                               what it copies and converts at the border
  inspector --help                                     all commands
"""


def commands() -> list[str]:
    """Names of all commands: `show` is in show_command.py. (pkgutil would import half the library.)"""
    from pathlib import Path

    files = (file.name for folder in __path__ for file in Path(folder).iterdir())
    return sorted(name.removesuffix("_command.py") for name in files if name.endswith("_command.py"))


def _is_command(word: str) -> bool:
    return word.isidentifier() and importlib.util.find_spec(f"inspector.faces.cli.{word}_command") is not None


class _Help(argparse.RawDescriptionHelpFormatter):
    """argparse's own, told the width: it would ask shutil, which imports three compressors."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns() - 2)


class _Parser(argparse.ArgumentParser):
    """argparse's own, whose refusals are errors like any other."""

    def error(self, message: str) -> NoReturn:
        """One sentence and where the options are listed; exit code 2."""
        raise InspectorError(f"{message}.", slug="bad-option", do=f"{self.asked} --help lists what it takes")

    @property
    def asked(self) -> str:
        """The command whose options are listed: of a single one its own name too."""
        return self.prog


class _Top(_Parser):
    """The parser whose help lists the commands by job."""

    listed, only = "", ""

    @property
    def asked(self) -> str:
        """argparse refuses unknown words here, when the command's own parser has read the rest."""
        return f"{self.prog} {self.only}".rstrip()

    def format_help(self) -> str:
        """The whole of `inspector --help`."""
        return (
            "usage: inspector COMMAND ...\n\nSee what happens where Python meets native code.\n\n"
            f"{self.listed}\n\ninspector COMMAND --help tells more.\n"
        )


def parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the given commands; each file's docstring is its help, its GROUP the job it is for."""
    modules = {name: importlib.import_module(f"inspector.faces.cli.{name}_command") for name in names}
    top = _Top(prog="inspector", usage="inspector COMMAND ...", formatter_class=_Help)
    top.listed, top.only = _listed(modules), names[0] if len(names) == 1 else ""
    subparsers = top.add_subparsers(
        dest="command",
        metavar="COMMAND",
        required=True,
        prog="inspector",
        parser_class=_Parser,
    )
    for name, module in modules.items():
        sub = subparsers.add_parser(
            name,
            help=_summary(module),
            description=module.__doc__,
            formatter_class=_Help,
        )
        module.prepare(sub)
        sub.set_defaults(run=module.run)
    return top


def _listed(modules: Mapping[str, ModuleType]) -> str:
    """The commands by job, each with the first sentence of its docstring."""
    lines: list[str] = []
    for group in GROUPS:
        found = [name for name, module in modules.items() if group == module.GROUP]
        lines += [f"{group}:"] if found else []
        lines += [f"  {name:<11} {_summary(modules[name])}" for name in found]
    return "\n".join(lines)


def _summary(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (docs/reference/commands.md)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    if not words:
        sys.stdout.write(INVITATION)
        return EXIT_DONE
    if words == ["--version"]:
        from importlib.metadata import version

        sys.stdout.write(f"native-inspector {version('native-inspector')}\n")
        return EXIT_DONE
    return _guarded(words)


def _open_closed_streams() -> None:
    """What is written to a stream that the shell closed (`>&-`) is dropped, as print() drops it."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def _guarded(words: Sequence[str]) -> int:
    """The command's exit code; an error becomes one block on stderr, a closed pipe is silent."""
    try:
        options = parser([words[0]] if _is_command(words[0]) else commands()).parse_args(words)
        options.words = words
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except InspectorError as error:
        sys.stderr.write(error.block())
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        said = _no_extension(error) or _our_fault(error)
        sys.stderr.write(said.block())
        return said.exit_code


def _no_extension(error: Exception) -> InspectorError | None:
    """The error where the native extension is missing or does not load; None for any other."""
    if not isinstance(error, ImportError) or "_native" not in str(error):
        return None
    return InspectorError(
        "live objects are looked at by the native extension, which does not load here.",
        slug="no-extension",
        why=str(error)[:200],
        do="pip install --force-reinstall native-inspector; saved reports are drawn without it",
    )


def _our_fault(error: Exception) -> OurFault:
    import traceback
    from pathlib import Path

    last = traceback.extract_tb(error.__traceback__)[-1]
    return OurFault(
        f"{type(error).__name__} in inspector itself.",
        slug="our-fault",
        why=f"{Path(last.filename).name}:{last.lineno} {last.name}: {str(error)[:200]}",
        do="please report it with the command you typed",
    )
