"""What JupyterLab's debugger panel does, by a kernel's channels; each wait has a deadline."""

# SPDX-License-Identifier: MIT
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dap_client import WAIT_S, Heard
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from inspector.debugger.kernel import spec

Message = dict[str, Any]


@contextlib.contextmanager
def kernel(folder: Path, name: str = spec.NAME) -> Iterator["Panel"]:
    """An installed kernel, started as a front end starts it; `folder` is not the checkout."""
    manager, client = start_new_kernel(kernel_name=name, startup_timeout=120, cwd=str(folder))
    try:
        yield Panel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


class Panel(Heard):
    """One front end of a kernel. What comes on iopub is kept in `heard`."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        super().__init__()
        self.manager, self.client = manager, client

    def run(self, code: str) -> list[Message]:
        """Run a cell to its end; what it published."""
        return self.done(self.begin(code))

    def done(self, number: str) -> list[Message]:
        """What a cell has published, at its end."""
        self.wait(lambda one: idle(one, number), since=0)
        return [one for one in self.heard if one["parent_header"].get("msg_id") == number]

    def printed(self, number: str) -> str:
        """What a cell has printed, at its end: ipykernel sends a line in pieces where the machine is busy."""
        return "".join(str(one["content"].get("text", "")) for one in self.done(number))

    def begin(self, code: str) -> str:
        """Begin to run a cell; the number of the request."""
        return str(self.client.execute(code))

    def ask(self, command: str, **arguments: Any) -> Message:
        """The answer to a debug request, once the kernel said that it is idle again."""
        return self.answered(self.send(command, **arguments))

    def send(self, command: str, **arguments: Any) -> str:
        """Send a debug request; its number."""
        self._seq += 1
        content = {"type": "request", "seq": self._seq, "command": command, "arguments": arguments}
        message = self.client.session.msg("debug_request", content)
        self.client.control_channel.send(message)
        return str(message["header"]["msg_id"])

    def answered(self, number: str) -> Message:
        """The answer to a debug request, which is the next that comes."""
        answer = self.client.get_control_msg(timeout=WAIT_S)
        assert answer["parent_header"]["msg_id"] == number, answer
        self.wait(lambda one: idle(one, number), since=0)
        return dict(answer["content"])

    def body(self, command: str, **arguments: Any) -> Message:
        """The body of a successful answer."""
        found = self.ask(command, **arguments)
        assert found["success"] and found["request_seq"] == self._seq, found
        return dict(found.get("body") or {})

    def event(self, name: str) -> Message:
        """The body of the next event of this name; those before it are passed over."""

        def fits(one: Message) -> bool:
            return one["msg_type"] == "debug_event" and one["content"]["event"] == name

        return dict(self.wait(fits)["content"].get("body") or {})

    def _receive(self, limit: float) -> None:
        assert time.monotonic() < limit, f"nothing came; the last: {self.heard[-8:]}"
        self.heard.append(self.client.get_iopub_msg(timeout=WAIT_S))

    def start(self, *cells: tuple[str, list[int]]) -> list[str]:
        """Start debugging with breakpoints in cells; their files."""
        self.body("initialize", clientID="test", adapterID="", pathFormat="path", linesStartAt1=True)
        self.body("attach")
        files = [str(self.body("dumpCell", code=code)["sourcePath"]) for code, _ in cells]
        for file, (_, lines) in zip(files, cells, strict=True):
            self.set(file, *lines)
        self.body("configurationDone")
        return files

    def set(self, file: str, *lines: int) -> list[Message]:
        """Set breakpoints in a file."""
        rows = [{"line": line} for line in lines]
        return list(self.body("setBreakpoints", source={"path": file}, breakpoints=rows)["breakpoints"])

    def stack(self) -> list[Message]:
        """The frames of the main thread, as JupyterLab asks for them."""
        return list(self.body("stackTrace", threadId=1)["stackFrames"])

    def step(self, how: str) -> list[Message]:
        """One step of the main thread: the stack at its stop."""
        self.body(how, threadId=1)
        assert self.event("stopped")["threadId"] == 1
        return self.stack()

    def locals(self, frame: Message) -> dict[str, Message]:
        """The variables of a frame's first scope, by name."""
        scope = self.body("scopes", frameId=frame["id"])["scopes"][0]
        rows = self.body("variables", variablesReference=scope["variablesReference"])["variables"]
        return {one["name"]: one for one in rows}


def idle(one: Message, number: str) -> bool:
    """Whether a message says that the request of this number is done."""
    state = one["msg_type"] == "status" and one["content"]["execution_state"] == "idle"
    return bool(state and one["parent_header"].get("msg_id") == number)
