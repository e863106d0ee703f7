"""The verb `leaks` in a forked child: a fault that crashes the child is a verdict, and does no harm here.

The first child runs the code as `Leaked.run` does. If it crashes, a second one runs it once, watched from the
start: the ledger delays freeing objects released too early, so that child often survives and names the fault.
"""

# SPDX-License-Identifier: MIT
import faulthandler
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from inspector.errors import InspectorError
from inspector.facts.conversion import Site
from inspector.facts.leaks import Leaks, Touch
from inspector.facts.unknown import Unknown
from inspector.facts.wire import from_wire, to_wire
from inspector.objects import isolation
from inspector.verdicts.crash_words import crash

DEADLINE_S: Final = 600.0
MEMORY_BYTES: Final = 1 << 33
DIARY_BYTES: Final = 1 << 16
COPY: Final = "a copy of this process"
DIED: Final = "the child died of "
_LINE: Final = re.compile(rb'File "([^"]+)", line (\d+) in (\S+)')


def apart(whole: Callable[[], Leaks], once: Callable[[], Leaks]) -> Leaks:
    """What `whole` finds in a child; if that crashes, a verdict on the crash, and what `once` finds.

    Raises InspectorError `not-isolated` if no child can be forked, or it ends without an answer.
    """
    found, place = _in_child(whole)
    if isinstance(found, Leaks):
        return found
    again, watched = _in_child(once)
    verdict = crash(_signal(found), place, COPY, watched=_is_ours(place))
    if isinstance(again, Leaks):
        return replace(again, verdicts=(*again.verdicts, verdict))
    later = crash(_signal(again), watched, COPY, watched=True)
    return Leaks((verdict, later), (), 0, 0, 0, 0, 1, 0, 0, 0, 0)


def _in_child(function: Callable[[], Leaks]) -> tuple[Leaks | Unknown, Touch | Unknown]:
    """What the child found, or why not; and where it was when it died."""
    diary = os.memfd_create("crash")
    try:

        def watched() -> Any:
            faulthandler.enable(diary, all_threads=False)
            return to_wire(function())

        wire = isolation.run(watched, DEADLINE_S, MEMORY_BYTES)
        return wire if isinstance(wire, Unknown) else from_wire(Leaks, wire), _place(diary)
    finally:
        os.close(diary)


def _is_ours(place: Touch | Unknown) -> bool:
    """Whether it died in our own code: then the fault may be ours."""
    own = str(Path(__file__).parents[1])
    return isinstance(place, Touch) and str(place.site.file).startswith(own)


def _signal(found: Leaks | Unknown) -> str:
    reason = found.reason if isinstance(found, Unknown) else ""
    if not reason.startswith(DIED):
        raise InspectorError(
            f"the code returned no answer in a copy of this process: {reason}.",
            slug="not-isolated",
            do="run it without isolate, or as a program: inspector leaks script.py",
        )
    return reason.removeprefix(DIED)


def _place(diary: int) -> Touch | Unknown:
    """The innermost Python line that faulthandler wrote."""
    lines = _LINE.findall(os.pread(diary, DIARY_BYTES, 0))
    if not lines:
        return Unknown("no Python code was running")
    file, line, function = (part.decode(errors="replace") for part in lines[0])
    here = Unknown("it did not return")
    site = Site(file, int(line), function, Unknown("a crash does not record it"), "")
    return Touch("unbalanced", "", "", "", here, here, site, 0)
