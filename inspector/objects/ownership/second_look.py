"""Find the holders of holders: they show that a dict is an instance's, a cell a variable, a list a global.

One search for all holders at once, and a second one if the first found only an intermediate holder: the tuple
of a function's cells, the dict of a cache.
"""

# SPDX-License-Identifier: MIT
import functools
import sys
import types
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from inspector import _native
from inspector.objects.ownership.layouts import layouts
from inspector.objects.ownership.naming import (
    Context,
    describe,
    dict_label,
    frame_of,
    frame_text,
    namespace_of,
)
from inspector.objects.ownership.rows import Row, entry, is_kind, key_text, plain_name, rows, type_name

HOLDERS_MAX = 24
HITS_MAX = 8192
LRU = type(functools.lru_cache(maxsize=1)(len))


def look(
    found: Sequence[Row], context: Context, own_prefix: str, leave_out: Sequence[tuple[int, int]]
) -> int:
    """Fill `context` with the names of the holders of `found`; return the nanoseconds spent."""
    wanted = _unnamed(found, context)
    if not wanted:
        return 0
    boxes = Counter(row.holder.address for row in found if row.holder is not None)
    first, took = _search(wanted, own_prefix, leave_out, boxes)
    between: list[_native.Subject] = []
    for row in first:
        if row.holder is not None and _leads_on(wanted[row.subject], row):
            between.append(row.holder)
    boxes = Counter(row.holder.address for row in (*found, *first) if row.holder is not None)
    second, more = _search(_unique(between), own_prefix, leave_out, boxes) if between else ([], 0)
    outer: dict[int, list[Row]] = {}
    for row in second:
        outer.setdefault(_unique(between)[row.subject].address, []).append(row)
    for row in sorted(first, key=_rank):
        _learn(wanted[row.subject], row, outer, context)
    return took + more


def _search(
    subjects: Sequence[_native.Subject],
    own_prefix: str,
    leave_out: Sequence[tuple[int, int]],
    boxes: Mapping[int, int],
) -> tuple[list[Row], int]:
    """The holders of these. `boxes`: address -> number of our Subjects that hold the object there.

    With them a search ends when all owners are found. Not for a dict: a thread's dict is recognised by a
    `_localdummy`, which only borrows it.
    """
    ends = all(type(subject.get()) is not dict for subject in subjects)
    found, did = _native.find_holders(
        tuple(subjects),
        leave_out,
        layouts(),
        own_prefix,
        HITS_MAX,
        namespaces=module_namespaces(),
        brief=True,
        boxes=tuple(boxes[subject.address] for subject in subjects) if ends else None,
    )
    return rows(found), did["scan_ns"] + did["verify_ns"]


def module_namespaces() -> tuple[dict[Any, Any], ...]:
    """The namespaces of all imported modules: their tables need no search."""
    modules = list(sys.modules.values())
    spaces = (namespace_of(module) for module in modules if is_kind(module, types.ModuleType))
    return tuple(space for space in spaces if type(space) is dict)


def _unique(subjects: Sequence[_native.Subject]) -> list[_native.Subject]:
    return list({subject.address: subject for subject in subjects}.values())[:HOLDERS_MAX]


def _unnamed(found: Sequence[Row], context: Context) -> list[_native.Subject]:
    """Holders whose name is not known yet; modules and classes name themselves."""
    wanted = []
    for row in found:
        if row.place != "object" or row.holder is None or row.slot in ("type", "local"):
            continue
        value = row.holder.get()
        named = type(value) is dict and dict_label(value, context)
        if not named and row.holder.address not in context.known and not is_kind(value, types.ModuleType):
            wanted.append(row.holder)
    return _unique(wanted)


def _leads_on(target: _native.Subject, row: Row) -> bool:
    """Whether a holder is only intermediate: a function's tuple of cells, the table of a cache."""
    assert row.holder is not None
    kind, outer = type(target.get()), type(row.holder.get())
    if kind is tuple:
        return outer is dict and row.slot == "key"
    return (kind is types.CellType and outer is tuple) or (
        outer is dict and type_name(target) == "_lru_list_elem"
    )


def _rank(row: Row) -> int:
    """Sort key: the best name is learned last: a global over a local over a part of something."""
    if row.place == "frame":
        return 2
    if row.place != "object" or row.holder is None:
        return 0
    return 3 if type(row.holder.get()) is dict and row.slot == "value" else 1


