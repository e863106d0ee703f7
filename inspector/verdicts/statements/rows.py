"""What each statement of the user's code did: from the values that it bound and the calls that it made."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from inspector.facts.conversion import ByteEvidence, Copy, Crossing, Loss, Materialized, Site
from inspector.facts.statements import OBJECTS, Bound, Did, Inside, Operator, Statement, Written
from inspector.facts.unknown import Unknown
from inspector.verdicts.advice.told import instead
from inspector.verdicts.copies import EMPTY, INTO_PASSED, copies, judged
from inspector.verdicts.statements.computing import computes
from inspector.verdicts.statements.inside import LEAST_TOLD, inside, largest
from inspector.verdicts.statements.later import Writes
from inspector.verdicts.statements.makers import (
    changes_letters,
    is_passed_on,
    makers,
    proved,
    returns_its_argument,
    telling,
)
from inspector.verdicts.statements.named import is_written, name, names
from inspector.verdicts.statements.operators import (
    by_weight,
    did_of,
    is_moved,
    maker,
    together,
    written_after,
)
from inspector.verdicts.statements.reasons import brief, into_items, narrows, of_items, of_parts
from inspector.verdicts.statements.right_side import last_call
from inspector.verdicts.statements.selections import selection

NOT_IN_A_CELL = Unknown("not in a notebook")
NO_CLOCK = Unknown("no clock was read")
_OF_CALL: dict[str, Did] = {
    "copied": "copied", "computed": "new values", "made": "new", "shared": "view", "in place": "in place",
}  # fmt: skip


@dataclass(slots=True)
class _Seen:
    """What was seen of one statement."""

    written: Written
    bound: list[Bound] = field(default_factory=list)
    evidence: list[ByteEvidence] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    materialized: list[Materialized] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    calls: int = 0
    ns: int | Unknown = 0


class _Said(NamedTuple):
    """What happened, why, and whether that is proved."""

    did: Did
    reason: str
    certain: bool


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """What other statements did: where values come from that functions of the user's gave, and writes."""

    returned: list[Bound]
    seen: list[_Seen]
    writes: Writes
    values_seen: bool
    """Whether the values of names were looked at: not in another process."""

    def line_of(self, value: Bound, own: _Seen) -> str:
        """ "in line 12": the statement that returned or made a value; "" if nothing says that another did."""
        for one in () if value.alone else self.returned:
            if one.ranges[:1] == value.ranges[:1] and one is not value:
                return f"in line {self._made(one).line}"
        for other in self.seen:
            unwatched = other is not own and any(one.more for one in other.bound)
            if unwatched and makers(value, other.evidence):
                return f"in line {other.written.line}"
        return "" if value.alone else "in a function that it calls"

    def _made(self, returned: Bound) -> Bound:
        """What a function bound first of the bytes that it returned."""
        own = (one for other in self.seen for one in other.bound if one.ranges[:1] == returned.ranges[:1])
        first = (one for one in own if one.file == returned.file and one.relation == "apart" and one.alone)
        return next(first, returned) if returned.relation in ("view", "same object") else returned


def statements(
    written: Sequence[Written],
    bound: Sequence[Bound],
    evidence: Iterable[ByteEvidence],
    losses: tuple[Loss, ...] | Unknown,
    crossings: Iterable[Crossing],
    materialized: Iterable[Materialized] = (),
    operators: Iterable[Operator] = (),
    values_seen: bool = True,
) -> tuple[Statement, ...]:
    """One row for each value that a statement bound, or one for a statement that bound none with bytes."""
    seen = {(one.file, one.line): _Seen(one) for one in written}
    lines = {(one.file, line): (one.file, one.line) for one in written for line in _lines(one)}
    for value in bound:
        if (value.file, value.line) in seen:
            seen[value.file, value.line].bound.append(value)
    for found in evidence:
        if (key := _key(found.call.site, lines)) is not None:
            seen[key].evidence.append(found)
    for loss in losses if not isinstance(losses, Unknown) else ():
        if not loss.inside and (key := _key(loss.site, lines)) is not None:
            seen[key].losses.append(loss)
    for data in materialized:
        if (key := _key(data.site, lines)) is not None:
            seen[key].materialized.append(data)
    for one in operators:
        if (key := lines.get((one.file, one.line))) is not None:
            seen[key].operators.append(one)
    for crossing in crossings:
        if (key := _key(crossing.site, lines)) is not None:
            _add(seen[key], crossing)
    files = {file: number for number, file in enumerate(dict.fromkeys(one.file for one in written))}
    ordered = sorted(seen.values(), key=lambda one: (files[one.written.file], one.written.line))
    returned = [value for one in ordered for value in one.bound if not value.target]  # or yielded
    elsewhere = _Elsewhere(returned, list(seen.values()), Writes(written, bound), values_seen)
    return tuple(row for one in ordered if one.written.kind != "import" for row in _rows(one, elsewhere))


