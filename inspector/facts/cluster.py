"""A Dask cluster as facts: every result has a row for each worker, with the reason if a worker is silent."""

# SPDX-License-Identifier: MIT
from dataclasses import dataclass
from typing import Literal

from inspector.facts.conversion import Copy
from inspector.facts.finding import Finding
from inspector.facts.heap import TypeCount
from inspector.facts.leaks import Leaks
from inspector.facts.namespace import Row
from inspector.facts.unknown import Unknown

Answer = Literal["answered", "failed", "no extension", "other version", "lost"]
"""The outcome of a request to a worker. "lost": it died or did not answer before the deadline."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker of the cluster at the time of the request."""

    address: str
    name: str
    answer: Answer
    reason: str
    """Why there is no answer; "" if there is one."""
    pid: int | Unknown
    versions: dict[str, str]
    """Package -> version, CPython included."""
    self_tests: dict[str, str]
    """Library -> why its adapter is disabled on this worker (the self test that failed)."""
    keys: int | Unknown
    managed_bytes: int | Unknown
    """Dask's own estimate of the memory of its keys (`Worker.state.nbytes`)."""
    spilled_bytes: int | Unknown
    rss_bytes: int | Unknown
    """Resident set size of the worker's process."""
    owned_bytes: int | Unknown
    """Bytes of its keys' values, read from the libraries' own structs; every byte counted once."""
    resident_bytes: int | Unknown
    """The part of `owned_bytes` that is in memory now."""
    shared_bytes: int | Unknown
    """Bytes counted for several keys: the sum over all keys minus `owned_bytes`."""
    retained_bytes: int | Unknown
    """Bytes that would be freed with all its keys: nothing else keeps them alive."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a worker holds in memory."""

    worker: str
    held: Row
    """The value; rows of one worker with the same group share memory."""
    managed_bytes: int
    """Dask's own estimate of its size (`sizeof`)."""
    copies: int
    """How many workers hold the key."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The keys of one kind of task, on all workers: they differ only by what follows the kind's name."""

    task: str
    """Key prefix: "frompandas" of ("frompandas-4f2a", 0)."""
    type_name: str
    """The type of their values; of several types that of most keys."""
    keys: int
    """Values: a key that two workers hold counts twice."""
    bytes: int
    """Of the values whose bytes are known, each as if it were alone."""
    unknown: int
    """How many values have bytes that are not known."""
    workers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that each worker holds."""

    workers: tuple[Worker, ...]
    keys: tuple[Key, ...]
    """The largest keys of each worker."""
    left_out: int
    kinds: tuple[Kind, ...] = ()
    """All keys in memory by kind of task, most bytes first."""


@dataclass(frozen=True, slots=True)
class WorkerTypes:
    """The heap census of one worker."""

    worker: str
    objects: int
    bytes: int
    types: tuple[TypeCount, ...]
    """The types with the most bytes."""


@dataclass(frozen=True, slots=True)
class ClusterHeap:
    """The heap census of every worker."""

    workers: tuple[Worker, ...]
    heaps: tuple[WorkerTypes, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that is still alive although its key was released: Dask calls its memory unmanaged."""

    worker: str
    key: str
    type_name: str
    bytes: int | Unknown
    owners: tuple[str, ...]
    """Names of its owners; certain owners only."""
    unnamed: int | Unknown
    """References that these owners do not explain."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A global of the user's code on a worker that holds much: Dask calls its memory unmanaged."""

    worker: str
    path: str
    """As in "tasks.kept"; of a function sent by value "`add`'s global `kept`"."""
    type_name: str
    state: str
    """As in the table of names: "64 items", "owned"."""
    bytes: int
    """Of the value and what it holds, each byte counted once."""


@dataclass(frozen=True, slots=True)
class Danger:
    """A finding about a key."""

    worker: str
    key: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class ClusterFindings:
    """The findings of each worker."""

    workers: tuple[Worker, ...]
    dangers: tuple[Danger, ...]
    kept: tuple[Kept, ...]
    unfollowed: int
    """Released keys of types without weak references (list, dict, tuple): it is unknown if they live."""
    differing: dict[str, dict[str, str]]
    """Package -> worker -> version, where versions differ; "numpy (self test)" -> worker -> its result."""
    beside: tuple[Beside, ...] = ()
    """Globals that hold 1 MB or more, most bytes first, whether a key needs the bytes too or not."""
    keys_left_out: int = 0
    """Keys whose dangers were not looked at: beyond the limit of a worker, or on its disk."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A key that one worker sent to another."""

    source: str
    target: str
    key: str
    bytes: int
    """As Dask counted."""
    seconds: float
    """Duration of the whole message, which may have carried other keys too."""
    type_name: str
    buffers: int | Unknown
    """Frames of its serialized form; unknown if the key was released, or is too large to serialize again."""
    zero_copy_bytes: int | Unknown
    """Bytes of the frames that are the value's own memory (pickle protocol 5, PEP 574)."""
    copied_bytes: int | Unknown
    reason: str
    avoid: str
    kind: str = ""
    """Key prefix, as Dask groups tasks: "frompandas"."""


@dataclass(frozen=True, slots=True)
class Transfers:
    """Recent transfers between workers, from their own logs; each key is serialized once to measure it."""

    workers: tuple[Worker, ...]
    sent: tuple[Sent, ...]
    """Most copied bytes first."""


@dataclass(frozen=True, slots=True)
class TaskCopy:
    """Bytes that one call copied in tasks of one kind."""

    worker: str
    task: str
    """Key prefix of the tasks; "" outside any task."""
    copy: Copy


@dataclass(frozen=True, slots=True)
class Remains:
    """What a worker had recorded before it died or stopped answering."""

    worker: str
    records: int | Unknown
    """Records that another worker on the same host read from its files."""
    lost: int | Unknown
    """Records dropped because its rings were full, as far as the rings tell. The record that each thread was
    writing may be missing too."""


@dataclass(frozen=True, slots=True)
class ClusterTrace:
    """What the native calls of every worker copied during a computation."""

    workers: tuple[Worker, ...]
    copies: tuple[TaskCopy, ...]
    """Most copied bytes first."""
    copies_left_out: int
    events: int
    dropped: int
    wall_ns: int
    remains: tuple[Remains, ...] = ()
    """For the workers that gave no answer."""


@dataclass(frozen=True, slots=True)
class WorkerLeaks:
    """The leak verdicts of one worker's process."""

    worker: str
    leaks: Leaks


@dataclass(frozen=True, slots=True)
class ClusterLeaks:
    """References that native code leaked during a computation, on every worker."""

    workers: tuple[Worker, ...]
    found: tuple[WorkerLeaks, ...]
    """Workers of one process share one row, under the first worker's address."""
