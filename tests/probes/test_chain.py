"""The shortest path from a root: as long as a brute-force walk says, each step named right."""

# SPDX-License-Identifier: MIT
import functools
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import programs
import pytest
import specimens
from graphs import EXAMPLES, Node, Plan, build, plans, references
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector._native import Subject
from inspector.facts.chain import Chain
from inspector.objects.probes.chain import chain

pytestmark = pytest.mark.core

HELD: list[Any] = []
"""The only root of this file's objects."""


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    HELD.clear()
    yield
    HELD.clear()


def look(make: Callable[[], Any], names: dict[int, str] | None = None) -> Chain:
    """The chain to the object `make` gives; nobody here holds it meanwhile."""
    return chain(Subject(make()), names or {})


def steps(fact: Chain) -> list[tuple[str, str, str]]:
    return [(owner.kind, owner.holder, owner.key) for owner in fact]


def plant(plan: Plan) -> Subject:
    outside, x = build(plan)
    HELD.extend(outside)
    return Subject(x)


def distance(x: Any) -> int:
    """References from a module's namespace to x, by brute force; 0 where no path leads there."""
    layer, seen = [HELD], {id(HELD)}
    for length in range(1, 10_000):
        if any(holder is x for holder in layer):
            return length
        layer = [r for holder in layer for r in _held_by(holder) if id(r) not in seen]
        seen |= {id(r) for r in layer}
        if not layer:
            break
    return 0


def _held_by(holder: Any) -> list[Any]:
    return list(vars(holder).values()) if type(holder) is Node else list(references(holder))


@pytest.mark.timeout(600)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans())
def test_as_short_as_a_brute_force_walk(plan: Plan) -> None:
    HELD.clear()
    subject = plant(plan)
    fact = chain(subject, {})
    assert len(fact) == distance(subject.get())
    assert fact.found == bool(fact.owners)
    if fact.found:
        assert steps(fact)[0] == ("global", __name__, "HELD")
        assert len(chain(subject, {})) == len(fact)  # the brute force has given each Node a __dict__


class Bus:
    shared: list[Any]

    def __init__(self) -> None:
        self.callbacks: dict[str, list[Any]] = {}


class Slotted:
    __slots__ = ("kept",)


@pytest.mark.quick
def test_items_and_attributes_are_named() -> None:
    bus = Bus()
    bus.callbacks["price"] = [object(), object()]
    HELD.append(bus)
    del bus
    assert steps(look(lambda: HELD[0].callbacks["price"][1])) == [
        ("global", __name__, "HELD"),
        ("item", "list (1 item)", "[0]"),
        ("attribute", f"{__name__}.Bus", ".callbacks"),
        ("item", "dict (1 item)", "['price']"),
        ("item", "list (2 items)", "[1]"),
    ]
    assert vars(HELD[0])  # and the same once the instance has a dict
    assert steps(look(lambda: HELD[0].callbacks))[2:] == [("attribute", f"{__name__}.Bus", ".callbacks")]


@pytest.mark.parametrize("base", [object, int, str, bytes, tuple, list, dict, set, Exception])
def test_attributes_of_a_subclass_are_one_step(base: type) -> None:
    HELD.append(type("Sub", (base,), {})())
    HELD[0].mine = [6.5]
    ((kind, holder, key),) = steps(look(lambda: HELD[0].mine))[2:]
    assert (kind, holder.partition(" ")[0], key) == ("attribute", f"{__name__}.Sub", ".mine")


def test_slots_and_class_attributes_are_named() -> None:
    slotted = Slotted()
    slotted.kept = [1.5]
    HELD.append(slotted)
    Bus.shared = [2.5]
    assert steps(look(lambda: HELD[0].kept))[-1] == ("slot", f"{__name__}.Slotted", ".kept")
    assert steps(look(lambda: Bus.shared))[-1] == ("attribute", f"type {__name__}.Bus", ".shared")
    del Bus.shared, slotted


