"""Keys recently sent to other workers: the worker's own log, and a trial serialization of each value."""

# SPDX-License-Identifier: MIT
from dataclasses import replace
from typing import Any, Final

from inspector import api
from inspector.faces.cluster.held import in_memory
from inspector.facts.cluster import Sent
from inspector.facts.unknown import Unknown
from inspector.facts.wire import to_wire

GONE: Final = Unknown("the key is no longer in this worker's memory")
TOO_LARGE: Final = Unknown("larger than asked for: serializing it would need as much memory again")


def lately(worker: Any, limit: int, largest_bytes: int) -> list[Any]:
    """The last messages to other workers and to clients (who: None), one row per key."""
    rows = [
        (message, key, size)
        for message in list(worker.transfer_outgoing_log)[-limit:]
        for key, size in message["keys"].items()
    ]
    tried: dict[Any, tuple[Any, ...]] = {}
    for _, key, size in rows[-limit:]:
        if key not in tried:
            tried[key] = _tried(in_memory(worker), key, size, largest_bytes)
    return [to_wire(_row(worker, *row, tried[row[1]])) for row in rows[-limit:]]


def _row(worker: Any, message: dict[str, Any], key: Any, size: int, tried: tuple[Any, ...]) -> Sent:
    from dask.utils import key_split

    target = message["who"] or "the client"
    sent = Sent(worker.address, target, str(key), int(size), float(message["duration"]), *tried)
    return replace(sent, kind=key_split(key))


def _tried(values: dict[Any, Any], key: Any, size: int, largest_bytes: int) -> tuple[Any, ...]:
    """(type, frames, zero-copy bytes, copied bytes, reason, avoid) of the value's serialized form."""
    if key not in values:
        return ("", GONE, GONE, GONE, "", "")
    if size > largest_bytes:
        return (_type(values[key]), TOO_LARGE, TOO_LARGE, TOO_LARGE, "", "")
    return _weighed(values[key])


def _weighed(value: Any) -> tuple[Any, ...]:
    from distributed.protocol import serialize

    _, frames = serialize(value, on_error="raise")
    same = sum(_same_bytes(value, frame) for frame in frames)
    copied = max(sum(memoryview(frame).nbytes for frame in frames) - same, 0)
    reason, avoid = _why(value) if copied > same else ("", "")
    return (_type(value), len(frames), same, copied, reason, avoid)


def _same_bytes(value: Any, frame: Any) -> int:
    """Bytes of the frame that are in the value's own memory."""
    found = api.shares(value, frame).overlap_bytes
    return 0 if isinstance(found, Unknown) else found


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _why(value: Any) -> tuple[str, str]:
    """Why its bytes were copied, by its layout, and how to avoid that."""
    layout = api.inspect(value, name="value").layout
    if isinstance(layout, Unknown):
        return ("its bytes are pickled into a frame of their own", "")
    if "object" in layout.format:
        return (
            "its elements are Python objects: each is pickled",
            "a dtype with buffers (numbers, Arrow strings)",
        )
    if not (layout.c_contiguous or layout.f_contiguous):
        return (
            "not contiguous: copied together first",
            "np.ascontiguousarray in the task, or send the whole array",
        )
    return ("its bytes are pickled into a frame of their own", "")
