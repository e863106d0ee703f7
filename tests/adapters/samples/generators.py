"""Objects that the adapter `generators` is tried on."""

# SPDX-License-Identifier: MIT


def counted():
    yield from (1, 2)


async def given():
    yield 1


def samples():
    """Fresh, suspended, finished."""
    yield from (counted(), given())
    started, finished = counted(), counted()
    next(started)
    yield started
    finished.close()
    yield finished
