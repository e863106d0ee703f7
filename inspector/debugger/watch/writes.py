"""`writes(x)`: record writes to an object's memory in a block, by hardware watchpoints or protected pages."""

# SPDX-License-Identifier: MIT
import errno
import os
import struct
from collections.abc import Iterator
from typing import Any, Final, Self

from inspector import _native
from inspector.debugger.memory import proc
from inspector.debugger.memory.trapped import stack_of
from inspector.debugger.memory.words import words
from inspector.debugger.watch.stopping import is_anonymous
from inspector.debugger.watch.watched import watched
from inspector.errors import InspectorError
from inspector.facts.amounts import counted
from inspector.facts.unknown import Address, Unknown
from inspector.facts.write import Write, Writes

BUDGET: Final = 1000
_NOT_COMPARED: Final = Unknown("the kernel does not report which pages are present")
_ENDED: Final = Unknown("the budget ended the watch: later writes were not recorded")


class WriteWatch:
    """`with writes(x) as found: ...`; afterwards `found.facts`, iterable."""

    def __init__(self, x: Any, part: str = "bytes", budget: int = BUDGET) -> None:
        self._kept = x  # owned: keeps the watched memory alive
        self._watched, self._budget = watched(x, part), budget
        self._words = words(self._watched.address, self._watched.bytes)
        self._means = ""
        self._facts: Writes | Unknown = Unknown("nothing was watched yet: enter the context first")

    def __enter__(self) -> Self:
        """Arm. Raises InspectorError: writes-refused, watch-running."""
        try:
            self._means = self._by_watchpoints() if self._words else self._by_pages()
        except RuntimeError as error:
            raise InspectorError(
                "a watch on writes is running already.",
                slug="watch-running",
                why=str(error),
                do="leave that watch first: the processor has only four watchpoints",
            ) from None
        except OSError as error:
            raise _refused(error, not self._words) from None
        return self

    def _by_watchpoints(self) -> str:
        events = _native.writes_arm(self._words, proc.threads(os.getpid()), self._budget)
        return f"{counted(len(self._words), 'hardware watchpoint')}, {events} events"

    def _by_pages(self) -> str:
        pages, events = _native.writes_pages_arm(
            self._watched.address,
            self._watched.bytes,
            struct.calcsize(self._watched.letter) if self._watched.letter else 8,
            is_anonymous(self._watched.address, self._watched.bytes),
            proc.threads(os.getpid()),
            self._budget,
        )
        return f"{counted(pages, 'protected page')}, {events} events"

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        """Disarm; the facts."""
        silent: bool | Unknown
        ended, beside = False, 0
        if self._words:
            rows, counted, silent = _native.writes_disarm()
        else:
            rows, counted, differs, ended, beside, _ = _native.writes_pages_disarm() or (
                [],
                0,
                -1,
                False,
                0,
                0,
            )
            silent = _ENDED if ended else _NOT_COMPARED if differs < 0 else differs > 0
        made = tuple(self._write(i, *row) for i, row in enumerate(rows, 1))
        self._facts = Writes(
            self._watched.name,
            Address(self._watched.address),
            self._watched.bytes,
            self._means,
            made,
            counted,
            beside,
            ended,
            silent,
        )

    @property
    def facts(self) -> Writes:
        """The recorded writes. Raises RuntimeError before the block has ended."""
        if isinstance(self._facts, Unknown):
            raise RuntimeError(self._facts.reason)
        return self._facts

    def __iter__(self) -> Iterator[Write]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def _write(
        self,
        number: int,
        at_ns: int,
        thread: int,
        address: int,
        size: int,
        before: int,
        after: int,
        written_bytes: int,
        stores: int,
        native: list[int],
        python: list[tuple[str, str, int, int]],
    ) -> Write:
        letter = self._watched.letter
        said = (_value(before, size, letter), _value(after, size, letter))
        return Write(
            number,
            at_ns,
            address - self._watched.address,
            written_bytes,
            stores,
            *said,
            stack_of(thread, native, python),
        )


def _value(word: int, size: int, letter: str) -> str:
    raw = word.to_bytes(8, "little")[:size]
    if letter and size % struct.calcsize(letter) == 0:
        return ", ".join(f"{one[0]:.6g}" for one in struct.iter_unpack(f"<{letter}", raw))
    return f"0x{int.from_bytes(raw, 'little'):0{2 * size}x}"


def _refused(error: OSError, pages: bool) -> InspectorError:
    why = f"{'userfaultfd or ' if pages else ''}perf_event_open: {error.strerror}"
    what = "this range cannot be watched" if pages else "the watchpoints cannot be used"
    if error.errno in (errno.EACCES, errno.EPERM):
        return InspectorError(
            "the system does not allow watching writes.",
            slug="writes-refused",
            why=why,
            do="sudo sysctl kernel.perf_event_paranoid=2; in a container: --cap-add=PERFMON. "
            "Else use `%inspect_debug watch EXPR`: gdb in a forked child, 340 us a write",
        )
    do = "end the debugger or watch that uses the processor's four watchpoints"
    if pages:
        do = "more than 32 bytes need Linux 6.7 on x86-64: watch an element, x[3:4]"
    return InspectorError(f"{what}.", slug="writes-refused", why=why, do=do)
