"""The first sentences about R's objects, and about the lazy vectors of an R program."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from inspector.facts.amounts import counted, size
from inspector.facts.answers import Answer, Answers
from inspector.facts.lazy_trace import LazyMade, LazyTrace
from inspector.facts.nothing import Nothing
from inspector.facts.r_object import LazyState, RObject
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, called, code, known, listed

FACT: Final = "r_object"
TRACE: Final = "lazy_trace"
SEQUENCE: Final = (
    ("x + 1L", "range(x)", "cumsum(x)", "x[x > 3]"),
    ("sum(x)", "mean(x)", "x[5]", "x[2:3]", "head(x)", "sort(x)", "rev(x)", "print(x)"),
)
STRINGS: Final = (
    ("sort(x)", "order(x)", "format(x)", "factor(x)"),
    ("length(x)", "x[5]", "head(x)", "paste(x)", "print(x)"),
)
USES: Final = {"compact_intseq": SEQUENCE, "compact_realseq": SEQUENCE, "deferred_string": STRINGS}
"""Class of R -> (what materializes it, what leaves it as it is); a test runs each of them."""

SEQUENCES: Final = ("compact_intseq", "compact_realseq")
INSTEAD: Final = {"range": "`c(min({x}), max({x}))` leaves {x} lazy"}
"""R function -> what reads a compact sequence without a pointer; a test runs it."""
MOST: Final = 3


def r_answers(name: str, fact: RObject) -> Answers:
    """All of them, the most important first."""
    return Answers((*_what(fact), *_change(name, fact), *_shared(fact), *_writing(name, fact)))


def with_copy(name: str, facts: Mapping[str, Any], text: str, fact: RObject) -> tuple[str, dict[str, Any]]:
    """The name that R's user wrote, and the facts of a card; of a copy, what R had before the conversion."""
    name = text if name == "object" and text else name
    told, buffer = facts.get("answers"), known(facts, "buffer")
    shares = buffer is not None and buffer.holders and buffer.owns is not True
    if shares or isinstance(fact.length, Unknown) or not isinstance(told, Answers):
        return name, dict(facts)
    return name, {**facts, "answers": Answers((of_a_copy(name, fact), *told.rows))}


def of_a_copy(name: str, fact: RObject) -> Answer:
    """What reticulate made of an R value before Python saw it, and how to look at the R value itself."""
    lazy = "" if isinstance(fact.lazy, Unknown) else f", a {fact.lazy.stands_for}"
    done = (
        f"; the conversion materialized that too: {size(fact.elements_bytes)}" if _is_made(fact.lazy) else ""
    )
    text = (
        f"A copy that reticulate made of R's {code(f'{fact.type}({_length(fact)})')}{lazy}{done}. "
        f"{code('source(inspector$r())')}, then {code(f'inspect({name})')} looks at R's own object."
    )
    return answer("copy-from-r", text, "object.type_name", do=f"source(inspector$r()); inspect({name})")


def _is_made(lazy: LazyState | Unknown) -> bool:
    return not isinstance(lazy, Unknown) and lazy.made == "all"


def _what(fact: RObject) -> Iterator[Answer]:
    lazy = fact.lazy
    if isinstance(lazy, Unknown):
        return
    article = "A" if lazy.stands_for[:1] not in "aeiou" else "An"
    what = f"{article} {lazy.stands_for} (ALTREP)"
    whole = size(fact.elements_bytes)
    if lazy.class_name.startswith(("wrap_", "mmap_")) and lazy.made == "all":
        yield answer("r-lazy", f"{what}: its {whole} are there, nothing is left to materialize.", FACT)
        return
    texts = {
        "none": f"{what}: {size(fact.bytes)}; 0 of {whole} materialized.",
        "part": f"{what}: {_count(lazy)} of {_length(fact)} elements are made so far; {size(fact.bytes)}.",
        "all": f"{what}, materialized: its {whole} are in memory.",
    }
    unknown = f"{what}: whether it is materialized is not known ({lazy.made})."
    yield answer("r-lazy", unknown if isinstance(lazy.made, Unknown) else texts[lazy.made], FACT)


