"""A cluster's screen begins with the answer: kinds of tasks, amounts not known, globals that grow."""

# SPDX-License-Identifier: MIT
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest
from debugged import until

from inspector.verdicts.cluster import of_findings

pytestmark = pytest.mark.libraries
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MB = 1_000_000


def tasks() -> Any:
    """Functions that travel by value, being local: workers cannot import a test file."""

    def rows(count: int, _: int) -> Any:
        return np.arange(count, dtype="f8").reshape(-1, 10)

    def total(*arrays: Any) -> float:
        return float(sum(array.sum() for array in arrays))

    return rows, total


rows, total = tasks()


def screen(report: Any) -> list[str]:
    lines = str(report).splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, "\n".join(lines)
    return lines


def test_keys_of_one_kind_are_a_row(client: Any, asked: Any) -> None:
    made = client.map(rows, [1000] * 2000, range(2000))
    client.gather(made[-1])
    until(lambda: sum(kind.keys for kind in asked.namespace(limit=5).cluster_keys.kinds) >= 2000)
    report = asked.namespace(limit=5)
    [kind] = [one for one in report.cluster_keys.kinds if one.task == "rows"]
    assert (kind.keys, kind.bytes, kind.unknown) == (2000, 16 * MB, 0), "each counted, though 10 are rows"
    assert len(report.cluster_keys.keys) == 10 and len(kind.workers) == 2
    assert "`rows` ×2,000 16 MB" in report.answers.rows[0].text
    assert "rows" in "".join(screen(report))


def test_what_is_not_known_of_sent_keys_is_no_zero(client: Any, asked: Any, workers: list[str]) -> None:
    there = [client.submit(rows, 1000, at, workers=workers[:1], key=("sent-away", at)) for at in range(3)]
    assert client.submit(total, *there, workers=workers[1:], key="sent-away-sum").result() > 0
    here = client.submit(rows, 1000, 9, workers=workers[:1], key=("still-held", 9))
    assert client.submit(total, here, workers=workers[1:], key="still-held-sum").result() > 0
    del there
    until(lambda: "sent-away" not in str(client.run(lambda dask_worker: list(map(str, dask_worker.data)))))
    report = asked.transfers()
    said, lines = report.answers.rows[0], screen(report)
    assert not said.certain and "it is not known" in said.text
    assert any("sent-away" in line and "? of 3" in line for line in lines)


def test_a_list_of_a_module_that_a_task_appends_to_is_named(client: Any, asked: Any, tmp_path: Path) -> None:
    module = tmp_path / "growing_tasks.py"
    module.write_text(
        textwrap.dedent("""
            import numpy as np

            kept = []

            def grow(count):
                kept.append(np.ones(count))
                return count
        """)
    )
    [before] = asked.findings().answers.rows[-1:]
    assert "growing_tasks" not in before.text
    client.upload_file(str(module))

    def grown(count: int, at: int) -> int:
        import growing_tasks

        return growing_tasks.grow(count)

    client.gather(client.map(grown, [MB] * 8, range(8), pure=False))
    report = asked.findings()
    held = [one for one in report.cluster_findings.beside if one.path == "growing_tasks.kept"]
    assert 64 * MB <= sum(one.bytes for one in held) < 65 * MB, "no key needs any of them"
    assert "growing_tasks.kept" in report.answers.rows[0].text
    assert any("growing_tasks.kept" in line for line in screen(report))


def test_nothing_is_nothing_in_what_was_looked_at(client: Any, asked: Any) -> None:
    client.run(lambda: __import__("sys").modules.pop("growing_tasks", None))
    with asked.trace("numpy") as traced:
        pass
    said = traced.report.answers.rows[0]
    assert said.text.startswith("No copy was seen in tasks, in ") and said.nothing[0].covered.endswith(
        "records"
    )
    assert "no copy  in " in "\n".join(screen(traced.report))


def test_nothing_is_not_said_of_keys_beyond_the_limit(client: Any, asked: Any, workers: list[str]) -> None:
    held = client.map(rows, [10] * 4, range(100, 104), workers=workers[:1])
    client.gather(held)
    fact = asked.findings(limit=1).cluster_findings
    assert fact.keys_left_out >= 3
    said = of_findings(replace(fact, kept=(), beside=(), dangers=(), unfollowed=0)).rows[0]
    assert not said.certain and f"not looked at: {fact.keys_left_out} other keys" in said.text
