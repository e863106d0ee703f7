"""The options as data: one table for the parsers of the commands and of the magics."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple


class Option(NamedTuple):
    """The arguments of argparse's `add_argument` and IPython's `@argument`: `*flags, **settings`."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def width(text: str) -> int:
    """The width in cells that an option gives, 20 to 1,000."""
    value = int(text)
    if not 20 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"the width must be 20 to 1000 cells, not {value}")
    return value


LOOK = (
    Option(
        ("--owners",), {"action": "store_true", "help": "search memory for all holders, in native code too"}
    ),
    Option(
        ("--chain",), {"action": "store_true", "help": "show the shortest path from a root to the object"}
    ),
    Option(("--retained",), {"action": "store_true", "help": "show what only this object keeps alive"}),
    Option(("--aliases",), {"action": "store_true", "help": "show all objects over the same bytes"}),
    Option(("--reveal",), {"action": "store_true", "help": "show values under names like password or token"}),
    Option(
        ("--ask",),
        {
            "action": "store_true",
            "help": "call its protocol methods: runs library code; NumPy then keeps 72 bytes with an ndarray",
        },
    ),
)
"""What to find out about an object."""

LIVE = Option(("--live",), {"action": "store_true", "help": "show a live view in a notebook"})
VIEWS = (
    Option(("--map",), {"action": "store_true", "help": "show your names on the addresses they cover"}),
    Option(("--graph",), {"action": "store_true", "help": "walk through its holders and what it holds"}),
    Option(
        ("--strides",), {"action": "store_true", "help": "show which bytes each element of an array uses"}
    ),
    Option(
        ("--layers",), {"action": "store_true", "help": "show its layers as a tree and its pages as a strip"}
    ),
    LIVE,
)
"""Live views of a notebook; a terminal and a saved notebook show the same facts as text."""

PREVIEW = (
    Option(
        ("--to",),
        {
            "nargs": "+",
            "metavar": "LIBRARY",
            "help": "what converting to numpy, torch ... would copy and lose; give this last",
        },
    ),
    Option(("--after",), {"metavar": "EXPR", "help": "show what this expression would copy and materialize"}),
)
"""What would happen to an object."""

ON = Option(("--on",), {"metavar": "CLIENT", "help": "inspect the workers of this Dask distributed.Client"})

ONLY = (
    Option(
        ("--only",),
        {
            "action": "append",
            "metavar": "PATTERN",
            "default": [],
            "help": "show only calls of these functions",
        },
    ),
    Option(
        ("--min-bytes",),
        {"type": int, "metavar": "N", "default": 0, "help": "show only calls that handle N bytes or more"},
    ),
    Option(
        ("--min-us",),
        {
            "type": float,
            "metavar": "T",
            "default": 0.0,
            "help": "show only calls of T microseconds or longer",
        },
    ),
    Option(
        ("--thread",), {"type": int, "metavar": "ID", "default": 0, "help": "show only calls of this thread"}
    ),
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
        {
            "type": int,
            "metavar": "N",
            "help": "run 3 times, then N times watched; report what every run shows",
        },
    ),
    Option(
        ("--isolate",),
        {"action": "store_true", "help": "with --repeat: run in a forked child and report a crash"},
    ),
)
"""Which modules' references to watch, and in which runs."""
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
            "help": "keep the last records, all records, or one call of every N",
        },
    ),
    Option(("--every",), {"type": int, "default": 10, "metavar": "N", "help": "the N of --mode sample (10)"}),
    Option(
        ("--native",), {"action": "store_true", "help": "record the C functions that led to each conversion"}
    ),
    Option(("--pointers",), {"action": "store_true", "help": "hook calls through pointers from dlsym too"}),
)
"""What to record of a trace."""


def recording(options: argparse.Namespace) -> dict[str, Any]:
    """The options of TRACE as keyword arguments of `inspector.trace`."""
    return {name: getattr(options, name) for name in ("grade", "mode", "every", "native", "pointers")}


