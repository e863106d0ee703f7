"""At which of its hits a breakpoint stops: `3`, `== 3`, `>= 3`, `> 3`, `< 3`, `<= 3`, `% 3` (each third).

The protocol counts a hit only where the condition is true. debugpy stops where either of the two is.
"""

# SPDX-License-Identifier: MIT
import itertools
import re
from typing import Any, Final

_RULE: Final = re.compile(r"(==|>=|<=|>|<|%|)\s*(\d+)$")
_COUNT: Final = (
    "next(__import__('sys').modules['pydevd'].__dict__.setdefault('inspector_hits', {{}})"
    ".setdefault({number}, __import__('itertools').count(1)))"
)
_NUMBERS: Final = itertools.count(1)


def rule(text: str) -> tuple[str, int]:
    """The comparison and the number of a hit condition; ("", 0) where it has none. Raises ValueError."""
    if not text.strip():
        return "", 0
    found = _RULE.match(text.strip())
    if found is None or found[0].strip("% 0") == "":
        raise ValueError("a hit condition is a number, or one after == >= <= > < or % (each so many)")
    return found[1] or "==", int(found[2])


def counted(wanted: dict[str, Any]) -> dict[str, Any]:
    """A breakpoint for debugpy; one with both conditions counts as a part of its condition."""
    condition, hits = (str(wanted.get(name) or "") for name in ("condition", "hitCondition"))
    if not condition.strip() or not hits.strip():
        return wanted
    try:
        how, number = rule(hits)
        found = f"{_COUNT.format(number=next(_NUMBERS))} {how} {number}{' == 0' if how == '%' else ''}"
    except ValueError:  # debugpy takes any expression
        found = hits.strip()
    return {**wanted, "condition": f"({condition.strip()}\n) and ({found}\n)", "hitCondition": None}