@pytest.mark.quick
def test_a_local_variable_of_a_caller_is_a_root() -> None:
    local = [3.5]
    assert steps(look(lambda: sys._getframe(2).f_locals["local"]))[0][:2] == (
        "local",
        "test_a_local_variable_of_a_caller_is_a_root (test_chain.py)",
    )
    assert local


def test_a_closure_is_a_cell() -> None:
    def make() -> Callable[[], Any]:
        inner = [4.5]
        return lambda: inner

    HELD.append(make())
    found = steps(look(lambda: HELD[0].__closure__[0].cell_contents))
    assert found[-1][0] == "cell" and found[-1][1] == "cell"
    assert found[-3][:2] == ("attribute", f"function {make.__qualname__}.<locals>.<lambda>")


def test_generators_caches_and_methods_are_told() -> None:
    def count() -> Iterator[int]:
        state = {"n": [5.5]}
        yield 1
        yield len(state)

    generator = count()
    next(generator)

    @functools.lru_cache
    def cached(n: int) -> list[int]:
        return [n]

    cached(7)
    HELD.extend([generator, cached, [].append])
    del generator
    wanted = HELD[0].gi_frame.f_locals["state"]["n"]
    subject = Subject(wanted)
    del wanted
    found = steps(chain(subject, {}))
    assert found[-2] == ("generator local", f"generator {count.__qualname__}", "state")
    assert steps(look(lambda: HELD[2].__self__))[-1][0] == "bound method"
    del cached
    assert steps(look(lambda: HELD[1](7)))[-1][0] == "cache"


def test_a_module_and_its_namespace_have_a_path() -> None:
    module = types.ModuleType("chain_sample")
    sys.modules["chain_sample"] = module
    del module
    try:
        assert steps(look(lambda: sys.modules["chain_sample"]))[-1][2] == "['chain_sample']"
        assert steps(look(lambda: sys.modules["chain_sample"].__dict__)) == [
            ("attribute", "module chain_sample", ".__dict__")
        ]
    finally:
        del sys.modules["chain_sample"]


def test_what_another_thread_holds_is_found() -> None:
    ready, leave = threading.Event(), threading.Event()

    def hold() -> None:
        mine = [object()]
        there.append(Subject(mine[0]))
        ready.set()
        leave.wait(10)

    there: list[Subject] = []
    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait(10)
    try:
        assert steps(chain(there[0], {})) == [
            ("local", f"{hold.__qualname__} (test_chain.py)", "mine"),
            ("item", "list (1 item)", "[0]"),
        ]
    finally:
        leave.set()
        thread.join()


def test_a_history_is_named_as_the_user_knows_it() -> None:
    main = sys.modules["__main__"]
    out: dict[int, Any] = {4: [object()]}
    main.__dict__["Out"] = out
    names = {id(out): "Out"}
    del out
    try:
        found = steps(look(lambda: main.__dict__["Out"][4], names))
        assert found == [("history", "Out", "[4]")]
    finally:
        del main.__dict__["Out"]


def test_nobody_known_holds_it() -> None:
    fact = look(object)
    assert not fact.found and fact.owners == () and "no path" in fact.searched


def test_a_large_layer_is_followed_in_the_order_of_memory() -> None:
    """More objects at one distance than are followed as met: each keeps the way it was reached by."""
    rows: list[Any] = [[n] for n in range(600_000)]
    random.Random(3).shuffle(rows)
    place = next(at for at, row in enumerate(rows) if row[0] == 311_111)
    rows[place].append([[object()]])
    subject = Subject(rows[place][1][0][0])
    HELD.append(rows)
    del rows
    found = steps(chain(subject, {}))
    assert [key for _, _, key in found] == ["HELD", "[0]", f"[{place}]", "[1]", "[0]", "[0]"]
    HELD.clear()


