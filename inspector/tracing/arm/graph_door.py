"""What the inputs, outputs and shared variables of a compiled function cost at the door of one call."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from typing import Any

from inspector.facts.nodes import Door
from inspector.tracing.arm.graph_losses import Lost, at_door
from inspector.tracing.arm.graph_nodes import Watched, described, shares, start


class Doors:
    """What was passed, and where the shared variables were before."""

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.f, self.passed = f, _passed(f, args, kwargs)
        self.shared = [(one, start(_value(one))) for one in _shared(f)]

    def lost(self, watched: Watched) -> Iterator[Lost]:
        """What the values that were passed lost on the way in."""
        for (name, x), kept in zip(self.passed, watched.provided, strict=False):
            yield from at_door(name, x, kept)

    def after(self, result: Any, watched: Watched) -> Iterator[Door]:
        """One row a thing, after the call."""
        kept = watched.provided
        for at, (name, x) in enumerate(self.passed):
            yield _came_in(name, x, kept[at] if at < len(kept) else None, bool(kept))
        for one, before in self.shared:
            now = _value(one)
            if start(now) != before:
                yield Door("shared", _name(one), described(now), "updated: new memory", 0, "")
            elif one in _updated(self.f):
                yield Door("shared", _name(one), described(now), "updated in place", 0, "")
        yield from self._out(result)

    def _out(self, result: Any) -> Iterator[Door]:
        results = list(result) if isinstance(result, list) else [result]
        inputs = [(name, x) for name, x in self.passed]
        for at, x in enumerate(results):
            other = next((name for name, given in inputs if shares(given, x)), "")
            how = f"shows {other}'s memory" if other else "handed over"
            copy = self._is_copied(at)
            do = self._instead(at) if copy else ""
            yield Door("out", f"output {at}", described(x), "copied by a DeepCopyOp" if copy else how, 0, do)

    def _is_copied(self, at: int) -> bool:
        outputs = self.f.maker.fgraph.outputs
        owner = outputs[at].owner if at < len(outputs) else None
        return owner is not None and type(owner.op).__name__ == "DeepCopyOp"

    def _instead(self, at: int) -> str:
        """What leaves the copy of an output out; "" where nothing is known to."""
        variable, inputs = self.f.maker.fgraph.outputs[at].owner.inputs[0], self.f.maker.fgraph.inputs
        while variable.owner is not None:
            views = (getattr(variable.owner.op, "view_map", None) or {}).get(0, ())
            if not views:
                return f"output {at}: Out(..., borrow=True) hands it over without a copy"
            variable = variable.owner.inputs[views[0]]
        if variable not in inputs:
            return ""
        spec = self.f.maker.inputs[inputs.index(variable)]
        name = variable.name or "the input"
        what = f"Out(..., borrow=True) makes it a view of {name}"
        return (
            f"output {at}: {what}" if _is_shared(spec) else f"output {at}: In({name}, borrow=True) and {what}"
        )


def _is_shared(spec: Any) -> bool:
    """Whether an input of the graph is a shared variable."""
    return hasattr(spec.variable, "get_value") or bool(getattr(spec, "implicit", False))


def _came_in(name: str, given: Any, kept: Any, watched: bool) -> Door:
    what = described(given)
    flags = getattr(given, "flags", None)
    if flags is not None and getattr(given, "ndim", 0) > 1 and flags.f_contiguous and not flags.c_contiguous:
        what += ", F order"
    if not watched:
        return Door("in", name, what, "not watched", 0, "")
    if given is kept or shares(given, kept):
        return Door("in", name, what, "borrowed, no copy", 0, "")
    size = int(getattr(kept, "nbytes", 0))
    do = f"pass a NumPy array of {kept.dtype}" if size and hasattr(kept, "dtype") else ""
    return Door("in", name, what, f"converted to {described(kept)}", size, do)


def _passed(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
    inputs = list(f.maker.fgraph.inputs)
    named = [(inputs[at].name or f"input {at}", x) for at, x in enumerate(args) if at < len(inputs)]
    return [*named, *kwargs.items()]


def _shared(f: Any) -> list[Any]:
    """Shared variables of the function."""
    found = f.get_shared() if hasattr(f, "get_shared") else ()
    return list(found)


def _updated(f: Any) -> list[Any]:
    return [one.variable for one in f.maker.inputs if getattr(one, "update", None) is not None]


def _value(shared: Any) -> Any:
    return shared.container.storage[0]


def _name(shared: Any) -> str:
    return shared.name or "a shared variable"
