"""Programs that have awaited futures, as every kernel has: _asyncio's free list is not empty then."""

# SPDX-License-Identifier: MIT
from typing import Final

from apart import ran

AWAITED: Final = """
import asyncio

async def waits(future):
    return await future

async def main():
    futures = [asyncio.get_running_loop().create_future() for _ in range(3)]
    asyncio.get_running_loop().call_later(0.01, lambda: [one.set_result(1) for one in futures])
    await asyncio.gather(*map(waits, futures))

asyncio.run(main())
"""


def after_waiting(program: str) -> str:
    """What a program writes in a process of its own whose futures were awaited first."""
    done = ran("-c", AWAITED + program)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