def _learn(target: _native.Subject, row: Row, outer: dict[int, list[Row]], context: Context) -> None:
    """Add the name that one row gives a holder: a variable, an entry, or a part of something."""
    if row.place == "frame" and row.slot == "local" and row.frame is not None:
        context.known[target.address] = f"local `{plain_name(row.key)}` of {frame_text(row.frame)}"
    if row.place != "object" or row.holder is None:
        return
    if not row.certain and type_name(row.holder) != "_localdummy":  # which borrows, and shows the owner
        return
    value = target.get()
    if type(value) is dict and _learn_dict(target, row, context):
        return
    if type(row.holder.get()) is LRU and type_name(target) == "_lru_list_elem":
        context.known[target.address] = cache_text(row.holder.get())
        return
    steps_on = type(value) is types.CellType or type_name(target) == "_lru_list_elem"
    if steps_on or (type(value) is tuple and row.slot == "key"):
        for step in outer.get(row.holder.address, ()):
            _learn_step(target, row, step, context)
        return
    if text := _part_text(row, context):
        context.known[target.address] = text


def _learn_dict(target: _native.Subject, row: Row, context: Context) -> bool:
    """The dict of an instance, a class, a thread's locals or a cache."""
    assert row.holder is not None
    holder = row.holder.get()
    text = type_name(row.holder)
    field = context.names_of(type(holder))[0].get(row.position, "") if row.slot == "field" else ""
    if row.slot == "dict" or field == "__dict__":
        hook = text.endswith("DisplayHook")
        context.kinds[target.address] = ("attribute", describe(row.holder, context))
        if hook:
            context.kinds[target.address] = ("history", "DisplayHook")
    elif is_kind(holder, type):
        context.kinds[target.address] = ("type", describe(row.holder, context))
    elif text in ("_localdummy", "_local") or (row.key is not None and type_name(row.key) == "_localdummy"):
        context.kinds[target.address] = ("thread-local", "threading.local")
    elif type(holder) is LRU:
        context.kinds[target.address] = ("cache", cache_text(holder))
    elif row.slot == "field" and row.position == _dict_offset(type(holder)):
        context.kinds[target.address] = ("attribute", describe(row.holder, context))
    elif is_kind(holder, types.FrameType):  # `f_locals`, made when a traceback was drawn
        context.kinds[target.address] = ("traceback local", frame_of(holder.f_code))
    elif field == "__globals__":
        context.kinds[target.address] = ("global", f"globals of {describe(row.holder, context)}")
    else:
        return False
    return True


def _dict_offset(kind: type) -> int:
    return int(type.__dict__["__dictoffset__"].__get__(kind))


def cache_text(wrapper: object) -> str:
    """The name of the cached function, read from the wrapper's own dict."""
    kept = object.__getattribute__(wrapper, "__dict__")
    function = entry(kept, "__wrapped__")
    name = function.__qualname__ if type(function) is types.FunctionType else ""
    return f"functools.lru_cache of {name}" if name else "functools.lru_cache"


def _learn_step(target: _native.Subject, row: Row, step: Row, context: Context) -> None:
    if step.place != "object" or step.holder is None:
        return
    holder = step.holder.get()
    if type(holder) is types.FunctionType:
        names = holder.__code__.co_freevars
        name = names[row.position] if row.position < len(names) else "?"
        context.known[target.address] = f"variable `{name}` of function {holder.__qualname__}"
    elif type(holder) is LRU and type(target.get()) is tuple:
        context.kinds[target.address] = ("cache key", cache_text(holder))
    elif type(holder) is LRU:
        context.known[target.address] = cache_text(holder)


def _part_text(row: Row, context: Context) -> str:
    """A holder as a part of its own holder: "global `rows` of app", "attribute .rows of <Table>"."""
    assert row.holder is not None
    value = row.holder.get()
    name = plain_name(row.key)
    if type(value) is dict and row.slot == "value":
        label = dict_label(value, context)
        shown = name or key_text(row.key)
        return f"global `{shown}` of {label}" if label else f"value of {key_text(row.key)} in a dict"
    if row.slot == "attribute":
        return f"attribute .{name} of <{type_name(row.holder)}>"
    if row.slot == "field" and (field := context.names_of(type(value))[0].get(row.position, "")):
        return f"attribute .{field} of {describe(row.holder, context)}"
    if row.slot == "item":
        return f"item [{row.position}] of a {type_name(row.holder)}"
    return ""
