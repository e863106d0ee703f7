"""The options of the commands, as data: one table serves the terminal's parser and the notebook's magic."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple


class Option(NamedTuple):
    """One argument as `add_argument` (argparse) and `@argument` (IPython) take it: `*flags, **settings`."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def width(text: str) -> int:
    """A width in cells from an option: 20 to 1,000."""
    value = int(text)
    if not 20 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"a width is 20 to 1000 cells, not {value}")
    return value


LOOK = (
    Option(("--owners",), {"action": "store_true", "help": "search memory for all holders, native code too"}),
    Option(("--chain",), {"action": "store_true", "help": "the shortest path from a root to it"}),
    Option(("--retained",), {"action": "store_true", "help": "what only it keeps alive"}),
    Option(("--aliases",), {"action": "store_true", "help": "all objects over the same bytes"}),
    Option(("--reveal",), {"action": "store_true", "help": "show values under names like password or token"}),
    Option(
        ("--ask",),
        {
            "action": "store_true",
            "help": "call its protocols' exporters: library code; NumPy keeps 72 bytes with an asked ndarray",
        },
    ),
)
"""What to find out about an object."""

LIVE = Option(("--live",), {"action": "store_true", "help": "as a live view, in a notebook"})
VIEWS = (
    Option(("--map",), {"action": "store_true", "help": "your names on the addresses they cover"}),
    Option(("--graph",), {"action": "store_true", "help": "who holds it and what it holds, to be walked"}),
    Option(
        ("--strides",), {"action": "store_true", "help": "elements of an array over the bytes they touch"}
    ),
    Option(("--layers",), {"action": "store_true", "help": "its layers as a tree, its pages as a strip"}),
    LIVE,
)
"""What to look at as a live view; in a terminal and in a saved notebook the same facts stand as text."""

PREVIEW = (
    Option(
        ("--to",),
        {
            "nargs": "+",
            "metavar": "LIBRARY",
            "help": "what handing it to numpy, torch ... would copy and lose; stands last",
        },
    ),
    Option(("--after",), {"metavar": "EXPR", "help": "what this expression would copy and materialize"}),
)
"""What would happen to an object."""

ON = Option(
    ("--on",), {"metavar": "CLIENT", "help": "a distributed.Client: ask the workers of its Dask cluster"}
)

ONLY = (
    Option(
        ("--only",),
        {"action": "append", "metavar": "PATTERN", "default": [], "help": "show calls of these functions"},
    ),
    Option(("--min-bytes",), {"type": int, "metavar": "N", "default": 0, "help": "show calls on so many"}),
    Option(("--min-us",), {"type": float, "metavar": "T", "default": 0.0, "help": "show calls as long"}),
    Option(("--thread",), {"type": int, "metavar": "ID", "default": 0, "help": "show calls of one thread"}),
)
"""What to show of a trace; all of it is recorded."""

MODULES = Option(
    ("-m", "--of"),
    {
        "dest": "modules",
        "metavar": "MODULE",
        "action": "append",
        "help": "trace this module only; may be repeated",
    },
)
LEAKS = (
    Option(
        ("-m", "--of"),
        {
            "dest": "modules",
            "metavar": "MODULE",
            "action": "append",
            "help": "watch this extension module only; may be repeated",
        },
    ),
    Option(
        ("--repeat",),
        {"type": int, "metavar": "N", "help": "run it 3 times, then N times watched: what every run shows"},
    ),
    Option(
        ("--isolate",),
        {"action": "store_true", "help": "with --repeat, in a forked child: a crash is a verdict"},
    ),
)
"""What to watch for lost references."""
TRACE = (
    Option(
        ("--grade",),
        {"choices": ("count", "record", "deep"), "default": "record", "help": "how much to record"},
    ),
    Option(
        ("--mode",),
        {
            "choices": ("ring", "stream", "sample"),
            "default": "ring",
            "help": "keep the last records, all of them, or those of one call of N",
        },
    ),
    Option(("--every",), {"type": int, "default": 10, "metavar": "N", "help": "with --mode sample: N (10)"}),
    Option(("--native",), {"action": "store_true", "help": "the C functions each conversion came through"}),
    Option(("--pointers",), {"action": "store_true", "help": "calls by pointers that dlsym gave a library"}),
)
"""What to record of a trace."""


