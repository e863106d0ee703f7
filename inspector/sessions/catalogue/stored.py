"""The catalogues that come with the inspector, a file a release; `inspector catalogue --save` makes them."""

# SPDX-License-Identifier: MIT
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError, unwritable
from inspector.facts.catalogue import DID, Case, Catalogue
from inspector.sessions.catalogue.kinds import ALIASES
from inspector.sessions.catalogue.run import agrees

FOLDER: Final = Path(__file__).with_name("rows")
_NAMES: Final = {short: name for name, short in ALIASES.items()}


def save(found: Catalogue, folder: Path) -> Path:
    """Write a catalogue; the file's name says its library and release."""
    kinds, said = _index(one.kind for one in found.cases), _index(one.traced for one in found.cases)
    rows: dict[str, dict[str, list[Any]]] = {}
    for one in found.cases:
        row = [kinds[one.kind], DID.index(one.did), said[one.traced], round(one.made, 1)]
        rows.setdefault(one.operation, {}).setdefault(one.call, []).append(row)
    made = {
        "origin": f"inspector catalogue {found.library} --save FOLDER", "library": found.library,
        "version": found.version, "kinds": list(kinds), "traced": list(said), "lost": found.lost,
        "rows": rows,
    }  # fmt: skip
    path = folder / f"{found.library}-{found.version}.json.gz"
    packed = gzip.compress(json.dumps(made, separators=(",", ":")).encode(), mtime=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed)
    except OSError as error:
        raise unwritable(str(path), error) from None
    return path


def _index(words: Iterable[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(words))}


def load(path: Path) -> Catalogue:
    """Read one back."""
    made = _read(path)
    lost = tuple((name, why) for name, why in made["lost"])
    return Catalogue(made["library"], made["version"], len(made["rows"]), _cases(made), lost)


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return found


def cases_of(library: str, operation: str) -> Iterator[tuple[str, tuple[Case, ...]]]:
    """(release, cases) of one operation, the oldest release first."""
    found = [_read(path) for path in FOLDER.glob(f"{library}-*.json.gz")]
    for one in sorted(found, key=lambda one: _number(one["version"])):
        if operation in one["rows"]:
            yield one["version"], _cases({**one, "rows": {operation: one["rows"][operation]}})


def _cases(made: dict[str, Any]) -> tuple[Case, ...]:
    return tuple(
        Case(name, call, made["kinds"][kind], DID[did], said, agrees(DID[did], said), bytes_made)
        for name, calls in made["rows"].items()
        for call, rows in calls.items()
        for kind, did, traced, bytes_made in rows
        for said in (made["traced"][traced],)
    )


def every(library: str = "") -> tuple[Catalogue, ...]:
    """All that come with the inspector, the oldest release of each library first; of one library only."""
    found = [load(path) for path in FOLDER.glob(f"{library or '*'}-*.json.gz")]
    return tuple(sorted(found, key=lambda one: (one.library, _number(one.version))))


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".") if part.isdigit())


def full_name(name: str) -> str:
    """The name of an operation with its library's own: "np.sort" is numpy.sort."""
    first, dot, rest = name.partition(".")
    return _NAMES.get(first, first) + dot + rest


def of_operation(name: str) -> tuple[Catalogue, ...]:
    """The cases of an operation, or of all methods of a type, in each release. Raises no-such-operation."""
    full, known = full_name(name), every()
    found = tuple(made for one in known if (made := _only(one, full)).cases)
    if found:
        return found
    from difflib import get_close_matches

    names = {case.operation for one in known for case in one.cases}
    ends = sorted(one for one in names if one.endswith(f".{name}"))
    near = ends[:3] or get_close_matches(full, names, 3)
    raise InspectorError(
        f"no operation of the catalogue is called {name!r:.60}.",
        slug="no-such-operation",
        do=f"did you mean {', '.join(near)}?"
        if near
        else "inspector catalogue numpy calls those of a library",
    )


def _only(one: Catalogue, name: str) -> Catalogue:
    cases = tuple(
        case for case in one.cases if case.operation == name or case.operation.startswith(f"{name}.")
    )
    return Catalogue(one.library, one.version, len({case.operation for case in cases}), cases)
