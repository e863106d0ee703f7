"""Send one request to every worker, with a deadline each; every worker gets a row, whatever happens."""

# SPDX-License-Identifier: MIT
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
"""Called with (workers that answered, all workers); False stops waiting for the others."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One worker's reply; `answer` is None where there is none that can be read."""

    worker: Worker
    answer: Any


def ask_all(
    client: Client,
    verb: str,
    options: dict[str, Any],
    only: Iterable[str] | None = None,
    progress: Progress | None = None,
    deadline_s: float = DEADLINE_S,
) -> list[Reply]:
    """The replies of all workers, or of `only`, by address; workers that left the cluster last."""
    found: list[Reply] = client.sync(_gathered, client, verb, options, only, progress, deadline_s)
    return found


async def _gathered(
    client: Client,
    verb: str,
    options: dict[str, Any],
    only: Iterable[str] | None,
    progress: Progress | None,
    deadline_s: float,
) -> list[Reply]:
    from inspector.faces.cluster import sent

    known = set(await client.nthreads())
    addresses = sorted(known if only is None else only)
    requests = {
        asyncio.ensure_future(
            client.run(sent.ask, verb, options, workers=[address], on_error="return")
        ): address
        for address in addresses
        if address in known
    }
    waiting, until = set(requests), asyncio.get_running_loop().time() + deadline_s
    try:
        while waiting and (left := until - asyncio.get_running_loop().time()) > 0:
            done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if progress and done and not progress(len(requests) - len(waiting), len(requests)):
                break
    finally:
        for request in waiting:
            request.cancel()
    gone = [
        _silent(address, "lost", "the scheduler no longer knows it")
        for address in addresses
        if address not in known
    ]
    return [*(_reply(address, request, deadline_s) for request, address in requests.items()), *gone]


def _reply(address: str, request: asyncio.Future[Any], deadline_s: float) -> Reply:
    if not request.done() or request.cancelled():
        return _silent(address, "lost", f"no answer within {deadline_s:g} s")
    reply: Any = request.exception() or request.result().get(address)
    if isinstance(reply, BaseException):
        return _silent(address, "lost", f"{type(reply).__name__}: {reply}"[:200])
    if reply is None:
        return _silent(address, "lost", "the scheduler no longer knows it")
    if "answer" in reply:
        return read_answer(address, reply["answer"])
    if "absent" in reply:
        return _silent(address, "no extension", f"pip install native-inspector there: {reply['absent']}")
    return _silent(address, "failed", reply["failed"])


def read_answer(address: str, text: str) -> Reply:
    """The reply in the JSON text that `worker.answer` made."""
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
        return Reply(from_wire(Worker, {**wire["worker"], **rest}), wire["answer"])
    except InspectorError as error:
        return _silent(address, "other version", f"its row cannot be read: {error.what}"[:200])


def _silent(address: str, answer: Answer, reason: str) -> Reply:
    """The row of a worker without facts, with the reason."""
    unknown = Unknown(reason)
    return Reply(Worker(address, "", answer, reason, unknown, {}, {}, *[unknown] * 8), None)