CROWD = 550_000
"""So many objects that a layer with them is followed in the order of memory."""


@pytest.fixture(scope="module")
def far_crowd() -> list[Any]:
    """A crowd five steps away from the list of a test's frame."""
    return [[[[[[] for _ in range(CROWD)]]]]]


@pytest.mark.timeout(600)
@settings(max_examples=EXAMPLES // 5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans(), depth=st.integers(0, 2))
def test_as_short_among_a_crowd(far_crowd: list[Any], plan: Plan, depth: int) -> None:
    """One layer of a random graph, the second or a later one, is followed in the order of memory."""
    HELD.clear()
    subject = plant(plan)
    length = distance(subject.get())
    HELD.append(far_crowd)
    for _ in range(4 - depth):
        HELD[-1] = HELD[-1][0]
    assert len(chain(subject, {})) == length


BETWEEN = r"""
#include <Python.h>
static struct __attribute__((aligned(16))) {
    long before;
    PyTupleObject tuple;
} kept;
static PyObject *hold(PyObject *self, PyObject *held) {
    Py_SET_REFCNT((PyObject *)&kept.tuple, 1000);
    Py_SET_TYPE((PyObject *)&kept.tuple, &PyTuple_Type);
    Py_SET_SIZE((PyVarObject *)&kept.tuple, 1);
    kept.tuple.ob_item[0] = Py_NewRef(held);
    return Py_NewRef((PyObject *)&kept.tuple);
}
"""


def test_an_object_at_an_odd_place_is_followed_in_a_large_layer(far_crowd: list[Any]) -> None:
    """One that does not begin at a multiple of 16, as objects of the interpreter's own may."""
    held = specimens.build("between", BETWEEN).hold([object()])
    assert id(held) % 16 == 8
    subject = Subject(held[0][0])
    HELD.append([*far_crowd[0][0][0][0], held])
    del held
    assert [key for _, _, key in steps(chain(subject, {}))[1:]] == ["[0]", f"[{CROWD}]", "[0]", "[0]"]


THROUGH_SMALL_OBJECTS = """
import numpy as np
from inspector._native import Subject
from inspector.objects.probes.chain import chain
class Slotted:
    __slots__ = ("kept",)
def through(make):
    wanted = Subject(object())
    HELD.append(make(wanted.get()))
    return len(chain(wanted, {}))
def slotted(x):
    it = Slotted()
    it.kept = x
    return it
HELD = [[n, float(n), str(n)] for n in range(5_000)]
makers = {
    "list": lambda x: [x],
    "tuple": lambda x: (x,),
    "dict": lambda x: {"k": x},
    "set": lambda x: {x},
    "slot": slotted,
    "cell": lambda x: lambda: x,
    "iterator": lambda x: iter([x]),
    "array": lambda x: np.array([x], object),
    "view": lambda x: np.array([x], object)[:],
    "code": lambda x: compile("1", "f", "exec").replace(co_consts=(x,)),
}
for kind, make in makers.items():
    print(kind, through(make))
"""


@pytest.mark.parametrize("allocator", ["pymalloc", "pymalloc_debug", "malloc"])
def test_no_container_is_taken_for_a_leaf(allocator: str) -> None:
    """Each kind of small container is entered, wherever the allocator puts it."""
    assert programs.python(THROUGH_SMALL_OBJECTS, PYTHONMALLOC=allocator).splitlines() == [
        *("list 3", "tuple 3", "dict 3", "set 3", "slot 3", "cell 5"),
        *("iterator 4", "array 3", "view 4", "code 4"),
    ]


def test_a_hundred_thousand_steps_need_no_stack() -> None:
    nested: list[Any] = [object()]
    subject = Subject(nested[0])
    for _ in range(100_000):
        nested = [nested]
    HELD.append(nested)
    del nested
    assert len(chain(subject, {})) == 100_003
    nested = HELD.pop()
    while type(nested) is list:
        nested = nested.pop()
