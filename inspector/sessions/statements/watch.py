"""Looks at the names of each statement of the user's code before and after it runs."""

# SPDX-License-Identifier: MIT
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any, Final

from inspector import _native
from inspector.adapters.base import Elements
from inspector.facts.conversion import Loss
from inspector.facts.statements import Bound, Named, Relation, Written
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_name
from inspector.objects.sharing.chosen import uniform
from inspector.objects.sharing.meetings import Blocks
from inspector.sessions.statements import elements, filled, frames, kernel, values
from inspector.sessions.statements.added import added
from inspector.sessions.statements.assigned import Assigned, Stores, stored_in
from inspector.sessions.statements.changed_by import Changes
from inspector.sessions.statements.given import Places, given_nothing
from inspector.sessions.statements.known import Known
from inspector.sessions.statements.lines import Lines
from inspector.sessions.statements.listed import listed, unpacked
from inspector.sessions.statements.lost.losing import Losing
from inspector.sessions.statements.modules import module_of
from inspector.tracing.events.source import Source, may_change, written_as

MOST_PASSES: Final = 6
"""How often the names of one statement are looked at; then its loop, or its function, runs unwatched."""
MOST_CALLS: Final = 3 * MOST_PASSES
"""How often a function is entered before it runs unwatched altogether."""
MOST_RESUMED: Final = 256
"""How often generators and coroutines of one function go on; then they run unwatched."""


@dataclass(slots=True)
class _Open:
    """A statement that runs."""

    written: Written
    operands: dict[str, values.Before]
    targets: dict[str, int]
    """Target -> address of the object that it was bound to."""
    library: str
    calls: int
    """How many functions of the user's had been entered when it began."""
    function: str
    call: kernel.Call | None
    """The call of Python's own functions for files and sockets that its right side is."""
    losing: Losing
    given_nothing: bool
    items: Assigned | None = None
    """What it assigned to items, once it has ended."""


