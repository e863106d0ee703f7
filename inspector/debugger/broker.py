"""The broker: a process between client and gdb, which keeps running while gdb stops the client.

The client is often the process that gdb stops; then it cannot answer, and could not end a gdb that hangs.
So the broker owns gdb, forwards requests with a deadline each, and heals the target when gdb ends without
detaching. It is not a child of the client (double fork), and speaks JSON lines over a Unix socket (mode 0600,
in a folder of mode 0700) with clients that have the token.

    client  <- socket ->  broker  <- socket pair ->  gdb (inside.py)  <- ptrace ->  target (often = client)

States: absent, starting, running, stopped, leaving, gone, healed, refused. Every answer has the state.
A session ends by `quit`, or when the last client disconnects, the target ends, or gdb ends. The broker asks
gdb to detach, kills it after LEAVE_S, and heals what gdb left in the target.
"""

# SPDX-License-Identifier: MIT
import json
import os
import secrets
import selectors
import shutil
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

from inspector.debugger import healing, preflight
from inspector.debugger.child import Gdb
from inspector.debugger.lines import Lines, Message, over
from inspector.debugger.memory import proc
from inspector.errors import InspectorError
from inspector.objects.isolation import leave_parent

TICK_S: Final = 1.0
LEAVE_S: Final = 3.0
LONELY_S: Final = 20.0
"""Seconds after which a broker without clients ends."""