def _lines(one: Written) -> range:
    return range(one.line, one.last_line + 1)


def _key(site: Site, lines: dict[tuple[str, int], tuple[str, int]]) -> tuple[str, int] | None:
    if isinstance(site.file, Unknown) or isinstance(site.line, Unknown):
        return None
    return lines.get((site.file, site.line))


def _add(seen: _Seen, crossing: Crossing) -> None:
    seen.calls += crossing.calls
    if isinstance(seen.ns, Unknown) or isinstance(crossing.call_ns, Unknown):
        seen.ns = NO_CLOCK
    else:
        seen.ns += crossing.call_ns


def _rows(seen: _Seen, elsewhere: _Elsewhere) -> list[Statement]:
    if not seen.bound:
        return _unbound(seen, copies(seen.evidence), elsewhere.values_seen)
    made_by = [makers(value, seen.evidence) for value in seen.bound]
    copied = any(copy.verdict == "copied" for copy in copies(seen.evidence))
    rows = [
        _bound(seen, value, made, copied, elsewhere) for value, made in zip(seen.bound, made_by, strict=True)
    ]
    known = {id(found) for made in made_by for found in made}
    rest = copies(found for found in seen.evidence if id(found) not in known and not is_passed_on(found))
    copied_too = [copy for copy in rest if copy.verdict == "copied"]
    rows[0] = _with(seen, rows[0], inside(seen.bound, copied_too, seen.operators))
    return rows


def _bound(
    seen: _Seen, value: Bound, found: list[ByteEvidence], any_copied: bool, others: _Elsewhere
) -> Statement:
    """The row of a value. `found`: the calls whose result it is; `any_copied`: some call copied bytes."""
    made = _of_operands(seen, value, found)
    operator, chosen = maker(value, seen.operators), selection(seen.written.text, value)
    said = _by_operator(
        seen, value, _of_part(value, _by_calls(seen, value, made, any_copied), made), operator
    )
    if chosen is not None:
        said = _Said("copied", f"elements of {chosen.of}, {chosen.how}", True)
        value = replace(value, of=chosen.of)
    else:
        said = _by_text(seen, value, said)
    is_unmade = value.relation == "apart" and not (found or chosen or operator)
    where = others.line_of(value, seen) if is_unmade else ""
    if where:
        is_known = (value.values and said.certain) or said.did == "copied"
        said = _Said(said.did if is_known else "new", where, True)
    if said.did == "in place":
        said = said._replace(reason=f"by {value.by}" if value.by else "")
    written = [copy.copied_bytes for copy in made if copy.verdict == "copied"]
    if said.did == "copied" and value.relation == "in place" and written and not value.beside:
        value = replace(value, bytes=written[-1])
    return _counted(seen, value, found, said, others, is_elsewhere=bool(where))


def _of_operands(seen: _Seen, value: Bound, found: list[ByteEvidence]) -> list[Copy]:
    """What the calls did that made a value, as far as it speaks of what the statement was given."""
    made = [copy for copy in telling(value, found) if not _is_by_the_way(seen.written, value, copy)]
    if not value.given_nothing:
        return made  # else what a library copied or shared on the way were numbers of its own
    return [copy for copy in made if copy.verdict in ("computed", "made") or names(seen.written, copy)]


def _by_calls(seen: _Seen, value: Bound, made: list[Copy], any_copied: bool) -> _Said:
    said = _Said(*_said(value, made, any_copied))
    if said.did == "new values" and not value.values and not any(names(seen.written, copy) for copy in made):
        return said._replace(certain=said.certain and bool(value.items))  # a freed result may have lain there
    return said


def _of_part(value: Bound, said: _Said, made: list[Copy]) -> _Said:
    """Of several blocks that nothing was given to: that one of them was copied is not told of all."""
    part = sum(copy.copied_bytes for copy in made if copy.verdict == "copied")
    is_whole = len(value.ranges) == 1 or isinstance(value.bytes, Unknown) or 2 * part >= value.bytes
    is_given = bool(value.operands or value.values or value.items or value.became)
    return said if said.did != "copied" or is_whole or is_given else _Said("new", "", False)


