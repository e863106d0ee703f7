"""Futures and tasks of asyncio: waiting, done, cancelled."""

# SPDX-License-Identifier: MIT
import asyncio


async def nothing():
    """A coroutine that ends at once."""


def samples():
    """A loop of its own makes them, and is closed."""
    loop = asyncio.new_event_loop()
    waiting, done, cancelled = (loop.create_future() for _ in range(3))
    done.set_result([1])
    cancelled.cancel()
    task = loop.create_task(nothing())
    loop.run_until_complete(task)
    loop.close()
    yield from (waiting, done, cancelled, task)
