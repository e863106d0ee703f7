"""What docs/wild.md says of each package: made from an answer of rig.py, or read from the page again."""

# SPDX-License-Identifier: MIT
import re
from dataclasses import dataclass

from repro import LOOP

BYTES = "bytes leaked outside objects"
SHOWN = 2
"""Programs of one package."""
NUMBERS = ("watched", "calls", "certain", "right", "once", "wrong", "possible", "possible right", "untold")
QUIET, FAILED, WRONGS, FOUND = (
    "\nOf these no verdict was made", "\nWithout an answer:\n", "\n## Certain, and not", "\n## What leaks\n"
)  # fmt: skip
"""Where the parts of the page begin, behind its table."""


@dataclass(frozen=True)
class Entry:
    """All that the page says of one package."""

    package: str
    version: str
    numbers: dict
    failed: str = ""
    wrongs: str = ""
    section: str = ""

    @property
    def is_noted(self):
        """Whether anything was told of it, or should have been."""
        return any(self.numbers[name] for name in ("certain", "possible", "untold"))

    @property
    def row(self):
        """It, as a row of the table."""
        cells = [f"{self.numbers[name]:,}" for name in NUMBERS]
        return "| " + " | ".join((self.package, self.version, *cells)) + " |"


def entry(told):
    """What the page says of an answer."""
    certain, possible = _places(told, certain=True), _places(told, certain=False)
    numbers = (
        told.get("watched", 0), told.get("calls", 0), *_judged(certain), len(possible),
        sum(one["right"] for one in possible), len(told.get("untold", ())),
    )  # fmt: skip
    numbers = dict(zip(NUMBERS, numbers, strict=True))
    section = _section(told) if programs(told) else ""
    return Entry(told["package"], told["version"], numbers, told["failed"], _wrongs(told, certain), section)


def kept(page):
    """Package -> what the page says of it."""
    found = {}
    table, rest = _cut(page, QUIET)
    quiet, _ = _cut(rest, FAILED, WRONGS, FOUND)
    for name, version, *cells in re.findall(
        r"^\| (\S+) \| (\S+)" + r" \| ([\d,]+)" * 9 + r" \|$", table, re.M
    ):
        numbers = dict(zip(NUMBERS, map(_number, cells), strict=True))
        wrongs = re.findall(rf"^- {re.escape(name)}(?: \(once\))?: .*\n", _part(page, WRONGS), re.M)
        section = re.search(rf"^### {re.escape(name)} .*?(?=^### |\Z)", _part(page, FOUND), re.M | re.S)
        text = section[0].rstrip() + "\n" if section else ""
        found[name] = Entry(name, version, numbers, wrongs="".join(wrongs), section=text)
    for name, version, calls in re.findall(r"(\S+)\s(\S+)\s\(([\d,]+)\scalls\)", quiet):
        found[name] = Entry(name, version, dict.fromkeys(NUMBERS, 0) | {"calls": _number(calls)})
    for name, version, why in re.findall(r"^- (\S+) (\S*): (.*)$", _part(page, FAILED), re.M):
        found[name] = Entry(name, version, dict.fromkeys(NUMBERS, 0), failed=why)
    return found


def _cut(text, *begins):
    """What stands before and behind the first of these beginnings that is there."""
    at = min((text.index(one) for one in begins if one in text), default=len(text))
    return text[:at], text[at:]


def _part(page, begins):
    """A part of the page, up to the next one."""
    _, text = _cut(page, begins)
    others = [one for one in (FAILED, WRONGS, FOUND) if one != begins]
    return _cut(text, *others)[0] if begins != FOUND else text


def _number(text):
    return int(text.replace(",", ""))


def _judged(certain):
    """How many they are, are right, are true once, and are wrong."""
    right = sum(one["right"] for one in certain)
    once = sum(one["once"] and not one["right"] for one in certain)
    return len(certain), right, once, len(certain) - right - once


def kind_of(shown):
    """The kind of an object, as the witness names it: "class generator" for "class _cython_3_2.generator"."""
    words = shown.split() or [""]
    name = words[words[0] == "class" and len(words) > 1].removesuffix("()").rpartition(".")[2]
    return f"class {name}" if words[0] == "class" else name


def _places(told, certain=None):
    """One verdict for each function, line and kind of object: of several a right one, a certain one."""
    places = {}
    for one in sorted(told["verdicts"], key=lambda one: (not one["right"], not one["certain"])):
        method = one["method"].rpartition(".")[2]  # it may be called by its public module's name
        kind = (
            "" if one["kind"] == BYTES else kind_of(one["object"])
        )  # how many they are differs from call to call
        places.setdefault((one["kind"], method, one["line"], kind), one)
    return [one for one in places.values() if certain in (None, one["certain"])]


def _wrongs(told, certain):
    return "".join(
        f"- {told['package']}{' (once)' * one['once']}: {one['said'] or one['object']}\n"
        for one in certain
        if not one["right"]
    )


def programs(told):
    """Call -> what is right of it, for the calls that show all places."""
    calls = {}
    for one in _places(told):
        if one["right"]:
            calls.setdefault(one["call"], []).append(one)
    return calls


def _section(told):
    parts = [f"### {told['package']} {told['version']}\n"]
    calls = programs(told)
    parts += [f"- {_said(one)}" for found in calls.values() for one in found]
    for call in list(calls)[:SHOWN]:
        parts += [f"\n```python\n{own_lines(told['repros'][call])}\n```"]
    return "\n".join(parts) + "\n"


def own_lines(program):
    """Of a program what the others have not: the page shows their loop once."""
    own, loop, printed = program.partition(f"\n{LOOP}")
    return own.partition("\n")[2] + printed if loop else program


def _said(one):
    where = f" by `{one['method']}`" if one["method"] else ""
    line = f", {one['line']}" if one["line"] else ""
    sure = "certain" if one["certain"] else "possible"
    shown = one["object"] if one["kind"] == BYTES else kind_of(one["object"])
    return f"{one['kind']}{where}{line}: {shown} ({sure})"
