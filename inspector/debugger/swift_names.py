"""Names of Swift functions as Swift's own demangler writes them, where it is installed."""

# SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from inspector.facts.stack import Frame, Stack

MANGLED: Final = ("$s", "$S")
"""How Swift's symbols begin (docs/ABI/Mangling.rst of Swift)."""
GLUE: Final = ("protocol witness for ", "partial apply", "thunk for ", "reabstraction thunk ")
"""Functions that the compiler wrote."""
DEADLINE_S: Final = 20


def readable(stacks: Iterable[Stack]) -> tuple[Stack, ...]:
    """The stacks with names that can be read; as they are where no demangler is."""
    made = tuple(stacks)
    mangled = {frame.function for one in made for frame in one.frames if frame.function.startswith(MANGLED)}
    names = demangled(sorted(mangled)) if mangled else {}
    if not names:
        return made
    return tuple(replace(one, frames=tuple(_named(frame, names) for frame in one.frames)) for one in made)


def demangled(names: list[str]) -> Mapping[str, str]:
    """Symbol -> name; {} where there is no demangler or it fails."""
    program = _demangler()
    if not program:
        return {}
    command = [program, "--simplified", "--compact"]
    try:
        done = subprocess.run(
            command, input="\n".join(names), capture_output=True, text=True, timeout=DEADLINE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    said = done.stdout.splitlines()
    return dict(zip(names, said, strict=True)) if len(said) == len(names) else {}


@cache
def _demangler() -> str:
    """On PATH, or in the folder of the compiler, as in Debian; "" for none."""
    compiler = shutil.which("swiftc")
    beside = Path(os.path.realpath(compiler)).parent if compiler else None
    return shutil.which("swift-demangle") or shutil.which("swift-demangle", path=beside) or ""


def _named(frame: Frame, names: Mapping[str, str]) -> Frame:
    name = names.get(frame.function, frame.function)
    if name == frame.function:
        return frame
    return replace(frame, function=name, plumbing=frame.plumbing or name.startswith(GLUE))
