"""docs/wild.md, made from the answers of rig.py; of packages without one it keeps what it said."""

# SPDX-License-Identifier: MIT
import textwrap

from entries import NUMBERS, entry, kept
from repro import LOOP

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

The comment behind each program is what it prints: what its last 1,000 calls leave (blocks, bytes, KiB in
memory, or references). Whether its authors were told is left to a person. Where a program has a `count`,
the first line stands before it and the others behind it:

```python
import contextlib, gc, resource, sys
{loop}
```

{found}"""


def page(answers, asked, before=""):
    """The page as text; `asked` tells how many calls each package has, and `before` is what the page said."""
    known = kept(before) | {one["package"]: entry(one) for one in answers}
    entries = [known[name] for name in asked if name in known]
    whole = [one for one in entries if not one.failed]
    sums = {name.replace(" ", "_"): sum(one.numbers[name] for one in whole) for name in NUMBERS}
    return HEAD.format(
        **sums, count=len(whole), kinds=sums["right"] + sums["possible_right"],
        leaking=sum(one.section != "" for one in whole), all=sum(asked[one.package] for one in whole),
        rows="\n".join(one.row for one in whole if one.is_noted), quiet=_quiet(whole),
        failed=_failed(entries), wrongs=_wrongs(whole), loop=LOOP,
        found="\n".join(one.section for one in whole if one.section),
    )  # fmt: skip


def _quiet(whole):
    """The packages without a row."""
    quiet = [one for one in whole if not one.is_noted]
    words = [f"{one.package} {one.version} ({one.numbers['calls']:,} calls)" for one in quiet]
    return textwrap.fill(", ".join(words), 110, break_on_hyphens=False)


def _failed(entries):
    lines = [f"- {one.package} {one.version}: {one.failed}" for one in entries if one.failed]
    return "Without an answer:\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _wrongs(whole):
    lines = "".join(one.wrongs for one in whole)
    return f"## Certain, and not seen to grow\n\n{lines}\n" if lines else ""
