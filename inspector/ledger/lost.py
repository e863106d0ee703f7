"""Lost objects, grouped by how they were lost: native/leaks/lost.c finds them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
import types
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from inspector import _native
from inspector.facts.account import AccountPart
from inspector.facts.heap import by_name
from inspector.facts.lost import CYCLES, Cause, Lost, LostObject
from inspector.ledger.suspects import shown
from inspector.objects.classes import HAVE_GC, full_name, type_bases, type_flags, type_namespace

_OWN_CODE: Final = str(Path(__file__).resolve().parents[1]) + "/"
_VALUES: Final = (str, bytes, int, float, complex)
_LEAST: Final = 4_096
"""Bytes of a value that are worth a row."""
_WORD: Final = 8
_ITEMS_AT: Final = 16
"""Offset of the pointer to an ndarray's bytes (numpy/ndarraytypes.h)."""
_TENSOR_AT: Final = 16
"""Offset of a torch.Tensor's pointer to its tensor in C++ (THPVariable)."""
_Way = tuple[str, Cause, str, str]
"""(type, cause, type of the holder, where in it)."""


def lost() -> Lost:
    """Find them; nothing is collected or changed."""
    begin = time.monotonic_ns()
    rows, more, garbage, searched, types, buffers = _native.lost(_native.ledger_rooms(), _OWN_CODE)
    groups: dict[_Way, list[_native.LostRow]] = defaultdict(list)
    for row in filter(_is_told, rows):
        groups[_way(row)].append(row)
    found = [_told(way, some) for way, some in groups.items()]
    del rows, groups
    found.sort(key=lambda one: (-one.kept_bytes, one.type_name))
    kept = tuple(AccountPart(name, size, count) for name, count, size in by_name(types))
    apart = tuple(AccountPart(name, size, count) for name, count, size in by_name(buffers))
    return Lost(tuple(found), more, garbage, searched, time.monotonic_ns() - begin, kept, apart)


def _is_told(row: _native.LostRow) -> bool:
    """A short text or a number that the collector knows nothing of may be an old one, in reused memory."""
    return bool(row[6]) or row[5] >= _LEAST or not _native.exactly(row[0].get(), *_VALUES) or bool(row[3])


def _told(way: _Way, some: list[_native.LostRow]) -> LostObject:
    return LostObject(
        type_name=way[0],
        shown=shown(some[0][0]),
        objects=len(some),
        cause=way[1],
        holder=way[2],
        where=way[3],
        references=sum(row[2] for row in some),
        certain=_is_owned(way) and all(row[6] for row in some),
        kept_objects=sum(row[4] for row in some),
        kept_bytes=sum(row[5] for row in some),
    )


def _is_owned(way: _Way) -> bool:
    """Whether the holder owns what it holds: an item, or a declared field. Others may borrow it."""
    _, cause, _, where = way
    return cause == "object array" or (cause in CYCLES and where.startswith("`"))


def _name(subject: _native.Subject) -> str:
    return _native.object_layout(subject)["type_name"]


def _way(row: _native.LostRow) -> _Way:
    subject, _, _, holders, *_ = row
    for holder, offset, link, is_cycle in sorted(holders, key=lambda one: not one[3]):
        if holder is not None:
            cause = _cause(holder, link) if is_cycle else "lost holder"
            if cause == "field not visited" and _is_its_tensor(subject, holder, link):
                return _name(subject), "count in C++", "", ""
            return _name(subject), cause, _name(holder), _where(subject, holder, offset, link, cause)
    if holders:
        return _name(subject), "lost C memory", "", f"byte {holders[0][1]} of a block"
    return _name(subject), "no holder", "", ""


def _cause(holder: _native.Subject, link: int) -> Cause:
    kind = type(holder.get())
    if link == _ITEMS_AT and any(full_name(base) == "numpy.ndarray" for base in type_bases(kind)):
        return "object array"
    return "field not visited" if type_flags(kind) & HAVE_GC else "type without tp_traverse"


def _is_its_tensor(subject: _native.Subject, holder: _native.Subject, link: int) -> bool:
    """Whether it is torch's, held by its own tensor in C++: that refers back while others count on it."""
    is_own = holder.address == subject.address and link == _TENSOR_AT
    names = map(full_name, type_bases(type(holder.get()))) if is_own else ()
    return "torch._C.TensorBase" in names


def _where(subject: _native.Subject, holder: _native.Subject, offset: int, link: int, cause: Cause) -> str:
    if cause == "object array":
        return f"item {offset // _WORD}"
    if link >= 0:
        return f"byte {offset} of the block at byte {link}"
    name = _member(subject, holder)
    return f"`{name}`, byte {offset}" if name else f"byte {offset}"


def _member(subject: _native.Subject, holder: _native.Subject) -> str:
    """The name of the field, where the type declares it as a member, which is read without its code."""
    x: Any = holder.get()
    wanted = subject.address
    for base in type_bases(type(x)):
        for name, one in type_namespace(base).items():
            if type(one) is types.MemberDescriptorType and id(_read(one, x)) == wanted:
                return str(name)
    return ""


def _read(member: types.MemberDescriptorType, x: Any) -> Any:
    try:
        return member.__get__(x)
    except AttributeError:  # NULL
        return None
