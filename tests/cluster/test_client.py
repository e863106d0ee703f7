"""`inspector.on(client)` on a real cluster: what its workers hold, send, keep and copy."""

# SPDX-License-Identifier: MIT
import builtins
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import numpy as np
import pytest
from debugged import until

import inspector
from inspector.errors import InspectorError

pytestmark = pytest.mark.libraries
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MB = 1_000_000


def tasks() -> Any:
    """Functions that travel by value, being local: workers cannot import a test file."""

    def rows(count: int) -> Any:
        return np.arange(count, dtype="f8").reshape(-1, 10)

    def every_second_column(count: int) -> Any:
        return np.arange(count, dtype="f8").reshape(-1, 10)[:, ::2]

    def total(*arrays: Any) -> float:
        return float(sum(array.sum() for array in arrays))

    def turned(array: Any) -> Any:
        return np.ascontiguousarray(array.T)

    def hoarded(count: int) -> Any:
        made = np.ones(count)
        builtins.__dict__.setdefault("_hoard", []).append(made)
        return made

    def first_rows(array: Any, count: int) -> Any:
        return array[:count]

    return SimpleNamespace(**locals())


rows, every_second_column, total, turned, hoarded, first_rows = vars(tasks()).values()


def references(key: str, dask_worker: Any) -> tuple[int, int, list[str]]:
    """(refcount, weak references, order of the spill buffer) of a value, as the worker itself counts them."""
    import weakref

    values = dask_worker.data.fast.d
    count = sys.getrefcount(values[key]) - 1
    return count, weakref.getweakrefcount(values[key]), list(map(str, dask_worker.data.fast.order))


def test_keys_are_weighed_where_they_are(client: Any, asked: Any, workers: list[str]) -> None:
    here = client.submit(rows, MB, workers=workers[:1], key="weighed")
    there = client.submit(total, here, workers=workers[1:], key="weighed-sum")
    there.result()
    fact = asked.namespace().cluster_keys
    assert [worker.answer for worker in fact.workers] == ["answered"] * 2
    assert {worker.address for worker in fact.workers} == set(workers)
    assert len({worker.pid for worker in fact.workers} - {os.getpid()}) == 2
    found = {(key.worker, key.held.name): key for key in fact.keys}
    key = found[workers[0], "weighed"]
    assert (key.held.bytes, key.managed_bytes, key.held.references) == (8 * MB, 8 * MB, 1)
    assert found[workers[1], "weighed"].copies == key.copies == 2, "a dependency went over: two copies"
    assert found[workers[1], "weighed-sum"].copies == 1


def test_what_keys_share_and_what_they_keep_alive(client: Any, asked: Any, workers: list[str]) -> None:
    """A view beside its array: the bytes are owned once, shared once, and freed only with both."""
    before = asked.namespace().cluster_keys.workers, asked.heap(1).cluster_heap.workers
    whole = client.submit(rows, MB, workers=workers[:1], key="shared-whole")
    part = client.submit(first_rows, whole, 1000, workers=workers[:1], key="shared-part")
    part.result()
    after = asked.namespace().cluster_keys.workers, asked.heap(1).cluster_heap.workers
    assert moved(before[0], after[0], workers[0], "shared_bytes") == 1000 * 10 * 8
    assert moved(before[0], after[0], workers[0], "owned_bytes") == 8 * MB
    assert 8 * MB <= moved(before[1], after[1], workers[0], "retained_bytes") < 8 * MB + 10_000
    assert "shared" in str(asked.namespace())
    assert "retained" in str(asked.heap(1)) and "in all" in str(asked.heap(1))


def moved(before: Any, after: Any, address: str, field: str) -> int:
    old, new = (getattr(next(w for w in some if w.address == address), field) for some in (before, after))
    return int(new - old)


def test_a_self_test_that_fails_on_one_worker_is_told(client: Any, asked: Any, workers: list[str]) -> None:
    def fail(on: bool) -> None:
        from inspector.adapters import registry

        broken = registry.Problem("numpy", "AssertionError: ndim is read at another offset")
        registry.shared().problems[:] = [broken] if on else []

    assert "numpy (self test)" not in asked.findings().cluster_findings.differing
    client.run(fail, True, workers=workers[:1])
    try:
        found = asked.findings()
    finally:
        client.run(fail, False, workers=workers[:1])
    told = found.cluster_findings.differing["numpy (self test)"]
    assert told == {workers[0]: "AssertionError: ndim is read at another offset", workers[1]: "passes"}
    assert "numpy (self test)" in str(found)


