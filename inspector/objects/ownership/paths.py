"""The path that a user could type to what an owner holds, `S.cache[3]`, and the code that lets it go."""

# SPDX-License-Identifier: MIT
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from inspector import _native
from inspector.facts.refs import LAST_RESULT, Owner
from inspector.objects.ownership.quick import OWN_CODE
from inspector.objects.ownership.rows import Row, type_name

Step = tuple[str, str, str, int, int, str | int | tuple[str]]
"""A step of `_native.chain`: kind, holder's type, its name, its length, its address, key."""
MOST_NS: Final = 1_000_000_000
"""Time for all paths of one object; each is a walk of the heap."""
_HIDDEN: Final = ("DisplayHook", "IPython's hidden names")
"""Namespaces that a user does not type."""
_LITERAL: Final = re.compile(r"\[(-?\d+|b?'[^'…]*'|b?\"[^\"…]*\")\]")
_WHOLE: Final = ("tuple", "numpy.ndarray", "ndarray")
"""Containers of which no item is deleted by `del`."""


def typed(steps: Sequence[Step], names: Mapping[int, str]) -> str:
    """The steps of `_native.chain` as a user would type them; "" where that cannot be."""
    return "".join(_texts(steps, names))


def with_paths(owners: Sequence[Owner], found: Sequence[Row], names: Mapping[int, str]) -> tuple[Owner, ...]:
    """The owners with path and do, in one order. `names`: id of a dict -> the user's name for it."""
    holders = {row.holder.address: row.holder for row in found if row.holder is not None}
    stop_ns = time.perf_counter_ns() + MOST_NS
    told = (_with_path(one, holders.get(one.address), names, stop_ns) for one in owners)
    return tuple(sorted(told, key=_order))


def _order(one: Owner) -> tuple[bool, bool, int, str]:
    """Certain ones first, then those that can be typed, shortest first: not by where they lie in memory."""
    return not one.certain, not one.path, len(one.path), one.path


def _with_path(one: Owner, holder: _native.Subject | None, names: Mapping[int, str], stop_ns: int) -> Owner:
    if not one.certain:
        return one
    if one.kind == "history" and one.holder == LAST_RESULT:  # until the running cell ends
        return one
    if one.kind == "history":
        path = f"{one.holder}{one.key}" if one.key[:1] == "[" else one.key
        kept = one.holder == "IPython's hidden names" and one.key in ("_", "__", "___")
        do = f"get_ipython().push({{'{one.key}': 0}}, False)" if kept else "%reset out"
        return replace(one, path=path, do=do)
    if one.kind in ("global", "local"):
        own = one.kind == "local" or one.address in names or one.holder in ("__main__", "builtins")
        outer = "" if own or not one.holder else f"{one.holder}."
        path = f"{outer}{one.key}"
        return replace(one, path=path, do=f"del {path}") if _is_typed(one.key) else one
    if holder is None or time.perf_counter_ns() > stop_ns:
        return one
    steps, *_ = _native.chain(holder, tuple(names), OWN_CODE)
    texts = _texts(steps or (), names)
    if not texts:
        return one
    path, do = _place(one, texts, _deletable(steps or (), texts), type_name(holder))
    do = "%reset out" if texts[0].startswith("Out[") else do
    return replace(one, path=path, do=do)


def _place(one: Owner, texts: list[str], deletable: str, kind: str) -> tuple[str, str]:
    """(path, do) of an owner whose holder, of type `kind`, has the path `texts`."""
    holder = "".join(texts)
    if one.kind == "cache":
        return holder, f"{holder}.cache_clear()"
    if one.kind == "generator local":
        return holder, f"{holder}.close()"
    if one.kind == "cell":
        return holder if len(texts) == 1 else f"{holder}.cell_contents", f"del {texts[0]}"
    if one.kind == "base" and texts[-1] == ".base":  # NumPy's memoryview of it, which cannot be released
        return holder.removesuffix(".base"), f"del {holder.removesuffix('.base')}"
    if one.kind == "base" and kind == "managedbuffer":
        return holder, f"{holder}.release()"
    if one.kind in ("attribute", "type"):  # an instance's dict or a class's: its keys are typed as attributes
        holder = holder.removesuffix(".__dict__")
    if one.kind not in ("item", "attribute", "slot", "type"):
        return holder, f"del {deletable}" if one.kind in ("base", "bound method", "callback") else ""
    if not _is_typed(one.key):
        return holder, f"del {deletable}" if " more" in one.key else ""
    return f"{holder}{one.key}", f"del {deletable}" if kind in _WHOLE else f"del {holder}{one.key}"


def _deletable(steps: Sequence[Step], texts: list[str]) -> str:
    """The longest part of a path that `del` takes: no item of a tuple or an array."""
    ends = (n for n in range(len(texts), 1, -1) if steps[n - 1][1] not in _WHOLE)
    return "".join(texts[: next(ends, 1)])


def _is_typed(key: str) -> bool:
    """Whether a key is shown as one would type it: a name, an attribute, an index, a literal."""
    return key.removeprefix(".").isidentifier() or bool(_LITERAL.fullmatch(key))


def _texts(steps: Sequence[Step], names: Mapping[int, str]) -> list[str]:
    """A path from its root, a text a step; [] if a step cannot be typed."""
    texts = every_text(steps, names)
    typed = [text for text in texts if text is not None]
    return typed if len(typed) == len(texts) else []


def every_text(steps: Sequence[Step], names: Mapping[int, str]) -> list[str | None]:
    """A text a step, as far as one is needed; None for a step that cannot be typed."""
    texts = [_root(steps[0], names), *map(step_text, steps[1:])] if steps else []
    if len(steps) > 1 and (steps[0][0], steps[1][0]) == ("local", "cell"):  # a variable that a closure uses
        texts[1] = ""
    return list(takewhile(lambda text: text != END, texts))


END: Final = "end"
"""A step after which nothing is typed: what follows is a part of what was reached."""


def _root(step: Step, names: Mapping[int, str]) -> str | None:
    kind, holder_type, name, _, address, key = step
    label = names.get(address, "")
    if label == "Out":
        return f"Out[{key!r}]"
    if not isinstance(key, str) or not key.isidentifier() or label in _HIDDEN:
        return None
    if kind == "local" or label or name in ("__main__", "builtins"):
        return key
    is_module = kind == "global" and holder_type == "module"
    return f"{name}.{key}" if is_module else key if kind == "global" else None


def step_text(step: Step) -> str | None:
    """A further step; None where it cannot be typed, END where nothing follows."""
    kind, holder_type, *_, key = step
    if kind == "cache" or (holder_type == "memoryview" and not key):
        return END
    if kind == "cell":
        return ".cell_contents"
    if kind in ("attribute", "slot", "base"):
        return f".{key}" if isinstance(key, str) and key.isidentifier() else None
    if kind == "item" and not isinstance(key, tuple) and key != "":
        return f"[{key!r}]" if not isinstance(key, str) or "…" not in key else None
    return None
