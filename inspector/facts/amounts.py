"""Amounts as text, for facts whose value is a sentence and for views."""

# SPDX-License-Identifier: MIT
_UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def size(count: int) -> str:
    """Bytes as text: "96 B", "8.0 MB" (powers of 1,000); the sign is kept."""
    if abs(count) < 1000:
        return f"{count} B"
    value, power = count / 1000, 0
    while abs(value) >= 999.5 and power + 1 < len(_UNITS):
        value, power = value / 1000, power + 1
    return f"{value:.1f} {_UNITS[power]}" if abs(value) < 9.95 else f"{value:.0f} {_UNITS[power]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """ "1 array", "3,000 arrays", "2 types or functions"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def with_article(noun: str) -> str:
    """ "a list", "an array", "an ndarray", "a uint8"."""
    return f"{'an' if noun.lower().startswith(('a', 'e', 'i', 'o', 'nd')) else 'a'} {noun}"


def bytes_in(text: str) -> int:
    """The bytes of "800", "64kB" or "1.5 GB". Raises ValueError."""
    number = text.rstrip("kMGTPEB ")
    unit = text[len(number) :].strip()
    if unit not in ("", "B", *_UNITS):
        raise ValueError(f"no number of bytes: {text!r}")
    power: int = _UNITS.index(unit) + 1 if unit in _UNITS else 0
    return round(float(number) * int(1000**power))
