"""How the checks of this machine look: state first, what was found, how to mend it."""

from __future__ import annotations

from inspector.facts.machine import Check, Machine
from inspector.views.grammar import Block, Line, Span, text
from inspector.views.view import blocks

LONGEST = len("extension")
"""A label as wide as its column is followed by two more cells: the states stand below each other."""
STYLES = {"ok": "good", "part": "warn", "no": "danger"}


@blocks.register
def machine(fact: Machine) -> tuple[Block, ...]:
    """One line a check."""
    return tuple(_line(check) for check in fact.checks)


def _line(check: Check) -> Line:
    room = "" if len(check.part) >= LONGEST else "  "
    spans = (Span(f"{room}{check.state:<5}", STYLES[check.state]), Span(check.says))
    return Line(check.part, spans, right=text(f"do  {check.do}", "dim") if check.do else ())


if __name__ == "__main__":
    from inspector.views.sample import draw

    says = (
        Check("extension", "ok", "_native for CPython 3.11.7, x86_64, AVX2", ""),
        Check("gdb", "ok", "13.1 with Python 3.11.2", ""),
        Check("attach", "no", "ptrace refused", "start the container with --cap-add=SYS_PTRACE"),
        Check("symbols", "part", "python: full · numpy: exported names", ""),
    )
    draw(blocks(Machine(says)))
