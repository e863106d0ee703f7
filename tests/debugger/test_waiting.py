"""What hangs: deadlocks of the GIL, mutexes and locks, and who keeps whom waiting."""

# SPDX-License-Identifier: MIT
import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.facts.unknown import Unknown
from inspector.facts.waits import Wait, Waits
from inspector.report import Report
from inspector.sessions import running
from inspector.sessions.waiting import hang

pytestmark = [pytest.mark.debugger]

GIL = """
import ctypes, threading, time
free, keeping = ctypes.CDLL(None), ctypes.PyDLL(None)
mutex = ctypes.create_string_buffer(40)
def worker():
    free.pthread_mutex_lock(mutex)
    time.sleep(0.3)
threading.Thread(target=worker, name="worker").start()
time.sleep(0.1)
print("ready", flush=True)
keeping.pthread_mutex_lock(mutex)
"""
LOCKS = """
import threading, time
first, second = threading.Lock(), threading.Lock()
def transfer(a, b):
    with a:
        time.sleep(0.2)
        with b:
            pass
threading.Thread(target=transfer, args=(first, second), name="pay").start()
threading.Thread(target=transfer, args=(second, first), name="refund").start()
print("ready", flush=True)
"""
MANY = """
import fcntl, queue, socket, subprocess, sys, threading, time
plain, items, event = threading.Lock(), queue.Queue(), threading.Event()
class Bank:
    def __init__(self): self.guard = threading.RLock()
    def pay(self):
        with self.guard: time.sleep(1000)
    def ask(self):
        with self.guard: pass
bank = Bank()
def holder():
    with plain, open("/dev/null"):
        left, right = socket.socketpair(); left.recv(1)
def acquirer(lock): lock.acquire()
def freed(lock):
    with lock: pass
    time.sleep(1000)
def itself():
    again = threading.Lock()
    with again:
        with again: pass
def flocked(path):
    file = open(path); fcntl.flock(file, fcntl.LOCK_EX)
def run(name, target, *args):
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start(); time.sleep(0.05)
    return thread
taken, other = threading.Lock(), threading.Lock()
taken.acquire()
held = run("holder", holder); run("acquirer", acquirer, plain); run("pay", bank.pay); run("ask", bank.ask)
run("get", items.get); run("event", event.wait); run("join", held.join); run("itself", itself)
run("anonymous", acquirer, taken); run("child", subprocess.run, ["sleep", "100"]); run("freed", freed, other)
run("flock", flocked, sys.argv[1])
print("ready", flush=True)
time.sleep(1000)
"""


@contextlib.contextmanager
def program(source: str, *arguments: str) -> Iterator[int]:
    """The pid of a Python that ran `source` up to "ready" and 0.6 s more."""
    with subprocess.Popen([sys.executable, "-c", source, *arguments], stdout=subprocess.PIPE) as one:
        try:
            assert one.stdout is not None and one.stdout.readline() == b"ready\n"
            time.sleep(0.6)
            yield one.pid
        finally:
            one.kill()


def row(found: Waits, name: str) -> Wait:
    return next(one for one in found if one.name == name)


def test_a_thread_with_the_gil_and_one_with_a_mutex_are_a_deadlock() -> None:
    with program(GIL) as pid:
        facts = hang(pid)
    told = facts["answers"].rows
    assert [one.slug for one in told] == ["deadlock"] and told[0].certain
    assert re.match(
        r"Deadlock: `MainThread` holds the GIL, waits for a mutex \(<string>:11\); `worker` holds a mutex, "
        r"waits for the GIL \(<string>:7\)\. Release the GIL around the call at <string>:11",
        told[0].text,
    )
    drawn = Report("stacks", facts).drawn(width=80).to_text().splitlines()
    assert drawn[0].startswith(" Deadlock: MainThread holds the GIL") and len(drawn) <= 24
    assert max(map(len, drawn)) <= 80


def test_two_locks_in_two_orders_are_a_deadlock_by_their_names() -> None:
    with program(LOCKS) as pid:
        facts = hang(pid)
    (told,) = facts["answers"].rows
    assert told.slug == "deadlock" and "Take them in the same order" in told.text
    assert "`pay` holds the lock `first`, waits for the lock `second`" in told.text
    assert "`refund` holds the lock `second`, waits for the lock `first`" in told.text


