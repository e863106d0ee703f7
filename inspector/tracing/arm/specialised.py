"""The opcodes of this Python that run C of builtins without a pointer that could be hooked."""

# SPDX-License-Identifier: MIT
import re
from collections import Counter
from functools import cache
from typing import Final

_OPCODES: Final = {
    "call": re.compile("(PRECALL|CALL)_(LEN|ISINSTANCE|LIST_APPEND|STR_1|TUPLE_1|TYPE_1)"),
    "operator": re.compile("BINARY_OP_.*_(INT|FLOAT|UNICODE)|COMPARE_OP_(INT|FLOAT|STR).*"),
    "index": re.compile("(BINARY|STORE)_SUBSCR_(DICT|(LIST|TUPLE|STR)_INT)|UNPACK_SEQUENCE_.*(LIST|TUPLE)"),
}
"""Opcodes that CPython specialises (PEP 659) and that then run C code of builtins directly."""


@cache
def specialised() -> dict[str, int]:
    """Kind -> number of specialised opcodes of this Python that run C of builtins without a pointer."""
    import opcode

    families: dict[str, list[str]] = vars(opcode)["_specializations"]
    names = {name.replace("NO_KW_", "") for family in families.values() for name in family}
    counted = Counter(kind for name in names for kind, of in _OPCODES.items() if of.fullmatch(name))
    return {f"specialised {kind}": count for kind, count in counted.items()}