def test_a_look_leaves_the_value_and_the_card_of_a_future_names_its_holder(client, asked, workers) -> None:
    future = client.submit(rows, 1000, workers=workers[:1], key="carded")
    future.result()
    before = client.run(references, "carded", workers=workers[:1])
    asked.namespace(), asked.inspect("carded", scan=True), asked.findings(), asked.transfers()
    assert client.run(references, "carded", workers=workers[:1]) == before
    assert before[workers[0]][0] == 1
    report = asked.inspect(future, scan=True)
    assert report.refs.references == 1
    [owner] = [owner for owner in report.refs.owners if owner.certain]
    assert "worker.data" in owner.holder and "carded" in owner.key
    assert report.layout.shape == (100, 10)
    assert workers[0] in str(report)


def test_what_was_copied_to_be_sent(client: Any, asked: Any, workers: list[str]) -> None:
    whole = client.submit(rows, MB, workers=workers[:1], key="whole")
    strided = client.submit(every_second_column, MB, workers=workers[:1], key="strided")
    client.submit(total, whole, strided, workers=workers[1:], key="sent-sum").result()
    sent = {one.key: one for one in asked.transfers().cluster_transfers.sent if one.target == workers[1]}
    assert (sent["whole"].zero_copy_bytes, sent["whole"].copied_bytes) == (8 * MB, 0)
    assert (sent["strided"].zero_copy_bytes, sent["strided"].copied_bytes) == (0, 4 * MB)
    assert "contiguous" in sent["strided"].reason and sent["strided"].avoid


def test_a_value_that_outlives_its_key_is_found_with_its_owner(client, asked, workers) -> None:
    future = client.submit(hoarded, 100_000, workers=workers[1:], key="hoarded")
    future.result()
    assert asked.findings().cluster_findings.kept == ()
    del future
    until(lambda: asked.findings().cluster_findings.kept)
    [found] = asked.findings().cluster_findings.kept
    assert (found.worker, found.key) == (workers[1], "hoarded")
    assert (found.type_name, found.bytes) == ("numpy.ndarray", 800_000)
    assert [owner for owner in found.owners if "_hoard" in owner]
    client.run(lambda: builtins.__dict__.pop("_hoard", None))
    assert asked.findings().cluster_findings.kept == ()


def test_the_trace_says_which_task_copied_what(client: Any, asked: Any, workers: list[str]) -> None:
    given = client.submit(rows, MB, workers=workers[:1], key="given")
    given.result()
    with asked.trace("numpy") as traced:
        client.submit(turned, given, workers=workers[:1]).result()
    largest = traced.fact.copies[0]
    assert (largest.worker, largest.task) == (workers[0], "turned")
    assert (largest.copy.function, largest.copy.copied_bytes) == ("numpy.ascontiguousarray", 8 * MB)
    assert largest.copy.site.function == "tasks.<locals>.turned"
    with asked.trace("numpy") as again:
        pass
    assert not [one for one in again.fact.copies if one.task], "nothing ran: nothing was left armed"


def test_each_task_is_told_by_its_own_thread_and_time(client: Any, asked: Any, workers: list[str]) -> None:
    given = [
        client.submit(rows, MB, workers=[one], key=f"given-{i}", pure=False) for i, one in enumerate(workers)
    ]
    with asked.trace("numpy") as traced:
        made = [client.submit(turned, one, workers=[at]) for one, at in zip(given, workers, strict=True)]
        client.gather([client.submit(total, one) for one in made])
    found = {one.worker: one for one in traced.fact.copies if "ascontiguousarray" in one.copy.function}
    assert {address: one.task for address, one in found.items()} == dict.fromkeys(workers, "turned")


def test_a_worker_that_joins_later_is_traced_and_followed(client: Any, cluster: Any, asked: Any) -> None:
    with asked.trace("numpy") as traced:
        cluster.scale(3)
        client.wait_for_workers(3, timeout=60)
        late = max(client.nthreads(), key=lambda one: cluster_name(client, one))
        given = client.submit(rows, MB, workers=[late], key="late-given")
        client.submit(turned, given, workers=[late], key="turned-late").result()
    assert traced.fact.copies[0].worker == late
    assert len(asked.namespace().cluster_keys.workers) == 3
    del given
    cluster.scale(2)
    until(lambda: len(client.nthreads()) == 2)


