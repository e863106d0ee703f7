"""docs/wild.md, made from the answers of rig.py."""

# SPDX-License-Identifier: MIT
import textwrap

from repro import LOOP

SHOWN = 2
"""Programs of one package."""
HEAD = """# Found in the wild

{right} of {certain} accusations called certain are right, {once} are true once, {wrong} are wrong; of
{possible} called possible {possible_right} are right. {leaking} of {count} packages leak, at {kinds} places.
{untold} calls of {all} grow without a word from the tool. `make wild` measures this and writes this page.

Each package has C, C++, Cython or Rust extensions and was installed by pip in a room of its own, on CPython
3.11. A program of a few lines, as in its README, ran under `inspector leaks`; then each of its calls by
`inspector.leaks(...).run`. An accusation is right if a second witness, which runs without the tool, sees the
same: the call is made 200 times, twice, and each time the blocks of Python's allocator, the bytes of malloc,
the pages in memory or the references of one such object grow with the calls. It is true once if only the
first call leaves such an object with a reference that the collector cannot explain, or as many bytes.
Accusations of one place are one.

| package | version | functions | calls | certain | right | once | wrong | possible | right | not told |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{rows}

Of these no verdict was made, and none of their calls grows without a word:
{quiet}.

{failed}{wrongs}## What leaks

<!-- fmt: off -->

The comment behind each program is what it prints: what its last 1,000 calls leave (blocks, KiB in
memory, or references). Whether its authors were told is left to a person. Where a program has a `count`,
the first line stands before it and the others behind it:

```python
import contextlib, gc, resource, sys
{loop}
```

{found}"""


def row(told):
    """One package as a row."""
    certain, possible = _places(told, certain=True), _places(told, certain=False)
    numbers = (
        told.get("watched", 0), told.get("calls", 0), *_judged(certain), len(possible),
        sum(one["right"] for one in possible), len(told.get("untold", ())),
    )  # fmt: skip
    cells = [f"{number:,}" for number in numbers]
    return "| " + " | ".join((told["package"], told["version"], *cells)) + " |"


def page(answers):
    """The page as text."""
    whole = [one for one in answers if not one["failed"]]
    certain = [one for told in whole for one in _places(told, certain=True)]
    possible = [one for told in whole for one in _places(told, certain=False)]
    found = [(told, one) for told in whole for one in _places(told) if one["right"]]
    told_certain, right, once, wrong = _judged(certain)
    return HEAD.format(
        count=len(whole), certain=told_certain, right=right, once=once, wrong=wrong, possible=len(possible),
        possible_right=sum(one["right"] for one in possible), kinds=len(found),
        leaking=len({told["package"] for told, _ in found}), untold=sum(len(one["untold"]) for one in whole),
        all=sum(len(one["seen"]) for one in whole), rows="\n".join(row(one) for one in whole if _noted(one)),
        quiet=_quiet(whole), failed=_failed(answers), wrongs=_wrongs(whole), loop=LOOP,
        found="\n".join(_section(told) for told in whole if programs(told)),
    )  # fmt: skip


def _noted(told):
    """Whether anything was told of a package, or should have been."""
    return bool(_places(told) or told.get("untold"))


def _quiet(whole):
    """The packages without a row."""
    quiet = [one for one in whole if not _noted(one)]
    words = [f"{one['package']} {one['version']} ({one.get('calls', 0):,} calls)" for one in quiet]
    return textwrap.fill(", ".join(words), 110, break_on_hyphens=False)


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
        places.setdefault((one["kind"], method, one["line"], kind_of(one["object"])), one)
    return [one for one in places.values() if certain in (None, one["certain"])]


def _failed(answers):
    lines = [f"- {one['package']} {one['version']}: {one['failed']}" for one in answers if one["failed"]]
    return "Without an answer:\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _wrongs(whole):
    wrong = [(told, one) for told in whole for one in _places(told, certain=True) if not one["right"]]
    lines = [
        f"- {told['package']}{' (once)' * one['once']}: {one['said'] or one['object']}" for told, one in wrong
    ]
    return "## Certain, and not seen to grow\n\n" + "\n".join(lines) + "\n\n" if lines else ""


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
    return f"{one['kind']}{where}{line}: {kind_of(one['object'])} ({sure})"
