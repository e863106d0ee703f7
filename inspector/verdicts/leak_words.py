"""A verdict on references as the sentence that a colleague would say, and the first answers of a report."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from inspector.facts.amounts import counted, with_article
from inspector.facts.answers import Answer, Answers
from inspector.facts.leaks import Leaks, Touch, Verdict
from inspector.facts.nothing import Nothing
from inspector.verdicts.answers.words import answer, code
from inspector.verdicts.leak_lines import Texts, lines_of

NAMED: Final = 3
"""Names of what was not watched in an answer."""
_OBTAINED: Final = {"new": "makes", "stored": "stores", "replaced": "makes"}


def told(fact: Leaks, texts: Texts) -> Leaks:
    """The fact, each verdict with its sentence and with the lines of native code. `texts`: path -> lines."""
    return replace(
        fact,
        verdicts=tuple(
            replace(one, said=_sentence(one, fact), lines=lines_of(one, texts)) for one in fact.verdicts
        ),
    )


def leak_answers(fact: Leaks) -> Answers:
    """The first verdict's sentence and how many more there are; or what was seen where there is none."""
    found = [one for one in fact.verdicts if not one.is_of_import]
    if not found:
        return Answers((*_grows(fact), *_nothing(fact)))
    first, *others = found
    rows = [_answer(first)]
    if others:
        certain = sum(one.certain for one in others)
        sure = {0: "none certain", len(others): "certain" if len(others) == 1 else "all certain"}
        said = f"{counted(len(others), 'more fault')}, {sure.get(certain, f'{certain} of them certain')}."
        rows.append(answer("more-faults", said, "leaks.verdicts"))
    return Answers((*rows, *_grows(fact)))


def _answer(verdict: Verdict) -> Answer:
    return answer(
        verdict.kind.replace(" ", "-").lower(),
        verdict.said,
        "leaks.verdicts",
        certain=verdict.certain,
        do=verdict.cure,
    )


def _fewer(fact: Leaks) -> str:
    """How to have all objects searched."""
    is_named = any(one.module for one in fact.watched)
    return "watch less code at a time" if is_named else "name the module"


def _nothing(fact: Leaks) -> Iterator[Answer]:
    """What no fault was seen in; never more than was watched."""
    if fact.watched and all(one.is_silent for one in fact.watched):
        names = ", ".join(code(one.module) for one in fact.watched if one.module)
        said = f"Nothing is known: no call{f' of {names}' if names else ''} was seen."
        yield answer("not-watched", said, "leaks.watched", certain=False)
        return
    calls = sum(one.calls for one in fact.watched)
    among = f" of {counted(calls, 'call')}" if calls else ""
    less = f"; {fact.unlike:,} objects were not searched: {_fewer(fact)}" if fact.unlike else ""
    dropped = f"; {fact.not_noted:,} events were dropped" if fact.not_noted else ""
    unseen = f"; {_unseen(fact)}" if any(one.unseen for one in fact.watched) else ""
    left = f"{less}{dropped}{unseen}".removeprefix("; ")
    yield answer(
        "no-fault",
        f"No fault was found in the references{among}{less}{dropped}{unseen}.",
        "leaks.watched",
        certain=not left,
        nothing=Nothing(f"the references{among}", left),
    )


def _unseen(fact: Leaks) -> str:
    """The types and functions that were not watched, by name as far as they still live."""
    amount = sum(one.unseen for one in fact.watched)
    names = [name or "a function without a name" for one in fact.watched for name in one.unhooked]
    shown = ", ".join(map(code, names[:NAMED]))
    more = f" and {amount - NAMED:,} more" if names and amount > NAMED else ""
    what = counted(amount, "type or function was", "types or functions were")
    return f"{what} not watched: {shown}{more}" if names else f"{what} made meanwhile and not watched"


def _grows(fact: Leaks) -> Iterator[Answer]:
    for row in fact.kept:
        if row.growth:
            numbers, runs = ", ".join(f"{one:,}" for one in row.growth), len(row.growth)
            more = f"{numbers} more {f'after {runs} runs' if runs > 1 else 'by this code'}"
            yield answer("grows", f"What native code keeps grows: {row.object}, {more}.", "leaks.kept")
            return


def _sentence(verdict: Verdict, fact: Leaks) -> str:
    return f"{_SAID[verdict.kind](verdict, fact)}."


def _leaked(verdict: Verdict, fact: Leaks) -> str:
    if verdict.method.endswith(".tp_traverse"):
        left = f"{_does(verdict, 'leaves', 'leave')} {_a_type(verdict)} alive{_times(verdict, fact)}"
        return f"{_who(verdict)} {left}: {verdict.reason}"
    lost = f"{_who(verdict)} {_does(verdict, 'loses', 'lose')} a reference{_times(verdict, fact)}"
    made = verdict.conversion
    if isinstance(made, Touch) and made.role == "outlived" and _type(verdict) != "class":
        holder = code(made.method.rpartition(".")[0])
        return f"{lost}: {_a_type(verdict)} that a field of {holder} held outlives it"
    if isinstance(made, Touch) and made.role in _OBTAINED and made.function:
        how = f"that {code(made.function)} {_OBTAINED[made.role]}{_at(made)}"
        return f"{lost}: the {_type(verdict)} {how} is never released"
    return f"{lost}: {verdict.reason}" if not verdict.method else f"{lost} of {_a_type(verdict)}"


