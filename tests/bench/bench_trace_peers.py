"""A call from Python into native code, recorded by us and by what CPython offers itself."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_trace
import specimens
from bench import row
from bench_trace import LOOP, interleaved, seconds

from inspector import _native

CALLS, ROUNDS = 50_000, 15

UNSEEN = ", which sys.setprofile does not see"

Call = tuple[Callable[..., object], tuple[Any, ...], object]
"""What is called, with what, and what is hooked for that."""
CALLED: dict[str, Call] = {
    "math.gcd(12, 18), METH_FASTCALL": (math.gcd, (12, 18), math.gcd),
    "math.sqrt(2.0), METH_O": (math.sqrt, (2.0,), math.sqrt),
    "(12345).bit_length(), METH_NOARGS of int": ((12345).bit_length, (), int.bit_length),
    "[].count(1), METH_O of list": ([].count, (1,), list.count),
    "'a'.upper(), METH_NOARGS of str": ("a".upper, (), str.upper),
    f"complex(1.0), vectorcall of a type{UNSEEN}": (complex, (1.0,), complex),
}


def loop(call: Call) -> None:
    """One native call a turn."""
    function, arguments, _ = call
    for _ in range(CALLS):
        function(*arguments)


def ours(call: Call) -> float:
    """With arguments, result and line recorded."""
    _native.methods_arm([call[2]])
    _native.ring_begin("", 1 << 16, "last", 1, 0, 64 << 20, -1)
    _native.calls_open(True)
    try:
        return seconds(lambda: loop(call))
    finally:
        _native.calls_open(False)
        _native.calls_disarm()
        _native.ring_end()
        _native.interned_clear()


def profiled(call: Call) -> float:
    """sys.setprofile with a callback that does nothing: it keeps nothing."""

    def nothing(frame: object, event: str, argument: object) -> None:
        pass

    sys.setprofile(nothing)
    try:
        return seconds(lambda: loop(call))
    finally:
        sys.setprofile(None)


def monitored(call: Call) -> float:
    """sys.monitoring (3.12 and later) with CALL and C_RETURN, callbacks that do nothing."""
    monitoring: Any = vars(sys)["monitoring"]
    events = monitoring.events.CALL | monitoring.events.C_RETURN
    monitoring.use_tool_id(4, "bench")
    for event in (monitoring.events.CALL, monitoring.events.C_RETURN):
        monitoring.register_callback(4, event, lambda *words: None)
    monitoring.set_events(4, events)
    try:
        return seconds(lambda: loop(call))
    finally:
        monitoring.set_events(4, 0)
        monitoring.free_tool_id(4)


def compared(name: str, call: Call) -> None:
    """All ways interleaved; what a call costs more than without."""
    ways = {"ours": ours, "sys.setprofile": profiled}
    if hasattr(sys, "monitoring"):
        ways["sys.monitoring"] = monitored
    base, least = float("inf"), dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        base = min(base, seconds(lambda: loop(call)))
        for way, run in ways.items():
            least[way] = min(least[way], run(call))
    own = (least["ours"] - base) / CALLS
    if name.endswith(UNSEEN):
        row("a native call recorded, more", own, sizes=name)
        return
    for way in list(ways)[1:]:
        theirs = (least[way] - base) / CALLS
        bar = 0.25 if way == "sys.setprofile" else None
        row("a native call recorded, more", own, against=way, theirs=theirs, bar=bar, sizes=name)


OUTSIDE = {
    "gdb, dprintf": ["gdb", "-q", "-nx", "-batch", "-ex", "set breakpoint pending on",
                     "-ex", 'dprintf PyLong_AsLong,"%p\\n",$rdi', "-ex", "run", "--args"],
    "ltrace -x": ["ltrace", "-x", "PyLong_AsLong", "-o", "/dev/null"],
}  # fmt: skip
"""Tools that stop the program at each call; one that is not installed has no row."""
PROGRAM = "import sys, time, trace_loop as t; s = time.perf_counter(); t.loop(300); "
PROGRAM += "print('took', time.perf_counter() - s, file=sys.stderr)"


def outside() -> None:
    """A C-API call that an extension makes, seen by tools that need no recompiling."""
    module = specimens.build("trace_loop", LOOP)
    paths = frozenset([str(module.__file__)])
    least = interleaved(paths, lambda: module.loop(bench_trace.CALLS), 5)
    own = (least["record"] - least["off"]) / bench_trace.CALLS
    environment = {**os.environ, "PYTHONPATH": str(Path(str(module.__file__)).parent)}
    for tool, command in OUTSIDE.items():
        if shutil.which(command[0]):
            words = [*command, sys.executable, "-c", PROGRAM]
            ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
            found = re.search(r"took ([0-9.e-]+)", ran.stderr)
            if found:
                row(
                    "PyLong_AsLong seen, more",
                    own,
                    against=tool,
                    theirs=float(found[1]) / 300,
                    sizes="a call",
                )


def main() -> None:
    """Each calling convention, then what stops the program."""
    outside()
    for name, call in CALLED.items():
        compared(name, call)


if __name__ == "__main__":
    main()