def _by_operator(seen: _Seen, value: Bound, said: _Said, operator: Operator | None) -> _Said:
    """What an operator of torch made is known, unless the values say it better."""
    if operator is None:
        return said
    is_apart = value.values == "different" and is_moved(value, operator, seen.operators)
    if operator.did != "new" and value.values and value.compared_all and not is_apart:
        return said
    if operator.did == "copied" and (after := written_after(value, seen.operators)):
        return _Said("new values", after.name, False)
    if said.did != did_of(operator):
        said = said._replace(did=did_of(operator), reason=operator.name)
    return said._replace(certain=said.did == "copied" or value.compared_all)


def _by_text(seen: _Seen, value: Bound, said: _Said) -> _Said:
    """What is written there: an operator, a ufunc, a function that only takes a shape."""
    if value.values == "equal" and _computes(seen, value):  # it may equal an operand: x ** 1
        said = said._replace(did="new values" if value.objects else said.did, certain=False)
    if said.did == "new values" and last_call(seen.written.text).removesuffix("_like") in EMPTY:
        said = _Said("new", "", True)
    is_all = value.values == "equal" and value.compared_all  # of `x * 1` each element is one of x
    if said.did in ("copied", "new") and not (said.certain or is_all) and computes(seen.written.text, value):
        return _Said("new values", "", said.did == "copied")
    return said


def _counted(
    seen: _Seen, value: Bound, found: list[ByteEvidence], said: _Said, others: _Elsewhere, is_elsewhere: bool
) -> Statement:
    """The row, with the bytes of all passes, and what to write instead of a copy that was not needed."""
    size = 0 if isinstance(value.bytes, Unknown) else value.bytes
    recorded = [one.times for one in found] if value.more or seen.written.loop else []
    times = max([value.times, *recorded])
    whole = value.bytes if isinstance(value.bytes, Unknown) else size // value.times * times
    part = value.shared_bytes if value.relation == "apart" and isinstance(value.shared_bytes, int) else 0
    known = part * times or whole
    copied = 0 if said.did != "copied" or is_elsewhere or isinstance(known, Unknown) else known
    shown = known if said.did == "copied" else whole
    row = _row(
        seen.written, value.target, said.did, value.of, shown, copied, said.reason, said.certain, times
    )
    by = [copy for copy in map(judged, found) if copy.verdict == "copied"] if copied else []
    needed = not copied or others.writes.after(value)
    other = "" if needed else instead(seen.written.text, by[-1] if by else None, value.what)
    return replace(row, at_least=times == value.times and value.more, instead=other)


def _is_by_the_way(written: Written, value: Bound, copy: Copy) -> bool:
    """Whether a call that the statement does not name copied a small part of what it changed in place."""
    is_small = not isinstance(value.bytes, Unknown) and 2 * copy.copied_bytes < value.bytes
    return value.relation == "in place" and is_small and not names(written, copy)


def _said(value: Bound, made: list[Copy], any_copied: bool) -> tuple[Did, str, bool]:
    """(what happened, why, whether that is proved)."""
    if value.relation == "in place" and value.beside:
        return "copied", f"the elements of {value.beside}", value.compared_all
    if value.relation == "in place" and (written := [copy for copy in made if copy.verdict == "copied"]):
        return "copied", brief(written[-1]), proved(value, written)
    if value.relation in ("same object", "view", "in place"):
        return value.relation, "", True
    if value.relation == "unknown" and value.shared_bytes == OBJECTS:
        return "unknown", OBJECTS.reason, True
    if value.relation == "unknown" and all(copy.verdict == "made" for copy in made):
        return "unknown", str(value.shared_bytes), True
    if value.beside:
        again = value.values == "equal"
        reason = f"the elements of {value.of}" if again else f"no byte of {value.beside}"
        return ("copied" if again else "new"), reason, value.compared_all or not again
    if value.became:
        return "copied", into_items(value), value.compared_all
    copied = [copy for copy in made if copy.verdict == "copied"]
    computed = [copy for copy in made if copy.verdict == "computed"]
    by_contract = any(copy.confidence == "certain" for copy in computed)
    if value.values == "different" and not _cast(value, copied):
        return "new values", "", value.compared_all or by_contract
    casts = copied and copied[-1].reason.startswith("element type changes")
    if casts and value.uniform and not value.values and not proved(value, copied):
        return "new", "", False  # the same number many times: of which operand is not said
    if value.values == "equal" or copied:
        is_told = copied and not (value.of and copied[-1].reason == INTO_PASSED)
        reason = (brief(copied[-1]) if is_told else "") or f"the elements of {value.of}"
        return (
            "copied",
            of_parts(value) or reason,
            value.compared_all or (value.values != "different" and proved(value, copied)),
        )
    if value.values == "different" or (computed and (by_contract or not value.uniform)):
        return "new values", "", by_contract
    certain = all(copy.confidence == "certain" for copy in made)
    if made and all(copy.verdict == "shared" for copy in made) and (certain or value.relation == "unknown"):
        if value.relation == "apart" and not all(isinstance(copy.allocator, Unknown) for copy in made):
            return "new", "", False  # it was allocated in the trace: before the call, not before the line
        return "shared", "with memory that was there before", certain
    if value.items:
        return "new values", of_items(value), True
    if value.objects and any_copied and value.parts > 1:
        return "copied", of_parts(value), False
    return "new", "", bool(made)