class StatementWatch:
    """What the statements bound, from `begin` to `end`."""

    def __init__(self) -> None:
        self._lines = Lines(self._event)
        self._stores = Stores()
        self.sources: dict[str, Source] = {}
        """The files of the statements seen."""
        self._open: dict[int, _Open] = {}
        self._passes: Counter[tuple[str, int]] = Counter()
        self._unwatched: set[tuple[str, int]] = set()
        self._found: dict[tuple[str, int, str], Bound] = {}
        self._lost: dict[Loss, int] = {}
        self._given = Places()
        self._changes = Changes()
        self._known = Known()
        self._entered: Counter[CodeType] = Counter()
        self._resumed: Counter[CodeType] = Counter()
        self._busy: set[int] = set()
        self._calls = 0
        self.seen = False
        """Whether line events came at all; False where another tool traces the thread."""

    def begin(self) -> None:
        """Begin to look, if the interpreter tells lines."""
        self.seen = self._lines.begin()

    def end(self) -> tuple[Bound, ...]:
        """Stop; what was bound, in the order of the first time."""
        self._lines.end()
        self._stores.end()
        self._open.clear()
        return tuple(replace(one, more=self._is_unwatched(one)) for one in self._found.values())

    def losses(self) -> tuple[Loss, ...]:
        """What conversions of the statements lost that is seen by their values alone."""
        return tuple(replace(one, times=times) for one, times in self._lost.items())

    def given(self) -> tuple[Named, ...]:
        """What the statements named whose passes were all looked at."""
        return self._given.facts(lambda one: _group(one) not in self._unwatched)

    def _is_unwatched(self, found: Bound) -> bool:
        written = self.sources[found.file].at(found.line)
        return written is not None and _group(written) in self._unwatched

    def _event(self, kind: str, frame: FrameType, value: Any) -> bool:
        """One event; True: its line needs no more.

        An error of ours never reaches the user's code; what a signal handler raised meanwhile always does.
        """
        thread = threading.get_ident()
        if thread in self._busy:
            return False
        try:
            self._busy.add(thread)
            return self._look(kind, frame, value)
        except Exception as error:
            self._open.pop(id(frame), None)
            if frames.raised_by_user(error):
                raise
        finally:
            self._busy.discard(thread)
        return False

    def _look(self, kind: str, frame: FrameType, value: Any) -> bool:
        if kind == "call":
            if frames.is_generated(frame) or frames.is_expression(frame):
                return True
            self._calls += 1
            if frames.is_suspended(frame):  # it goes on; its statement has begun
                self._resumed[frame.f_code] += 1
                return self._resumed[frame.f_code] > MOST_RESUMED
            self._open.pop(id(frame), None)
            self._entered[frame.f_code] += 1
            return self._entered[frame.f_code] > MOST_CALLS
        running = self._open.get(id(frame))
        if kind == "return" and frames.is_suspended(frame):
            if running is not None and value is not None:
                self._note(running, frame, "", value)
            return False
        if kind == "return":
            if running is not None:
                self._close(self._open.pop(id(frame)), frame, value)
            return False
        if frames.is_expression(frame):  # 3.11 tells its lines whatever its call was answered
            return True
        written = self._source(frame).at(frame.f_lineno)
        if running is not None:
            if written == running.written and frame.f_lineno != written.line:
                return False  # a further line of it
            self._close(self._open.pop(id(frame)), frame, None)
        if written is None or self._is_worn(written, frame):
            return True
        self._open[id(frame)] = self._opened(written, frame)
        return False

    def _source(self, frame: FrameType) -> Source:
        file = frame.f_code.co_filename
        if file not in self.sources:
            self.sources[file] = Source(file, frame.f_globals)
        return self.sources[file]

    def _is_worn(self, written: Written, frame: FrameType) -> bool:
        """Count a pass; whether the statement's loop, or the statement without a loop, had enough of them."""
        group = _group(written)
        if group not in self._unwatched:
            self._passes[written.file, written.line] += 1
            if self._passes[written.file, written.line] > MOST_PASSES:
                self._unwatched.add(group)
        return group in self._unwatched

    def _opened(self, written: Written, frame: FrameType) -> _Open:
        operands: dict[str, values.Before] = {}
        changes = may_change(written)
        named = {name: values.named(frame, name) for name in written.names}
        for name, found in named.items():
            if found and (before := values.before(found[0], changes)) is not None:
                operands[name] = before
                self._known.add(name, before.blocks)
        targets = {path: id(found[0]) for path in written.targets if (found := values.read(frame, path))}
        self._stores.opened(written, frame)
        self._given.add(written, operands)
        of = frames.library(frame, written.library)
        inside = frame.f_code.co_name if frame.f_code.co_flags & CO_OPTIMIZED else ""
        call = kernel.called(written, frame)
        losing = Losing(written, frame, {name: had.blocks for name, had in operands.items()})
        nothing = given_nothing(named.values())
        return _Open(written, operands, targets, of, self._calls, inside, call, losing, nothing)

    def _lose(self, found: Iterator[Loss]) -> None:
        for one in found:
            self._lost[one] = self._lost.get(one, 0) + 1

    def _close(self, running: _Open, frame: FrameType, value: Any) -> None:
        """Note what a finished statement bound."""
        if running.written.kind == "return" or (value is not None and frame.f_code.co_name == "<module>"):
            self._note(running, frame, "", value)  # a module's code returns only what `eval` evaluates
        running.items = self._stores.closed(frame)
        if running.items is not None and running.items.loss is not None:
            self._lose(iter((running.items.loss,)))
        self._written_out(running, frame)
        bound = [(path, found[0]) for path in running.written.targets if (found := values.read(frame, path))]
        if may_change(running.written):
            self._changed(running, frame, {id(value) for _, value in bound})
        for path, value in bound:
            self._note(running, frame, path, value)
        new = [value for path, value in bound if running.targets.get(path) != id(value)]
        returned = [value] if running.written.kind == "return" and value is not None else []
        had = [one for _, one in bound]
        self._lose(running.losing.found(frame, running.operands, [*had, *returned], [*new, *returned], value))

    def _note(self, running: _Open, frame: FrameType, target: str, value: Any) -> None:
        written = running.written
        was = running.targets.get(target)
        is_operand = any(one.address == id(value) for one in running.operands.values())
        is_over = written.loop and (written.file, written.line, target) in self._found
        if was == id(value) and (written.kind == "assign" or is_over) and not is_operand:
            return  # it raised before it bound, or bound the same object again, or the loop is over
        blocks = elements.elements_of(value, elements.MOST_BOUND)
        if (unread := elements.unread(value)) is not None:
            own = next((name for name, one in running.operands.items() if one.address == id(value)), "")
            how = values.Related("same object" if own else "unknown", own, unread, "", False)
            self._add(replace(self._bound(running, target, value, (), how), bytes=unread))
            return
        if not blocks and not _native.exactly(value, *elements.HOLDERS):
            return
        now = {name: values.named(frame, name) for name in running.operands}
        if not blocks:
            self._unpacked(running, target, value, now)
            return
        how = values.related(value, blocks, running.operands, now)
        if was == id(value) and written.kind == "augmented" and how.relation == "apart":
            how = values.Related("in place", target, 0, "", False)  # an attribute: `self.x += 1`
        if how.relation == "apart" and running.call is not None and running.call.way == "read":
            how = values.Related("apart", running.call.file, 0, "equal", True)
        held = how.relation == "view" and type(value) is bytes  # by a BytesIO
        if (how.relation == "apart" or held) and (twin := values.other_name(frame, value, written.targets)):
            how = values.Related("same object", twin, 0, "", False)
        if how.relation == "apart" and how.values != "equal":
            how = module_of(frame, written.names, blocks) or self._known.holder(frame, value, blocks) or how
        self._known.add(target, blocks)
        operand = running.operands.get(how.of)
        of = written_as(written.text, how.of) if how.of and how.relation == "view" else how.of
        relation = self._relation(running, frame, how, of, value)
        found = self._bound(running, target, value, blocks, replace(how, relation=relation, of=of))
        found = replace(
            found, items=operand.items if operand else "", parts=values.woven(value, operand, blocks)
        )
        rest = values.apart_from(value, blocks, operand) if how.relation == "view" and operand else ()
        for name, other in running.operands.items() if rest else ():
            left = values.apart_of(rest, other)
            if len(left) < len(rest) and not isinstance(found.shared_bytes, Unknown):
                shared = found.shared_bytes + elements.bytes_of(rest) - elements.bytes_of(left)
                found = replace(found, of=f"{found.of}, {name}", shared_bytes=shared)
            rest = left
        if operand is None or not rest or isinstance(found.bytes, Unknown):
            self._add(_each_once(found, blocks))
            self._in_part(running, value, how.of, dict.fromkeys(how.others, False))
            return
        self._add(replace(found, bytes=found.bytes - elements.bytes_of(rest)))
        live = now.get(how.of, ())
        theirs = operand.blocks if live and id(live[0]) == operand.address else ()
        said = {one: values.part_like(one, theirs) for one in rest}
        self._in_part(running, value, found.of, said)

    def _relation(
        self, running: _Open, frame: FrameType, how: values.Related, of: str, value: Any
    ) -> Relation:
        """An operand that was written, as by `out=`, is in place; an item of a list is the same object."""
        if how.relation == "view" and of != how.of:
            item = values.read(frame, of)
            return "same object" if item and item[0] is value else "view"
        if how.relation != "same object" or how.of not in running.operands:
            return how.relation
        sample = running.operands[how.of].sample
        blocks = elements.elements_of(value) if sample else ()
        is_written = blocks and elements.sampled(blocks) not in (0, sample)
        return "in place" if is_written or running.written.kind == "augmented" else "same object"

    def _in_part(self, running: _Open, value: Any, of: str, rest: dict[Elements, bool | None]) -> None:
        """Note parts of a view's value that have no byte of the operand: its elements again, or new ones."""
        for like in (True, None, False):
            blocks = tuple(one for one, said in rest.items() if said is like)
            if not blocks:
                continue
            same = like is not False
            how = values.Related("apart", of if same else "", 0, "equal" if same else "", like is True)
            bound = self._bound(running, values.names_of(value, blocks), value, blocks, how)
            self._add(replace(bound, bytes=elements.bytes_of(blocks), beside=of))

    def _unpacked(self, running: _Open, target: str, value: Any, now: dict[str, values.Found]) -> None:
        """Note a list of Python numbers that were the elements of an operand."""
        how = unpacked(running.written.text, value, running.operands, now)
        if how is not None:
            bytes_, of = how.shared_bytes, written_as(running.written.text, how.of)
            how = replace(how, of=of, shared_bytes=0)
            became = f"{len(value):,} {type_name(type(value[0]))}"
        elif (made := listed(running.written.text, value, running.operands)) is not None:
            how = values.Related("apart", made.of, 0, "equal", True)
            bytes_, became = made.bytes, made.became
        else:
            return
        self._add(replace(self._bound(running, target, value, (), how), bytes=bytes_, became=became))

    def _changed(self, running: _Open, frame: FrameType, bound: set[int]) -> None:
        """Note an operand whose bytes the statement changed, but for the objects that it bound."""
        for name, one in running.operands.items():
            found = values.named(frame, name)
            if one.address not in bound and found and id(found[0]) == one.address:
                blocks = elements.elements_of(found[0])
                if new := added(found[0], name, blocks, running.operands, frame):
                    made = self._bound(running, values.names_of(found[0], new[0]), found[0], *new)
                    self._add(replace(made, bytes=elements.bytes_of(new[0])))
                    continue
                stored = stored_in(running.items, name)
                if {block.range.start for block in one.blocks} - {block.range.start for block in blocks}:
                    continue  # parts of it are gone: what is left did not change by that
                if not blocks or (not stored and elements.sampled(blocks) in (0, one.sample)):
                    continue
                into = self._copied_into(running, frame, name, blocks)
                how = filled.changed(name, found[0], one.sample or into[0] or stored, running.written, blocks)
                if how is not None:
                    made = self._bound(running, name, found[0], blocks, how)
                    self._add(replace(made, bytes=into[0] or stored, beside=into[1], compared_all=into[2]))

    def _copied_into(
        self, running: _Open, frame: FrameType, name: str, blocks: Blocks
    ) -> tuple[int, str, bool]:
        """(bytes, of what, whether all were compared) were copied into an object that the statement changed;
        (0, "", False) if nothing says that they were."""
        items, call = running.items, running.call
        if items is not None and items.bytes and stored_in(items, name):
            return items.bytes, items.source, True
        if call is not None and call.way == "into" and name in (call.name, call.name.partition(".")[0]):
            size = kernel.moved(call, frame, self._result(running, frame))
            return size, call.file if size else "", True
        others = {one: had.blocks for one, had in running.operands.items() if one != name}
        return values.put_into(blocks, others) if running.written.kind == "assign" else (0, "", False)

    def _result(self, running: _Open, frame: FrameType) -> Any:
        """What a statement bound to its name in this pass; None if that was bound before."""
        paths = running.written.targets
        found = values.read(frame, paths[0]) if len(paths) == 1 else ()
        return found[0] if found and running.targets.get(paths[0]) != id(found[0]) else None

    def _written_out(self, running: _Open, frame: FrameType) -> None:
        """Note what a call of Python's own functions copied into a file or a socket."""
        call = running.call
        if call is None or call.way not in ("write", "store"):
            return
        result = self._result(running, frame) if call.way == "write" else None
        size = kernel.moved(call, frame, result)
        if size and (result is not None or call.way == "store" or not running.written.targets):
            how = values.Related("apart", call.name, 0, "equal", result is not None)
            bound = self._bound(running, call.file, running.call, (), how)
            self._add(replace(bound, bytes=size))

    def _bound(self, running: _Open, target: str, value: Any, blocks: Blocks, how: values.Related) -> Bound:
        """A value that a statement bound or changed in one pass."""
        return Bound(
            file=running.written.file, line=running.written.line, target=target,
            what=elements.described(value, blocks), bytes=elements.size_of(value, blocks),
            relation=how.relation, of=how.of, shared_bytes=how.shared_bytes, values=how.values,
            compared_all=how.compared_all, ranges=elements.ranges_of(blocks), library=running.library,
            alone=self._calls == running.calls, times=1, objects=any(not one.numeric for one in blocks),
            operands=tuple(one for had in running.operands.values() for one in values.places_of(had)),
            uniform=how.relation == "apart" and how.values != "equal" and uniform(blocks),
            by=self._changed_by(running, blocks, how), given_nothing=running.given_nothing,
        )  # fmt: skip

    def _changed_by(self, running: _Open, blocks: Blocks, how: values.Related) -> str:
        """The statement of a function called that changed the same bytes."""
        if how.relation != "in place" or not blocks:
            return ""
        place = f"{running.function} in line {running.written.line}" if running.function else ""
        return self._changes.by(blocks[0].range.start, running.calls, self._calls, place)

    def _add(self, found: Bound) -> None:
        """Add up the passes of one statement that did the same."""
        key = (found.file, found.line, found.target)
        known = self._found.get(key)
        if known is None:
            self._found[key] = found
        elif (known.relation, known.of) == (found.relation, found.of):
            both = isinstance(known.bytes, Unknown) or isinstance(found.bytes, Unknown)
            size = known.bytes if both else known.bytes + found.bytes  # type: ignore[operator]
            self._found[key] = replace(known, bytes=size, times=known.times + 1)


def _each_once(found: Bound, blocks: Blocks) -> Bound:
    """Of a view that repeats elements, as broadcast_to does, or an array, as a list may, each byte once."""
    if found.relation != "view" or isinstance(found.bytes, Unknown):
        return found
    known = () if isinstance(found.shared_bytes, Unknown) else (found.shared_bytes,)
    return replace(found, bytes=min(found.bytes, elements.covered(blocks), *known))


def _group(written: Written) -> tuple[str, int]:
    """The loop that a statement belongs to; the statement itself where it is in none."""
    return written.file, written.loop or -written.line
