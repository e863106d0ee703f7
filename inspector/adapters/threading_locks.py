"""threading: locks, who holds them where CPython keeps it."""

# SPDX-License-Identifier: MIT
import _thread
import sys
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import Layer, Told, attribute, field


class ThreadingLocks(Adapter):
    """Exact `Lock` and `RLock` of C; a look never takes one."""

    library = "threading"

    def types(self) -> tuple[type, ...]:
        """Both types of lock."""
        return (_thread.LockType, _thread.RLock)

    def self_test(self) -> None:
        """A lock tells that it is held; a reentrant one by whom and how often."""
        lock, again = _thread.allocate_lock(), _thread.RLock()
        with lock, again, again:
            told = lock.locked(), _held(again)
        if told != (True, (_thread.get_ident(), 2)) or _held(again) != (0, 0):
            raise ValueError("the text of a lock does not tell who holds it")

    def layers(self, x: Any) -> Told:
        """Computed; in words who holds it."""
        name = type_name(type(x))
        if type(x) is _thread.LockType:
            seen = attribute("x.locked()", x.locked())
            words = "Locked; CPython does not keep by which thread." if x.locked() else "Not locked."
        else:
            owner, count = _held(x)
            seen = field("rlock_owner, rlock_count", f"{owner}, {count}")
            words = f"Locked by {_thread_name(owner)}{_times(count)}." if count else "Not locked."
        return Told((Layer("wrapper", name, "computed", "inline", "owned", (seen,)),), in_words=words)


def _held(x: Any) -> tuple[int, int]:
    """(thread that holds an RLock, how many times), from its repr, which C code writes without the lock."""
    words = dict(part.split("=") for part in repr(x).split() if "=" in part)
    return int(words["owner"]), int(words["count"])


def _thread_name(ident: int) -> str:
    threads = getattr(sys.modules["threading"], "_active", {})
    found = threads.get(ident)
    name = vars(found).get("_name") if found is not None else None
    return f"the thread `{name}`" if type(name) is str else f"the thread {ident}"


def _times(count: int) -> str:
    return f", {count:,} times" if count > 1 else ""


ADAPTER = ThreadingLocks()
