"""Inside an R that embeds Python: R's own objects, looked at without converting them.

`source(inspector$r())` gives R the functions of inspect.R. They hand over addresses, because a value that R
hands to Python is converted before Python sees it.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.errors import InspectorError

if TYPE_CHECKING:
    from inspector.report import Report


def __getattr__(name: str) -> type:
    from inspector.sessions.r.block import Block

    if name == "Block":
        return Block
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


OWN_REFERENCES = 1
"""The argument of inspect.R's function."""


def r() -> str:
    """Return the path of a file of R functions: `source(inspector$r())` defines inspect() and others in R."""
    return str(Path(__file__).with_name("inspect.R"))


def inspect_r(address: str, name: str, environments: Mapping[str, str]) -> Report:
    """Return the report of the R object at an address ("0x55d0..."), called by inspect.R only."""
    from inspector.facts.answers import Answers
    from inspector.objects.probes.r_object import elements_span, r_object
    from inspector.report import Report
    from inspector.verdicts.r_objects import r_answers

    _in_r()
    where = int(address, 16)
    looked_in = [(words.partition(":")[2], int(one, 16)) for words, one in environments.items()]
    span = elements_span(where)
    fact = r_object(where, OWN_REFERENCES, looked_in, _over(span) if span else ())
    answers: Answers = r_answers(name, fact)
    return Report(name, {"answers": answers, "r_object": fact})


def memory_r(environment: str) -> Report:
    """Return what the names of an R environment keep, called by inspect.R only."""
    from inspector.objects.probes.r_object import r_memory
    from inspector.report import Report

    _in_r()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    import os

    return Report("R", {"r_memory": r_memory(int(environment, 16), pages * os.sysconf("SC_PAGE_SIZE"))})


def _over(span: tuple[int, int]) -> list[str]:
    """Names of the Python objects over these bytes; the type where there is no name."""
    from inspector.objects.probes.aliases import over

    names = {id(value): name for name, value in vars(sys.modules["__main__"]).items()}
    found = {names.get(id(one)) or type(one).__name__ for one, _, _ in over([span])}
    return sorted(found - {"PyCapsule"})


def _in_r() -> None:
    from inspector.objects.ownership.r_holders import is_embedded

    if not is_embedded():
        raise InspectorError(
            "this Python does not run inside R.",
            slug="no-r",
            why="the functions of inspect.R are called by R, which embeds Python by reticulate",
            do="in R: source(reticulate::import('inspector')$r())",
        )
