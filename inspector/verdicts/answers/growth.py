"""Which lines asked for memory that is still in use, and whether that goes on."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from dataclasses import replace
from math import exp
from pathlib import PurePath
from typing import Final

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.facts.conversion import Site
from inspector.facts.growth import Growth, GrowthSource
from inspector.facts.unknown import Unknown
from inspector.verdicts.answers.words import answer, code

LEAST_BYTES: Final = 1_000_000
LEAST_SHARE: Final = 0.1
MOST_NAMED: Final = 2
LEAST_SAMPLES: Final = 12
"""Fewer say nothing about when memory was asked for."""
LEAST_TIMES: Final = 4
"""Of blocks of so many times `sample_bytes` one in 50 has no sample (e**-4): they can be counted."""
SURELY: Final = 0.01
"""Blocks without a sample that are expected where their number is told without "about"."""
SAME_SHARE: Final = 0.02
"""By which a total may differ from that of equal blocks: pages that were never touched do not count."""
STEADY: Final = 0.1
"""Of the whole, in each quarter of the time."""


def asked_for(growth: Growth, runs: int = 1) -> Iterator[Answer]:
    """The lines that asked for most of what is still in use, in all runs; nothing where that is little.

    Blocks so large that each of them is sampled are counted.
    """
    least = max(LEAST_BYTES, LEAST_SHARE * sum(row.bytes for row in growth.sources))
    rows = [row for row in _by_line(growth) if row[0].bytes >= least][:MOST_NAMED]
    if not rows:
        return
    text = "; ".join(_asked(*row, runs, growth.sample_bytes) for row in rows)
    told = sum(row.bytes for row, _ in rows)
    certain = not any(beside for _, beside in rows)
    yield answer(
        "asked-for", f"{text[0].upper()}{text[1:]}.", "growth.sources", certain=certain, costs_bytes=told
    )


def no_lines(pid: int, seconds: float, why: str) -> Answer:
    """Why no line is told of a process that was read from outside, and what would tell it."""
    if why:
        text, do = f"Which lines asked for it is not known: {why}.", ""
    else:
        do = f"inspector attach {pid} memory --seconds {seconds:g} --lines"
        text = f"Which lines asked for it is not known from outside: {code(do)} asks inside."
    return answer("no-lines", text, "growth.sources", do=do)


def _by_line(growth: Growth) -> list[tuple[GrowthSource, int]]:
    """Those of one line and library as one source: (it, how many of its bytes threads of C asked for)."""
    groups = dict[tuple[Site, str, str], list[GrowthSource]]()
    for row in growth.sources:
        groups.setdefault((row.site, row.library, row.allocator), []).append(row)
    joined = [_joined(rows) for rows in groups.values()]
    return sorted(joined, key=lambda row: -row[0].bytes)


def _joined(rows: list[GrowthSource]) -> tuple[GrowthSource, int]:
    a, b, c, d = (sum(row.quarters[n] for row in rows) for n in range(4))
    total, samples = sum(row.bytes for row in rows), sum(row.samples for row in rows)
    beside = sum(row.bytes for row in rows if row.beside)
    each = max(rows, key=lambda row: row.alike_blocks * row.alike_bytes).alike_bytes
    alike = sum(row.alike_blocks for row in rows if row.alike_bytes == each)
    joined = replace(rows[0], bytes=total, samples=samples, quarters=(a, b, c, d))
    return replace(joined, alike_blocks=alike, alike_bytes=each), beside


def _asked(row: GrowthSource, beside: int, runs: int, sample_bytes: int) -> str:
    who = _library(row)
    amount = f"{size(row.bytes)}, {size(row.bytes // runs)} a run" if runs > 1 else size(row.bytes)
    amount += _blocks(row, sample_bytes)
    if beside == row.bytes:
        text = f"{who or 'C code'} asked for {amount} on a thread of its own while {where(row)} ran"
    else:
        threads = f"; {size(beside)} of it on threads of its own" if beside else ""
        by = f" ({who}{threads})" if who else ""
        text = f"{where(row)} asked for {amount}{by}"
    return f"{text}, which is still in use{_pace(row)}"


def _blocks(row: GrowthSource, sample_bytes: int) -> str:
    """How many blocks, if they are so large that hardly one of them has no sample; "" for one.

    And how large each is, if those of one size are nearly all of it: what one call of a loop asked for.
    """
    if row.samples < 2 or not sample_bytes or row.bytes < LEAST_TIMES * row.samples * sample_bytes:
        return ""
    are_alike = abs(row.alike_blocks * row.alike_bytes - row.bytes) <= SAME_SHARE * row.bytes
    blocks, each = row.samples, ""
    if are_alike and row.alike_blocks > 1:
        blocks, each = row.alike_blocks, f" of {size(row.alike_bytes)}"
    missed = blocks * exp(-row.bytes / blocks / sample_bytes)
    return f" in {'' if missed < SURELY else 'about '}{blocks:,} blocks{each}"


def _library(row: GrowthSource) -> str:
    """Who asked the allocator, without the version of Python in an extension's name; "": Python itself."""
    name = row.library.partition(".cpython-")[0].partition(".abi3.")[0]
    return f"{name}, from Arrow's pool" if row.allocator == "MemoryPool" else name


def where(row: GrowthSource) -> str:
    """The line as a user finds it: "`t.to_pandas()` in t.py:7"."""
    site = row.site
    if isinstance(site.file, Unknown) or isinstance(site.line, Unknown):
        return "code outside Python"
    name = PurePath(site.file).name
    in_cell = not isinstance(site.cell, Unknown) or name.startswith("<")
    place = f"line {site.line}" if in_cell else f"{name}:{site.line}"
    return f"{code(site.text)} in {place}" if site.text else place


def _pace(row: GrowthSource) -> str:
    """Whether memory is asked for all the time, or was at first only."""
    if row.samples < LEAST_SAMPLES:
        return ""
    if min(row.quarters) >= STEADY * row.bytes:
        return ", and more with time"
    if sum(row.quarters[2:]) == 0:
        return ", all of it from the first half of the time"
    return ""
