"""Sentences about lost objects: why no collection frees them, and what their makers should mend."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.lost import Cause, Lost, LostObject
from inspector.verdicts.answers.words import answer, code

MOST_SAID: Final = 3


def with_answers(lost: Lost) -> Lost:
    """The fact with a sentence for each of its largest rows."""
    return replace(lost, answers=said(lost.rows))


def said(rows: tuple[LostObject, ...]) -> tuple[Answer, ...]:
    """A sentence for each of the first rows."""
    return tuple(_said(row, at) for at, row in enumerate(rows[:MOST_SAID]))


def _said(row: LostObject, at: int) -> Answer:
    why, do = _WHY[row.cause](row), _DO[row.cause](row)
    probably = "" if row.certain else "probably "
    text = f"{_many(row)} {probably}lost, with {size(row.kept_bytes)}: {why}."
    evidence = f"lost.rows[{at}]"
    return answer("lost", text, evidence, certain=row.certain, do=do, costs_bytes=row.kept_bytes)


def _many(row: LostObject) -> str:
    """ "3 objects of type `list` are", "One `app.Node` is"."""
    name = code(row.type_name)
    return f"One {name} is" if row.objects == 1 else f"{row.objects:,} objects of type {name} are"


def _own(row: LostObject) -> str:
    return "its own" if row.objects == 1 else "the"


_WHY: Final[dict[Cause, Callable[[LostObject], str]]] = {
    "object array": lambda row: (
        f"a cycle through {row.where} of a {code(row.holder)} of objects, which the "
        "garbage collector does not look into"
    ),
    "type without tp_traverse": lambda row: (
        f"a cycle through {code(row.holder)}, which has no tp_traverse for its field at {row.where}"
        if row.type_name != row.holder
        else f"a cycle through {_own(row)} field at {row.where}, and its type has no tp_traverse"
    ),
    "field not visited": lambda row: (
        f"a cycle through {code(row.holder)}, whose tp_traverse does not visit its field at {row.where}"
    ),
    "count in C++": lambda row: (
        "references to the tensor in C++ are counted, and nothing that is reached has them"
    ),
    "lost holder": lambda row: f"only a {code(row.holder)} that nothing reaches holds it, at {row.where}",
    "lost C memory": lambda row: "only a block of C code that nothing points to holds it",
    "no holder": lambda row: "references that nothing in memory holds: C code took and lost them",
}
_DO: Final[dict[Cause, Callable[[LostObject], str]]] = {
    "object array": lambda row: "array[:] = None breaks such a cycle before the array goes",
    "type without tp_traverse": lambda row: f"give {row.holder} Py_TPFLAGS_HAVE_GC, tp_traverse and tp_clear",
    "field not visited": lambda row: f"Py_VISIT the field, if it owns, in the tp_traverse of {row.holder}",
    "count in C++": lambda row: "delete the torch::Tensor, or release the intrusive_ptr, that was forgotten",
    "lost holder": lambda row: f"free the {row.holder}: this goes with it",
    "lost C memory": lambda row: "release the reference before the block is forgotten",
    "no holder": lambda row: "%%inspect_leaks above the code that makes them names the call",
}
