"""The agent: runs in gdb's Python, carries out the broker's requests, and never leaves a thread stopped.

gdb runs in non-stop mode: every thread reports its own stop, so an action that needs a stopped process waits
for all threads. A separate thread reads requests; gdb's thread carries them out (`gdb.post_event`). At a
breakpoint nothing is sent, because the broker could be waiting for us.
"""

# SPDX-License-Identifier: MIT
import os
import socket
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import gdb

from inspector.debugger import healing
from inspector.debugger.inside.ahead import Ahead
from inspector.debugger.inside.collecting import Collection, PlaceBreakpoint
from inspector.debugger.inside.editor import Editor
from inspector.debugger.inside.planted import Planted, guard
from inspector.debugger.inside.stepping import GOES, Stepper
from inspector.debugger.inside.target_reader import TargetReader
from inspector.debugger.inside.torch_places import Operators
from inspector.debugger.lines import Lines, Message
from inspector.debugger.memory import proc
from inspector.errors import InspectorError
from inspector.objects.isolation import leave_parent

SILENT_S: Final = 1.5
"""The broker pings each second; one that is silent for so long may be stopped by a signal."""
LEAVE_S: Final = 4.0
"""Seconds for gdb to detach when it quits; then it ends by force."""
AGAIN_S: Final = 1.0
CRASHES: Final = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE")
_STOP_AT_CRASHES: Final = f"handle {' '.join(CRASHES)} stop print pass"
_SETTINGS: Final = (
    "set breakpoint pending on",
    "set print thread-events off",
    "set print inferior-events off",
    "set print frame-arguments none",
    "set width 0",
    "set height 0",
    "set may-call-functions off",
    "set follow-fork-mode parent",
    "set detach-on-fork on",
    "set displaced-stepping off",
    "handle all nostop print pass",
    "handle SIGINT nostop print pass",
)


