"""A real cluster: a scheduler and two workers, each a process of its own."""

# SPDX-License-Identifier: MIT
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Other rows have no dask."""
    room = "libraries" in (config.option.markexpr or "").replace("not libraries", "")
    return True if collection_path.name.startswith("test_") and not room else None


@pytest.fixture(scope="module")
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests look at what is left in it, and another room's may run beside."""
    folder = str(tmp_path_factory.mktemp("workers"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)  # of the workers
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="module")
def cluster(own_temporary_folder: None) -> Iterator[Any]:
    """A LocalCluster of two processes of one thread each."""
    import dask
    from distributed import LocalCluster

    # the scheduler's memory policy would drop the second copy of a key whenever it likes
    with (
        dask.config.set({"distributed.scheduler.active-memory-manager.start": False}),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
    ):
        yield made


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster) as made:
        yield made


@pytest.fixture(scope="module")
def workers(client: Any) -> list[str]:
    """The addresses of the two."""
    return sorted(client.nthreads())


@pytest.fixture(scope="module")
def asked(client: Any) -> Any:
    """The cluster, as the tests ask it."""
    import inspector

    return inspector.on(client)
