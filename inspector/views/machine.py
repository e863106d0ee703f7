"""Draws the checks of this machine: state, finding, how to fix it."""

# SPDX-License-Identifier: MIT
from inspector.facts.machine import Check, Machine
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.view import blocks

LONGEST = len("extension")
"""Width of the longest label; shorter labels get two more cells, so that the states are aligned."""
STYLES = {"ok": "good", "part": "warn", "no": "danger"}


@blocks.register
def machine(fact: Machine) -> tuple[Block, ...]:
    """One line per check."""
    return tuple(_line(check) for check in fact.checks)


def _line(check: Check) -> Line:
    padding = "" if len(check.part) >= LONGEST else "  "
    spans = (Span(f"{padding}{check.state:<5}", STYLES[check.state]), Span(check.says))
    return Line(check.part, spans, right=text(f"do  {check.do}", "dim") if check.do else ())
