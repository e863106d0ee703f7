"""The five channels of a kernel, between the front ends and ipykernel.

Front ends are known by ZeroMQ's identities, which ipykernel gets behind ours and gives back. Signatures are
made with the same key on both sides, so messages pass as they are. The heartbeat is answered here.

    front ends  <- ROUTER ->  channels  <- DEALER ->  ipykernel        shell, control, stdin
    front ends  <- XPUB --->  channels  <- XSUB --->  ipykernel        iopub
"""

# SPDX-License-Identifier: MIT
import uuid
from collections.abc import Callable, Iterator
from typing import Final

import zmq

from inspector.debugger.kernel.connection import Connection, address

DELIMITER: Final = b"<IDS|MSG>"
LINGER_MS: Final = 1000
BATCH: Final = 100
"""Messages of one channel before the others have a turn."""
_QUIET_MS: Final = 50
Frames = list[bytes]
Takes = Callable[[Frames], bool]
"""Looks at a message, and says whether it is done with: then it is not passed on."""
HEADER: Final = 2
"""The header's place after the delimiter; the parent's header follows."""


class Channels:
    """Sockets to both sides; `poll` passes on what came."""

    def __init__(self, given: Connection, inside: Connection) -> None:
        self._context = zmq.Context()
        self._poller = zmq.Poller()
        self._does: dict[object, Callable[[], None]] = {}
        own = uuid.uuid4().bytes
        for channel in ("shell", "control", "stdin"):
            front, kernel = self._socket(zmq.ROUTER), self._socket(zmq.DEALER)
            front.router_handover = 1
            kernel.identity = own  # stdin's requests come to the identity of shell's
            self._join(channel, front, kernel, given, inside)
        self._join("iopub", self._socket(zmq.XPUB), self._socket(zmq.XSUB), given, inside)
        self._iopub[0].xpub_verbose = 1
        self._iopub[1].send(b"\x01")
        beats = self._socket(zmq.ROUTER)
        beats.bind(address(given, "hb"))
        self.watch(beats, lambda: self._passed(beats, beats))

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        made = self._context.socket(kind)
        made.linger = 0 if kind in (zmq.DEALER, zmq.XSUB) else LINGER_MS
        made.sndhwm = 0  # a kernel that stands still takes nothing: our sends must not wait for it
        return made

    def _join(
        self,
        channel: str,
        front: zmq.Socket[bytes],
        kernel: zmq.Socket[bytes],
        given: Connection,
        inside: Connection,
    ) -> None:
        front.bind(address(given, channel))
        kernel.connect(address(inside, channel))
        setattr(self, f"_{channel}", (front, kernel))
        self.watch(front, lambda: self._passed(front, kernel))
        self.watch(kernel, lambda: self._passed(kernel, front))

    _shell: tuple[zmq.Socket[bytes], zmq.Socket[bytes]]
    _control: tuple[zmq.Socket[bytes], zmq.Socket[bytes]]
    _iopub: tuple[zmq.Socket[bytes], zmq.Socket[bytes]]

    def watch(self, source: object, do: Callable[[], None]) -> None:
        """Call `do` whenever a socket or a file descriptor is readable."""
        self._poller.register(source, zmq.POLLIN)
        self._does[source] = do

    def take(self, run: Takes, asked: Takes, answered: Takes, published: Takes) -> None:
        """Show each request of the shell channel, each message of the control channel, and of iopub."""
        self._does[self._shell[0]] = lambda: self._passed(*self._shell, run)
        front, kernel = self._control
        self._does[front] = lambda: self._passed(front, kernel, asked)
        self._does[kernel] = lambda: self._passed(kernel, front, answered)
        self._does[self._iopub[1]] = lambda: self._passed(self._iopub[1], self._iopub[0], published)

    def _passed(
        self, reads: zmq.Socket[bytes], writes: zmq.Socket[bytes], takes: Takes | None = None
    ) -> None:
        for frames in _came(reads):
            if takes is None or not takes(frames):
                writes.send_multipart(frames)

    def poll(self, timeout_ms: int | None = None) -> bool:
        """Wait, and pass on what came; whether something did."""
        ready = self._poller.poll(timeout_ms)
        for source, _ in ready:
            self._does[source]()
        return bool(ready)

    def publish(self, frames: Frames) -> None:
        """A message of ours on iopub."""
        self._iopub[0].send_multipart(frames)

    def answer(self, frames: Frames) -> None:
        """An answer of ours on the control channel."""
        self._control[0].send_multipart(frames)

    def ask(self, frames: Frames) -> None:
        """A request of ours to ipykernel's control channel."""
        self._control[1].send_multipart(frames)

    def close(self, kernel: int) -> None:
        """Pass on what an ended kernel, by its pidfd, has said; then close."""
        self._poller.unregister(kernel)
        while self.poll(_QUIET_MS):
            pass
        self._context.destroy()


def _came(socket: zmq.Socket[bytes]) -> Iterator[Frames]:
    for _ in range(BATCH):
        try:
            yield socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return


def head(frames: Frames) -> tuple[bytes, bytes]:
    """The header of a message and its parent's, as JSON."""
    at = frames.index(DELIMITER) + HEADER if DELIMITER in frames else len(frames)
    return (frames[at], frames[at + 1]) if at + 1 < len(frames) else (b"", b"")
