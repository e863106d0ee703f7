"""Payloads that hold no Python reference, which the search for owners skips."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable
from typing import Any

from inspector.adapters.registry import adapter_of
from inspector.facts.memory import Range
from inspector.facts.unknown import Address
from inspector.objects.layouts.overlap import merged


def numeric_spans(objects: Iterable[Any], least_bytes: int = 1 << 16) -> tuple[Range, ...]:
    """Payload ranges that cannot hold a Python reference, merged and sorted; the owners scan skips them.

    Only objects with an adapter, and payloads of at least `least_bytes`. Runs no user code.
    """
    spans: list[tuple[int, int]] = []
    for x in objects:
        adapter = adapter_of(type(x))
        for block in adapter.elements(x) if adapter is not None else ():
            if block.numeric and block.range.bytes >= least_bytes:
                spans.append((block.range.start, block.range.stop))
    return tuple(Range(Address(start), Address(stop)) for start, stop in merged(spans))
