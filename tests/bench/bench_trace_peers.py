"""A call from Python into native code, recorded by us and by what CPython offers itself."""

# SPDX-License-Identifier: MIT
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_trace
import specimens
from bench import optional, row, seconds
from bench_trace import LOOP, interleaved

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
    named = monitoring.events
    events = named.CALL | named.C_RETURN | named.C_RAISE  # CPython sets the last two with the first alone
    monitoring.use_tool_id(4, "bench")
    for event in (named.CALL, named.C_RETURN):
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
    "gdb, dprintf": (300, ["gdb", "-q", "-nx", "-batch", "-ex", "set breakpoint pending on",
                     "-ex", 'dprintf PyLong_AsLong,"%p\\n",$rdi', "-ex", "run", "--args"]),
    "ltrace -x": (300, ["ltrace", "-x", "PyLong_AsLong", "-o", "/dev/null"]),
    "uftrace --nest-libcall": (20_000, ["uftrace", "record", "--force", "--nest-libcall", "-d", "seen"]),
}  # fmt: skip
"""Tools that start the program: calls of its loop, what stands before it. One not installed has no row."""
COUNTED = "Interceptor.attach(Module.getGlobalExportByName('PyLong_AsLong'), { onEnter"
FRIDA = {
    "frida, Interceptor in JavaScript": f"""let seen = 0;
        {COUNTED}() {{ seen++; }} }});
        rpc.exports = {{ seen() {{ return seen; }} }};""",
    "frida, Interceptor in C": f"""const seen = Memory.alloc(8);
        const code = new CModule(`#include <gum/guminterceptor.h>
            extern volatile unsigned long seen;
            void counted(GumInvocationContext *call) {{ seen++; }}`, {{ seen }});
        {COUNTED}: code.counted }});
        rpc.exports = {{ seen() {{ return seen.readU64().toNumber(); }} }};""",
}
"""What counts the calls of a process that frida is attached to."""
PROGRAM = """
import sys, time, trace_loop
def took(calls):
    start = time.perf_counter()
    trace_loop.loop(calls)
    return (time.perf_counter() - start) / calls
print("ready", flush=True)
sys.stdin.readline()
print("took", min(took(int(sys.argv[1])) for _ in range(5)), file=sys.stderr, flush=True)
sys.stdin.readline()
"""
DEADLINE = 60.0


def _seconds(told: str) -> float | None:
    """Seconds a call, of what the program said."""
    found = re.search(r"took ([0-9.e-]+)", told)
    return float(found[1]) if found else None


def started(command: list[str], calls: int, folder: str) -> float | None:
    """The program run by a tool."""
    words = [*command, sys.executable, "-c", PROGRAM, str(calls)]
    environment = {**os.environ, "PYTHONPATH": folder}
    with tempfile.TemporaryDirectory() as left:
        ran = subprocess.run(
            words, env=environment, cwd=left, input="\n\n", capture_output=True, text=True, timeout=DEADLINE
        )
    return _seconds(ran.stderr)


def attached(frida: Any, counts: str, calls: int, folder: str) -> float | None:
    """The program counted by frida from within; it is killed at the deadline, and at the end."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    environment = {**os.environ, "PYTHONPATH": folder}
    command = [sys.executable, "-c", PROGRAM, str(calls)]
    with subprocess.Popen(command, env=environment, text=True, **pipes) as child:
        late = threading.Timer(DEADLINE, child.kill)
        late.start()
        try:
            child.stdout.readline()  # type: ignore[union-attr]
            session = frida.attach(child.pid)
            script = session.create_script(counts)
            script.load()
            child.stdin.write("\n")  # type: ignore[union-attr]
            child.stdin.flush()  # type: ignore[union-attr]
            took = _seconds(child.stderr.readline())  # type: ignore[union-attr]
            seen = script.exports_sync.seen()
            session.detach()
            return took if seen >= 5 * calls else None
        except (frida.InvalidOperationError, frida.TransportError, frida.ProcessNotRespondingError):
            return None  # the deadline
        finally:
            late.cancel()
            child.kill()


def outside() -> None:
    """A C-API call that an extension makes, seen by tools that need no recompiling."""
    module = specimens.build("trace_loop", LOOP)
    paths, folder = frozenset([str(module.__file__)]), str(Path(str(module.__file__)).parent)
    least = interleaved(paths, lambda: module.loop(bench_trace.CALLS), 5)
    base = least["off"] / bench_trace.CALLS
    theirs = {
        tool: started(command, calls, folder)
        for tool, (calls, command) in OUTSIDE.items()
        if shutil.which(command[0])
    }
    if frida := optional("frida"):
        theirs |= {tool: attached(frida, counts, 20_000, folder) for tool, counts in FRIDA.items()}
    for tool, took in theirs.items():
        if took is not None:
            own = least["record"] / bench_trace.CALLS - base
            row("PyLong_AsLong seen, more", own, against=tool, theirs=took - base, sizes="a call")


def main() -> None:
    """Each calling convention, then what stops the program."""
    outside()
    for name, call in CALLED.items():
        compared(name, call)


if __name__ == "__main__":
    main()
