"""The debugger beside Seam: one client drives both adapters through the same steps of the same programs.

    python tests/bench/editor_peers [ROUNDS [SESSION ...]]     the table of docs/benchmarks.md

Both by turns. Runs in a Python of 3.12 or newer that has this package, numpy, psutil, jsonschema and
seam-debugger; Seam needs lldb-18 or newer beside. A number is the median of the rounds; a text is as told.
"""

# SPDX-License-Identifier: MIT
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

TESTS = Path(__file__).resolve().parents[2]
sys.path += [str(TESTS / "debugger"), str(TESTS / "specimens")]

import dap_client  # noqa: E402
import specimens  # noqa: E402
from dap_client import Editor, Message  # noqa: E402
from programs import MANY, PEERED, PROGRAMS, line_of, many  # noqa: E402

SIDES = {"here": ("inspector", "dap"), "Seam": ("seam", "dap")}
READS_S = 2.0
"""A person looks at the first stop for so long."""
HITS, THREADS = 2_000, 3_000
Told = dict[str, float | str]


class Session(Editor):
    """One adapter with one program, at its first stop or running."""

    def __init__(self, side: str, folder: Path) -> None:
        super().__init__(*SIDES[side])
        self.side, self.folder, self.told = side, folder, Told()
        self.thread = 0

    def launched(self, name: str, *marks: str, args: tuple[str, ...] = (), **given: Any) -> float:
        """Launch a program with breakpoints at marked lines; the seconds to its first stop, if it has any."""
        program, start = self.folder / f"{name}.py", time.perf_counter()
        program.write_text(PROGRAMS[name])
        lines = [line_of(PROGRAMS[name], mark) for mark in marks]
        given = {"source": {str(program): lines}, **given} if marks else given
        where = [str(library().parent), *args]
        self.begun(
            "launch",
            program=str(program),
            args=where,
            console="internalConsole",
            python=sys.executable,
            **given,
        )
        if marks:
            self.stopped()
        return time.perf_counter() - start

    def stopped(self) -> Message:
        stop = self.event("stopped")
        self.thread = stop["threadId"]
        return stop

    def do(self, command: str) -> float:
        """Seconds from a step to its stop."""
        start = time.perf_counter()
        self.ask(command, threadId=self.thread)
        self.stopped()
        return time.perf_counter() - start

    def look(self) -> float:
        """Seconds for what an editor asks at a stop."""
        start = time.perf_counter()
        self.locals(self.stack(self.thread)[0])
        return time.perf_counter() - start

    def at(self) -> str:
        """Where it stands: function and line."""
        frame = self.stack(self.thread)[0]
        return f"{frame['name'].partition(' [')[0]}:{frame['line']}"

    def frame(self, name: str) -> Message:
        return next(one for one in self.stack(self.thread) if one["name"].startswith(name))

    def evaluated(self, expression: str, frame: Message) -> str:
        found = self.answered(
            self.send("evaluate", expression=expression, frameId=frame["id"], context="repl")
        )
        return str(found["body"]["result"] if found["success"] else f"refused: {found['message'][:60]}")

    def processes(self) -> list[psutil.Process]:
        """The adapter's own, without the program."""
        own = [psutil.Process(self.child.pid), *psutil.Process(self.child.pid).children(recursive=True)]
        debugged = next(one for one in reversed(own) if str(self.folder) in " ".join(one.cmdline()))
        status = Path(f"/proc/{debugged.pid}/status").read_text()
        tracer = int(status.partition("TracerPid:")[2].split()[0])
        if tracer and tracer not in {one.pid for one in own}:
            own += [psutil.Process(tracer), *psutil.Process(tracer).parents()[:1]]
        return [one for one in own if one.pid != debugged.pid]

    def end(self) -> None:
        self.ask("disconnect", terminateDebuggee=True)


def library() -> Path:
    return specimens.library("peered", PEERED, flags=("-O0",))


def stepping(one: Session) -> None:
    told = one.told
    told["launch to the first stop in Python (imports NumPy), s"] = one.launched("stepped", "CALL")
    told["stack, scopes and variables there, ms"] = 1e3 * min(one.look() for _ in range(5))
    time.sleep(READS_S)
    told["first step into an extension (NumPy loaded), ms"] = 1e3 * one.do("stepIn")
    told["it stands in"] = one.at()
    in_c(one)
    told["step over a line of C, ms"] = 1e3 * statistics.median(one.do("next") for _ in range(4))
    told["step out of C to its Python line, ms"] = 1e3 * one.do("stepOut")
    told["step over to the next line of Python, ms"] = 1e3 * one.do("next")
    told["a later step into the extension, ms"] = 1e3 * one.do("stepIn")
    one.do("stepOut")
    one.do("next")
    told["step into `np.dot`, ms"] = 1e3 * one.do("stepIn")
    told["`np.dot`: it stands in"] = one.at()
    told["memory of the debugger, MB"] = sum(p.memory_full_info().pss for p in one.processes()) / 1e6
    one.end()