def test_each_kind_of_wait_is_told_by_its_name_with_who_holds_it(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    with locked.open("w") as file:
        subprocess.run(["flock", "-x", str(file.fileno())], pass_fds=[file.fileno()], check=True)
        with program(MANY, str(locked)) as pid:
            facts = hang(pid)
    found = facts["waits"]
    holder = row(found, "holder")
    assert (holder.kind, holder.what[:25]) == ("input", "input from a socket (fd 4")
    said = {one.name: (one.what, one.holders) for one in found}
    assert said["acquirer"] == ("the lock `plain`", (holder.thread_id,))
    assert said["ask"] == ("the RLock `Bank.guard`", (row(found, "pay").thread_id,))
    assert said["join"] == ("thread `holder` to end", (holder.thread_id,))
    assert said["itself"] == ("the lock `again`", (row(found, "itself").thread_id,))
    assert said["anonymous"][0] == "the lock `taken`" and isinstance(said["anonymous"][1], Unknown)
    assert [said[name][0] for name in ("get", "event")] == ["an item of a queue", "an event to be set"]
    assert row(found, "child").kind == "process"
    assert said["flock"][0].startswith(f"a lock on {locked}")
    slugs = [one.slug for one in facts["answers"].rows]
    assert slugs[0] == "deadlock" and "kept-waiting" in slugs and "holder-unknown" in slugs
    drawn = Report("stacks", facts).drawn(width=80).to_text().splitlines()
    assert len(drawn) <= 24


def test_a_thread_that_runs_is_not_called_waiting() -> None:
    source = "import threading\nprint('ready', flush=True)\nwhile True: pass\n"
    with program(source) as pid:
        facts = hang(pid)
    (only,) = facts["waits"]
    assert (only.kind, facts["waits"].gil_holder) == ("runs", pid)
    assert facts["answers"].rows[0].text == "`MainThread` runs (<string>:3)."


def test_the_process_runs_on_as_before() -> None:
    source = "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nprint('on', flush=True)\n"
    with subprocess.Popen(
        [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as one:
        assert one.stdout is not None and one.stdin is not None
        one.stdout.readline()
        found = running.attach(one.pid).waits()
        assert row(found, "MainThread").what.startswith("input from a pipe")
        one.stdin.write(b"\n")
        one.stdin.flush()
        assert one.stdout.readline() == b"on\n"
    assert one.returncode == 0


def test_a_lock_of_a_thread_that_ended_and_an_event_loop_are_told() -> None:
    ended = (
        "import threading\nleft = threading.RLock()\none = threading.Thread(target=left.acquire)\n"
        "one.start(); one.join()\nprint('ready', flush=True)\nleft.acquire()\n"
    )
    with program(ended) as pid:
        (only,) = hang(pid)["waits"]
    assert only.what == "the RLock `left`" and isinstance(only.holders, Unknown)
    assert only.holders.reason == "the thread that took it has ended"
    loop = "import asyncio\nasync def f():\n    print('ready', flush=True)\n    await asyncio.Event().wait()"
    with program(f"{loop}\nasyncio.run(f())\n") as pid:
        (only,) = hang(pid)["waits"]
    assert re.fullmatch(r"events of an event loop \(fd \d+\)", only.what)


TASKS = """
import asyncio
async def inner(lock):
    async with lock: pass
async def outer(lock): await inner(lock)
async def get(queue): await queue.get()
async def main():
    lock, queue, loop = asyncio.Lock(), asyncio.Queue(), asyncio.get_running_loop()
    await lock.acquire()
    each = [asyncio.create_task(outer(lock), name="fetch")]
    each += [asyncio.create_task(get(queue)) for _ in range(20)]
    ended = asyncio.create_task(asyncio.sleep(0))
    loop.call_later(0.2, lambda: print("ready", flush=True))
    await asyncio.gather(*each, ended)
asyncio.run(main())
"""


def test_the_tasks_of_an_event_loop_say_what_they_await_and_where() -> None:
    with program(TASKS) as pid:
        facts = hang(pid)
    assert facts["answers"].rows[0].text == (
        "20 tasks wait for an item of a queue (get(), <string>:6), `fetch` waits for a lock (inner(), "
        "<string>:4) and `Task-1` waits for several tasks, gathered (main(), <string>:14)."
    )
    assert len(facts["waits"].tasks) == 22  # not the one that has ended
    drawn = Report("stacks", facts).drawn(width=80).to_text()
    assert re.search(r"Task-\d+ ×20 +get\(\) +an item of a queue", drawn)


def test_a_task_that_has_not_begun_and_a_program_without_a_loop() -> None:
    source = (
        "import asyncio, time\nasync def later(): pass\nasync def main():\n"
        "    one = asyncio.create_task(later())\n"
        "    print('ready', flush=True)\n    time.sleep(100)\nasyncio.run(main())\n"
    )
    with program(source) as pid:
        said = {one.coroutine: one.what for one in hang(pid)["waits"].tasks}
    assert said == {"main": "", "later": "its turn to begin"}
    with program("import time\nprint('ready', flush=True)\ntime.sleep(100)\n") as pid:
        assert not hang(pid)["waits"].tasks
