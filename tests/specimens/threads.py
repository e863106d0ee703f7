"""Work in threads: each function once, all at the same time; or one again and again."""

# SPDX-License-Identifier: MIT
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What the functions give, each called in a thread of its own once all threads are there."""
    gate, results = threading.Barrier(len(works)), dict[int, Any]()

    def body(number: int) -> None:
        gate.wait()
        results[number] = works[number]()

    threads = [threading.Thread(target=body, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == len(works), "every thread ended, and none by an exception"
    return [results[number] for number in range(len(works))]


@contextmanager
def repeating(count: int, work: Callable[[], object]) -> Iterator[None]:
    """`work` again and again in `count` threads, until the block ends."""
    over = threading.Event()

    def body() -> None:
        while not over.is_set():
            work()

    threads = [threading.Thread(target=body) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def busy(*calls: Callable[[], object]) -> Iterator[list[BaseException]]:
    """Threads that make these calls over and over; what they raised."""
    over, raised = threading.Event(), list[BaseException]()

    def loop(call: Callable[[], object]) -> None:
        while not over.is_set():
            try:
                call()
            except BaseException as error:  # a thread's exception would be lost
                raised.append(error)
                return

    threads = [threading.Thread(target=loop, args=(call,)) for call in calls]
    for one in threads:
        one.start()
    try:
        yield raised
    finally:
        over.set()
        for one in threads:
            one.join()