class Agent:
    """One target, from attach to leave."""

    def __init__(self, lines: Lines, folder: str) -> None:
        self.lines, self.folder = lines, folder
        self.state = "starting"
        self.ahead: Ahead | None = None
        self.collection: Collection | None = None
        self.operators: Operators
        self.planted = Planted()
        self.reader: TargetReader | None = None
        self.stepper: Stepper | Editor | None = None
        self._waiting: list[Callable[[], None]] = []
        self._actions: dict[int, Callable[[], None]] = {}
        self._quitting = False
        self._counted: dict[str, Any] = {}
        gdb.events.stop.connect(self._stopped)
        gdb.events.exited.connect(self._exited)
        gdb.events.new_objfile.connect(self._loaded)
        gdb.events.breakpoint_modified.connect(self._loaded)
        gdb.events.clear_objfiles.connect(self._replaced)

    def serve(self) -> None:
        """Read requests until the broker closes the socket or is stopped; runs in its own thread."""
        broker = os.getppid()
        try:
            while True:
                if self.lines.waits(SILENT_S):
                    if "T" in proc.thread_states(broker):
                        raise EOFError
                    continue
                for message in self.lines.receive():
                    gdb.post_event(partial(self._do, message))
        except (EOFError, ValueError, OSError):
            gdb.post_event(self.quit)

    def _do(self, message: Message) -> None:
        reply = partial(self._reply, message.pop("id"))
        do = getattr(self, "do_" + message.pop("do"))
        self._guarded(reply, lambda: do(reply, message))

    def _guarded(self, reply: Callable[..., None], action: Callable[[], None]) -> None:
        """Run `action`; reply with the exception that it raises."""
        try:
            action()
        except InspectorError as error:
            reply(error=error.told())
        except Exception as error:
            reply(error=_refused(error))

    def _reply(self, number: int, **said: Any) -> None:
        try:
            self.lines.send(id=number, state=self.state, **said)
        except OSError:
            self.quit()

    def event(self, **said: Any) -> None:
        """Send an event to all clients."""
        try:
            self.lines.send(state=self.state, **said)
        except OSError:
            self.quit()

    def do_ping(self, reply: Callable[..., None], message: Message) -> None:
        """Answer, to show that gdb responds."""
        reply()

    def do_prepare(self, reply: Callable[..., None], message: Message) -> None:
        """Read the symbols of a process that may be attached later; answers when they are read."""
        self.ahead = Ahead(message["pid"], reply)

    def do_attach(self, reply: Callable[..., None], message: Message) -> None:
        """Attach, set breakpoints, resume; one request, because it may stop the client itself."""
        begin = time.perf_counter_ns()
        if self.ahead is not None:
            self.ahead.stop()
        settings = message.get("settings_inside", ())
        for setting in (*settings, *((_STOP_AT_CRASHES,) if message.get("signals") else ())):
            gdb.execute(setting, to_string=True)

        def standing() -> None:
            if self.ahead is not None:
                self.ahead.close()
            self.reader = TargetReader(message["pid"])
            self.planted = Planted(*message.get("guard") or guard())
            self.collection = Collection(self.reader, self.folder, message)
            self.operators = Operators(self.collection, message["pid"], self._stops_for)
            self.stepper = self._stepper(message)
            refused = self.plant(message["places"])
            self.resume()
            frozen_ns = time.perf_counter_ns() - begin
            reply(frozen_ns=frozen_ns, refused=refused, guarded=bool(self.planted), **self.counts())

        self.when_standing(lambda: self._guarded(reply, standing))
        gdb.execute(f"attach {message['pid']}", to_string=True)

    def _stepper(self, message: Message) -> Stepper | Editor | None:
        assert self.reader is not None and self.collection is not None
        if message.get("editor"):
            return Editor(self.collection, self.event, self.planted.tell, self._standing_once)
        return Stepper(self.reader) if message.get("interactive") else None

    def do_command(self, reply: Callable[..., None], message: Message) -> None:
        """Carry out a command of the user in the stopped process."""
        if self.stepper is None or not gdb.selected_inferior().pid:
            raise RuntimeError("no process is stopped")
        before, self.state = self.state, "running" if message["word"] in GOES else self.state
        try:
            self.stepper.command(reply, message["word"], message["argument"])
        except Exception:
            self.state = before
            raise

    def do_add(self, reply: Callable[..., None], message: Message) -> None:
        """Set more breakpoints while the process runs."""
        reply(refused=self.plant(message["places"]))

    def do_counts(self, reply: Callable[..., None], message: Message) -> None:
        """Reply with the counts so far."""
        reply(**self.counts())

    def counts(self) -> dict[str, Any]:
        """The counts so far, or when the breakpoints were removed."""
        if self.collection is not None and self.state not in ("leaving", "gone"):
            self._counted = self.collection.counts()
            self._counted["places"] += self.operators.counts()
        return self._counted

    def do_leave(self, reply: Callable[..., None], message: Message) -> None:
        """Remove all breakpoints and detach; answers afterwards."""
        self.leave(lambda: reply(**self.counts()))

    def do_quit(self, reply: Callable[..., None], message: Message) -> None:
        """Detach, and end gdb."""
        self.quit()

    def plant(self, places: list[dict[str, Any]]) -> list[str]:
        """Set breakpoints at the places; one sentence for each place that gdb refuses."""
        refused = []
        for place in places:
            try:
                assert self.collection is not None
                if not self.operators.add(place):
                    found = PlaceBreakpoint(self.collection, place)
                    self.collection.places[found.number] = found
                    self.operators.add_named(place, found)
            except (gdb.error, RuntimeError) as error:
                refused.append(f"{place['place']}: {error}")
        self.planted.tell()
        return refused

    def resume(self) -> None:
        """Continue all threads."""
        self.state = "running"
        if gdb.selected_inferior().pid:
            gdb.execute("continue -a &", to_string=True)

    def when_standing(self, action: Callable[[], None]) -> None:
        """Run `action` when all threads have stopped."""
        self._waiting.append(action)

    def stop_all(self, action: Callable[[], None]) -> None:
        """Stop all threads, then run `action`; repeats the interrupt while a thread still runs."""
        self.when_standing(action)
        if self._standing():
            self._look()
            return
        gdb.execute("interrupt -a", to_string=True)
        self._later(AGAIN_S, self._insist)

    def _standing_once(self, action: Callable[[], None]) -> None:
        """Stop all threads, run `action`, and let all go on."""

        def standing() -> None:
            try:
                action()
            finally:
                self.resume()

        self.stop_all(standing)

    def _stops_for(self, action: Callable[[], None]) -> None:
        """The selected thread stops at a breakpoint that needs `action`; it continues after it."""
        self._actions[gdb.selected_thread().ptid[1]] = action

    def _act(self, thread: gdb.InferiorThread, action: Callable[[], None]) -> None:
        thread.switch()
        try:
            action()
            self.planted.tell()
        finally:
            gdb.execute("continue &", to_string=True)

    def _insist(self) -> None:
        if self._waiting and gdb.selected_inferior().pid:
            self._look()
        if self._waiting and gdb.selected_inferior().pid:
            gdb.execute("interrupt -a", to_string=True)
            self._later(AGAIN_S, self._insist)

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, partial(gdb.post_event, action))
        timer.daemon = True
        timer.start()

    def _standing(self) -> bool:
        inferior = gdb.selected_inferior()
        return not inferior.pid or not any(thread.is_running() for thread in inferior.threads())

    def _stopped(self, event: gdb.StopEvent) -> None:
        thread = event.inferior_thread
        if thread is not None and (action := self._actions.pop(thread.ptid[1], None)):
            gdb.post_event(partial(self._act, thread, action))
        elif self._waiting:
            gdb.post_event(self._look)
        elif self.stepper is not None:
            self.state = "stopped"
            gdb.post_event(partial(self.stepper.stopped, event.inferior_thread, _reason(event)))
        elif isinstance(event, gdb.SignalEvent) and event.stop_signal in CRASHES:
            gdb.post_event(partial(self._crashed, event.inferior_thread, event.stop_signal))

    def _crashed(self, thread: gdb.InferiorThread | None, name: str) -> None:
        """Record the stack of a fatal signal, and deliver the signal to the program."""
        if thread is None or not thread.is_valid() or thread.is_running():
            return
        thread.switch()
        if self.collection is not None:
            values = self.collection.reader.native_values()
            self.collection.record(name, lambda frame: values.arguments(frame, None))
        gdb.execute("continue &", to_string=True)

    def _look(self) -> None:
        while self._waiting and self._standing():
            self._waiting.pop(0)()

    def leave(self, then: Callable[[], None]) -> None:
        """Stop all threads, remove all breakpoints, detach, then call `then`."""
        if not gdb.selected_inferior().pid:
            self.state = "gone"
            then()
            return

        def standing() -> None:
            self.counts()
            self.state = "leaving"
            for planted in gdb.breakpoints():
                planted.delete()
            self.planted.forget()
            if gdb.selected_inferior().pid:
                gdb.execute("detach", to_string=True)
            self.state = "gone"
            then()

        self.stop_all(standing)

    def quit(self) -> None:
        """Detach if attached, then end gdb; by force after LEAVE_S."""
        if self._quitting:
            return
        self._quitting = True
        last = threading.Timer(LEAVE_S, self._end_by_force)
        last.daemon = True
        last.start()
        self.leave(lambda: os._exit(0))

    def _end_by_force(self) -> None:
        """End without detaching; a forked child heals the target after gdb, as the broker may be gone."""
        pid = self.reader.pid if self.reader is not None else 0
        leave_parent(os.devnull)
        limit = time.monotonic() + LEAVE_S
        while pid and proc.tracer(pid) and time.monotonic() < limit:
            time.sleep(0.01)
        if pid:
            healing.heal(pid)
        os._exit(3)

    def _exited(self, event: gdb.ExitedEvent) -> None:
        self.counts()
        self.state = "gone"
        code = getattr(event, "exit_code", None)
        if self.stepper is not None:
            gdb.post_event(partial(self.stepper.ended, code))
        gdb.post_event(lambda: self.event(event="exited", code=code))
        if self._quitting:
            gdb.post_event(lambda: os._exit(0))

    def _loaded(self, event: Any) -> None:
        """After loading a library or resolving a pending place: add its addresses to the guard's table."""
        if isinstance(event, PlaceBreakpoint) and event.was_hit():
            return
        if self.reader is not None:
            self.reader.forget()
        if isinstance(event, PlaceBreakpoint) and not event.pending:
            event.leave_out_stubs()
        if self.collection is not None and self.state == "running":
            gdb.post_event(self.operators.loaded)  # gdb dies where a breakpoint is made inside this event
        if isinstance(self.stepper, Editor) and self.state not in ("leaving", "gone"):
            self.stepper.loaded(event)
        if self.state == "running":
            self.planted.tell()

    def _replaced(self, event: Any) -> None:
        if self.reader is not None:
            self.reader.restart()


def _reason(event: gdb.StopEvent) -> str:
    if isinstance(event, gdb.SignalEvent):
        return event.stop_signal
    if isinstance(event, gdb.BreakpointEvent):
        return "watchpoint" if event.breakpoints[0].type != gdb.BP_BREAKPOINT else "breakpoint"
    return "step"


def _refused(error: Exception) -> dict[str, str]:
    why = str(error) if isinstance(error, gdb.error) else f"{type(error).__name__}: {error}"
    return InspectorError("gdb refused.", slug="gdb-refused", why=why[:300], do="read why").told()


def start() -> None:
    """Called by gdb's command line: take over the socket and serve."""
    stream = socket.socket(fileno=int(os.environ.pop("INSPECTOR_AGENT_FD")))
    stream.set_inheritable(False)
    for setting in _SETTINGS:
        gdb.execute(setting, to_string=True)
    agent = Agent(Lines(stream), os.environ.pop("INSPECTOR_AGENT_FOLDER"))
    threading.Thread(target=agent.serve, daemon=True).start()
