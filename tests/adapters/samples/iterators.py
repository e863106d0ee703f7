"""Objects that the adapter `iterators` is tried on."""

# SPDX-License-Identifier: MIT
import itertools


def samples():
    """Ranges, views, iterators fresh and exhausted."""
    yield from (range(10**9), range(1 << 70), {1: 2}.keys(), {1: 2}.values(), {}.items())
    sources = ([1, 2], (1,), "ab", "é", b"ab", bytearray(b"ab"), range(3), {1: 2}, {1})
    for source in sources:
        fresh, over = iter(source), iter(source)
        list(over)
        yield from (fresh, over)
    yield from (map(len, [[]]), zip([1], [2], strict=True), enumerate([1]), filter(None, [1]), reversed([1]))
    yield from (itertools.chain([1]), itertools.count(), itertools.tee([1])[0], itertools.islice([1], 1))
