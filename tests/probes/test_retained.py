"""Retained sizes: equal to a brute-force walk, whatever holds the object and whatever it holds."""

# SPDX-License-Identifier: MIT
import gc
import os
import sys
import threading
import time
import types
from collections import Counter
from typing import Any

import pytest
from graphs import EXAMPLES, Plan, build, plans, reachable
from hypothesis import HealthCheck, given, settings

from inspector._native import Subject
from inspector.facts.refs import Retained
from inspector.objects.probes.heap import heap
from inspector.objects.probes.retained import retained

pytestmark = pytest.mark.core


def look(x: Any) -> Retained:
    return retained(Subject(x))


def counts(fact: Retained) -> dict[str, int]:
    return {name.rpartition(".")[2]: objects for name, objects, _ in fact.by_type}


@pytest.mark.timeout(600)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans())
def test_equal_to_a_brute_force_walk(plan: Plan) -> None:
    outside, x = build(plan)
    subject = Subject(x)
    kept = reachable([x], cut=None)
    held = reachable(outside, cut=x)
    wanted = {key: value for key, value in kept.items() if key not in held or value is x}
    del kept, held
    expected = Counter(type(value).__name__ for value in wanted.values())
    sizes = sum(sys.getsizeof(v) for v in wanted.values() if type(v).__name__ != "Node")
    del wanted, x
    fact = retained(subject)
    assert counts(fact) == expected
    assert sum(own for name, _, own in fact.by_type if not name.endswith("Node")) == sizes
    assert len(outside) == len(plan.roots)


def test_fields_of_a_struct_sequence_go_with_it() -> None:
    """C makes it outside of the gc's lists."""
    found = os.stat("/")
    fields = gc.get_referents(found)
    assert float in map(type, fields)
    own = sum(type(one) is float for one in fields)
    del fields
    assert counts(look(found))["float"] == own


@pytest.mark.quick
def test_a_cycle_goes_with_its_only_holder() -> None:
    ring: list[Any] = [[], []]
    ring[0].append(ring[1])
    ring[1].append(ring[0])
    x = [ring[0]]
    del ring
    assert look(x).objects == 3
    also_held = x[0]
    assert look(x).objects == 1
    del also_held


@pytest.mark.quick
def test_what_a_running_function_holds_is_not_retained() -> None:
    inner = ["text" + str(time.time())]
    x = [inner]
    assert look(x).objects == 1
    del inner
    assert look(x).objects == 3


KEEPER = """
#include <Python.h>
static PyObject *volatile kept; // owned
static PyObject *keep(PyObject *self, PyObject *x) { Py_XSETREF(kept, Py_NewRef(x)); Py_RETURN_NONE; }
"""


def test_what_a_c_reference_holds_is_not_retained(specimens: types.ModuleType) -> None:
    keeper = specimens.build("retained_keeper", KEEPER)
    x = [[object()]]
    assert look(x).objects == 3
    keeper.keep(x[0])
    assert look(x).objects == 1
    keeper.keep(None)
    assert look(x).objects == 3


def test_an_instance_keeps_neither_its_class_nor_a_module() -> None:
    class Held:
        def method(self) -> types.ModuleType:
            return sys

    x = Held()
    x.module, x.function = sys, look  # type: ignore[attr-defined]
    assert counts(look(x)) == {"Held": 1}


def test_the_last_reference_to_a_class_keeps_the_class() -> None:
    namespace: dict[str, Any] = {}
    exec("class Lone:\n    def method(self): return 'a text of its own'", namespace)
    x = namespace.pop("Lone")()
    gc.collect()
    found = counts(look(x))
    assert found["Lone"] == 1 and found["type"] == 1 and found["function"] == 1 and found["code"] >= 1


def test_a_hundred_thousand_deep_nesting_needs_no_stack() -> None:
    x: list[Any] = []
    for _ in range(100_000):
        x = [x]
    assert look(x).objects == 100_001
    while x:
        x = x.pop()


def test_modules_and_their_namespaces_may_be_asked_for() -> None:
    module = types.ModuleType("retained_sample")
    module.x = [object()]  # type: ignore[attr-defined]
    sys.modules["retained_sample"] = module
    try:
        assert counts(look(module))["list"] == 1
        assert counts(look(module.__dict__))["list"] == 1
    finally:
        del sys.modules["retained_sample"]
    assert look(sys.modules).objects >= len(sys.modules)


def test_a_type_retains_what_only_its_instances_hold() -> None:
    class Owner:
        __slots__ = ("mine", "shared")

    shared = ["shared"] * 10_000
    kept = [Owner() for _ in range(50_000)]  # enough to be among the largest types of a long run's heap
    for n, owner in enumerate(kept):
        owner.mine, owner.shared = bytearray(10 + n % 50), shared
    row = next(row for row in heap(retained=60).types if row.type_name.endswith(".Owner"))
    mine = sum(sys.getsizeof(owner.mine) + sys.getsizeof(owner) for owner in kept)
    assert row.retained_bytes == mine


def test_threads_may_run_meanwhile() -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            rows = [{"n": [n]} for n in range(100)]
            rows.clear()

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        x = [[object()] for _ in range(1000)]
        for _ in range(20):
            assert look(x).objects == 2001
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_range_keeps_its_numbers() -> None:
    """No tp_traverse tells of them; `length` is an int of its own that no attribute returns."""
    bounds = [10**30, 10**31, 10**6]
    own = sum(map(sys.getsizeof, (*bounds, (bounds[1] - bounds[0]) // bounds[2]))) + sys.getsizeof(range(1))
    found = look(range(*(int(str(bound)) for bound in bounds)))
    assert (found.objects, found.retained_bytes) == (5, own)


def test_a_cycle_through_an_array_of_objects_is_freed_by_nothing() -> None:
    """1 MB was told: the collector does not see the elements, and deleting the array frees nothing."""
    numpy = pytest.importorskip("numpy")
    array, body = numpy.empty(2, object), bytes(1_000_000)
    array[1] = body
    del body
    held = {"array": array}
    del array
    assert int(retained(Subject(held)).retained_bytes) > 1_000_000
    held["array"][0] = [held]
    told = retained(Subject(held))
    assert told.retained_bytes == 0 and int(told.never_freed_bytes) > 1_000_000
    held["array"][0] = None
