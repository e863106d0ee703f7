"""One object of another process as a fact: type, refcount, bounded value, contents."""

# SPDX-License-Identifier: MIT
from itertools import islice
from typing import Final

from inspector.debugger.attach import object_layout as at
from inspector.debugger.attach.module_globals import Global, of_global
from inspector.debugger.attach.ndarrays import array, described, owned, whole
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.path import followed, root
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory import proc
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.remote import NOT_READ, Entry, Remote, RemoteInside
from inspector.facts.unknown import Address, Immortal, ImmortalType, Unknown

ENTRIES: Final = 40
ATTRIBUTES_MAX: Final = 32_000
LOOKED_AT: Final = 512
"""Items whose bytes are added up, while the process stands still."""
_SIZED: Final = ("bytes", "bytearray")


def look(objects: Objects, found: Runtime, expression: str) -> Remote:
    """The object at a path. Raises InspectorError: not-a-path, no-such-path."""
    begun = root(objects, found.modules, expression)
    address = followed(objects, begun, expression)
    pid = objects.memory.pid
    entries, more = _entries(objects, address)
    return Remote(
        pid,
        proc.program(pid),
        found.version,
        expression,
        Address(address),
        references(objects, address),
        objects.values.describe(address),
        array(objects, address),
        entries,
        more,
        Unknown("not measured"),
        *(of_global(objects, found.modules, begun.module, begun.name) if begun.name else Global()),
        owned(objects, address, _names(objects, found)),
        _inside(objects, address),
    )


def _names(objects: Objects, found: Runtime) -> dict[int, str]:
    """Address -> the global of __main__ that it is."""
    main = objects.named(found.modules, "__main__")
    scope = objects.memory.word(main + at.MODULE_DICT) if main else 0
    return {value: name for name, value in objects.text_items(scope)} if scope else {}


def _inside(objects: Objects, address: int) -> RemoteInside | Unknown:
    try:
        rows, _ = contents(objects, address, LOOKED_AT)
        blocks = dict(filter(None, (_block(objects, value) for _, value in rows)))
    except Unreadable:
        return NOT_READ
    return RemoteInside(len(rows), len(blocks), sum(blocks.values()))


def _block(objects: Objects, address: int) -> tuple[int, int] | None:
    """(first byte, bytes) of the memory that an array, bytes or a bytearray keeps."""
    if objects.type_name(address) in _SIZED:
        return address, objects.memory.word(address + 16)
    return whole(objects, address)


def references(objects: Objects, address: int) -> int | ImmortalType:
    """The refcount of an object. Raises Unreadable."""
    word = objects.memory.word(address)
    if objects.where.minor == 11:
        return word
    low = word & 0xFFFFFFFF
    return Immortal if low >> 31 else low


def _entries(objects: Objects, address: int) -> tuple[tuple[Entry, ...], int]:
    """Up to ENTRIES contents of a dict, sequence, instance or module, and how many more there are."""
    try:
        rows, count = contents(objects, address, ENTRIES)
    except Unreadable:
        return (), 0
    return tuple(Entry(key, described(objects, value)) for key, value in rows), count - len(rows)


def contents(objects: Objects, address: int, limit: int) -> tuple[list[tuple[str, int]], int]:
    """(name, address) of an object's items or attributes up to a limit, and the number of all."""
    if objects.is_a(address, at.DICT):
        return objects.some_items(address, limit), objects.memory.word(address + at.DICT_USED)
    if objects.is_a(address, at.LIST) or objects.is_a(address, at.TUPLE):
        start, count = objects.sequence(address)
        word = objects.memory.word
        return [(f"[{i}]", word(start + 8 * i)) for i in range(min(count, limit))], count
    found = list(islice(objects.attributes(address), ATTRIBUTES_MAX))
    named = [(f".{name}", value) for name, value, _ in found if not name.startswith("__")]
    return named[:limit], len(named)
