"""The second witness: calls functions of a program 200 times, twice, and says what each of the two left.

python -P witness.py program.py call_3 call_4

It knows nothing of the tool and imports nothing of it. It counts the blocks of the object allocator, the
bytes of malloc, pages in memory, and references of the objects that the collector shows.
"""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import gc
import itertools
import json
import os
import runpy
import signal
import sys
import time
from array import array
from collections import Counter
from pathlib import Path
from types import FunctionType

CALLS = 200
WARM_UP = 2000
WARM_UP_SECONDS = 2
MOST = 180
LEAST = {"blocks": MOST, "bytes": MOST * 32, "resident": 150}
"""What it must have grown by: malloc gives no piece under 32 bytes; fewer than 150 pages are noise."""
NOTHING = {
    "raised": "",
    "once": [],
    "first": 0,
    "blocks": 0,
    "bytes": 0,
    "resident": 0,
    "rises": {},
    "falls": {},
}
SECONDS = 30
HELD_BY_CODE = (str, int, float, bytes)
STATM = Path("/proc/self/statm")


class Malloc(ctypes.Structure):
    """mallinfo2(3); `mapped` and `used` are the bytes that are given out."""

    _fields_ = tuple(
        (name, ctypes.c_size_t) for name in ("a", "b", "c", "d", "mapped", "e", "f", "used", "g", "h")
    )


mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Malloc


def main(path, *names):
    """Print as JSON what grows, a line for each call; each runs in a child of its own."""
    space = runpy.run_path(path)
    for name in names:
        child = os.fork()
        if not child:
            signal.alarm(SECONDS)
            print(json.dumps({"call": name, **told(space[name])}), flush=True)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == -signal.SIGALRM:
            print(json.dumps({"call": name, **NOTHING, "slow": True}), flush=True)
        elif code:
            print(json.dumps({"call": name, **NOTHING, "died": f"exit code {code}"}), flush=True)


def told(call):
    """What grows in both of two times 200 calls; kinds and bytes of malloc that the first call leaves."""
    marks = array("q", [0] * 6)
    before = unexplained()
    mark(marks, 0)
    raised = tried(call, 1)
    mark(marks, 3)
    after, first = unexplained(), marks[4] - marks[1]
    once = {kind_of(one) for one in objects() if after.get(id(one), 0) > before.get(id(one), 0)}
    raised = tried(call, WARM_UP) or raised
    rounds = [left(call) for _ in range(2)]
    least = {key: min(one[key] for one in rounds) for key in LEAST}
    grown = {key: value if value >= LEAST[key] else 0 for key, value in least.items()}
    for key in ("rises", "falls"):
        both = rounds[0][key].keys() & rounds[1][key].keys()
        grown[key] = {kind: min(one[key][kind] for one in rounds) for kind in sorted(both)}
    return {"raised": raised, "once": sorted(once), "first": first, **grown}


def tried(call, times):
    """The type of the exception that the last call ended with; caches are filled, as far as time allows."""
    raised, end = "", time.monotonic() + WARM_UP_SECONDS
    for _ in itertools.takewhile(lambda _: time.monotonic() < end, range(times)):
        try:
            call()
        except Exception as error:
            raised = type(error).__name__
    return raised


def left(call):
    """What 200 calls leave."""
    counts, marks = references(), array("q", [0] * 6)
    mark(marks, 0)
    for _ in range(CALLS):
        with contextlib.suppress(Exception):
            call()
    mark(marks, 3)
    blocks, held, pages = (marks[3 + at] - marks[at] for at in range(3))
    return {"blocks": blocks, "bytes": held, "resident": pages} | moved(counts)


def mark(marks, at):
    """Blocks, bytes of malloc, pages: as words, which are no blocks."""
    gc.collect()
    given = mallinfo2()
    marks[at + 1] = given.used + given.mapped
    del given
    marks[at + 2] = int(STATM.read_text().split()[1])
    marks[at] = sys.getallocatedblocks()


def objects():
    """The tracked objects, what they hold, their types, and the constants of functions, each once."""
    tracked = gc.get_objects()
    seen = {id(one): one for one in itertools.chain(tracked, map(type, tracked))}
    for holder in tracked:
        seen.update((id(one), one) for one in gc.get_referents(holder))
        if type(holder) is FunctionType:
            seen.update((id(one), one) for one in holder.__code__.co_consts)
    return [one for one in seen.values() if not (type(one) is int and -6 < one < 257)]  # `counts` holds those


def references():
    """Addresses and counts, as words, which hold nothing."""
    known = sorted((id(one), sys.getrefcount(one)) for one in objects())
    return array("Q", [at for at, _ in known]), array("q", [count for _, count in known])


def unexplained():
    """Address -> references that nothing which the collector shows refers by, where there are any."""
    gc.collect()
    seen = Counter(map(id, itertools.chain.from_iterable(map(gc.get_referents, gc.get_objects()))))
    some = [one for one in objects() if type(one) not in HELD_BY_CODE]
    counts = {id(one): sys.getrefcount(one) - 3 - seen[id(one)] for one in some}
    return {address: count for address, count in counts.items() if count > 0}


def kind_of(one):
    """The kind of an object, in words."""
    return f"class {one.__name__}" if isinstance(one, type) else type(one).__name__


def moved(before):
    """How far the count of one object of a kind rose and fell, where it did so with the calls."""
    counts, rises, falls = dict(zip(*before, strict=True)), {}, {}
    for one in objects():
        change = sys.getrefcount(one) - counts.get(id(one), sys.getrefcount(one))
        if abs(change) >= MOST:
            into = (rises, falls)[change < 0]
            kind = kind_of(one)
            into[kind] = max(into.get(kind, 0), abs(change))
    return {"rises": rises, "falls": falls}


if __name__ == "__main__":
    main(*sys.argv[1:])