def only_here(options: argparse.Namespace, modes: tuple[str, ...] = ("ring",)) -> str:
    """The first given TRACE option that workers and launched programs do not support; "" where none is."""
    flags = {"--native": options.native, "--pointers": options.pointers, "--mode": options.mode not in modes}
    return next((flag for flag, given in flags.items() if given), "")


DRAW = (
    Option(("--all",), {"action": "store_true", "help": "show every row"}),
    Option(("--explain",), {"action": "store_true", "help": "explain each line with a sentence and a link"}),
    Option(("-v", "--verbose"), {"action": "store_true", "help": "show full addresses and more detail"}),
)
"""How to draw a report."""

WRITE = (
    Option(("--json",), {"action": "store_true", "help": "print the facts as JSON"}),
    Option(("--svg",), {"metavar": "FILE", "help": "write the drawing as a picture"}),
    Option(("--html",), {"metavar": "FILE", "help": "write the drawing as a page"}),
    Option(("--width",), {"metavar": "N", "type": width, "help": "columns (default: the terminal's)"}),
)
"""Where to write a report."""

C_CELL = (
    Option(
        ("name",), {"nargs": "?", "default": "cell", "help": "name of the function whose body the cell is"}
    ),
    Option(
        ("-i", "--inputs"),
        {
            "metavar": "x,y",
            "default": "",
            "help": "names of ndarrays: the cell is a function body, which is run",
        },
    ),
    Option(
        ("-o", "--outputs"),
        {"metavar": "z", "default": "", "help": "names of the arrays that the body fills"},
    ),
    Option(
        ("--isolate",),
        {"action": "store_true", "help": "run it in a forked child; the kernel survives a crash"},
    ),
    Option(
        ("--trace",), {"action": "store_true", "help": "show its Python calls, references and arrays too"}
    ),
    Option(
        ("--cache-version",), {"metavar": "TUPLE", "help": "part of the cache key; () disables the cache"}
    ),
    Option(
        ("-l", "--lib"),
        {"action": "append", "default": [], "metavar": "NAME", "help": "link with this library"},
    ),
    Option(
        ("-L", "--library-dir"),
        {"action": "append", "default": [], "metavar": "DIR", "help": "search libraries here"},
    ),
    Option(
        ("-I", "--include-dir"),
        {"action": "append", "default": [], "metavar": "DIR", "help": "search headers here"},
    ),
    Option(
        ("--arg",),
        {"action": "append", "default": [], "metavar": "ARG", "help": "pass this to the compiler: --arg=-O3"},
    ),
    Option(
        ("-v", "--verbose"),
        {"action": "store_true", "help": "show the compiler's command and the folder too"},
    ),
    Option(("--json",), {"action": "store_true", "help": "print the facts as JSON"}),
)
"""How a C cell is compiled and run."""


PLACES = Option(("places",), {"nargs": "*", "help": "a function, file.c:line, a prototype or a pattern"})
BREAK = (
    Option(("--preset",), {"help": "the places of a library: numpy, cffi, host, reticulate, torch"}),
    Option(
        ("--prototype",),
        {
            "action": "append",
            "default": [],
            "metavar": "LINE",
            "help": "prototype of a function without debug information",
        },
    ),
    Option(
        ("--record",),
        {
            "default": "full",
            "choices": ("full", "stacks", "python", "native", "arguments", "count"),
            "help": "what to record at each hit; less than full is faster",
        },
    ),
    Option(
        ("--budget",), {"type": int, "default": 1000, "metavar": "N", "help": "record at most N hits (1000)"}
    ),
    Option(
        ("--depth",),
        {"type": int, "default": 40, "metavar": "N", "help": "record at most N native frames a hit (40)"},
    ),
    Option(
        ("--all-threads",), {"action": "store_true", "help": "stop the notebook kernel's own threads too"}
    ),
    Option(
        ("--fast",), {"action": "store_true", "help": "faster hits; if gdb is killed, the kernel may die too"}
    ),
)
"""What breakpoints collect."""


def add_options(parser: Any, *groups: Iterable[Option]) -> None:
    """Add the options of `groups` to an argparse parser."""
    for group in groups:
        for option in group:
            parser.add_argument(*option.flags, **option.settings)