def in_c(one: Session) -> None:
    """What is shown at a stop in C."""
    told = one.told
    told["stack, scopes and variables in C, ms"] = 1e3 * min(one.look() for _ in range(5))
    told["shown for `PyObject *list`"] = one.locals(one.stack(one.thread)[0])["list"]["value"]
    work = one.frame("work")
    shown = one.locals(work)
    for name in ("table", "point", "array"):
        told[f"Python local `{name}` at a stop in C"] = shown[name]["value"]
    told["evaluate `len(values) + point.x` at a stop in C"] = one.evaluated("len(values) + point.x", work)


def awaited(one: Session) -> None:
    one.launched("awaited", "AWAIT")
    one.do("next")
    one.told["step over `await`"] = one.at()
    one.end()


def called_back(one: Session) -> None:
    one.launched("called_back", "BACK")
    names = [frame["name"].partition(" [")[0] for frame in one.stack(one.thread)]
    one.told["stack in a callback that C calls"] = " · ".join(names)
    one.end()


def conditional(one: Session) -> None:
    """A breakpoint in C whose condition holds at the last call of many."""
    one.launched("hot", "BEGIN", args=(str(HITS),))
    rows = [{"line": line_of(PEERED, "judged"), "condition": f"i == {HITS - 1}"}]
    one.ask("setBreakpoints", source={"path": str(library().parent / "peered.c")}, breakpoints=rows)
    start = time.perf_counter()
    one.ask("continue", threadId=one.thread)
    one.stopped()
    one.told["a hit of a conditional breakpoint in C, us"] = 1e6 * (time.perf_counter() - start) / HITS
    one.end()


def watched(one: Session) -> None:
    """A variable of C, and an array of 1,000 doubles, from the stop before C writes to it."""
    one.launched("written", "WRITE")
    one.told["data breakpoint on a NumPy array"] = watch(one, "array", one.stack(one.thread)[0])
    one.end()


def watched_in_c(one: Session) -> None:
    one.launched("stepped", "CALL")
    one.do("stepIn")
    one.told["data breakpoint on a variable of C"] = watch(one, "sum", one.stack(one.thread)[0])
    one.end()


def watch(one: Session, name: str, frame: Message) -> str:
    scope = one.ask("scopes", frameId=frame["id"])["scopes"][0]["variablesReference"]
    given = {"name": name} | (
        {"variablesReference": scope} if one.side == "Seam" else {"frameId": frame["id"]}
    )
    found = one.answered(one.send("dataBreakpointInfo", **given))
    number = (found.get("body") or {}).get("dataId")
    if not number:
        return f"refused: {(found.get('body') or found).get('description') or found.get('message')}"
    one.ask("setDataBreakpoints", breakpoints=[{"dataId": number, "accessType": "write"}])
    one.ask("continue", threadId=one.thread)
    return f"stops: {one.stopped()['reason']} at {one.at()}"


def forked(one: Session) -> None:
    """Whether a breakpoint stops in a child: an editor opens the session that it is told of."""
    one.launched(
        "forked",
        args=(str(one.folder),),
        source={
            str(one.folder / "forked.py"): [
                line_of(PROGRAMS["forked"], "CHILD"),
                line_of(PROGRAMS["forked"], "PARENT"),
            ]
        },
    )
    found = one.wait(lambda m: m.get("event") in ("stopped", "debugpyAttach", "terminated"))
    if found["event"] != "debugpyAttach":
        one.told["breakpoint in a child made by os.fork"] = "runs on without a stop"
        one.child.kill()
        return
    with Editor(*SIDES[one.side]) as child:
        given = {key: value for key, value in found["body"].items() if key not in ("name", "type", "request")}
        child.begun(
            "attach", source={str(one.folder / "forked.py"): [line_of(PROGRAMS["forked"], "CHILD")]}, **given
        )
        stop = child.event("stopped")
        top = child.stack(stop["threadId"])[0]
        one.told["breakpoint in a child made by os.fork"] = f"stops at {top['name']}:{top['line']}"
        child.ask("disconnect", terminateDebuggee=True)
    one.child.kill()


