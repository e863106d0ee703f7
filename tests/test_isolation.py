"""The forked child: its result, and each way it can fail, are values of the parent."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import threading
import time

import psutil
import pytest

from inspector.facts.unknown import Unknown
from inspector.objects import isolation

pytestmark = [pytest.mark.core, pytest.mark.quick]
ROOM = 64 * 2**20


def run(function: object, deadline_s: float = 10, memory_limit_bytes: int = ROOM) -> object:
    """`isolation.run` once no other thread is busy (a just ended one may still be leaving)."""
    for _ in range(200):
        answer = isolation.run(function, deadline_s, memory_limit_bytes)  # type: ignore[arg-type]
        if not (isinstance(answer, Unknown) and answer.reason.startswith("not forked")):
            return answer
        time.sleep(0.01)
    return answer


def test_a_plain_value_comes_back() -> None:
    value = {"copies": True, "bytes": 96, "names": ("a", b"b", 1.5, None)}
    assert run(lambda: value) == value


def test_what_the_child_changes_stays_in_the_child() -> None:
    kept: list[int] = []
    assert run(lambda: kept.append(1) or len(kept)) == 1
    assert kept == []


def test_what_the_child_prints_is_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(lambda: print("heard") or os.write(2, b"heard")) == 5
    assert capfd.readouterr() == ("", "")


def fail() -> None:
    raise LookupError("no such vector")


def endless() -> None:
    while True:
        time.sleep(1)


def crash() -> None:
    ctypes.string_at(8)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (fail, "it raised LookupError: no such vector"),
        (crash, "the child died of SIGSEGV"),
        (lambda: bytearray(ROOM * 2) and 1, "it raised MemoryError"),
        (lambda: os._exit(3), "the child ended without a result"),
        (lambda: object(), "its result, object, is not made of plain values"),
        (lambda: bytes(isolation.RESULT_BYTES_MAX), "the limit is"),
    ],
)
def test_a_failure_is_an_unknown_with_its_reason(function: object, reason: str) -> None:
    answer = run(function)
    assert isinstance(answer, Unknown)
    assert reason in answer.reason


def test_the_deadline_ends_an_endless_child() -> None:
    start = time.monotonic()
    answer = run(endless, deadline_s=0.3)
    assert answer == Unknown("the child was stopped after 0.3 s")
    assert time.monotonic() - start < 5


def test_no_child_is_left_behind() -> None:
    before = psutil.Process().children()  # of the tests before this one
    run(endless, deadline_s=0.1)
    run(crash)
    assert set(psutil.Process().children()) <= set(before)


def test_no_fork_while_another_thread_runs() -> None:
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        answers = [isolation.run(lambda: 1, 10, ROOM) for _ in range(5)]
    finally:
        stop.set()
        thread.join()
    refused = [answer for answer in answers if isinstance(answer, Unknown)]
    assert refused
    assert "1 other thread running" in refused[0].reason


def test_a_sleeping_thread_does_not_hinder() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert run(lambda: 7) == 7
    finally:
        stop.set()
        thread.join()
