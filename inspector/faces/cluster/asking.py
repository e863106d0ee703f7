"""One question to every worker: each has its own deadline, and a row of its own whatever becomes of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from inspector.errors import InspectorError
from inspector.facts.cluster import Answer, Worker
from inspector.facts.unknown import Unknown
from inspector.facts.wire import SCHEMA, from_wire

if TYPE_CHECKING:
    from distributed import Client

DEADLINE_S: Final = 30.0
Progress = Callable[[int, int], bool]
"""Told (workers that answered, workers in all); False stops waiting for the others."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one worker said; `answer` is None where it said nothing that can be read."""

    worker: Worker
    answer: Any


def ask_all(
    client: Client,
    verb: str,
    options: dict[str, Any],
    only: Iterable[str] | None = None,
    progress: Progress | None = None,
    deadline_s: float = DEADLINE_S,
) -> list[Told]:
    """Every worker's answer, or the `only` ones', in the order of their addresses; those gone last."""
    found: list[Told] = client.sync(_gathered, client, verb, options, only, progress, deadline_s)
    return found


async def _gathered(
    client: Client,
    verb: str,
    options: dict[str, Any],
    only: Iterable[str] | None,
    progress: Progress | None,
    deadline_s: float,
) -> list[Told]:
    from inspector.faces.cluster import sent

    known = set(await client.nthreads())
    addresses = sorted(known if only is None else only)
    asked = {
        asyncio.ensure_future(
            client.run(sent.ask, verb, options, workers=[address], on_error="return")
        ): address
        for address in addresses
        if address in known
    }
    waiting, until = set(asked), asyncio.get_running_loop().time() + deadline_s
    try:
        while waiting and (left := until - asyncio.get_running_loop().time()) > 0:
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if progress and done and not progress(len(asked) - len(waiting), len(asked)):
                break
    finally:
        for one in waiting:
            one.cancel()
    gone = [
        _silent(address, "lost", "the scheduler no longer knows it")
        for address in addresses
        if address not in known
    ]
    return [*(_told(address, one, deadline_s) for one, address in asked.items()), *gone]


def _told(address: str, one: asyncio.Future[Any], deadline_s: float) -> Told:
    if not one.done() or one.cancelled():
        return _silent(address, "lost", f"no answer within {deadline_s:g} s")
    reply: Any = one.exception() or one.result().get(address)
    if isinstance(reply, BaseException):
        return _silent(address, "lost", f"{type(reply).__name__}: {reply}"[:200])
    if reply is None:
        return _silent(address, "lost", "the scheduler no longer knows it")
    if "told" in reply:
        return read_answer(address, reply["told"])
    if "absent" in reply:
        return _silent(address, "no extension", f"pip install native-inspector there: {reply['absent']}")
    return _silent(address, "failed", reply["failed"])


def read_answer(address: str, text: str) -> Told:
    """What a worker sent: JSON text of `worker.told`."""
    wire = json.loads(text)
    if wire["schema"] != SCHEMA:
        return _silent(address, "other version", f"its facts have schema {wire['schema']}, ours {SCHEMA}")
    nothing = {"unknown": "not counted in this answer"}
    rest = {
        "address": address,
        "answer": "answered",
        "reason": "",
        "owned_bytes": nothing,
        "resident_bytes": nothing,
        "shared_bytes": nothing,
        "retained_bytes": nothing,
    }
    try:
        return Told(from_wire(Worker, {**wire["worker"], **rest}), wire["answer"])
    except InspectorError as error:
        return _silent(address, "other version", f"its row is not as ours: {error.what}"[:200])


def _silent(address: str, answer: Answer, reason: str) -> Told:
    """The row of a worker that gave no facts."""
    unknown = Unknown(reason)
    return Told(Worker(address, "", answer, reason, unknown, {}, {}, *[unknown] * 8), None)
