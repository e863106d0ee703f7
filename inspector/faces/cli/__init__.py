"""Floor 6: the terminal. Each `<name>_command.py` is a command: it parses, calls the api and shows."""

# SPDX-License-Identifier: MIT
import argparse
import importlib.util
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Final, NoReturn

from inspector.errors import EXIT_DONE, InspectorError, OurFault
from inspector.faces.cli.width import columns

GROUPS: Final = ("inspect objects", "inspect running programs", "read saved reports", "check this machine")
"""The groups of commands in `--help`; GROUP in each command's file names one."""

INVITATION: Final = """\
inspector: see what happens where Python meets native code.

  inspector show 'numpy.eye(4)[::2]'     one object: what it is, who holds it
  inspector show data --script app.py    an object that a script made
  inspector heap --script app.py         what fills the script's memory
  inspector trace app.py                 which of its lines copy
  inspector help                         something is wrong: what to type
  inspector --help                       all commands
"""


def commands() -> list[str]:
    """The names of all commands, sorted. (pkgutil would import half the standard library.)"""
    from pathlib import Path

    files = (file.name for folder in __path__ for file in Path(folder).iterdir())
    found = (name.removesuffix("_command.py") for name in files if name.endswith("_command.py"))
    return sorted(name.replace("_", "-") for name in found)


def _is_command(word: str) -> bool:
    name = word.replace("-", "_")
    return name.isidentifier() and importlib.util.find_spec(f"inspector.faces.cli.{name}_command") is not None


class _Help(argparse.RawDescriptionHelpFormatter):
    """argparse's formatter with the width set: its default imports shutil and three compressors."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns() - 2)


class _Parser(argparse.ArgumentParser):
    """argparse's parser, which raises InspectorError instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise InspectorError `bad-option` (exit code 2), which names the `--help` to read."""
        raise InspectorError(f"{message}.", slug="bad-option", do=f"{self.helped} --help lists its options")

    @property
    def helped(self) -> str:
        """The command whose `--help` an error names."""
        return self.prog


class _Top(_Parser):
    """The parser whose help lists the commands by group."""

    listed, only = "", ""

    @property
    def helped(self) -> str:
        """With the command's name: argparse reports a command's unknown options by the top parser."""
        return f"{self.prog} {self.only}".rstrip()

    def format_help(self) -> str:
        """The whole of `inspector --help`."""
        return (
            "usage: inspector COMMAND ...\n\nSee what happens where Python meets native code.\n\n"
            f"{self.listed}\n\ninspector COMMAND --help describes one command.\n"
        )


def parser(names: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the given commands. The docstring of a command's file is its help."""
    files = {name: f"inspector.faces.cli.{name.replace('-', '_')}_command" for name in names}
    modules = {name: importlib.import_module(file) for name, file in files.items()}
    top = _Top(prog="inspector", usage="inspector COMMAND ...", formatter_class=_Help)
    top.listed, top.only = _listed(modules), names[0] if len(names) == 1 else ""
    subparsers = top.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="inspector", parser_class=_Parser
    )
    for name, module in modules.items():
        sub = subparsers.add_parser(
            name, help=_summary(module), description=module.__doc__, formatter_class=_Help
        )
        module.prepare(sub)
        sub.set_defaults(run=module.run)
    return top


def _listed(modules: Mapping[str, ModuleType]) -> str:
    """The commands by group, each with the first line of its docstring."""
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
        from inspector.sessions.installed import build

        sys.stdout.write(f"native-inspector {build()}\n")
        return EXIT_DONE
    return _guarded(words)


def _open_closed_streams() -> None:
    """Drop what is written to a stream that the shell closed (`>&-`), as print() does."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def _guarded(words: Sequence[str]) -> int:
    """The command's exit code. Errors are written to stderr; a closed pipe is no error."""
    try:
        _refuse_unknown(words[0])
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
        reported = _no_extension(error) or _our_fault(error)
        sys.stderr.write(reported.block())
        return reported.exit_code


def _refuse_unknown(word: str) -> None:
    """Raise InspectorError `bad-option` for a first word that is no command; a script has three of them."""
    if word[:1] == "-" or _is_command(word):
        return
    if word.endswith(".py"):
        raise InspectorError(
            f"{word:.50} is a program; say what you want to know of it.",
            slug="bad-option",
            do=f"inspector trace {word:.50}\ninspector heap --script {word:.50}\n"
            f"inspector show NAME --script {word:.50}",
        )
    raise InspectorError(
        f"there is no command {word:.50}.",
        slug="bad-option",
        do="inspector help, or inspector --help for all commands",
    )


def _no_extension(error: Exception) -> InspectorError | None:
    """The error where the native extension is missing or does not load; None for any other."""
    if not isinstance(error, ImportError) or "_native" not in str(error):
        return None
    mend = "pip install --force-reinstall native-inspector"
    if "needs the GIL" in str(error):
        mend = "run a build of Python with the GIL"
    return InspectorError(
        "the native extension, which inspects live objects, does not load.",
        slug="no-extension",
        why=str(error)[:200],
        do=f"{mend}; saved reports do not need it",
    )


def _our_fault(error: Exception) -> OurFault:
    import traceback
    from pathlib import Path

    last = traceback.extract_tb(error.__traceback__)[-1]
    return OurFault(
        f"{type(error).__name__} in inspector itself.",
        slug="our-fault",
        why=f"{Path(last.filename).name}:{last.lineno} {last.name}: {str(error)[:200]}",
        do="please report this with the command that you ran",
    )
