"""Greenlets switch inside hooked calls: the C stack moves under the hooks, at every grade and under leaks."""

# SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import soak
import suite_run
from apart import printed

GRADES = ("count", "record", "deep")

SWITCHING = """
import json, sys, greenlet, numpy as np, inspector

def child(number):
    main = greenlet.getcurrent().parent
    texts = json.JSONEncoder(default=lambda one: main.switch(number) or str(one))  # in C
    rows = texts.encode([object(), 1, {"a": object()}])
    values = np.vectorize(lambda one: main.switch(number) or one)(np.arange(4))
    return "ended", len(json.loads(rows)), int(values.sum())

def run(count):
    all_, ended = [greenlet.greenlet(child) for _ in range(count)], []
    for number, one in enumerate(all_):
        one.switch(number)
    while all_:
        for one in list(all_):
            got = one.switch()
            assert int(np.asarray([1, 2, 3]).sum()) == 6
            if one.dead:
                ended.append(got)
                all_.remove(one)
    return set(ended), len(ended)
"""
LEFT_OPEN = """
def left(number):
    np.vectorize(lambda one: greenlet.getcurrent().parent.switch(number))(np.arange(4))

def leave():
    kept.append(one := greenlet.greenlet(left))
    one.switch(1)
    return run(3)
kept = []
"""
POOLED = """
import gevent, gevent.pool, json, sys, numpy as np, inspector

def work(number):
    gevent.sleep(0)
    values = np.arange(number + 1)
    gevent.sleep(0.0001)
    return json.loads(json.dumps({"a": values.tolist()}))["a"][-1]

def run(count):
    return sum(gevent.pool.Pool(10).map(work, range(count)))
"""
DATABASE = """
import asyncio, sys, sqlalchemy, inspector
from sqlalchemy.ext.asyncio import create_async_engine

async def asked(count):
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    async with engine.begin() as connection:
        await connection.execute(sqlalchemy.text("create table t (x int)"))
        rows = [{"x": number} for number in range(count)]
        await connection.execute(sqlalchemy.text("insert into t values (:x)"), rows)
        summed = (await connection.execute(sqlalchemy.text("select sum(x) from t"))).scalar()
    await engine.dispose()
    return summed

def run(count):
    return asyncio.run(asked(count))
"""
TRACED = """
with inspector.trace(grade=sys.argv[1]) as t:
    told = run(int(sys.argv[2]))
print(told, t.events > 100)
"""


TEXTS = {"greenlet": SWITCHING, "gevent": POOLED, "sqlalchemy": DATABASE}
EXPECTED = {"greenlet": (20, "({('ended', 3, 6)}, 20)"), "gevent": (100, "4950"), "sqlalchemy": (50, "1225")}
LIBRARIES = [
    pytest.param("greenlet", marks=[pytest.mark.core, pytest.mark.quick]),
    "gevent",
    "sqlalchemy",
]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("grade", GRADES)
def test_a_program_that_switches_ends_as_untraced(name: str, grade: str) -> None:
    count, told = EXPECTED[name]
    assert printed("-c", TEXTS[name] + TRACED, grade, str(count)) == f"{told} True\n"


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_program_that_switches_runs_under_leaks(name: str) -> None:
    """SQLAlchemy's extensions of Cython leave references to their function type, also unwatched: it grows."""
    count, _ = EXPECTED[name]
    watched = "'greenlet'" if name == "sqlalchemy" else "'numpy', 'greenlet'"
    end = f"print(inspector.leaks({watched}).run(lambda: run({count // 5})))"
    said = printed("-c", TEXTS[name] + end)
    assert "No fault was found in the references of " in said
    assert said.count(" grows: ") == said.count(" grows: references to one class _cython_")


@pytest.mark.core
@pytest.mark.parametrize("grade", GRADES)
def test_a_thousand_greenlets(grade: str) -> None:
    told = printed("-c", SWITCHING + TRACED, grade, "1000")
    assert told == "({('ended', 3, 6)}, 1000) True\n"


@pytest.mark.core
def test_a_greenlet_that_never_comes_back() -> None:
    """Its call stays open: nothing waits for it, and the next trace and ledger begin without it."""
    end = """
for grade in ("record", "deep"):
    with inspector.trace(grade=grade) as t:
        told = leave()
print(told)
print(inspector.leaks("numpy").run(leave), len(kept))
"""
    first, second = printed("-c", SWITCHING + LEFT_OPEN + end).splitlines()
    assert first == "({('ended', 3, 6)}, 3)"
    assert second.startswith("<leaks") and int(second.split()[-1]) >= 5


@pytest.mark.core
def test_records_belong_to_the_greenlet() -> None:
    """Two greenlets take turns inside one call each: each has its own calls below its own call."""
    end = """
def turns(size):
    np.vectorize(lambda one: (np.zeros(size), greenlet.getcurrent().parent.switch(), 0)[-1])(np.arange(3))

with inspector.trace("numpy") as t:
    both = [greenlet.greenlet(turns), greenlet.greenlet(turns)]
    for one, size in zip(both, (1000, 3000)):
        one.switch(size)
    while not all(one.dead for one in both):
        for one in both:
            one.dead or one.switch()
rows = t._recorded()
from inspector.tracing.ask.nesting import nested
nesting = nested(rows)
names = [rows.names.get(int(slot), "") for slot in rows.records["slot"][nesting.heads]]
made = [at for at, name in enumerate(names) if name.endswith(".zeros")]
outer = {(int(rows.thread[nesting.heads[at]]), int(nesting.parent[at])) for at in made}
print(len(made), len({thread for thread, _ in outer}), all(
    rows.thread[nesting.heads[at]] == rows.thread[nesting.heads[nesting.parent[at]]] for at in made
    if nesting.parent[at] >= 0))
"""
    made, threads, inside = printed("-c", SWITCHING + end).split()
    assert int(made) >= 6 and (threads, inside) == ("2", "True")


KEEPS_TYPES = "test_issue_245_reference_counting_subclass"
"""They count the references to a class; a trace keeps one to each class it saw."""
SUITE = "test_generator test_generator_nested test_throw test_contextvars test_weakref test_cpp"


@pytest.mark.timeout(600)
def test_the_suite_of_greenlet_ends_as_untraced(tmp_path: Path) -> None:
    names = f"{SUITE} test_greenlet test_gc test_extension_interface" if soak.SOAK else SUITE
    modules = [f"greenlet.tests.{name}" for name in names.split()]
    command = [sys.executable, "-P", suite_run.__file__, "deep", "greenlet", *modules]
    given = {**os.environ, "GREENLET_SKIP_LEAKCHECKS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=given, check=True)
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["tests"] > 20
    assert [name for name in told["other"] if KEEPS_TYPES not in name] == []
