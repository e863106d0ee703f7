"""Without the GIL, while threads run: what an object keeps, what holds it, all objects, all memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import gc
import itertools
import sys
import sysconfig
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy
import pytest
from threads import busy

import inspector

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not on CPython with the GIL"
)
ROUNDS = 50


class Node:
    kept: Any


class Bus:
    def __init__(self, x: Any) -> None:
        self.path = str(inspector.chain(x))


def node_of(*kept: Any) -> Node:
    """It refers to itself: only a collection frees it."""
    node = Node()
    node.kept = [node, *kept]
    return node


def counts(x: Any) -> dict[str, int]:
    gc.collect()  # functions and code that are over go by a collection alone, and hold meanwhile
    return {name.rpartition(".")[2]: objects for name, objects, _ in inspector.retained(x).by_type}


def test_retained_is_what_goes_with_it() -> None:
    shared = [float("2.5")]
    node = node_of(numpy.zeros(1000), {"k": float("3.5")}, bytearray(100), shared)
    assert counts(node) == {"Node": 1, "list": 1, "ndarray": 1, "dict": 1, "float": 1, "bytearray": 1}
    _, array, mapping, *texts, _ = node.kept
    told = sum(map(sys.getsizeof, (node.kept, array, mapping, mapping["k"], *texts)))
    del array, mapping, texts
    found = inspector.retained(node)
    values = found.retained_bytes - told - sys.getsizeof(node)
    assert 0 <= values <= 300, "an instance's attributes lie in it, and no __sizeof__ counts them"


def test_functions_and_classes_are_kept_though_their_references_are_not_all_counted() -> None:
    space: dict[str, Any] = {}
    exec("def f(): return [1]\nclass C:\n def m(self): return f\nv = C()", space)
    kept = counts(space)
    assert (kept["type"], kept["function"], kept["code"], kept["C"]) == (1, 2, 2, 1)
    also = space["C"]
    kept = counts(space)
    assert "type" not in kept and kept["function"] == 1 and kept["C"] == 1, also


def test_what_a_suspended_frame_or_another_thread_holds_is_not_kept() -> None:
    space: dict[str, Any] = {}
    exec("def f(): return [1]", space)
    assert counts(space)["function"] == 1

    def suspended(held: Any) -> Any:
        yield held

    waits = suspended(space["f"])
    next(waits)
    assert "function" not in counts(space)
    waits.close()
    assert counts(space)["function"] == 1
    ready, over = threading.Event(), threading.Event()

    def hold(held: Any) -> None:
        ready.set()
        over.wait()

    thread = threading.Thread(target=hold, args=(space["f"],))
    thread.start()
    ready.wait()
    held = counts(space)
    over.set()
    thread.join()
    assert "function" not in held


def test_a_path_is_named_from_its_root() -> None:
    bus = node_of({"k": (0, bytearray(5))})
    path = inspector.chain(bus.kept[1]["k"][1])
    assert [f"{one.kind} {one.key}" for one in path] == [
        "local bus",
        "attribute .kept",
        "item [1]",
        "item ['k']",
        "item [1]",
    ]
    kept = inspector.inspect(bus.kept, also=("chain", "retained")).facts
    assert kept["chain"].found and kept["retained"].objects == 4


def test_a_path_is_found_inside_an_init() -> None:
    """The interpreter's frame around it has no globals: what stands there was never written."""
    paths = {Bus([1]).path for _ in range(100)}
    assert len(paths) == 1 and "x" in paths.pop()


def test_all_objects_by_type() -> None:
    nodes = [Node() for _ in range(5)]
    thread = threading.Thread(target=lambda: nodes.extend(Node() for _ in range(700)))
    thread.start()
    thread.join()  # its memory is of no thread now
    gc.collect()
    rows = {row.type_name: row for row in inspector.heap(retained=1).types}
    assert rows[f"{__name__}.Node"].objects == len(nodes) == 705
    every = Counter(type(one) for one in gc.get_objects())
    for kind in (set, property, threading.Thread):
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        assert rows[name].objects == every[kind]


def parts(kind: str) -> dict[str, int]:
    return {part.name: part.resident_bytes for part in inspector.memory().row(kind).parts}


def test_the_account_says_what_every_resident_byte_is_for() -> None:
    array, numbers = numpy.ones(1_000_000), [float(n) for n in range(200_000)]
    raw = bytearray(b"x" * 3_000_000)
    account = inspector.memory()
    status = Path("/proc/self/status").read_text()
    resident = 1024 * int(status.partition("VmRSS:")[2].split()[0])
    assert sum(row.resident_bytes for row in account.rows) == account.resident_bytes
    assert abs(account.resident_bytes - resident) <= resident / 100
    assert account.row("unexplained").resident_bytes <= resident / 100
    objects, buffers = parts("objects"), parts("buffers")
    assert objects["float"] >= len(numbers) * sys.getsizeof(numbers[0])
    assert objects["list"] >= sys.getsizeof(numbers) and objects["bytearray"] >= len(raw)
    assert buffers["numpy.ndarray"] >= array.nbytes


def test_memory_that_objects_left_is_free_or_given_back() -> None:
    kept = [[] for _ in range(300_000)]  # type: ignore[var-annotated]
    before = parts("objects")["list"]
    del kept[::2], kept[-1]
    after = parts("objects")["list"]
    assert before - after >= 140_000 * sys.getsizeof([]), len(kept)
    assert parts("free")["Python's allocator"] >= 130_000 * sys.getsizeof([])


def test_the_account_beside_running_threads() -> None:
    made: dict[int, Any] = {}
    number = itertools.count()

    def churn() -> None:
        n = next(number)
        made[n % 100] = [bytearray(n % 5 * 20_000), numpy.ones(n % 3000), [object()] * (n % 1000)]

    with busy(churn, churn, churn, churn) as raised:
        for n in range(ROUNDS // 5):
            account = inspector.memory(largest=n % 2)
            rows = {row.kind: row for row in account.rows}
            assert sum(row.resident_bytes for row in account.rows) == account.resident_bytes
            unknown = rows["unexplained"].parts if "unexplained" in rows else ()
            told = sum(one.resident_bytes for one in unknown if not one.name.startswith("came while"))
            assert told <= account.resident_bytes / 100, unknown
    assert not raised


def test_beside_threads_that_make_and_drop_objects() -> None:
    shared: dict[Any, Any] = {}
    number = itertools.count()

    def churn() -> None:
        n = next(number)
        space: dict[str, Any] = {}
        exec("def f(): return 1\nclass L: pass", space)
        shared[n % 40] = [node_of(*([object()] * (n % 50)), space["L"](), lambda: n)]
        shared.pop(n * 7 % 40, None)

    def thread() -> None:
        one = threading.Thread(target=lambda: [Node() for _ in range(100)])
        one.start()
        one.join()

    still = node_of([object() for _ in range(100)])
    expected = inspector.retained(still)
    with busy(churn, churn, churn, thread) as raised:
        for n in range(ROUNDS):
            assert inspector.retained(still) == expected
            assert inspector.retained(shared).objects >= 1
            assert inspector.chain(still.kept[1]).found
            if n % 10 == 0:
                assert inspector.heap().objects > 1000
    assert not raised and not sys._is_gil_enabled()  # type: ignore[attr-defined]
