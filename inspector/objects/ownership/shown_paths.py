"""The path from a root to an object as it is shown: typed as far as that can be, the rest in words."""

# SPDX-License-Identifier: MIT
import contextvars
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from inspector import _native
from inspector.objects.ownership.paths import Step, every_text, step_text, typed
from inspector.objects.ownership.quick import OWN_CODE

_WHOLE: Final = ("pandas", "xarray", "scipy", "awkward", "dask")
"""Libraries of whose objects the hidden fields are no place that a user knows: `df`, not `df._mgr`."""
_FRAMES: Final = {"generator": "gi_frame", "coroutine": "cr_frame", "async_generator": "ag_frame"}
_LOCAL: Final = "_thread._local"
_NOTHING: Final = "\0"
"""The text of a step that is not seen."""
_UNWRITTEN: Final = "[…]"
"""A key that no one types: a weak reference."""


def path_of(one: _native.Subject, names: Mapping[int, str]) -> str:
    """A shortest path from a root as a user would type it, else its ends; "" where no root reaches it."""
    steps, *_ = _native.chain(one, tuple(names), OWN_CODE)
    if not steps:
        return ""
    return typed(steps, names) or _of_variable(steps, one.address) or _shown(_to_whole(steps), names)


def _to_whole(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps as far as the first object of a library that hides what it consists of."""
    hidden = (n for n, step in enumerate(steps) if n and _is_hidden(step))
    return steps[: next(hidden, len(steps))]


def _is_hidden(step: Step) -> bool:
    kind, holder, *_, key = step
    plain = isinstance(key, str) and key != "" and key[0] != "_"
    return kind in ("attribute", "slot") and not plain and holder.partition(".")[0] in _WHOLE


def _of_variable(steps: Sequence[Step], address: int) -> str:
    """What a ContextVar holds in the current context: its name, for the variable itself may have none."""
    after = next((n for n, step in enumerate(steps) if n and not step[1].startswith("hamt")), len(steps))
    if len(steps) < 2 or not steps[1][1].startswith("hamt"):
        return ""
    held = steps[after][4] if after < len(steps) else address
    variables = (one.name for one, value in contextvars.copy_context().items() if id(value) == held)
    rest = "".join(takewhile(bool, (step_text(step) or "" for step in steps[after:])))
    return next((f"ContextVar {name}{rest and ' → '}{rest}" for name in variables), "")


def _shown(steps: Sequence[Step], names: Mapping[int, str]) -> str:
    texts = every_text(steps, names)
    texts = texts[:1] + [_special(steps, n) or texts[n] for n in range(1, len(texts))]
    known = list(takewhile(lambda text: text is not None, texts))
    if not known:
        return _ends(steps)
    rest = steps[len(known) : len(texts)]
    between = " → … → " if len(rest) > 1 else " → "
    where = " in a thread" if any(step[1] == _LOCAL for step in steps) else ""
    path = "".join(filter(None, known)).replace(_NOTHING, "")
    return f"{path}{between}{_last(rest[-1])}" if rest else f"{path}{where}"


def _special(steps: Sequence[Step], at: int) -> str | None:
    """The text of a step that depends on those before it, or is not typed as it is shown."""
    kind, holder, *_, key = steps[at]
    if _LOCAL in (holder, steps[at - 1][1]):  # a dict, of a dict for each thread
        return _NOTHING
    if kind == "item" and at > 1 and steps[at - 2][1] == _LOCAL and isinstance(key, str):
        return f".{key}"
    if kind == "generator local" and holder in _FRAMES:
        return f".{_FRAMES[holder]}.f_locals[{key!r}]"
    return _UNWRITTEN if kind == "item" and isinstance(key, tuple) else None


def _ends(steps: Sequence[Step]) -> str:
    """A path of which not even the root can be typed."""
    first = steps[0]
    root = f"{first[2]}.{first[5]}" if first[2] and isinstance(first[5], str) else first[2] or first[1]
    return root if len(steps) == 1 else f"{root} → {'… → ' * (len(steps) > 2)}{_last(steps[-1])}"


def _last(step: Step) -> str:
    """What holds it, at the end of a path: "huge of f", "default of ContextVar"."""
    kind, holder, name, _, _, key = step
    if holder.endswith(".ContextVar"):
        return "its default"
    what = key if isinstance(key, (str, int)) and key != "" else "a field" if kind == "slot" else kind
    return f"{what} of {name or holder}"
