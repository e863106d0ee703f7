"""Items of a deque: only its outer blocks are linked from it, and links left over lead astray."""

# SPDX-License-Identifier: MIT
import collections
from collections.abc import Callable
from typing import Any

import pytest
import unnamed

from inspector.objects.probes.refs import owners

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Line(collections.deque[Any]):
    """A deque of a user's own."""


def queue(put: str, take: str) -> Callable[[], Any]:
    """A deque that was a queue: CPython uses its blocks again, and their links go round."""

    def made() -> Any:
        line: Any = collections.deque(range(1000))
        for number in range(1000):
            getattr(line, put)(number)
            getattr(line, take)()
        return line

    return made


def turned() -> Any:
    line: Any = collections.deque(range(1000))
    line.rotate(300)
    return line


LINES = {
    "new": lambda: collections.deque(range(1000)),
    "long": lambda: collections.deque(range(600_000)),
    "of a subclass": lambda: Line(range(1000)),
    "queue": queue("append", "popleft"),
    "queue to the left": queue("appendleft", "pop"),
    "turned": turned,
}


@pytest.mark.parametrize("make", LINES.values(), ids=LINES)
def test_an_item_in_the_middle_of_a_deque_is_the_deques(make: Callable[[], Any]) -> None:
    line, subject = make(), unnamed.boxed()
    for at in (0, len(line) // 3, len(line) // 2, -1):
        line[at] = subject.get()
    found = owners(subject, scan=True)
    assert sum(one.references for one in found if one.kind == "item" and one.certain) == 4
    assert {one.holder.partition(",")[0] for one in found} == {f"<{type(line).__name__}>"}
    assert (found.references, found.named, found.native, found.unstored) == (4, 4, 0, 0)
