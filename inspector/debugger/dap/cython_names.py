"""Names of Cython's C functions as their author wrote them."""

# SPDX-License-Identifier: MIT
import re
from typing import Final

WRAPPER: Final = "__pyx_pw_"
"""The function of the method table, which reads the arguments; the body is in `__pyx_pf_...`."""
_NUMBER: Final = re.compile(r"\d+")


def authors(function: str) -> str:
    """`stepped.doubled` of `__pyx_pf_7stepped_2doubled`; other names as they are.

    Before each outer name stands its length; before the function's own, from the second on, its number.
    """
    if not function.startswith((WRAPPER, "__pyx_pf_")):
        return function
    rest, parts = function[len(WRAPPER) :], []
    while (found := _NUMBER.match(rest)) and rest[(end := found.end() + int(found[0])) : end + 1] == "_":
        parts.append(rest[found.end() : end])
        rest = rest[end + 1 :]
    return ".".join([*parts, rest.lstrip("0123456789")])