def _over_released(verdict: Verdict, fact: Leaks) -> str:
    taken = verdict.conversion
    who = f"{_who(verdict)} {_does(verdict, 'releases', 'release')} {_a_type(verdict)}"
    if isinstance(taken, Touch) and taken.role == "stolen on failure":
        return (
            f"{who} once too often{_times(verdict, fact)}: {code(taken.function)}{_at(taken)} had taken it, "
            "although it failed"
        )
    return f"{who} too often{_times(verdict, fact)}: {verdict.reason}"


def _stolen(verdict: Verdict, fact: Leaks) -> str:
    taken = verdict.conversion
    who = f"{_who(verdict)} {_does(verdict, 'gives', 'give')} away a reference that it does not own"
    if isinstance(taken, Touch) and taken.role in ("stolen", "stolen on failure"):
        what = f"{code(taken.function)}{_at(taken)} takes its {taken.parameter}"
        return f"{who}{_times(verdict, fact)}: {what}, {_a_type(verdict)}"
    return f"{who}{_times(verdict, fact)}: {verdict.reason}"


def _buffer(verdict: Verdict, fact: Leaks) -> str:
    held = f"{_who(verdict)} never releases the buffer of {_a_type(verdict)}{_times(verdict, fact)}"
    made = verdict.conversion
    return (
        f"{held}: `PyObject_GetBuffer`{_at(made)} has no `PyBuffer_Release`"
        if isinstance(made, Touch)
        else held
    )


def _dangling(verdict: Verdict, _: Leaks) -> str:
    made = next((touch.method for touch in verdict.stack if touch.role == "viewed" and touch.method), "")
    by = f" that {code(made)} made" if made else ""
    shown = with_article(verdict.object)
    return f"{shown[0].upper()}{shown[1:]}{by} shows memory that was freed{_at(verdict.conversion)}"


def _bytes(verdict: Verdict, _: Leaks) -> str:
    blocks = counted(verdict.objects, "block")
    made = verdict.conversion
    by = f" that {code(made.function)} gave{_at(made)}" if isinstance(made, Touch) else ""
    lost = _does(verdict, "loses", "lose")
    return f"{_who(verdict)} {lost} {blocks} of {verdict.object}{by}: nothing points there any more"


def _null(verdict: Verdict, _: Leaks) -> str:
    return f"{_who(verdict)} returned NULL and set no exception"


def _result(verdict: Verdict, _: Leaks) -> str:
    return f"{_who(verdict)} returned a result and left an exception set"


def _without_gil(verdict: Verdict, _: Leaks) -> str:
    made = verdict.conversion
    what = code(made.function) if isinstance(made, Touch) and made.function else "the C API"
    return f"{_who(verdict)} called {what} without the GIL{_at(made)}"


def _crash(verdict: Verdict, _: Leaks) -> str:
    return f"The code ended its process: {verdict.reason}"


_SAID: Final[dict[str, Callable[[Verdict, Leaks], str]]] = {
    "leaked": _leaked,
    "capsule leaked": _leaked,
    "over-released": _over_released,
    "borrowed reference stolen": _stolen,
    "buffer not released": _buffer,
    "dangling view": _dangling,
    "bytes leaked outside objects": _bytes,
    "NULL without an exception": _null,
    "result with an exception set": _result,
    "C-API call without the GIL": _without_gil,
    "crash": _crash,
}


def _who(verdict: Verdict) -> str:
    return code(verdict.method) if verdict.method else "Native code"


def _does(verdict: Verdict, certain: str, possible: str) -> str:
    return certain if verdict.certain else f"may {possible}"


def _times(verdict: Verdict, fact: Leaks) -> str:
    many = max(verdict.objects, verdict.references)
    return f" {many:,} times{' or more' if fact.left_out else ''}" if many > 1 else ""


def _type(verdict: Verdict) -> str:
    return verdict.object.partition(" ")[0].partition("(")[0]


def _a_type(verdict: Verdict) -> str:
    return with_article(_type(verdict))


def _at(touch: object) -> str:
    """ " in heldmod.c:14", or the C function; "" if neither is known."""
    if not isinstance(touch, Touch):
        return ""
    if isinstance(touch.source, str):
        return f" in {touch.source}"
    named = isinstance(touch.symbol, str) and touch.symbol != touch.function
    return f" in {code(str(touch.symbol))}" if named else ""
