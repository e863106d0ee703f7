"""Which names keep most, where no single object is large."""

# SPDX-License-Identifier: MIT
import ctypes
import sys
import time
from collections.abc import Mapping
from heapq import nlargest
from typing import Any, Final

from inspector import _native
from inspector.facts.account import Hung
from inspector.objects.classes import module_names
from inspector.objects.probes.contents import contents

MOST_TOLD: Final = 3
MOST_S: Final = 0.5
"""After that no further name is looked at."""


def hung(known: Mapping[int, str]) -> tuple[Hung, ...]:
    """The names that keep most, each walked alone: what two of them share counts for both.

    `known`: id of an object that lives -> its name; none: those of __main__.
    """
    found, begin = [], time.monotonic()
    for address, name in (known or _of_main()).items():
        if time.monotonic() - begin > MOST_S:
            break
        held = contents(_native.Subject(ctypes.cast(address, ctypes.py_object).value))
        if held is not None:
            found.append(Hung(name, held.bytes, held.objects))
    return tuple(nlargest(MOST_TOLD, found, key=lambda one: one.bytes))


def _of_main() -> dict[int, str]:
    names: dict[str, Any] = module_names(sys.modules.get("__main__")) or {}
    return {id(value): name for name, value in list(names.items()) if not name.startswith("__")}
