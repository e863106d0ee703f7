"""Blocks that run while every worker is armed: ledgers, records as Arrow, a worker killed, an interrupt."""

# SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import programs
import pytest
import specimens
from debugged import until
from leak_corpus import SOURCE

import inspector
from inspector.errors import InspectorError

pytestmark = pytest.mark.libraries
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MB = 1_000_000


def tasks() -> tuple[Callable[..., Any], ...]:
    """Functions that travel by value, being local: workers cannot import a test file."""

    def turned(count: int) -> float:
        array = np.arange(count, dtype="f8").reshape(-1, 10)
        return float(np.ascontiguousarray(array.T)[0, 0])

    def loses() -> None:
        sys.modules["leak_corpus"].key_not_released({})

    return turned, loses


turned, loses = tasks()


def left_armed(client: Any) -> dict[str, tuple[bool, list[str]]]:
    """Worker -> (whether a trace or a ledger runs, plugins of a block that are left)."""

    def look(dask_worker: Any) -> tuple[bool, list[str]]:
        from inspector.tracing.record import recorder

        free = recorder._one_at_a_time.acquire(blocking=False)
        if free:
            recorder._one_at_a_time.release()
        return not free, [name for name in dask_worker.plugins if name.startswith("inspector-")]

    return dict(client.run(look))


@pytest.fixture(autouse=True)
def nothing_is_left(client: Any) -> Iterator[None]:
    """After each test: no worker is armed, no file is left."""
    before = set(Path(tempfile.gettempdir()).glob("inspector-cluster-*"))
    yield
    assert [state for state in left_armed(client).values() if state != (False, [])] == []
    assert set(Path(tempfile.gettempdir()).glob("inspector-cluster-*")) <= before


def test_a_leak_is_told_by_the_worker_that_lost_it(client: Any, asked: Any, workers: list[str]) -> None:
    path = str(specimens.library("leak_corpus", SOURCE))

    def load(path: str) -> None:
        import importlib.util

        spec = importlib.util.spec_from_file_location("leak_corpus", path)
        assert spec is not None and spec.loader is not None
        sys.modules["leak_corpus"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)

    client.run(load, path)
    with asked.leaks("leak_corpus") as leaks:
        client.submit(loses, workers=workers[:1], pure=False).result()
    found = {one.worker: one.leaks.verdicts for one in leaks.fact.found}
    assert set(found) == set(workers) and found[workers[1]] == ()
    [verdict] = found[workers[0]]
    assert (verdict.kind, verdict.method) == ("leaked", "leak_corpus.key_not_released")
    assert "leak_corpus.key_not_released" in str(leaks.report) and "2 of 2 answered" in str(leaks.report)


def test_the_records_of_all_workers_are_one_table(client, asked, workers, tmp_path) -> None:
    import pyarrow.parquet

    began_ns = time.time_ns()
    with asked.trace("numpy", events=100_000) as traced:
        for address in workers:
            client.submit(turned, MB, workers=[address], key=f"turned-on-{address}", pure=False).result()
    traced.save(tmp_path / "all.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "all.parquet")
    assert len(table) == traced.fact.events and traced.records_left_out == 0
    rows = table.to_pylist()
    calls = [row for row in rows if row["name"].endswith("ascontiguousarray")]
    assert {row["worker"]: row["key"] for row in calls} == {one: f"turned-on-{one}" for one in workers}
    assert {row["task"] for row in calls} == {calls[0]["task"]} and calls[0]["task"].startswith("turned")
    assert all(began_ns <= row["began"].value <= time.time_ns() for row in calls)
    assert {row["worker"] for row in rows if not row["key"]} <= set(workers), "Dask itself: no task"


def test_records_that_are_too_many_are_counted(client: Any, asked: Any) -> None:
    with asked.trace("numpy", events=10) as traced:
        client.submit(turned, 1000, pure=False).result()
    assert len(traced.to_arrow()) + traced.records_left_out == traced.fact.events
    assert len(traced.to_arrow()) <= 20


def test_records_that_were_not_asked_for_are_refused(client: Any, asked: Any) -> None:
    """And a block leaves nothing on the scheduler."""
    with asked.trace("numpy") as traced, pytest.raises(InspectorError) as early:
        assert len(plugins_of_the_scheduler(client)) == 1
        traced.to_arrow()
    assert plugins_of_the_scheduler(client) == []
    with pytest.raises(InspectorError) as late:
        traced.to_arrow()
    assert (early.value.slug, late.value.slug) == ("trace-not-finished", "no-events")


def test_what_a_killed_worker_recorded_is_read_back(client: Any, asked: Any, workers: list[str]) -> None:
    pids = client.run(os.getpid)
    with asked.trace("numpy", events=100_000) as traced:
        client.submit(turned, MB, workers=workers[1:], key="turned-then-died", pure=False).result()
        os.kill(pids[workers[1]], signal.SIGKILL)
        until(lambda: workers[1] not in client.nthreads())
    answers = {one.address: one.answer for one in traced.fact.workers}
    assert answers[workers[1]] == "lost"
    [remains] = traced.fact.remains
    assert remains.worker == workers[1] and remains.records > 0 and remains.lost == 0
    [copy] = [one for one in traced.fact.copies if one.copy.function == "numpy.ascontiguousarray"]
    assert (copy.worker, copy.task, copy.copy.copied_bytes) == (workers[1], "turned-then-died", 8 * MB)
    assert copy.copy.site.function == "tasks.<locals>.turned"
    assert "read back from its files, 0 lost" in " ".join(str(traced.report).split())
    keys = traced.to_arrow().filter([row == workers[1] for row in traced.to_arrow()["worker"].to_pylist()])
    assert "turned-then-died" in set(keys["key"].to_pylist())
    client.wait_for_workers(2, timeout=60)  # its nanny starts another
    workers[:] = sorted(client.nthreads(), key=lambda one: one != workers[0])


def test_a_second_trace_is_refused_and_the_first_goes_on(client: Any, asked: Any) -> None:
    with asked.trace("numpy") as traced:
        with pytest.raises(InspectorError) as refused, asked.trace("numpy"):
            pytest.fail("the block ran untraced")
        client.submit(turned, MB, pure=False).result()
    assert refused.value.slug == "workers-refused" and "another trace" in refused.value.why
    assert [one.task for one in traced.fact.copies if one.copy.copied_bytes == 8 * MB] == ["turned"]


def test_modules_that_no_worker_has_are_refused_before_the_block(asked: Any) -> None:
    with pytest.raises(InspectorError) as refused, asked.trace("nonsense_module"):
        pytest.fail("the block ran untraced")
    assert refused.value.slug == "workers-refused" and "nonsense_module" in refused.value.why


@pytest.fixture
def heard() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_leaves_nothing_armed(client: Any, asked: Any, workers: list[str], heard: None) -> None:
    """In the block, and while the answers are awaited."""
    with pytest.raises(KeyboardInterrupt), asked.trace("numpy"):
        assert all(armed for armed, _ in left_armed(client).values())
        raise KeyboardInterrupt
    pids = client.run(os.getpid)
    with pytest.raises(KeyboardInterrupt), asked.leaks("numpy"):
        os.kill(pids[workers[1]], signal.SIGSTOP)  # its answer does not come

        def interrupt() -> None:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.5)
            os.kill(pids[workers[1]], signal.SIGCONT)

        threading.Timer(1.0, interrupt).start()


