"""A cluster of its own: two workers in `make test`, eight in `make soak`; all traced, and one dies."""

# SPDX-License-Identifier: MIT
import os
import signal
import sys
from typing import Any

import cloudpickle
import numpy as np
import pytest
from debugged import until

import inspector

pytestmark = pytest.mark.libraries
cloudpickle.register_pickle_by_value(sys.modules[__name__])

MANY = 8 if os.environ.get("INSPECTOR_SOAK") == "1" else 2
BYTES = 8_000_000


def test_each_of_many_workers_tells_its_own_and_one_may_die() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=MANY, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        workers, asked = sorted(client.nthreads()), inspector.on(client)
        with asked.trace("numpy") as traced:
            client.gather(
                [client.submit(_turning(), BYTES // 8, workers=[one], pure=False) for one in workers]
            )
            os.kill(client.run(os.getpid, workers=workers[-1:])[workers[-1]], signal.SIGKILL)
            until(lambda: workers[-1] not in client.nthreads())
    answers = {one.address: one.answer for one in traced.fact.workers}
    assert [answers[address] for address in workers] == ["answered"] * (MANY - 1) + ["lost"]
    copied = {one.worker for one in traced.fact.copies if one.copy.copied_bytes == BYTES}
    assert copied == set(workers), "the dead one's is read back from its files"
    assert [one.lost for one in traced.fact.remains] == [0]


def _turning() -> Any:
    """A function that travels by value, being local: workers cannot import a test file."""

    def turned(count: int) -> float:
        return float(np.ascontiguousarray(np.arange(count, dtype="f8").reshape(-1, 10).T)[0, 0])

    return turned
