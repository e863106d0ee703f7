"""The first sentence of an object of another process: whose its bytes are, or what its items hold."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

from inspector.facts.amounts import counted, size, with_article
from inspector.facts.answers import Answer
from inspector.facts.remote import Remote, RemoteArray
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, code


def answers(fact: Remote) -> Iterator[Answer]:
    """Nothing of an object that is neither an ndarray nor holds arrays, bytes or bytearrays itself."""
    if not isinstance(fact.array, Unknown) and fact.array.bytes:
        yield _array(fact.array)
    elif not isinstance(fact.inside, Unknown) and fact.inside.bytes:
        count = len(fact.entries) + fact.more
        looked = f"the first {fact.inside.looked:,} of its" if fact.inside.looked < count else "its"
        where = f"in arrays and bytes among {looked} {counted(count, 'item')}, not deeper"
        text = f"At least {size(fact.inside.bytes)} in all, {where}."
        yield answer("weight", text, "remote.inside", costs_bytes=fact.inside.bytes)


def _array(found: RemoteArray) -> Answer:
    if found.owns:
        return answer("owner", f"Owns its {size(found.bytes)}.", "remote.array", costs_bytes=found.bytes)
    if not found.base:
        text = f"Shows {size(found.bytes)} that it does not own."
        return answer("owner-not-told", text, "remote.array", certain=False)
    base = code(found.base) if found.base_is_named else with_article(found.base)
    if not found.base_bytes:
        return answer("view-of", f"Shows {size(found.bytes)} of {base}, which it keeps.", "remote.array")
    part = f"{size(found.bytes)} of its {size(found.base_bytes)}"
    whole = found.bytes == found.base_bytes
    text = f"A view of {base}: {f'all {size(found.bytes)}' if whole else part}, and keeps it."
    return answer("view-of", text, "remote.array", about=(found.base,) if found.base_is_named else ())
