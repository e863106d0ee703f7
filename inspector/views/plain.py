"""Makes text safe to draw (non-printable characters escaped), and counts its terminal cells."""

# SPDX-License-Identifier: MIT
from functools import lru_cache
from typing import Final

ASCII = str.maketrans(
    {
        **dict(
            zip(
                "…·→←↓↑×≥≤–—µ",
                ["...", "-", "->", "<-", "v", "^", "x", ">=", "<=", "-", "-", "u"],
                strict=True,
            )
        ),
        **dict.fromkeys("─━═╌", "-"),
        **dict.fromkeys("│┃║", "|"),
        **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┠┨┯┷┿╂", "+"),
        **dict.fromkeys("█▓▒■", "#"),
        **dict.fromkeys("░▁▂▃▄▅▆▇□", "."),
    }
)
"""ASCII replacements of box characters, arrows and blocks."""

LONGEST: Final = 1_000
"""Most characters of one text on a card: a type's name may have a million."""


def plain(text: str) -> str:
    """`text` cut to LONGEST, each non-printable character (controls, bidi overrides, surrogates) escaped."""
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    escaped = (
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode("ascii") for c in text
    )
    return text if text.isprintable() else "".join(escaped)


def clipped(text: str, longest: int) -> str:
    """The beginning of `text`, escaped, in at most `longest` characters."""
    safe = plain(text[: longest + 1])
    return safe if len(safe) <= longest else safe[: longest - 1] + "…"


def cells(text: str) -> int:
    """Terminal cells of a printable text: 2 for wide characters, 0 for combining marks (UAX #11)."""
    return len(text) if text.isascii() else sum(_cell(character) for character in text)


@lru_cache(512)
def _cell(character: str) -> int:
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def to_ascii(text: str) -> str:
    """`text` for an ASCII terminal: similar characters where possible, else escapes."""
    translated = text.translate(ASCII)
    return (
        translated if translated.isascii() else translated.encode("ascii", "backslashreplace").decode("ascii")
    )