def _computes(seen: _Seen, value: Bound) -> bool:
    """Whether a call of the statement, that makes new values by contract, made as many bytes as the value."""
    made = copies(seen.evidence)
    return any(
        one.verdict == "computed" and one.confidence == "certain" and one.span_bytes == value.bytes
        for one in made
    )


def _cast(value: Bound, copied: list[Copy]) -> bool:
    """Whether calls copied the operand's elements, though the value has none of them: to another type."""
    sampled = [one for one in copied if one.confidence != "likely" and not changes_letters(one)]
    if value.compared_all:  # they were looked for in all operands, but a cast may overflow
        return any(map(narrows, sampled))
    return bool(sampled)


def _unbound(seen: _Seen, found: tuple[Copy, ...], values_seen: bool) -> list[Statement]:
    """The row of a statement whose value was not seen: what its calls did."""
    copied = [copy for copy in found if copy.verdict == "copied"]
    if seen.operators:
        whole, made = together(seen.operators)
        row = _row(seen.written, "", whole, "", made, made if whole == "copied" else 0, "", True, 1)
        return [_with(seen, row, () if whole == "copied" else inside((), copied, seen.operators))]
    named = sorted((one for one in found if names(seen.written, one)), key=_by_weight)
    fresh = [copy for copy in found if copy.verdict in ("computed", "made")]
    large = [
        one for one in (*copied, *fresh) if one.span_bytes >= LEAST_TOLD and is_written(seen.written, one)
    ]
    first = next(iter([*named, *large]), None)
    if first is None and not values_seen and seen.written.targets and (hidden := largest(fresh)):
        why = f"{hidden.function} made it; values were not compared"
        row = _row(seen.written, "", "unknown", "", hidden.span_bytes, 0, why, True, hidden.times)
        return [_with(seen, row, inside((), copied, ()))]
    if first is None and not (seen.losses or seen.calls or seen.materialized):
        return []
    did: Did = "no bytes" if first is None else _OF_CALL[first.verdict]
    if first is not None and did in ("in place", "new") and returns_its_argument(first, did == "new"):
        did = "same object"
    if first is not None and did == "view" and last_call(seen.written.text) != name(first):
        did, first = "no bytes", None  # of `x.ravel().max()`: what it gave is no view
    size = 0 if first is None else first.copied_bytes or first.span_bytes
    row = _row(
        seen.written, "", did, "", size, size if did == "copied" else 0,
        brief(first) if first and did == "copied" else "", bool(named) or first is None or len(found) <= 1,
        1 if first is None else first.times,
    )  # fmt: skip
    return [_with(seen, row, inside((), [copy for copy in copied if copy is not first], ()))]


def _by_weight(copy: Copy) -> tuple[bool, int]:
    """What made bytes before what only showed some, the largest first."""
    return copy.verdict not in ("copied", "computed", "made"), -copy.span_bytes


def _with(seen: _Seen, row: Statement, on_the_way: tuple[Inside, ...]) -> Statement:
    """The first row of a statement, with what belongs to the statement as a whole."""
    return replace(
        row, inside=on_the_way, losses=tuple(seen.losses), materialized=tuple(seen.materialized),
        calls=seen.calls, native_ns=seen.ns, operators=by_weight(seen.operators),
    )  # fmt: skip


def _row(
    written: Written, target: str, did: Did, of: str, size: int | Unknown, copied: int, reason: str,
    certain: bool, times: int,
) -> Statement:  # fmt: skip
    cell = written.cell if written.cell >= 0 else NOT_IN_A_CELL
    site = Site(written.file, written.line, Unknown("not asked"), cell, written.text)
    head = (site, written.last_line, target, did, of, size, copied, reason, certain, times)
    return Statement(*head, False, (), (), (), 0, NO_CLOCK, "")
