"""A Dask cluster as facts: beside every answer a row for each worker, the silent ones with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inspector.facts.conversion import Copy
from inspector.facts.finding import Finding
from inspector.facts.heap import TypeCount
from inspector.facts.leaks import Leaks
from inspector.facts.namespace import Row
from inspector.facts.unknown import Unknown

Answer = Literal["answered", "failed", "no extension", "other version", "lost"]
"""What came of asking a worker. "lost": it died or did not answer within the deadline."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One worker of the cluster, as it was when it was asked."""

    address: str
    name: str
    answer: Answer
    reason: str
    """Why there is no answer; "" where there is one."""
    pid: int | Unknown
    versions: dict[str, str]
    """Package -> version, CPython among them."""
    self_tests: dict[str, str]
    """Library -> why its adapter is left out on this worker: a self test that failed."""
    keys: int | Unknown
    managed_bytes: int | Unknown
    """What Dask believes its keys hold in memory (`Worker.state.nbytes`)."""
    spilled_bytes: int | Unknown
    rss_bytes: int | Unknown
    """Resident set of the worker's process."""
    owned_bytes: int | Unknown
    """Behind its keys, by the libraries' own structs; every byte counted once."""
    resident_bytes: int | Unknown
    """Of them, in memory now."""
    shared_bytes: int | Unknown
    """What keys have of one another's memory: the bytes of all keys together, less `owned_bytes`."""
    retained_bytes: int | Unknown
    """Freed if all its keys went: what they keep alive, and nobody else."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key that a worker holds in memory."""

    worker: str
    held: Row
    """What it holds; rows of one worker with the same group share memory."""
    managed_bytes: int
    """What Dask believes it holds (`sizeof`)."""
    copies: int
    """Workers that hold the key."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What every worker holds."""

    workers: tuple[Worker, ...]
    keys: tuple[Key, ...]
    """The heaviest of each worker."""
    left_out: int


@dataclass(frozen=True, slots=True)
class WorkerTypes:
    """The census of one worker."""

    worker: str
    objects: int
    bytes: int
    types: tuple[TypeCount, ...]
    """The heaviest."""


@dataclass(frozen=True, slots=True)
class ClusterHeap:
    """The census of every worker."""

    workers: tuple[Worker, ...]
    heaps: tuple[WorkerTypes, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A value whose key is finished and which is alive all the same: memory that Dask calls unmanaged."""

    worker: str
    key: str
    type_name: str
    bytes: int | Unknown
    owners: tuple[str, ...]
    """Who keeps it alive, named; certain ones only."""
    unnamed: int | Unknown
    """References that none of them explains."""


@dataclass(frozen=True, slots=True)
class Danger:
    """A finding about a key."""

    worker: str
    key: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class ClusterFindings:
    """What is wrong on which worker."""

    workers: tuple[Worker, ...]
    dangers: tuple[Danger, ...]
    kept: tuple[Kept, ...]
    unfollowed: int
    """Finished keys of types without weak references (list, dict, tuple): whether they live is not known."""
    differing: dict[str, dict[str, str]]
    """Package -> worker -> version, where they differ; "numpy (self test)" -> worker -> what came of it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A key that went from one worker to another."""

    source: str
    target: str
    key: str
    bytes: int
    """As Dask counted them."""
    seconds: float
    """Of the whole message, in which other keys may have travelled too."""
    type_name: str
    buffers: int | Unknown
    """Frames of its serialized form; unknown once the key is gone, or where it is too large to be tried."""
    zero_copy_bytes: int | Unknown
    """Of the frames, those that are the value's own memory (pickle protocol 5, PEP 574)."""
    copied_bytes: int | Unknown
    reason: str
    avoid: str


@dataclass(frozen=True, slots=True)
class Transfers:
    """What workers sent each other lately, by their own logs, and what of it was copied."""

    workers: tuple[Worker, ...]
    sent: tuple[Sent, ...]
    """Most copied bytes first."""


@dataclass(frozen=True, slots=True)
class TaskCopy:
    """Bytes copied in tasks of one kind at one call."""

    worker: str
    task: str
    """Key prefix of the tasks; "" outside any."""
    copy: Copy


@dataclass(frozen=True, slots=True)
class Remains:
    """What a worker that died, or no longer answered, had recorded until then."""

    worker: str
    records: int | Unknown
    """Read back from its files by another worker of its host."""
    lost: int | Unknown
    """Those for which its rings had no room, as far as they say; of each thread the record that was being
    written may lack too."""


@dataclass(frozen=True, slots=True)
class ClusterTrace:
    """What every worker's native calls copied while a computation ran."""

    workers: tuple[Worker, ...]
    copies: tuple[TaskCopy, ...]
    """Most copied bytes first."""
    copies_left_out: int
    events: int
    dropped: int
    wall_ns: int
    remains: tuple[Remains, ...] = ()
    """Of the workers that gave no answer themselves."""


@dataclass(frozen=True, slots=True)
class WorkerLeaks:
    """The verdicts of one worker's process."""

    worker: str
    leaks: Leaks


@dataclass(frozen=True, slots=True)
class ClusterLeaks:
    """References that native code lost while a computation ran, on every worker."""

    workers: tuple[Worker, ...]
    found: tuple[WorkerLeaks, ...]
    """Workers that live in one process share one row: the first one's."""