class Broker:
    """One target, one gdb, its clients."""

    def __init__(self, listener: socket.socket, folder: str, token: str, target: int) -> None:
        self.folder, self.token, self.target = folder, token, target
        self.state, self.ended = "absent", ""
        self.gdb: Gdb | None = None
        self.clients: set[Lines] = set()
        self.waiting: dict[int, tuple[Lines, int, float]] = {}
        self.quitting_since: float | None = None
        self._number = self._dead_ticks = self._away_ticks = 0
        self._is_editors = self._attaches = False
        self._born = time.monotonic()
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._greet)

    def run(self) -> None:
        """Serve until the session is over."""
        at = time.monotonic() + TICK_S
        while not self._over():
            for key, _ in self._selector.select(max(0.0, at - time.monotonic())):
                key.data()
            if time.monotonic() >= at:
                at = time.monotonic() + TICK_S
                self._tick()

    def _over(self) -> bool:
        lonely = not self.clients and time.monotonic() - self._born > LONELY_S
        return self.gdb is None and (self.quitting_since is not None or lonely)

    def _tick(self) -> None:
        now = time.monotonic()
        for number in [n for n, (_, _, limit) in self.waiting.items() if now > limit]:
            client, own, _ = self.waiting.pop(number)
            self._answer(client, own, error=_late(self.state))
        if self.gdb is None:
            return
        if self.quitting_since is not None and now - self.quitting_since > LEAVE_S:
            self.gdb.end()
        self._bury()
        self._leave_stopped_editor()
        patient = max((limit for _, _, limit in self.waiting.values()), default=0.0)
        try:
            self.gdb.tick(patient)
        except OSError:  # the agent closed its socket: gdb is ending
            self.gdb.end()

    def _bury(self) -> None:
        """End a gdb that has not noticed its process's death by the next tick.

        gdb does not notice where the process was killed while stopped: that stop has no registers.
        """
        dead = self.state != "gone" and not proc.alive(self.target)
        self._dead_ticks = self._dead_ticks + 1 if dead else 0
        if self._dead_ticks > 1 and self.gdb is not None:
            self.gdb.end()

    def _leave_stopped_editor(self) -> None:
        """End an editor's session whose adapter a signal stopped: nobody could continue the program."""
        away = self._is_editors and all("T" in proc.thread_states(one.peer()) for one in self.clients)
        self._away_ticks = self._away_ticks + 1 if away else 0
        if self._away_ticks > 1:
            self.ended = "the adapter was stopped by a signal"
            self._quit()

    def _greet(self) -> None:
        stream, _ = self._listener.accept()
        client = Lines(stream)
        self._selector.register(client, selectors.EVENT_READ, lambda: self._hear(client))

    def _hear(self, client: Lines) -> None:
        try:
            for message in client.receive():
                self._serve(client, message)
        except (EOFError, ValueError, OSError):
            self._lose(client)

    def _lose(self, client: Lines) -> None:
        self._selector.unregister(client)
        self.clients.discard(client)
        client.close()
        self.waiting = {n: row for n, row in self.waiting.items() if row[0] is not client}
        if not self.clients:
            self._quit()

    def _serve(self, client: Lines, message: Message) -> None:
        if client not in self.clients:
            if not secrets.compare_digest(str(message.get("token")), self.token):
                raise EOFError
            self.clients.add(client)
            self._answer(client, 0, broker=os.getpid())
            return
        own, do = int(message.pop("id")), message.pop("do")
        try:
            if do == "start":
                self._start(client, own, message)
            elif do == "prepare":
                self._prepare(client, own, message)
            elif do == "state":
                self._answer(client, own, pid=self.gdb.child.pid if self.gdb else 0, broker=os.getpid())
            elif do == "quit":
                self._quit()
                self._answer(client, own)
            else:
                self._pass_on(client, own, do, message)
        except InspectorError as error:
            self._answer(client, own, error=error.told())

    def _answer(self, client: Lines, own: int, **said: Any) -> None:
        if client in self.clients:
            try:
                client.send(id=own, state=self.state, ended=self.ended, **said)
            except OSError:
                self._lose(client)

    def _prepare(self, client: Lines, own: int, message: Message) -> None:
        """Start gdb ahead of `start`: it reads symbols, and touches nothing."""
        if self.gdb is None:
            self._begin_gdb(preflight.path(), message)
            self._pass_on(client, own, "prepare", {**message, "pid": self.target})

    def _start(self, client: Lines, own: int, message: Message) -> None:
        if self.gdb is not None and self._attaches:
            raise preflight.already_traced(self.target, self.gdb.child.pid)
        try:
            path = preflight.check(self.target)
        except InspectorError:
            self.state = "refused"
            raise
        self.state, self.ended = "starting", ""
        self._is_editors, self._attaches = bool(message.get("editor")), True
        if self.gdb is None:
            self._begin_gdb(path, message)
        self._pass_on(client, own, "attach", {**message, "pid": self.target})

    def _begin_gdb(self, path: str, message: Message) -> None:
        self.gdb = Gdb(path, self.folder, tuple(message.pop("settings", ())))
        self._selector.register(self.gdb, selectors.EVENT_READ, self._gdb_ended)
        self._selector.register(self.gdb.agent, selectors.EVENT_READ, self._hear_agent)

    def _pass_on(self, client: Lines, own: int, do: str, message: Message) -> None:
        if self.gdb is None:
            self._answer(client, own, error=_no_gdb(self.ended))
            return
        self._number += 1
        limit = time.monotonic() + float(message.pop("deadline_s", 10.0))
        self.waiting[self._number] = (client, own, limit)
        try:
            self.gdb.agent.send(id=self._number, do=do, **message)
        except OSError:  # gdb is ending: _gdb_ended answers
            self.gdb.end()

    def _hear_agent(self) -> None:
        assert self.gdb is not None
        try:
            for message in self.gdb.agent.receive():
                self.gdb.answered()
                self._from_agent(message)
        except (EOFError, ValueError):
            self._selector.unregister(self.gdb.agent)  # the pidfd signals gdb's end
            self.gdb.end()

    def _from_agent(self, message: Message) -> None:
        self.state = message.pop("state", self.state)
        number = message.pop("id", None)
        if number in self.waiting:
            client, own, _ = self.waiting.pop(number)
            self._answer(client, own, **message)
        elif "event" in message:
            for client in set(self.clients):
                self._answer(client, 0, **message)

    def _gdb_ended(self) -> None:
        assert self.gdb is not None
        for watched in (self.gdb, self.gdb.agent):
            if watched in self._selector.get_map():
                self._selector.unregister(watched)
        unusable = "" if self.gdb.runs else self.gdb.unusable()
        code, hung = self.gdb.reap(), self.gdb.hung
        self.gdb = None
        attached, self._attaches = self._attaches, False
        if attached:
            self._look_after(code, hung)
        for client, own, _ in self.waiting.values():
            error = preflight.unusable(unusable).told() if unusable else _no_gdb(self.ended)
            self._answer(client, own, error=error)
        self.waiting.clear()
        for client in set(self.clients) if attached else ():
            self._answer(client, 0, event="ended")

    def _look_after(self, code: int, hung: str) -> None:
        """Heal the target, unless gdb detached from it in order; set `state` and `ended`."""
        left, self.state = self.state == "gone", "gone"
        if not proc.alive(self.target):
            self.ended = self.ended if left else f"process {self.target} has ended"
            return
        if left and "T" not in proc.thread_states(self.target):
            return
        healed = healing.heal(self.target)
        how = hung or (f"gdb ended by signal {-code}" if code < 0 else f"gdb ended with code {code}")
        self.state = "healed"
        self.ended = f"{how}; breakpoints left: {healed.bytes_restored} healed"
        self.ended += "; the stopped process was continued" if healed.woken else ""
        self.ended += "" if healed.runs else "; the process does not run"

    def _quit(self) -> None:
        if self.quitting_since is None:
            self.quitting_since = time.monotonic()
            if self.gdb is not None:
                try:
                    self.gdb.agent.send(id=0, do="quit")
                except OSError:
                    self.gdb.end()


def _late(state: str) -> dict[str, str]:
    return InspectorError(
        "gdb did not finish in time.",
        slug="gdb-late",
        why=f"the session is {state}",
        do="ask for less at a time, or leave the session; the process continues either way",
    ).told()


def _no_gdb(ended: str) -> dict[str, str]:
    return over(ended or "the session was left").told()


def main() -> None:
    """Read the settings from stdin, listen, detach from the parent, serve."""
    settings = json.loads(sys.stdin.readline())
    listener = socket.socket(socket.AF_UNIX)
    path = str(Path(settings["folder"]) / "broker")
    listener.bind(path)
    os.chmod(path, 0o600)  # noqa: PTH101
    listener.listen()
    leave_parent(str(Path(settings["folder"]) / "broker.log"))
    try:
        Broker(listener, settings["folder"], settings["token"], settings["target"]).run()
    finally:
        shutil.rmtree(settings["folder"], ignore_errors=True)
