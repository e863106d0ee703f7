"""The answers of one report: every rule is asked, the most important answers come first."""

# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from typing import Any, Final

from inspector.facts.answers import Answer, Answers
from inspector.facts.finding import Finding
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.copying import c_code, copy_of
from inspector.verdicts.answers.graph import graph
from inspector.verdicts.answers.keeping import categories, exports, history, in_all, keeping, searched
from inspector.verdicts.answers.model import model
from inspector.verdicts.answers.what import same_object, what
from inspector.verdicts.answers.words import answer, code, known
from inspector.verdicts.answers.writing import writing

Facts = Mapping[str, Any]

SAID_BY: Final = {
    "large-base": ("keeps-base", "keeps-buffer", "keeps-graph"),
    "shared-copy-on-write": ("write-copies", "state"),
}
"""Finding -> the answer that says the same."""
MILD: Final = ("shared-copy-on-write", "large-base")
"""Findings that cost time or memory but break nothing."""


def with_answers(name: str, facts: Facts) -> dict[str, Any]:
    """The facts of one object with the column `answers` before them; Unknown if a rule fails."""
    try:
        told: Answers | Unknown = answers(name, facts)
    except Exception as error:  # the facts are shown all the same
        told = Unknown(f"the rules failed with {type(error).__name__}")
    return {"answers": told, **facts}


def without_answers(facts: Facts) -> dict[str, Any]:
    """What two reports are compared by: answers follow from the other facts."""
    return {column: fact for column, fact in facts.items() if column != "answers"}


def answers(name: str, facts: Facts) -> Answers:
    """What the facts of one object answer, the most important first."""
    said = [*model(name, facts), *graph(name, facts), *what(name, facts), *same_object(name, facts)]
    consequences = [*categories(name, facts), *writing(name, facts), *keeping(name, facts)]
    if not any(one.slug.startswith("keeps-") for one in (*said, *consequences)):
        consequences += in_all(facts)
    known_by = {one.slug for one in (*said, *consequences)}
    dangers = [found for found in _findings(facts) if not known_by & {*SAID_BY.get(found.slug, ())}]
    kept = [_danger(found, name, facts) for found in dangers if found.slug == "large-base"]
    severe = [_danger(found, name, facts) for found in dangers if found.slug not in MILD]
    mild = [
        _danger(found, name, facts) for found in dangers if found.slug in MILD and found.slug != "large-base"
    ]
    held = [*searched(name, facts), *history(name, facts)]
    first = [*said[:1], *severe, *said[1:], *kept, *consequences]
    return Answers((*first, *held, *mild, *exports(facts), *c_code(name, facts)))


def _findings(facts: Facts) -> tuple[Finding, ...]:
    fact = known(facts, "materialization")
    return fact.findings if fact is not None else ()


def _danger(found: Finding, name: str, facts: Facts) -> Answer:
    """A danger as a sentence: what was found, and what to do."""
    do = copy_of(name, facts) if found.slug == "large-base" else found.do
    do = "" if found.slug == "shared-copy-on-write" else do
    what = found.what if found.certain else f"probably {found.what}"
    cure = f": {code(do) + ' frees it' if found.slug == 'large-base' else do}" if do else ""
    first, _, others = what.partition(" ")
    text = f"{first.capitalize() if first.isalpha() and first.islower() else first} {others}{cure}."
    return answer(found.slug, text, "materialization.findings", certain=found.certain, do=do)
