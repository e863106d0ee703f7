"""Queries of a trace: its call tree, the evidence about bytes, its lines; each returns facts."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from inspector.facts.conversion import ByteEvidence, Call, Conversion, Crossing, LossEvidence, Released, Value
from inspector.facts.hosted import Hosted
from inspector.facts.unknown import Unknown
from inspector.tracing.ask import call_values, conversions
from inspector.tracing.ask.gil import released
from inspector.tracing.ask.host_calls import hosted
from inspector.tracing.ask.host_places import in_host_lines
from inspector.tracing.ask.lines import crossings
from inspector.tracing.ask.losses import losses
from inspector.tracing.ask.nesting import TOP, Nesting, nested
from inspector.tracing.ask.result_owner import Belonging
from inspector.tracing.ask.spans import weighed
from inspector.tracing.events.decode import FLAGS, KINDS, Events, Rows

GROUPS_SHOWN: Final = 5_000
"""Groups of equal calls that become facts; the rest are counted."""
Kind = Literal["method", "vectorcall", "slot", "foreign", "callback", "finalizer"]
_KINDS: Final[dict[int, Kind]] = {
    KINDS["METHOD"]: "method",
    KINDS["VECTORCALL"]: "vectorcall",
    KINDS["SLOT"]: "slot",
    KINDS["FOREIGN"]: "foreign",
    KINDS["CALLBACK"]: "callback",
    KINDS["FINALIZE"]: "finalizer",
}
MANY_ITEMS: Final = 8
"""A shorter list does not indicate macros."""
_NO_CLOCK = Unknown("no clock was read")
_NO_RESULT = Unknown("a callback's words are not recorded, and a finalizer gives nothing")
_WITHOUT_VALUES: Final = (KINDS["CALLBACK"], KINDS["FINALIZE"])


def _by_group(group: Rows, count: int) -> tuple[Rows, Rows]:
    """(heads in the order of their groups, where each group begins in it): those of no group come last."""
    small = np.int16 if count < np.iinfo(np.int16).max else np.int64  # which is sorted without comparing
    of = np.where(group == TOP, count, group).astype(small)
    order = np.argsort(of, kind="stable")
    return order, np.concatenate(([0], np.cumsum(np.bincount(of, minlength=count)[:count])))


class Query:
    """The results, each computed once."""

    def __init__(self, events: Events) -> None:
        self.events = events = in_host_lines(events)
        self.nesting: Nesting = nested(events)
        self.ns = events.all_ns()[self.nesting.heads]
        self.times = events.times()[self.nesting.heads]
        self.groups = len(self.nesting.group_first)
        self.shown = min(self.groups, GROUPS_SHOWN)
        self._members = self.nesting.group[self.nesting.is_call]
        self._order, self._stops = _by_group(self.nesting.group, self.groups)
        self._conversions = conversions.by_group(events, self.nesting, self.ns)
        self._calls: dict[int, Call] = {}
        self._outermost: list[Call] = []

    def calls(self) -> tuple[Call, ...]:
        """The call tree: calls from Python and their nested calls."""
        children: dict[int, list[int]] = {}
        for group in range(self.shown):
            children.setdefault(int(self.nesting.group_parent[group]), []).append(group)
        for group in range(self.shown - 1, -1, -1):
            inner = tuple(self._calls[child] for child in self._in_order(children.get(group, [])))
            self._calls[group] = self._call(group, inner)
        self._outermost = [self._calls[group] for group in self._in_order(children.get(TOP, []))]
        return tuple(call for call in self._outermost if call.kind != "finalizer")

    def finalized(self) -> tuple[Call, ...]:
        """Finalizers that ran outside any recorded call."""
        if not self._calls:
            self.calls()
        return tuple(call for call in self._outermost if call.kind == "finalizer")

    def _in_order(self, groups: list[int]) -> list[int]:
        return sorted(groups, key=lambda group: int(self.nesting.group_first[group]))

    def _call(self, group: int, inner: tuple[Call, ...]) -> Call:
        head = int(self.nesting.group_first[group])
        row = int(self.nesting.heads[head])
        record = self.events.records[row]
        members = self._order[self._stops[group] : self._stops[group + 1]]
        total, times = float(self.ns[members].sum()), self.times[members]
        arguments, result = self._values(row, int(self.nesting.stops[head]))
        found = self._conversions.get(group, ())
        return Call(
            name=self._name(row),
            kind=_KINDS[int(record["kind"])],
            callable_type=call_values.type_name(self.events, int(record["type"])),
            site=self.events.sites[self.events.site[row]],
            times=int(times.sum()),
            arguments=arguments,
            arguments_left_out=self._left_out(record),
            result=result,
            failed=int(times[self._flags(members) & FLAGS["ERROR"] != 0].sum()),
            thread=self.events.threads[int(self.events.thread[row])],
            ns=round(total) if total else _NO_CLOCK,
            own_ns=self._own_ns(total, inner),
            conversions=found,
            calls=inner,
            macro_reads=self._macro_reads(arguments, found, inner) * int(times.sum()),
        )

    def _name(self, row: int) -> str:
        """The name of the patched place; a Python function has its own, a capsule its name."""
        record = self.events.records[row]
        if record["kind"] == KINDS["CALLBACK"]:
            function = self.events.sites[self.events.site[row]].function
            return "a Python function" if isinstance(function, Unknown) else function
        return self.events.names.get(int(record["slot"]), f"place {int(record['slot'])}")

    def _values(self, row: int, stop: int) -> tuple[tuple[Value, ...], Value | Unknown]:
        kind = int(self.events.records["kind"][row])
        if kind == KINDS["FINALIZE"]:
            return call_values.finalized(self.events, row, stop), _NO_RESULT
        return ((), _NO_RESULT) if kind in _WITHOUT_VALUES else call_values.read(self.events, row, stop)

    @staticmethod
    def _left_out(record: Any) -> int:
        all_told = int(record["kind"]) in _WITHOUT_VALUES or call_values.is_compact(record)
        return 0 if all_told else int(record["val"])

    def _flags(self, members: Rows) -> Rows:
        return self.events.records["flags"][self.nesting.heads[members]]

    @staticmethod
    def _own_ns(total: float, inner: tuple[Call, ...]) -> int | Unknown:
        spent = [call.ns for call in inner if not isinstance(call.ns, Unknown)]
        if not total or len(spent) < len(inner):
            return _NO_CLOCK
        return max(round(total) - sum(spent), 0)

    def _macro_reads(
        self, arguments: tuple[Any, ...], found: tuple[Conversion, ...], inner: tuple[Call, ...]
    ) -> int:
        """Items of list and tuple arguments without a recorded conversion: at least these used macros."""
        items = max((value.items for value in arguments if value.item_type), default=0)
        read = max((one.times for one in found), default=0)
        seen = self.events.hooked_imports and self.events.grade != "count" and not inner
        return items if seen and items >= MANY_ITEMS and read < items // 2 else 0

    def evidence(self) -> tuple[ByteEvidence, ...]:
        """What a verdict needs, for each group of calls and each memory relation of its results."""
        if not self._calls:
            self.calls()
        return weighed(self.events, self.nesting, self._calls)

    def belonging(self) -> Belonging:
        """Finds the call that made the bytes of a living object."""
        if not self._calls:
            self.calls()
        return Belonging(self.events, self.nesting, self._calls)

    def losses(self) -> tuple[LossEvidence, ...]:
        """Elements that differ between sources and results, each reported once: for the innermost call."""
        return losses(self.events, self.nesting)

    def crossings(self) -> tuple[Crossing, ...]:
        """Per Python line: calls into native code, and their time."""
        return crossings(self.events, self.nesting, self.ns)

    def hosted(self) -> Hosted:
        """The C-API calls of a program that embeds this Python, in order."""
        return replace(hosted(self.events, self.nesting), lines=self.events.host_lines)

    def released(self) -> tuple[Released, ...]:
        """Where the GIL was released, and which threads made records meanwhile."""
        return released(self.events, self.nesting, self._name)

    def conversions(self) -> tuple[Conversion, ...]:
        """All conversions, merged by call."""
        return tuple(one for found in self._conversions.values() for one in found)
