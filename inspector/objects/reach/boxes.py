"""The boxes of a container: its places and what they refer to, two levels deep. Runs no user code."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.facts.boxes import ContentBox, ContentSlot
from inspector.facts.secret import MASKED, is_secret
from inspector.facts.unknown import Address
from inspector.objects.classes import type_name
from inspector.objects.referents import referents

MOST_SLOTS: Final = 8
"""Places of the container that are drawn; of what it holds half as many."""
MOST_ASKED: Final = 10_000
"""Items of a list of which it is asked whether C code left places empty; a longer one has no places here."""
MOST_TEXT: Final = 24
"""Characters of a value in its slot."""
_CONSTANTS: Final = (int, float, complex, bool, type(None), str, bytes)


class Words(NamedTuple):
    """How objects and keys are said."""

    what: Callable[[Any], str]
    """ "list (3 items)"."""
    key: Callable[[Any], str]
    """A key of a dict as Python writes it."""


def boxes(x: Any, words: Words) -> tuple[ContentBox, ...]:
    """The boxes, the container's own first; () where all that it holds are constants."""
    drawn: list[Any] = [x]
    rows = [_slots(x, MOST_SLOTS, drawn, words, grows=True)]
    if len(drawn) == 1:
        return ()
    rows += [_slots(one, MOST_SLOTS // 2, drawn, words, grows=False) for one in drawn[1:]]
    pairs = zip(drawn, rows, strict=True)
    return tuple(ContentBox(words.what(one), Address(id(one)), slots, left) for one, (slots, left) in pairs)


def _slots(
    x: Any, most: int, drawn: list[Any], words: Words, *, grows: bool
) -> tuple[tuple[ContentSlot, ...], int]:
    """The first places, and how many are left out. `grows`: objects that are not drawn yet become boxes."""
    pairs, count = _places(x, most, words)
    hidden = type(x) is tuple and count == 2 and len(pairs) == 2 and _is_secret_text(pairs[0][1])
    slots = (
        ContentSlot(key, MASKED, -1)
        if is_secret(key) or (at == 1 and hidden)
        else _slot(key, value, drawn, words, grows)
        for at, (key, value) in enumerate(pairs)
    )
    return tuple(slots), count - len(pairs)


def _is_secret_text(x: Any) -> bool:
    """Whether it names a secret: what stands beside it in a pair, `("token", "...")`, is hidden."""
    return type(x) is str and is_secret(x)


def _slot(key: str, value: Any, drawn: list[Any], words: Words, grows: bool) -> ContentSlot:
    if any(type(value) is kind for kind in _CONSTANTS):
        return ContentSlot(key, _text(value), -1)
    at = next((number for number, one in enumerate(drawn) if one is value), -1)
    if at < 0 and grows:
        drawn.append(value)
        at = len(drawn) - 1
    return ContentSlot(key, "" if at >= 0 else words.what(value), at)


def _text(value: Any) -> str:
    text = _native.preview(_native.Subject(value), ()) or type_name(type(value))
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"


def _places(x: Any, most: int, words: Words) -> tuple[list[tuple[str, Any]], int]:
    """(key or index in brackets, value) of the first places of an exact dict, list or tuple; their number."""
    if type(x) is dict:
        return [(f"[{words.key(key)}]", value) for key, value in islice(x.items(), most)], len(x)
    if type(x) is list or type(x) is tuple:
        return list(_numbered(x, most)), len(x)
    return [], 0


def _numbered(x: Any, most: int) -> Iterator[tuple[str, Any]]:
    if len(x) <= MOST_ASKED and len(referents((x,))) == len(x):  # empty slots cannot be read
        yield from ((f"[{at}]", value) for at, value in enumerate(x[:most]))
