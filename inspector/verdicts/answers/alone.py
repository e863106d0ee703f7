"""What has no memory beside it: a class, a module, a C function, a scalar; what an adapter says in words."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, code, known

Facts = Mapping[str, Any]


def in_words(facts: Facts) -> Iterator[Answer]:
    """The sentence of the adapter."""
    if said := getattr(known(facts, "materialization"), "in_words", ""):
        yield answer("state", said, "materialization.in_words")


def in_file(facts: Facts) -> Iterator[Answer]:
    """An open file, or a group of one."""
    fact = known(facts, "materialization")
    if fact is not None and fact.state == "owned" and fact.layers[0].storage == "remote/on disk":
        yield answer(
            "open", "Open; its data is in the file, apart from what is buffered.", "materialization.layers"
        )


def scalar(facts: Facts) -> Iterator[Answer]:
    """An element taken out of an array: a value of its own, though it lays its bytes open as arrays do."""
    fact, found = known(facts, "materialization"), known(facts, "object")
    if found is None or fact is None or fact.state != "owned" or "numpy.generic" not in found.type_mro:
        return
    if not isinstance(found.size_bytes, Unknown):
        text = f"One value of {size(found.size_bytes)}: writing to an array does not change it."
        yield answer("scalar", text, "object.type_mro", "materialization.layers")


def compiled(facts: Facts) -> Iterator[Answer]:
    """A class, a module or a function of C: where its code is."""
    if (kind := known(facts, "type")) is not None:
        made = "in C" if "/" in str(kind.defined_in) else "in Python"
        text = f"A class made {made}: an instance takes {size(kind.basicsize_bytes)} or more."
        yield answer("class", text, "type.basicsize_bytes", "type.tables_of")
    elif (module := known(facts, "module")) is not None:
        made = "in Python" if module.phases == "Python" else "in C"
        where = "" if isinstance(module.file, Unknown) else f": {code(module.file.rpartition('/')[2])}"
        yield answer("module", f"A module made {made}{where}.", "module.phases", "module.file")
    elif (builtin := known(facts, "builtin")) is not None:
        place = builtin.method.place
        if not isinstance(place, Unknown):
            symbol = (
                "a C function"
                if isinstance(place.symbol, Unknown)
                else f"the C function {code(place.symbol)}"
            )
            text = f"Runs {symbol}{_library(place.library)}."
            yield answer("c-function", text, "builtin.method")


def _library(path: str | Unknown) -> str:
    return "" if isinstance(path, Unknown) else f" of {code(path.rpartition('/')[2])}"