def _count(lazy: LazyState) -> str:
    return str(lazy.made_elements) if isinstance(lazy.made_elements, Unknown) else f"{lazy.made_elements:,}"


def _length(fact: RObject) -> str:
    return "?" if isinstance(fact.length, Unknown) else f"{fact.length:,}"


def _change(name: str, fact: RObject) -> Iterator[Answer]:
    """Which statements will materialize it, for R's own classes."""
    lazy = fact.lazy
    if isinstance(lazy, Unknown) or lazy.made == "all":
        return
    made, kept = USES.get(lazy.class_name, ((), ())) if lazy.package == "base" else ((), ())
    if not made:
        text = "Code that reads it through a pointer (DATAPTR) will materialize it: `inspector trace --lazy`."
        yield answer("r-materialized-by", text, FACT)
        return
    own = name if re.fullmatch(r"[A-Za-z.][\w.]*", name) else "x"
    first, second = (listed(code(re.sub(r"\bx\b", own, one)) for one in some) for some in (made, kept))
    text = f"{first} will materialize it; {second} leave it as it is."
    yield answer("r-materialized-by", text, FACT)


def _shared(fact: RObject) -> Iterator[Answer]:
    if fact.shared_with:
        whole = f"its {size(fact.elements_bytes)}"
        text = f"Python's {listed(map(code, fact.shared_with), 3)} shows {whole}: the same bytes, no copy."
        yield answer("r-shared", text, FACT, about=fact.shared_with)


def _writing(name: str, fact: RObject) -> Iterator[Answer]:
    """What a write does: R copies first where it is not the only holder."""
    if isinstance(fact.length, Unknown) or not fact.elements_bytes or fact.references <= 1:
        return
    why = "it is marked as not mutable" if fact.not_mutable else counted(fact.references, "reference")
    text = f"Writing to {called(name)} copies {size(fact.elements_bytes)} first: {why}."
    yield answer("r-write-copies", text, FACT, costs_bytes=fact.elements_bytes)


def lazy_answers(fact: LazyTrace) -> Answers:
    """How many were made, which were materialized, and what to write instead."""
    return Answers((*_counts(fact), *_advice(fact)))


def _counts(fact: LazyTrace) -> Iterator[Answer]:
    made = [one for statement in fact.statements for one in statement.made]
    done = [one for statement in fact.statements for one in statement.materialized]
    if not made and not done:
        text = "No lazy vector (ALTREP) that has a name, or 10 kB, was made."
        looked_at = Nothing("vectors with a name, or of 10 kB", "smaller ones without a name")
        yield answer("lazy-vectors", text, TRACE, nothing=looked_at)
        return
    cost = sum(one.vector.bytes for one in done)
    whole = _done([one for one in done if not one.copied], "materialized") or "0 were materialized"
    copies = _done([one for one in done if one.copied], "copied as an ordinary one")
    begin = f"{counted(len(made), 'lazy vector')}; " if made else ""
    text = f"{begin}{'; '.join(filter(None, (whole, copies)))}."
    yield answer("lazy-vectors", text, TRACE, costs_bytes=cost)


def _done(some: list[LazyMade], what: str) -> str:
    """ "2 were materialized, by sort and range: 12 MB"; "" for none."""
    names = [code(name) for name in dict.fromkeys(one.by for one in some) if name]
    by = f", by {listed(names, MOST)}" if names else ""
    were = "was" if len(some) == 1 else "were"
    cost = size(sum(one.vector.bytes for one in some))
    return f"{len(some):,} {were} {what}{by}: {cost}" if some else ""


def _advice(fact: LazyTrace) -> Iterator[Answer]:
    for statement in fact.statements:
        for one in statement.materialized:
            if (said := _instead(one)) and one.vector.class_name in SEQUENCES:
                where = f"line {statement.line}" if statement.line else statement.text
                yield answer("host-advice", said, TRACE, do=where)


def _instead(one: LazyMade) -> str:
    return INSTEAD.get(one.by, "").format(x=one.vector.name or "x")
