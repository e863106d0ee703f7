"""What the values of a compiled function lose: at its door, and in nodes that cast or count with integers.

A node's arithmetic is done again by NumPy, and with Python's ints, on some of its elements. A loss is told
only where the node's own output is what NumPy got.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import product
from typing import Any, Final, NamedTuple

from inspector import _native
from inspector.adapters import columns
from inspector.adapters.base import type_name
from inspector.facts.conversion import Loss, Site
from inspector.facts.unknown import Unknown

MOST: Final = 1 << 12
"""Elements that are compared; of more, evenly spread ones."""
MOST_ITEMS: Final = 1 << 16
_EXACT: Final[dict[str, Callable[..., Any]]] = {
    "add": operator.add, "multiply": operator.mul, "subtract": operator.sub, "negative": operator.neg,
    "square": lambda x: x * x,
}  # fmt: skip
"""NumPy's functions that may count past an integer type, with Python's ints."""
_NOT_ASKED: Final = Unknown("not asked")


class Lost(NamedTuple):
    """Elements that changed: of so many, and what changed them."""

    by: str
    found: columns.Cast
    of: int


def at_door(name: str, given: Any, kept: Any) -> Iterator[Lost]:
    """What an input lost as it became the array that the nodes are given."""
    before, after = _array(given), _array(kept)
    if before is None or after is None or before.shape != after.shape or not _are_numbers(before, after):
        return
    found = columns.cast(before.reshape(-1), after.reshape(-1))
    if found is not None:
        yield Lost(f"{name} as {after.dtype}", found, after.size)


def _are_numbers(*some: Any) -> bool:
    return all(one.dtype.kind in "iuf" and one.size for one in some)


def _array(x: Any) -> Any:
    """NumPy's own, or of Python's numbers and lists of them; None for anything else."""
    numpy = sys.modules["numpy"]
    if _native.exactly(x, numpy.ndarray) or isinstance(x, numpy.generic):
        return numpy.asarray(x)
    return numpy.array(x) if all(_are_plain(x)) else None


def _are_plain(x: Any) -> Iterator[bool]:
    if _native.exactly(x, list, tuple):
        yield len(x) <= MOST_ITEMS
        for one in x:
            yield from _are_plain(one)
    else:
        yield _native.exactly(x, int, float)


class Losing:
    """A node that is about to run; its inputs may be written over."""

    def __init__(self, node: Any, given: list[Any]) -> None:
        self._shape: tuple[int, ...] = ()
        self._step = 1
        self._made: Any = None
        self._lost: list[tuple[str, Any, Any]] = []
        program = program_of(node)
        if program.steps and all(map(_is_array, given)):
            numpy = sys.modules["numpy"]
            try:
                with numpy.errstate(all="ignore"):
                    self._evaluate(program, given)
            except (ValueError, TypeError, AttributeError, OverflowError):
                self._lost = []

    def found(self, out: Any) -> Iterator[Lost]:
        """What was lost on the way to an output."""
        if not self._lost or not _is_array(out) or out.shape != self._shape:
            return
        numpy, made = sys.modules["numpy"], self._made
        some = _sample(out, self._shape, self._step)
        if some.dtype != made.dtype or not numpy.allclose(some, made, rtol=1e-6, equal_nan=True):
            return
        for by, before, after in self._lost:
            if (cast := _changed(before, after, self._step)) is not None:
                yield Lost(by, cast, out.size)

    def _evaluate(self, program: Program, given: list[Any]) -> None:
        """Each step by NumPy; of those that lose, the elements as they should be beside those that are."""
        numpy = sys.modules["numpy"]
        self._shape = numpy.broadcast_shapes(*(one.shape for one in given))
        self._step = max(-(-reduce(operator.mul, self._shape, 1) // MOST), 1)
        values = [_sample(one, self._shape, self._step) for one in given]
        if _fits(program, values):
            return
        for step in program.steps:
            taken = [values[one] if isinstance(one, int) else one for one in step.takes]
            values.append(_run(step, taken))
            exact = taken[0] if step.is_cast else _exactly(step, taken, values[-1].dtype)
            if exact is not None:
                self._lost.append((step.name, exact, values[-1]))
        self._made = values[program.out]


class Step(NamedTuple):
    """One operation on elements."""

    name: str
    function: str
    """NumPy's name of it; "" where there is none."""
    takes: tuple[Any, ...]
    """Numbers of inputs and of earlier steps, or a constant as an array."""
    kind: str
    """The element type of what it makes."""

    @property
    def is_cast(self) -> bool:
        """Whether it only makes another type of a number."""
        return self.name.startswith("Cast{")


class Program(NamedTuple):
    """What an element by element op does, in order; no steps where nothing can be lost, or told."""

    steps: tuple[Step, ...] = ()
    out: int = -1


_programs: Final[dict[tuple[int, int, str], tuple[Any, Program]]] = {}
"""By the address of an op's scalar op, how many it takes, and what it makes."""


def program_of(node: Any) -> Program:
    """Of a node of pytensor's."""
    scalar = getattr(node.op, "scalar_op", None)
    if scalar is None or not hasattr(node.op, "inplace_pattern"):
        return Program()
    kind = str(node.outputs[0].type.dtype)
    key = id(scalar), len(node.inputs), kind
    known = _programs.get(key)
    if known is None or known[0]() is not scalar:
        if len(_programs) > MOST:
            _programs.clear()
        _programs[key] = known = (weakref.ref(scalar), _read(scalar, *key[1:]))
    return known[1]


