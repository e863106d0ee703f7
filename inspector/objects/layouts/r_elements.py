"""Elements of R's vectors as R prints them: levels of a factor, dates and times by their class."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from inspector import _native
from inspector.objects.layouts import r_altrep, r_vectors
from inspector.objects.layouts.r_objects import DATA, Header

MOST_CLASSES = 8
MOST_LEVELS = 10_000
_START = datetime(1970, 1, 1, tzinfo=UTC)


def classes(found: Header) -> list[str]:
    """The attribute `class`."""
    return [one for one in r_vectors.texts(r_vectors.attributes(found).get("class"), MOST_CLASSES) if one]


def shown(found: Header, places: Iterable[int]) -> Iterator[str]:
    """The elements at some places of a vector that is in memory."""
    kinds = classes(found)
    levels = (
        r_vectors.texts(r_vectors.attributes(found).get("levels"), MOST_LEVELS) if "factor" in kinds else []
    )
    for at in places:
        said = r_altrep.text(found, at)
        if "factor" in kinds:
            yield _level(said, levels)
        elif "Date" in kinds:
            yield _time(found, at, 86_400, "%Y-%m-%d") or said
        else:
            yield (_time(found, at, 1, "%Y-%m-%d %H:%M:%S UTC") if "POSIXct" in kinds else "") or said


def _level(code: str, levels: list[str | None]) -> str:
    known = code.isdigit() and 0 < int(code) <= len(levels)
    return str(levels[int(code) - 1]) if known else code


def _time(found: Header, at: int, seconds: int, written: str) -> str:
    """A count of days or seconds since 1970 as a date; "" where it is none."""
    plain = r_vectors.plain_of(found)
    raw = _native.read(plain.address + DATA + at * 8, 8) if plain is not None else None
    if raw is None or found.type != r_vectors.REAL:
        return ""
    try:
        (count,) = struct.unpack("d", raw)
        return (_START + timedelta(seconds=count * seconds)).strftime(written)
    except (ValueError, OverflowError):
        return ""
