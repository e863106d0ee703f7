"""Find the compiler, run it with a deadline, and report its messages by the lines of the cell."""

# SPDX-License-Identifier: MIT
import functools
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from inspector.errors import InspectorError
from inspector.facts.compiled import CompiledStruct
from inspector.sessions.compiler.prototypes import Prototype, prototypes
from inspector.sessions.compiler.recipe import EXTENSION_FLAGS, FLAGS, Recipe
from inspector.sessions.compiler.structs import object_structs
from inspector.sessions.compiler.table import table
from inspector.sessions.compiler.text import CELL, written

DEADLINE_S: Final = 300
COMPLAINTS_SHOWN: Final = 5
_OWN_FIRST: Final = "-Wl,-Bsymbolic"
"""A cell's `times` is the cell's, not the C library's."""
_ROW = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?P<kind>(?:fatal )?error|warning): (?P<words>.*)$"
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error or warning: `file` is "cell" or the name of a section, `line` counts from 1 in it."""

    file: str
    line: int
    kind: str
    words: str

    def __str__(self) -> str:
        where = "line" if self.file == CELL else f"{self.file} line"
        return f"{where} {self.line}: {self.words}"


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build: the library beside its sources, its functions, and the command."""

    library: Path
    functions: tuple[Prototype, ...]
    warnings: tuple[str, ...]
    command: tuple[str, ...]
    module: str = ""
    """The module of the cell's own PyInit_; "" if the method table is ours."""
    structs: tuple[CompiledStruct, ...] = ()


def compiler() -> str:
    """Path of the C compiler; the error without one names the Debian package."""
    found = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if found is None:
        raise InspectorError(
            "there is no C compiler here.",
            slug="no-compiler",
            why="gcc, cc and clang are not on PATH",
            do="apt-get install gcc libc6-dev",
        )
    return found


@functools.cache
def compiler_name(path: str) -> str:
    """The first line of its --version, which is part of the key."""
    told = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    return f"{path} {(told.stdout or told.stderr).partition(chr(10))[0]}"


def build(recipe: Recipe, module: str, folder: Path, final: Path) -> Built:
    """Compile `recipe` to the extension module `module` in `folder`; InspectorError with the cell's lines.

    A cell with a `PyInit_NAME` of its own is the extension module NAME, with the table it has itself.

    `final` is where the folder will lie: debuggers look there for the lines of the cell.
    """
    source, rows = folder / "cell.c", folder / "table.c"
    source.write_text(written(recipe))
    (folder / CELL).write_text(recipe.code)
    own = EXTENSION_FLAGS if recipe.is_extension else ()
    command = (compiler(), *FLAGS, *own, *_includes(recipe), *recipe.compile_args)
    moved = f"-fdebug-prefix-map={folder}={final}"
    complaints = _run((*command, moved, "-c", source.name, "-o", "cell.o"), folder, recipe)
    functions = prototypes(folder / "cell.o")
    made = _made_by_the_cell(functions)
    if not made:
        rows.write_text(table(recipe, functions, module))
    library = folder / f"{made or module}{sysconfig.get_config_var('EXT_SUFFIX')}"
    link = (*command, "-shared", _OWN_FIRST, "cell.o", *(() if made else (rows.name,)), "-o", library.name)
    _run((*link, *_linked(recipe)), folder, recipe)
    shown = _shown((*link, *_linked(recipe)), recipe)
    structs = object_structs(folder / "cell.o") if made else ()
    warnings = tuple(str(one) for one in complaints)
    return Built(library, () if made else functions, warnings, shown, made, structs)


def _made_by_the_cell(functions: tuple[Prototype, ...]) -> str:
    names = [one.name.removeprefix("PyInit_") for one in functions if one.name.startswith("PyInit_")]
    return names[0] if names else ""


def _includes(recipe: Recipe) -> tuple[str, ...]:
    folders = [sysconfig.get_path("include"), *recipe.include_dirs]
    if recipe.needs_numpy:
        import numpy

        folders.append(numpy.get_include())
    return tuple(f"-I{folder}" for folder in folders)


def _shown(command: tuple[str, ...], recipe: Recipe) -> tuple[str, ...]:
    """A command without private paths: those of Python's and NumPy's headers are this machine's."""
    names = dict(zip(_includes(recipe), ("-I$PYTHON", *recipe.include_dirs, "-I$NUMPY"), strict=False))
    names.update({f"-I{folder}": f"-I{folder}" for folder in recipe.include_dirs})
    return tuple(names.get(word, word) for word in command)


def _linked(recipe: Recipe) -> tuple[str, ...]:
    folders = [word for folder in recipe.library_dirs for word in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    return (*folders, *(f"-l{name}" for name in recipe.libraries))


def _run(command: tuple[str, ...], folder: Path, recipe: Recipe) -> list[Complaint]:
    """Run one step; its warnings, or InspectorError."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InspectorError(
            f"the compiler was stopped after {DEADLINE_S} s.",
            slug="c-does-not-compile",
            do="make the cell smaller",
        ) from None
    found = (_complaint(line) for line in done.stderr.splitlines())
    complaints = [_inside(one, recipe) for one in found if one]
    if done.returncode:
        raise _refusal(complaints, done.stderr, recipe)
    return [one for one in complaints if one.kind == "warning"]


def _complaint(line: str) -> Complaint | None:
    found = _ROW.match(line)
    return Complaint(found["file"], int(found["line"]), found["kind"], found["words"]) if found else None


def _inside(complaint: Complaint, recipe: Recipe) -> Complaint:
    """Move a message about our text after an unclosed section to the section's last line."""
    section = _sections(recipe).get(complaint.file)
    last = complaint.line if section is None else max(1, len(section.splitlines()))
    if complaint.line <= last:
        return complaint
    return replace(complaint, line=last, words=f"something is left open: {complaint.words}")


def _refusal(complaints: list[Complaint], told: str, recipe: Recipe) -> InspectorError:
    errors = [one for one in complaints if "error" in one.kind]
    if not errors:
        last = [line for line in told.splitlines() if line.strip()][-3:]
        return InspectorError(
            "the cell does not link.",
            slug="c-does-not-compile",
            why="\n".join(line.rpartition("ld: ")[2] for line in last),
            do="name the library with --lib and its folder with -L",
        )
    shown = [_with_source(one, recipe) for one in errors[:COMPLAINTS_SHOWN]]
    if len(errors) > len(shown):
        shown.append(f"... {len(errors) - len(shown)} more")
    return InspectorError(
        f"the cell does not compile, {errors[0]}.", slug="c-does-not-compile", why="\n".join(shown)
    )


def _with_source(complaint: Complaint, recipe: Recipe) -> str:
    lines = _sections(recipe).get(complaint.file, "").splitlines()
    source = lines[complaint.line - 1].strip() if 0 < complaint.line <= len(lines) else ""
    return f"{complaint}" + (f"   {source}" if source else "")


def _sections(recipe: Recipe) -> dict[str, str]:
    return {CELL: recipe.code, "support": recipe.support, "init": recipe.init, "cleanup": recipe.cleanup}
