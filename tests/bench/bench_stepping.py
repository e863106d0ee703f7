"""What a person waits for: preflight, a first stop, the next, a forked child, a heartbeat."""

# SPDX-License-Identifier: MIT
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import best, row, seconds

from inspector.debugger import preflight
from inspector.sessions import running

PLACE = "PyFloat_FromString"
LOOP = "import time, sys\nprint(flush=True)\nwhile True:\n    float('1.5'); time.sleep(0.001)\n"


@contextlib.contextmanager
def looping() -> Iterator[int]:
    """A program that comes by the place each millisecond."""
    with subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            yield child.pid
        finally:
            child.kill()


def stops(pid: int) -> tuple[float, float]:
    """(seconds to the first merged stack, to the next)."""
    with running.step(pid, PLACE) as live:
        first = seconds(lambda: live.wait(60))
        return first, best(lambda: live.command("stack"), 5)


def forked() -> float:
    """Seconds until a forked child stands at the place."""
    start = time.perf_counter()
    child = running.debug(lambda: print(float("1.5")), PLACE)
    try:
        child.wait(60)
        return time.perf_counter() - start
    finally:
        child.close()


def heartbeat() -> float:
    """Seconds until a kernel that stands still answers its heartbeat."""
    import zmq
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        with running.step(manager.provisioner.pid, PLACE) as live, zmq.Context() as context:
            client.execute("float('1.5')")
            live.wait(60)
            with context.socket(zmq.REQ) as socket:
                socket.connect(f"tcp://{client.ip}:{client.hb_port}")
                return best(lambda: (socket.send(b"?"), socket.recv()), 20)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def peers(pid: int) -> None:
    """The stacks of another process, beside tools that do only this; a row for each that is installed."""
    ours = best(lambda: running.stacks(pid), 3)
    for name, words in (("pystack", ["remote", "--native"]), ("py-spy", ["dump", "--native", "--pid"])):
        tool = Path(sys.executable).parent / name
        if tool.exists():
            command = [str(tool), *words, str(pid)]
            theirs = best(lambda: subprocess.run(command, capture_output=True, check=True), 3)
            row("stacks of another process", ours, against=name, theirs=theirs, sizes="one thread, best of 3")


def main() -> None:
    with looping() as pid:
        row("preflight", best(lambda: preflight.check(pid), 5), bar=0.005, sizes="best of 5")
        shown = [stops(pid) for _ in range(3)]
        row("the first merged stack", min(one[0] for one in shown), bar=0.35, sizes="best of 3")
        row("the next merged stack", min(one[1] for one in shown), bar=0.01, sizes="best of 15")
        peers(pid)
    row("a forked child stands at its place", min(forked() for _ in range(3)), bar=1.0, sizes="best of 3")
    row("heartbeat of a kernel that stands still", heartbeat(), bar=0.005, sizes="best of 20")


if __name__ == "__main__":
    main()