def _read(scalar: Any, takes: int, kind: str) -> Program:
    graph = getattr(scalar, "fgraph", None)
    if graph is None:
        return _worth((_step(scalar, tuple(range(takes)), kind),), -1)
    places = {id(one): at for at, one in enumerate(graph.inputs)}
    steps = []
    for node in graph.toposort():
        given = (places.get(id(one), getattr(one, "data", None)) for one in node.inputs)
        steps.append(_step(node.op, tuple(given), node.outputs[0].type.dtype))
        places[id(node.outputs[0])] = len(places)
    only = len(graph.outputs) == 1
    return _worth(tuple(steps), places.get(id(graph.outputs[0]), -1)) if only else Program()


def _worth(steps: tuple[Step, ...], out: int) -> Program:
    may = any(one.is_cast or (one.function in _EXACT and one.kind[:1] in ("i", "u")) for one in steps)
    return Program(steps, out) if may else Program()


def _step(scalar: Any, takes: tuple[Any, ...], kind: str) -> Step:
    spec, numpy = getattr(scalar, "nfunc_spec", None), sys.modules["numpy"]
    held = tuple(one if type(one) is int else numpy.asarray(one) for one in takes)
    name = type_name(type(scalar))
    return Step(f"Cast{{{kind}}}" if name == "Cast" else name, spec[0] if spec else "", held, kind)


def _sample(x: Any, shape: tuple[int, ...], step: int) -> Any:
    """A copy of every so many elements, as if the array had that shape."""
    if x.shape == shape and x.flags.c_contiguous:
        return x.reshape(-1)[::step].copy()
    numpy = sys.modules["numpy"]
    size = reduce(operator.mul, shape, 1)
    places = numpy.unravel_index(numpy.arange(0, size, step), shape) if shape else (None,)
    return numpy.broadcast_to(x, shape)[places]


def _fits(program: Program, given: list[Any]) -> bool:
    """Whether all is arithmetic of integers, and no step may leave its type."""
    if not all(one.dtype.kind in "iu" and one.size for one in given):
        return False
    ends = list(map(_ends, given))
    for step in program.steps:
        does, taken = _EXACT.get(step.function), [ends[x] if type(x) is int else _ends(x) for x in step.takes]
        if does is None or step.kind[:1] not in "iu":
            return False
        ends.append(_reached(does, taken, step.function in ("add", "multiply")))
        limits = sys.modules["numpy"].iinfo(step.kind)
        if ends[-1][0] < limits.min or ends[-1][1] > limits.max:
            return False
    return True


def _ends(x: Any) -> tuple[int, int]:
    return int(x.min()), int(x.max())


def _reached(does: Callable[..., Any], ends: list[tuple[int, int]], several: bool) -> tuple[int, int]:
    """The smallest and largest that an operation makes of numbers between these ends."""
    while several and len(ends) > 1:
        found = [does(*some) for some in product(*ends[:2])]
        ends[:2] = [(min(found), max(found))]
    found = list(ends[0]) if several else [does(*some) for some in product(*ends)]
    return min(found), max(found)


def _run(step: Step, taken: list[Any]) -> Any:
    """What NumPy makes of it; raises AttributeError where NumPy has no such function."""
    numpy = sys.modules["numpy"]
    if step.is_cast:
        return taken[0].astype(step.kind)
    function = getattr(numpy, step.function or "?")
    if step.function in ("add", "multiply"):
        return reduce(function, (one.astype(step.kind) for one in taken))
    return numpy.asarray(function(*taken)).astype(step.kind)


def _exactly(step: Step, taken: list[Any], kind: Any) -> Any:
    """With Python's ints; None of floats, and where everything fits."""
    does, several = _EXACT.get(step.function), step.function in ("add", "multiply")
    if does is None or kind.kind not in "iu" or not all(one.dtype.kind in "iu" and one.size for one in taken):
        return None
    least, most = _reached(does, list(map(_ends, taken)), several)
    limits = sys.modules["numpy"].iinfo(kind)
    if least >= limits.min and most <= limits.max:
        return None
    many = [one.astype(object) for one in taken]
    return reduce(does, many) if several else does(*many)


def _changed(before: Any, after: Any, step: int) -> columns.Cast | None:
    if before.dtype != object:
        found = columns.cast(before, after) if _are_numbers(before, after) else None
        return found and found._replace(told=(*found.told[:2], found.told[2] * step, found.told[3]))
    lost = (before != after.astype(object)).nonzero()[0]
    if not len(lost):
        return None
    at = int(lost[0])
    told = (str(before[at]), str(after[at]), at * step, len(lost))
    return columns.Cast("wrapped", told, len(after), 0.0)


def _is_array(x: Any) -> bool:
    return _native.exactly(x, sys.modules["numpy"].ndarray) and x.dtype.kind in "iufb"


def told(found: Iterable[Lost], file: str, line: int) -> Iterator[Loss]:
    """At the line that called the function."""
    for one in found:
        sure: Any = "certain" if one.found.compared == one.of else "by sample"
        site = Site(file, line, _NOT_ASKED, _NOT_ASKED, one.by.lower())
        yield Loss(
            one.found.rule, one.by, *one.found.told, one.found.compared, one.of, 1, sure, site,
            largest_error=one.found.error,
        )  # fmt: skip
