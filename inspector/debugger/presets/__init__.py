"""Presets: useful places of a library, with prototypes where it is stripped; one TOML file per library."""

# SPDX-License-Identifier: MIT
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from inspector.debugger.presets.prototypes import parsed
from inspector.errors import InspectorError

_FOLDER = Path(__file__).parent


class Preset(NamedTuple):
    """One file: its purpose, the versions it was checked with, its places, and prototypes by function."""

    name: str
    says: str
    checked: str
    places: tuple[str, ...]
    prototypes: dict[str, str]


def names() -> list[str]:
    """The names of all presets."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def preset_named(name: str) -> Preset:
    """The preset of this name. Raises InspectorError no-preset."""
    if name not in names():
        raise InspectorError(
            f"there is no preset {name[:40]!r}.", slug="no-preset", do=f"presets are: {', '.join(names())}"
        )
    read = tomllib.loads((_FOLDER / f"{name}.toml").read_text())
    lines = {parsed(line).name: line for line in read.get("prototypes", ())}
    places = tuple(read.get("places", ())) or tuple(lines)
    return Preset(name, read["says"], read["checked"], places, lines)


@cache
def of_cpython() -> dict[str, str]:
    """Prototypes of the C API by function, from its headers: for interpreters without debug information."""
    from inspector import _native

    rows = _native.CAPI_ROWS  # a free-threaded Python has neither these nor the file
    lines = (Path(_native.__file__ or "").parent / "prototypes.txt").read_text().splitlines()
    found = {parsed(line).name: line for line in lines}
    for name, kind, parameters, *_ in rows:
        found[name] = f"{kind}{'' if kind.endswith('*') else ' '}{name}({parameters})"
    return found
