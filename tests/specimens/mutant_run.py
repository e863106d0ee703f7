"""Run in a process of its own: an extension's tests, under a debug build's counts or under `leaks`.

`python mutant_run.py counts|leaks|places NAME MODULE FOLDER TEST...` answers each line of its input, a JSON
[mutant, tests, seconds], by a line [exit code, what was told], from a child that it forks: one import
serves all mutants. A mutant below zero is chosen by the environment and reaches the import too. `counts`
tells by how much `sys.gettotalrefcount` grows in each of three runs after a warm one, `leaks` the verdicts of
the repeat rule, `places` what each of the TESTs reaches: names of unittest; "-x" leaves x out.
"""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import gc
import importlib
import io
import itertools
import json
import os
import select
import signal
import sys
import time
import unittest
from collections.abc import Callable

RUNS = 4
PLACES = 4096
STOPPED = 1000
"""The exit code of what passed its deadline."""


def named(names: list[str]) -> list[unittest.TestCase]:
    """The tests of these names, and none that is left out."""
    left_out = [name[1:] for name in names if name.startswith("-")]

    def chosen(tests: unittest.TestSuite) -> list[unittest.TestCase]:
        found: list[unittest.TestCase] = []
        for one in tests:
            found += chosen(one) if isinstance(one, unittest.TestSuite) else [one]
        return [one for one in found if not any(word in one.id() for word in left_out)]

    asked = [name for name in names if not name.startswith("-")]
    return chosen(unittest.TestLoader().loadTestsFromNames(asked))


def suite(names: list[str]) -> Callable[[], None]:
    """A call that runs the tests; what they say is dropped."""

    def run() -> None:
        unittest.TextTestRunner(io.StringIO(), verbosity=0).run(unittest.TestSuite(named(names)))

    return run


def counts(run: Callable[[], None]) -> list[int]:
    """References more after each run."""
    seen = [10**9 + at for at in range(RUNS)]  # as many ints as there will be
    for at in range(RUNS):
        run()
        gc.collect()
        seen[at] = sys.gettotalrefcount()  # type: ignore[attr-defined]
    return [after - before for before, after in itertools.pairwise(seen)]


def verdicts(package: str, run: Callable[[], None]) -> list[tuple[str, bool, str, str, str]]:
    """What `leaks` says, by the repeat rule, in a child."""
    import inspector

    found = inspector.leaks(package).run(run, isolate=True)
    return [
        (one.kind, one.certain, one.object, one.method, str(getattr(one.conversion, "source", "")))
        for one in found
    ]


def places(module: str, names: list[str]) -> list[tuple[str, float, list[int]]]:
    """(test, seconds, numbers of the places it reaches) of each; the first row is the import."""
    library = ctypes.CDLL(str(importlib.import_module(module).__file__))
    reached = (ctypes.c_char * PLACES).in_dll(library, "mutant_reached")
    rows = [("", 0.0, [at for at in range(PLACES) if reached[at] != b"\0"])]
    for one in named(names):
        ctypes.memset(reached, 0, PLACES)
        began = time.perf_counter()
        unittest.TextTestRunner(io.StringIO(), verbosity=0).run(unittest.TestSuite([one]))
        taken = time.perf_counter() - began
        rows.append((one.id(), taken, [at for at in range(PLACES) if reached[at] != b"\0"]))
    return rows


def answered(work: Callable[[], object], seconds: float) -> tuple[int, object]:
    """(exit code, result) of `work` in a forked child, which is stopped after `seconds`."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        code, null = 1, os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # what tests print is no answer
            os.dup2(null, stream)
        try:
            os.write(writer, json.dumps(work()).encode())  # a pipe takes 64 KiB
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    on_time = bool(select.select([reader], [], [], seconds)[0])
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL) if not on_time else None
    told = b"".join(iter(lambda: os.read(reader, 1 << 16), b"")) if on_time else b""
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status) if on_time else STOPPED
    return code, json.loads(told) if told and not code else None


def warm(mode: str, package: str, module: str, names: list[str]) -> None:
    """What every child would do again: imports, and the lines of the C file."""
    file = str(importlib.import_module(module).__file__)
    tests = named(names)
    if mode == "leaks":
        import inspector
        from inspector.binaries.line_table import source_line

        source_line(file, 0)
        inspector.leaks(package).run(suite([tests[0].id()]))


def main(mode: str, package: str, module: str, folder: str, *names: str) -> None:
    """Answer each line."""
    sys.path.insert(0, folder)
    for line in sys.stdin:
        number, tests, seconds = json.loads(line)

        def work(number: int = number, tests: list[str] = tests) -> object:
            if mode == "places":
                return places(module, tests)
            if number >= 0:
                library = ctypes.CDLL(str(importlib.import_module(module).__file__))
                ctypes.c_int.in_dll(library, "mutant").value = number
            return counts(suite(tests)) if mode == "counts" else verdicts(package, suite(tests))

        if number >= 0 and module not in sys.modules:
            warm(mode, package, module, list(names))
        print(json.dumps(answered(work, seconds)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