KILLED = """
import sys, time
from distributed import Client
import inspector

with Client(sys.argv[1]) as client, inspector.on(client).trace("numpy"):
    print("armed", flush=True)
    time.sleep(600)
"""


def plugins_of_the_scheduler(client: Any) -> list[str]:
    def look(dask_scheduler: Any) -> list[str]:
        return [name for name in dask_scheduler.plugins if name.startswith("inspector-")]

    return list(client.run_on_scheduler(look))


def test_a_client_that_is_killed_leaves_nothing_armed(cluster: Any, client: Any) -> None:
    command = [sys.executable, "-P", "-c", KILLED, cluster.scheduler_address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        try:
            assert other.stdout.readline() == "armed\n"
            assert all(armed for armed, _ in left_armed(client).values())
            assert len(plugins_of_the_scheduler(client)) == 1
        finally:
            other.kill()
    until(lambda: all(state == (False, []) for state in left_armed(client).values()))
    assert plugins_of_the_scheduler(client) == []


def test_progress_is_told_and_may_leave_the_rest_out(client: Any) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, whole: int) -> bool:
        told.append((done, whole))
        return False

    workers = inspector.on(client, progress).heap(1).cluster_heap.workers
    assert told == [(done, 2) for done, _ in told] and told
    assert sum(one.answer == "answered" for one in workers) == told[-1][0]


def test_an_actor_has_a_card(client: Any, asked: Any) -> None:
    class Counter:
        def __init__(self) -> None:
            self.seen = np.ones(1000)

        def total(self) -> float:
            return float(self.seen.sum())

    actor = client.submit(Counter, actor=True, key="actor-of-a-test").result()
    report = asked.inspect(actor, scan=True)
    assert report.object.type_name.endswith("Counter")
    assert any("worker.state.actors" in owner.holder for owner in report.refs.owners)
    assert actor.total().result() == 1000


def test_a_closed_client_and_an_asynchronous_one_are_refused(cluster: Any) -> None:
    import asyncio

    from distributed import Client

    client = Client(cluster.scheduler_address, set_as_default=False)
    asked = inspector.on(client)
    client.close()
    for look in (asked.namespace, lambda: inspector.on(client)):
        with pytest.raises(InspectorError) as refused:
            look()
        assert refused.value.slug == "client-closed"

    async def awaited() -> None:
        async with Client(cluster.scheduler_address, asynchronous=True, set_as_default=False) as client:
            inspector.on(client)

    with pytest.raises(InspectorError) as refused:
        asyncio.run(awaited())
    assert refused.value.slug == "not-a-client" and "asynchronous" in refused.value.what


def test_workers_that_share_a_process_share_its_trace() -> None:
    """In a process of its own: Dask leaves sockets to the collector there."""
    told = programs.python(textwrap.dedent(SHARED))
    assert told.split() == ["answered", "answered", "0", "turned", "1", "turned", "free"]


SHARED = """
    from distributed import Client, LocalCluster
    import numpy as np
    import inspector

    def turned(count):
        return float(np.ascontiguousarray(np.arange(count, dtype="f8").reshape(-1, 10).T)[0, 0])

    with (
        LocalCluster(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        workers = sorted(client.nthreads())
        with inspector.on(client).trace("numpy") as traced:
            client.gather([client.submit(turned, 10**6, workers=[one], pure=False) for one in workers])
        print(*[one.answer for one in traced.fact.workers])
        copies = [one for one in traced.fact.copies if one.copy.function == "numpy.ascontiguousarray"]
        for one in sorted(copies, key=lambda one: one.worker):
            print(workers.index(one.worker), one.task)
        with inspector.trace("numpy"):
            print("free")
"""