def cluster_name(client: Any, address: str) -> int:
    return int(client.run(lambda dask_worker: dask_worker.name, workers=[address])[address])


def test_a_worker_without_the_extension_joins_and_is_a_row(client, cluster, asked, tmp_path) -> None:
    text = f"""
        import asyncio, sys
        sys.modules["inspector"] = None  # as where it is not installed
        from distributed import Worker
        async def run():
            async with Worker({cluster.scheduler_address!r}, name="bare", dashboard_address=":0") as worker:
                await worker.finished()
        asyncio.run(run())
    """
    command = [sys.executable, "-c", textwrap.dedent(text)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as bare:
        try:
            client.wait_for_workers(3, timeout=60)
            fact = asked.namespace().cluster_keys
            [silent] = [worker for worker in fact.workers if worker.answer != "answered"]
            assert silent.answer == "no extension" and "pip install native-inspector" in silent.reason
            with asked.trace("numpy") as traced:
                assert client.submit(total, rows(100), key="goes-on").result() == total(rows(100))
            assert "no extension" in {worker.answer for worker in traced.fact.workers}
        finally:
            bare.send_signal(signal.SIGTERM)
    until(lambda: len(client.nthreads()) == 2)


def test_a_worker_that_does_not_answer_is_a_row(client: Any, asked: Any, workers: list[str]) -> None:
    from inspector.faces.cluster.asking import ask_all

    pids = client.run(os.getpid)
    os.kill(pids[workers[1]], signal.SIGSTOP)
    try:
        answers = ask_all(client, "heap", {"types": 1}, deadline_s=2.0)
    finally:
        os.kill(pids[workers[1]], signal.SIGCONT)
    told = {one.worker.address: one.worker for one in answers}
    assert told[workers[0]].answer == "answered"
    assert (told[workers[1]].answer, "2 s" in told[workers[1]].reason) == ("lost", True)
    assert [one.answer for one in asked.heap(1).cluster_heap.workers] == ["answered"] * 2


def test_another_version_is_a_row(client: Any, asked: Any, workers: list[str]) -> None:
    def pretend(number: int) -> None:
        import inspector.faces.cluster.worker as there

        there.SCHEMA = number

    client.run(pretend, 99, workers=workers[:1])
    try:
        answers = {one.address: one for one in asked.heap(1).cluster_heap.workers}
    finally:
        client.run(pretend, inspector.facts.wire.SCHEMA, workers=workers[:1])
    assert answers[workers[0]].answer == "other version" and "99" in answers[workers[0]].reason
    assert answers[workers[1]].answer == "answered"


def test_a_row_of_an_earlier_version_is_a_row(asked: Any, workers: list[str]) -> None:
    """One that lacks what a worker tells today."""
    from inspector.faces.cluster import worker
    from inspector.faces.cluster.asking import read_answer

    earlier = dict.fromkeys(("keys", "managed_bytes", "spilled_bytes", "rss_bytes", "pid"), 1)
    row = {"name": "0", "versions": {"native-inspector": "0.0.9"}, **earlier}
    told = read_answer(workers[0], json.dumps({"schema": worker.SCHEMA, "worker": row, "answer": {}}))
    assert (told.worker.answer, told.answer) == ("other version", None)
    assert "self_tests" in told.worker.reason


def test_a_report_of_a_cluster_is_saved_and_read_back(asked: Any, tmp_path: Path) -> None:
    for report in (asked.namespace(), asked.heap(3), asked.findings(), asked.transfers()):
        report.save(tmp_path / "saved.json")
        assert inspector.load(tmp_path / "saved.json") == report
        assert "2 of 2 answered" in str(report) and "2 of 2 answered" in report.to_html()


def test_a_key_that_no_worker_holds_is_refused_and_only_a_client_is_asked(asked: Any) -> None:
    for key in ("never-made", np.zeros(2)):
        with pytest.raises(InspectorError) as refused:
            asked.inspect(key)
        assert refused.value.slug == "key-not-held"
    with pytest.raises(InspectorError) as refused:
        inspector.on(8786)  # type: ignore[arg-type]
    assert refused.value.slug == "not-a-client"
