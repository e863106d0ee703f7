"""Names whose values are masked wherever they would be shown: password, token, key and their kin."""

from __future__ import annotations

import re
from typing import Final

MASKED: Final = "<masked>"
"""What stands in place of the value."""

SECRET_WORDS: Final = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "key",
    "apikey",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "cookies",
    "auth",
    "bearer",
    "jwt",
)

_WORD = re.compile(r"[A-Z]+[a-z]*|[a-z]+")


def is_secret(name: str) -> bool:
    """Whether a word of `name` is a secret word: "db_password", "apiKey", "TOKEN2"; not "monkey"."""
    return any(word.lower() in SECRET_WORDS for word in _WORD.findall(name[:4096]))


def gives_secret(expression: str) -> bool:
    """Whether what `expression` gives has a secret name: `db.password`, `env["TOKEN"]`, `tokens[0]`, `key()`.

    A variable that only picks (`rows[key]`) is no name of the value.
    """
    rest = expression[-4096:].rstrip()
    while rest.endswith(("]", ")")):
        start = _opening(rest)
        inside = rest[start + 1 : -1].strip()
        if rest.endswith("]") and inside[-1:] in ("'", '"') and inside:
            return is_secret(inside)
        rest = rest[:start].rstrip()
    return is_secret(rest.rpartition(".")[2])


def _opening(text: str) -> int:
    """Where the bracket that ends `text` opens; 0 where it does not."""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] in ")]") - (text[position] in "([")
        if depth == 0:
            return position
    return 0
