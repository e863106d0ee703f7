"""R as an owner: find the environment through which reticulate holds a Python object, from a word in memory.

reticulate's PyObjectRef is an R environment with two bindings: `pyobj`, an external pointer to the object,
and `convert`. The steps from the word: external pointer, binding, frame or hash table, environment. Every
step reads memory and calls nothing of R. R keeps the reference until its gc has run the finalizer; objects
freed by R may still be in memory, so such an owner is possible, never certain.
"""

# SPDX-License-Identifier: MIT
import sys
from collections.abc import Iterator
from typing import Final

from inspector import _native
from inspector.objects.layouts.r_objects import Header, bound, header, logical, symbol_name

KIND: Final = "R environment"
_LISTSXP, _ENVSXP, _EXTPTRSXP, _VECSXP = 2, 4, 22, 19
_CAR, _CDR, _HASHTAB = 32, 40, 48
_ITEMS: Final = 48
_STEPS_MAX: Final = 8
_SLOTS_MAX: Final = 4096


def is_embedded() -> bool:
    """Whether R runs in this process, and reticulate with it."""
    return "rpycall" in sys.modules


def r_holder(word: int, climb: bool = True) -> tuple[str, int] | None:
    """(the holder in R, address of the R object) for a word inside an external pointer; else None.

    Each step up searches memory, 0.1 s or more for an owner; without `climb` the pointer is reported.
    """
    pointer = header(word - _CAR) if is_embedded() else None
    if pointer is None or pointer.type != _EXTPTRSXP:
        return None
    found = _environment(pointer.address) if climb else None
    if found is None:
        return "R external pointer", pointer.address
    convert = bound(found, "convert")
    said = logical(convert.address) if convert is not None else None
    return f"R environment{'' if said is None else f', convert={said}'}", found.address


def _environment(pointer: int) -> Header | None:
    """The environment that binds `pyobj` to an external pointer."""
    for binding in _who_has(pointer, _CAR, _LISTSXP):
        if symbol_name(binding.third) == "pyobj":
            return _of_binding(binding)
    return None


def _of_binding(binding: Header) -> Header | None:
    """The environment in whose frame, or in whose hash table's chain, a binding is."""
    for _ in range(_STEPS_MAX):
        frames = _who_has(binding.address, _CAR, _ENVSXP)
        if found := next(frames, None):
            return found
        for table in _tables(binding.address):
            if found := next(_who_has(table.address, _HASHTAB, _ENVSXP), None):
                return found
        before = next(_who_has(binding.address, _CDR, _LISTSXP), None)
        if before is None:
            return None
        binding = before
    return None


def _who_has(value: int, offset: int, kind: int) -> Iterator[Header]:
    """R objects of a type that have a pointer at an offset."""
    hits, *_ = _native.scan_words([(value, value + 1)], limit=_SLOTS_MAX)
    for word, _ in hits:
        found = header(word - offset)
        if found is not None and found.type == kind:
            yield found


def _tables(value: int) -> Iterator[Header]:
    """Lists with a pointer among their items: the word is at most `_SLOTS_MAX` items after the header."""
    hits, *_ = _native.scan_words([(value, value + 1)], limit=_SLOTS_MAX)
    for word, _ in hits:
        for place in range(word - _ITEMS, word - _ITEMS - 8 * _SLOTS_MAX, -8):
            found = header(place)
            if found is None:
                break
            items = (word - place - _ITEMS) // 8
            if found.type == _VECSXP and not found.altrep and items < found.first <= _SLOTS_MAX:
                yield found
                break