def recording(options: argparse.Namespace) -> dict[str, Any]:
    """What the options of TRACE say, as `inspector.trace` takes it."""
    return {name: getattr(options, name) for name in ("grade", "mode", "every", "native", "pointers")}


def only_here(options: argparse.Namespace, modes: tuple[str, ...] = ("ring",)) -> str:
    """The option of TRACE that asks for what workers and launched programs do not record; "": none."""
    flags = {"--native": options.native, "--pointers": options.pointers, "--mode": options.mode not in modes}
    return next((flag for flag, given in flags.items() if given), "")


DRAW = (
    Option(("--all",), {"action": "store_true", "help": "every row, nothing folded"}),
    Option(("--explain",), {"action": "store_true", "help": "a sentence and a link under each line"}),
    Option(("-v", "--verbose"), {"action": "store_true", "help": "full addresses and rare detail"}),
)
"""How to draw it."""

WRITE = (
    Option(("--json",), {"action": "store_true", "help": "print the facts as JSON"}),
    Option(("--svg",), {"metavar": "FILE", "help": "write the drawing as a picture"}),
    Option(("--html",), {"metavar": "FILE", "help": "write the drawing as a page"}),
    Option(("--width",), {"metavar": "N", "type": width, "help": "cells a line (default: the terminal's)"}),
)
"""Where it goes."""

C_CELL = (
    Option(
        ("name",), {"nargs": "?", "default": "cell", "help": "of the function, where the cell is its body"}
    ),
    Option(
        ("-i", "--inputs"),
        {"metavar": "x,y", "default": "", "help": "ndarrays by name: the cell is a body, and is run"},
    ),
    Option(("-o", "--outputs"), {"metavar": "z", "default": "", "help": "arrays the body sets: names here"}),
    Option(
        ("--isolate",), {"action": "store_true", "help": "run it in a forked child: a crash costs nothing"}
    ),
    Option(
        ("--trace",), {"action": "store_true", "help": "its calls of Python, its ledger and its arrays too"}
    ),
    Option(("--cache-version",), {"metavar": "TUPLE", "help": "part of the cache's key; () is never kept"}),
    Option(("-l", "--lib"), {"action": "append", "default": [], "metavar": "NAME", "help": "link with it"}),
    Option(
        ("-L", "--library-dir"),
        {"action": "append", "default": [], "metavar": "DIR", "help": "where libraries lie"},
    ),
    Option(
        ("-I", "--include-dir"),
        {"action": "append", "default": [], "metavar": "DIR", "help": "where headers lie"},
    ),
    Option(
        ("--arg",),
        {"action": "append", "default": [], "metavar": "ARG", "help": "for the compiler: --arg=-O3"},
    ),
    Option(
        ("-v", "--verbose"), {"action": "store_true", "help": "the compiler's command and the folder too"}
    ),
    Option(("--json",), {"action": "store_true", "help": "print the facts as JSON"}),
)
"""How a C cell is compiled and run."""


PLACES = Option(("places",), {"nargs": "*", "help": "functions, file.c:line, prototypes, patterns"})
BREAK = (
    Option(("--preset",), {"help": "the places of a library: numpy, cffi, host, reticulate, torch"}),
    Option(
        ("--prototype",),
        {
            "action": "append",
            "default": [],
            "metavar": "LINE",
            "help": "for a function without debug information",
        },
    ),
    Option(
        ("--record",),
        {
            "default": "full",
            "choices": ("full", "stacks", "python", "native", "arguments", "count"),
            "help": "less than everything costs less",
        },
    ),
    Option(
        ("--budget",), {"type": int, "default": 1000, "metavar": "N", "help": "hits recorded at most (1000)"}
    ),
    Option(("--depth",), {"type": int, "default": 40, "metavar": "N", "help": "native frames a hit (40)"}),
    Option(("--all-threads",), {"action": "store_true", "help": "the kernel's own threads too"}),
    Option(
        ("--fast",), {"action": "store_true", "help": "cheaper hits; a killed gdb may take the kernel along"}
    ),
)
"""What breakpoints collect."""


def add_options(parser: Any, *groups: Iterable[Option]) -> None:
    """Add the options of `groups` to an argparse parser."""
    for group in groups:
        for option in group:
            parser.add_argument(*option.flags, **option.settings)
