"""In the room of a package: which places each call reaches, and what `leaks` says of a call with a fault on.

python -P trial.py program.py EXTENSION,EXTENSION WATCHED,WATCHED answers each line of its input, a JSON
[what, fault, call, seconds], by a line, from a child that it forks: `reach` the numbers of the places that
the call passes, `once` the verdicts of the call made once, `often` those of several runs in a child,
`witness` what the second witness sees grow.
"""

# SPDX-License-Identifier: MIT
import contextlib
import ctypes
import importlib
import json
import os
import runpy
import select
import signal
import sys

import functions
import witness

import inspector

PLACES, STACKS, DEPTH = 8192, 16, 48
STOPPED = 1000


def main(path, extensions, watched):
    """Answer each line."""
    names, watched = extensions.split(","), watched.split(",")
    modules = [importlib.import_module(one) for one in names]
    libraries = [ctypes.CDLL(one.__file__) for one in modules]
    symbols = functions.Symbols(modules)
    space = runpy.run_path(path)
    first = space["CALLS"][0]
    with contextlib.suppress(Exception):
        first()
    inspector.leaks(*watched).run(lambda: None)
    for line in sys.stdin:
        what, fault, call, seconds = json.loads(line)

        def work(what=what, fault=fault, call=call):
            made = space[call]
            if what == "reach":
                return reached(libraries, made)
            if what == "witness":
                turn(libraries, fault)
                return witness.told(made)
            look = once if what == "once" else often
            verdicts = look(watched, made, lambda number: turn(libraries, number and fault))
            passed = symbols.named(stacks(libraries))
            return {"passed": sorted(passed), "verdicts": [told(one, symbols) for one in verdicts]}

        print(json.dumps(answered(work, seconds)), flush=True)


def turn(libraries, fault):
    """Switch a fault on, or all off."""
    for one in libraries:
        ctypes.c_int.in_dll(one, "planted").value = fault


def reached(libraries, call):
    """The numbers of the places that the call passes."""
    held = [(ctypes.c_ubyte * PLACES).in_dll(one, "planted_reached") for one in libraries]
    for one in held:
        ctypes.memset(one, 0, PLACES)
    with contextlib.suppress(Exception):
        call()
    return [at for at in range(PLACES) if any(one[at] for one in held)]


def stacks(libraries):
    """The return addresses of those who passed the fault."""
    held = [(ctypes.c_void_p * (STACKS * DEPTH)).in_dll(one, "planted_stacks") for one in libraries]
    return {at for one in held for at in one if at}


def once(watched, call, switch):
    """The verdicts of one call."""
    with inspector.leaks(*watched) as found:
        switch(1)
        with contextlib.suppress(Exception):
            call()
        switch(0)
    return found.verdicts


def often(watched, call, switch):
    """The verdicts of several runs, in a child of its own, whose death is one."""

    def run():
        with contextlib.suppress(Exception):
            call()

    switch(1)
    return inspector.leaks(*watched).run(run, isolate=True).verdicts


def told(verdict, symbols):
    """What the rig needs of a verdict."""
    names = ("kind", "object", "certain", "method", "said", "reason")
    kept = {name: getattr(verdict, name) for name in names}
    source = getattr(verdict.conversion, "source", "")
    source = source if isinstance(source, str) else ""
    if getattr(verdict.conversion, "role", "") == "allocated" and not verdict.conversion.method:
        kept["method"] = ""  # the name is the library's
    return kept | {"source": source, "functions": sorted(symbols.of_method(kept["method"]))}


def answered(work, seconds):
    """[exit code, result] of `work` in a forked child; below zero: a signal."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(null, stream)
        with os.fdopen(writer, "w") as answer:
            answer.write(json.dumps(work()))
        os._exit(0)
    os.close(writer)
    on_time = bool(select.select([reader], [], [], seconds)[0])
    with contextlib.suppress(OSError):
        on_time or os.killpg(child, signal.SIGKILL)
    with os.fdopen(reader) as answer:
        text = answer.read() if on_time else ""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not on_time:
        code = STOPPED
    try:
        return [code, json.loads(text)]
    except ValueError:
        return [code or 1, None]


if __name__ == "__main__":
    main(*sys.argv[1:])