def attached(one: Session) -> None:
    """A program whose main thread waits in C."""
    for what, code in (
        ("sleeps without the GIL", "import time\ntime.sleep(60)"),
        ("holds the GIL in C", HOLDS),
    ):
        one.told[f"attach while the main thread {what}, to its stack, s"] = attach(one.side, code)


HOLDS = "import sys\nsys.path.insert(0, sys.argv[1])\nimport peered\npeered.hold(60)"


def attach(side: str, code: str) -> float | str:
    command = [sys.executable, "-c", code, str(library().parent)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as child, Editor(*SIDES[side]) as editor:
        try:
            time.sleep(0.5)
            start = time.perf_counter()
            editor.begun("attach", **({"pid": child.pid} if side == "Seam" else {"processId": child.pid}))
            threads = editor.ask("threads")["threads"]
            editor.ask("pause", threadId=threads[0]["id"])
            editor.stack(editor.event("stopped")["threadId"])
            return time.perf_counter() - start
        except (AssertionError, IndexError) as error:
            return f"fails after {time.perf_counter() - start:.0f} s: {reason(editor) or error}"
        finally:
            child.kill()
            editor.child.kill()


def reason(editor: Editor) -> str:
    """What the adapter said when it refused."""
    return next((m["message"][:60] for m in editor.heard if m.get("success") is False), "")


def crashed(one: Session) -> None:
    filters = ["crashes"] if one.side == "here" else []
    one.launched("crashes", "BEGIN")
    one.ask("setExceptionBreakpoints", filters=filters)
    one.ask("continue", threadId=one.thread)
    one.told["a crash in C"] = f"stops: {one.stopped()['reason']} at {one.at()}"
    one.child.kill()


def threads(one: Session) -> None:
    """Many threads, begun and ended; the program times itself."""
    alone = subprocess.run(
        [sys.executable, one.folder / "threaded.py", "", str(THREADS)], capture_output=True, check=True
    )
    one.launched("threaded", args=(str(THREADS),))
    one.event("terminated")
    said = "".join(m["body"]["output"] for m in one.heard if m.get("event") == "output")
    under = float(said.partition("took ")[2].split()[0])
    one.told[f"{THREADS:,} threads without a breakpoint, times"] = under / float(alone.stdout.split()[1])
    one.child.kill()


def large(one: Session) -> None:
    """An extension of as many functions as pydantic-core's."""
    one.launched("large", "CALL", args=(str(many().parent),))
    time.sleep(READS_S)
    one.told[f"first step into an extension of {MANY:,} functions, s"] = one.do("stepIn")
    one.told[f"{MANY:,} functions: it stands in"] = one.at()
    one.end()


SESSIONS: tuple[Callable[[Session], None], ...] = (
    stepping,
    awaited,
    called_back,
    conditional,
    watched,
    watched_in_c,
    forked,
    attached,
    crashed,
    threads,
    large,
)


def ran(session: Callable[[Session], None], side: str) -> Told:
    """What one session told; a session that fails says how."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            (Path(folder) / f"{name}.py").write_text(text)
        one = Session(side, Path(folder))
        try:
            session(one)
        except (AssertionError, StopIteration, KeyError) as error:
            one.told[f"({session.__name__} failed)"] = str(error)[:200]
        finally:
            one.child.kill()
            one.child.wait()
    return one.told


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    wanted = [one for one in SESSIONS if not sys.argv[2:] or one.__name__ in sys.argv[2:]]
    print("| | Seam | here | ratio |\n|---|---|---|---:|")
    for session in wanted:
        told: dict[str, list[Told]] = {side: [] for side in SIDES}
        for _ in range(rounds):
            for side in SIDES:
                told[side].append(ran(session, side))
        rows(told)


def rows(told: dict[str, list[Told]]) -> None:
    for what in dict.fromkeys(what for one in told.values() for each in one for what in each):
        found = {side: median([each[what] for each in one if what in each]) for side, one in told.items()}
        ours, theirs = found["here"], found["Seam"]
        both = isinstance(ours, float) and isinstance(theirs, float)
        ratio = f"{ours / theirs:.2f}" if both else ""  # type: ignore[operator]
        print(f"| {what} | {drawn(theirs)} | {drawn(ours)} | {ratio} |", flush=True)


def median(values: list[float | str]) -> float | str:
    """Of numbers; the last of texts, and with the others where they differ."""
    numbers = [one for one in values if isinstance(one, float)]
    if numbers and len(numbers) == len(values):
        return statistics.median(numbers)
    return " / ".join(dict.fromkeys(drawn(one) for one in values))


def drawn(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else value.replace("|", "\\|")


if __name__ == "__main__":
    dap_client.WAIT_S = 30.0
    main()
