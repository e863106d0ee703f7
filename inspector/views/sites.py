"""Python lines and durations in few characters."""

# SPDX-License-Identifier: MIT
import re

from inspector.facts.conversion import Site
from inspector.facts.unknown import Unknown
from inspector.views.grammar import Span, text


def place(site: Site) -> tuple[Span, ...]:
    """ "cell 7:3", "app.py:12"; a dim question mark if the line is unknown."""
    if isinstance(site.line, Unknown) or isinstance(site.file, Unknown):
        return text("?", "dim")
    if not isinstance(site.cell, Unknown):
        return text(f"cell {site.cell}:{site.line}")
    return text(f"{site.file.rsplit('/', 1)[-1]}:{site.line}")


def duration(ns: int | Unknown) -> str:
    """ "12.3 µs"; "" if unknown."""
    if isinstance(ns, Unknown):
        return ""
    if ns < 1e3:
        return f"{ns} ns"
    return f"{ns / 1e3:.1f} µs" if ns < 1e6 else f"{ns / 1e6:.1f} ms" if ns < 1e9 else f"{ns / 1e9:.2f} s"


def unsaid(said: str, function: str) -> tuple[Span, ...]:
    """The function, if the source line `said` does not name it: an operator, an alias, a nested call."""
    known = not function.startswith("place ") and re.search(r"\w+$", function)
    if not said or not known or re.search(rf"\b{re.escape(known[0])}\b", said):
        return ()
    return (Span(f"  {function}", "native"),)
