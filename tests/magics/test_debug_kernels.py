"""Real kernels under gdb by attach: stopped in C and stepped while the heartbeat answers, then left whole."""

# SPDX-License-Identifier: MIT
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kernels
import pytest
import zmq
from debugged import LOAD, library
from jupyter_client.blocking.client import BlockingKernelClient
from kernels import shown
from programs import inspector

from inspector.debugger import healing
from inspector.debugger.memory import proc
from inspector.sessions import running

pytestmark = [pytest.mark.debugger, pytest.mark.timeout(300)]

ASKED = """
import os
def asked(n):
    return probing.mix([n])
print(os.getpid())
"""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    with kernels.kernel(tmp_path) as (_, client):
        yield client


def beats(client: BlockingKernelClient) -> bool:
    """Whether the kernel's heartbeat answers: a socket of our own, as a front end has one."""
    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.linger = 0
        socket.connect(f"tcp://{client.ip}:{client.hb_port}")
        socket.send(b"still there?")
        return bool(socket.poll(60_000)) and socket.recv() == b"still there?"


def loaded(client: BlockingKernelClient) -> int:
    """The number of the kernel, once it has `probing` and a function `asked`."""
    return int(shown(client, f"{LOAD}probing = load({str(library())!r}){ASKED}")[-1])


def names(stop: Any) -> list[str]:
    return [frame.function for frame in stop.stack.frames if not frame.plumbing]


def ended(client: BlockingKernelClient, message: str) -> dict[str, Any]:
    """The reply to a cell that was sent before."""
    while (reply := client.get_shell_msg(timeout=200))["parent_header"].get("msg_id") != message:
        pass
    return dict(reply["content"])


@pytest.mark.core
def test_a_live_kernel_is_stopped_in_an_extension_and_stepped_while_its_heartbeat_answers(
    client: Any,
) -> None:
    pid = loaded(client)
    with running.step(pid, "mixed") as live:
        assert live.guarded  # by %load_ext inspector
        sent = client.execute("value = asked(7)")
        stop = live.wait(200.0).stop
        assert stop.function == "mixed" and {one.name: one.value for one in stop.variables}["n"] == "-3"
        frames = names(stop)
        assert frames[:3] == ["mixed", "mix", "asked"] and "<module>" in frames
        assert live.state == "stopped" and beats(client)
        assert "x = 1, y = 2" in str(live.command("print", "*p").stop.says[0].value)
        assert live.command("finish").stop.function == "mix"
        assert live.state == "stopped" and live.stopped_s >= 0 and beats(client)
    assert ended(client, sent)["status"] == "ok"
    assert proc.tracer(pid) == 0 and healing.differences(pid) == []
    assert shown(client, "print(value)") == [f"{2.5 * -3 + 1 + ord('w')}\n"]


def test_the_terminal_steps_a_kernel_a_word_a_line_and_says_that_it_stands_still(client: Any) -> None:
    pid = loaded(client)
    program = str(Path(sys.executable).parent / "inspector")
    command = [program, "attach", str(pid), "step", "--at", "mixed", "--seconds", "200"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as terminal:  # type: ignore[call-overload]
        assert terminal.stderr.readline().startswith("inspector: attached")
        sent = client.execute("value = asked(7)")
        said, _ = terminal.communicate("print n\nnonsense\nstate\nup\nquit\n", timeout=250)
    assert terminal.returncode == 0
    assert "stopped  mixed" in said and "list (1 item)" in said and "unknown command" in said
    assert said.count("stopped by you for ") == 4 and "the heartbeat answers" in said
    assert ended(client, sent)["status"] == "ok" and shown(client, "print(value)") == ["112.5\n"]
    assert proc.tracer(pid) == 0 and healing.differences(pid) == []


def test_a_process_that_does_not_come_by_is_left_and_this_is_said(client: Any) -> None:
    pid = loaded(client)
    done = inspector("attach", str(pid), "step", "--at", "mixed", "--seconds", "1")
    assert done.returncode == 2 and "gdb-late" in done.stderr and "Traceback" not in done.stderr
    assert inspector("attach", str(pid), "step").returncode == 2
    assert shown(client, "asked(7)") == ["112.5"] and proc.tracer(pid) == 0


TORCH = """\
import os, torch
one = torch.ones(3)
torch.ones(300, 300) @ torch.ones(300, 300)  # its threads are there: a fork would hang
print(os.getpid())
"""


@pytest.mark.newest
def test_torch_is_broken_into_by_attach_where_a_fork_is_refused(client: Any) -> None:
    pid = int(shown(client, TORCH)[-1])
    refused = "".join(shown(client, "%%inspect_debug --at THPVariable_add\none + one"))
    assert "fork-unsafe" in refused and ("libgomp" in refused or "libtorch" in refused)
    with running.step(pid, "THPVariable_add") as live:
        sent = client.execute("two = one.add(one)")
        stop = live.wait(250.0).stop
        assert stop.function.startswith("torch::autograd::THPVariable_add") and "<module>" in names(stop)
        assert beats(client)
        live.command("next", deadline_s=100.0)
    assert ended(client, sent)["status"] == "ok"
    assert shown(client, "print(two.tolist())") == ["[2.0, 2.0, 2.0]\n"]
    assert proc.tracer(pid) == 0 and os.path.exists(f"/proc/{pid}")
