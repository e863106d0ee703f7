"""The options as data: one table for the parsers of the commands and of the magics."""

# SPDX-License-Identifier: MIT
import argparse
from collections.abc import Iterable
from typing import Any, NamedTuple


class Option(NamedTuple):
    """The arguments of argparse's `add_argument` and IPython's `@argument`: `*flags, **settings`."""

    flags: tuple[str, ...]
    settings: dict[str, Any]


def _option(*flags: str, **settings: Any) -> Option:
    return Option(flags, settings)


def _switch(*flags: str, help: str) -> Option:
    """An option without a value."""
    return _option(*flags, action="store_true", help=help)


def _modules(help: str) -> Option:
    return _option("-m", "--of", dest="modules", metavar="MODULE", action="append", help=help)


def width(text: str) -> int:
    """The width in cells that an option gives, 20 to 1,000."""
    value = int(text)
    if not 20 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"the width must be 20 to 1000 cells, not {value}")
    return value


LOOK = (
    _switch("--owners", help="search memory for all holders, in native code too"),
    _switch("--chain", help="show the shortest path from a root to the object"),
    _switch("--retained", help="show what only this object keeps alive"),
    _switch("--aliases", help="show all objects over the same bytes"),
    _switch("--reveal", help="show values under names like password or token"),
    _switch(
        "--ask",
        help="call its protocol methods: runs library code; NumPy then keeps 72 bytes with an ndarray",
    ),
)
"""What to find out about an object."""

LIVE = _switch("--live", help="show a live view in a notebook")
PANEL = _switch(
    "--panel", help="stop in JupyterLab's own debugger, in the kernel 'Python 3 (native debugging)'"
)
VIEWS = (
    _switch("--map", help="show your names on the addresses they cover"),
    _switch("--heap", help="show what fills the heap, by type, and the largest objects"),
    _switch("--memory", help="show where the memory of the process went"),
    _switch("--graph", help="walk through its holders and what it holds"),
    _switch("--strides", help="show which bytes each element of an array uses"),
    _switch("--layers", help="show its layers as a tree and its pages as a strip"),
    LIVE,
)
"""Live views of a notebook; a terminal and a saved notebook show the same facts as text."""

COMPARED = (_switch("--fields", help="show every field in which objects differ"),)
"""What to show of objects side by side."""

PREVIEW = (
    _option(
        "--to",
        nargs="+",
        metavar="LIBRARY",
        help="what converting to numpy, torch ... would copy and lose; give this last",
    ),
    _option("--after", metavar="EXPR", help="show what this expression would copy and materialize"),
)
"""What would happen to an object."""

ON = _option("--on", metavar="CLIENT", help="inspect the workers of this Dask distributed.Client")

ONLY = (
    _option(
        "--only", action="append", metavar="PATTERN", default=[], help="show only calls of these functions"
    ),
    _option(
        "--min-bytes", type=int, metavar="N", default=0, help="show only calls that handle N bytes or more"
    ),
    _option(
        "--min-us", type=float, metavar="T", default=0.0, help="show only calls of T microseconds or longer"
    ),
    _option("--thread", type=int, metavar="ID", default=0, help="show only calls of this thread"),
)
"""What to show of a trace; all of it is recorded."""

MODULES = _modules("trace this module only; may be repeated")
LEAKS = (
    _modules("watch this extension module only; may be repeated"),
    _option(
        "--repeat",
        type=int,
        metavar="N",
        help="run 3 times, then N times watched; report what every run shows",
    ),
    _switch("--isolate", help="with --repeat: run in a forked child and report a crash"),
    _switch("--confirm", help="with --repeat: 200 runs more, unwatched, must leave memory or references too"),
)
"""Which modules' references to watch, and in which runs."""
TRACE = (
    _option("--grade", choices=("count", "record", "deep"), default="record", help="how much to record"),
    _option(
        "--mode",
        choices=("ring", "stream", "sample"),
        default="ring",
        help="keep the last records, all records, or one call of every N",
    ),
    _option("--every", type=int, default=10, metavar="N", help="the N of --mode sample (10)"),
    _switch("--native", help="record the C functions that led to each conversion"),
    _switch("--pointers", help="hook calls through pointers from dlsym too"),
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
    _switch("--all", help="show every row"),
    _switch("--explain", help="explain each line with a sentence and a link"),
    _switch("-v", "--verbose", help="show full addresses and more detail"),
)
"""How to draw a report."""

WRITE = (
    _switch("--json", help="print the facts as JSON"),
    _option("--svg", metavar="FILE", help="write the drawing as a picture"),
    _option("--html", metavar="FILE", help="write the drawing as a page"),
    _option("--width", metavar="N", type=width, help="columns (default: the terminal's)"),
)
"""Where to write a report."""

EXPORT = (
    _option("--speedscope", metavar="FILE", help="write it as stacks for speedscope.app"),
    _option("--perfetto", metavar="FILE", help="write it for ui.perfetto.dev"),
)
"""Where to write a report of memory besides."""

C_CELL = (
    _option("name", nargs="?", default="cell", help="name of the function whose body the cell is"),
    _option(
        "-i",
        "--inputs",
        metavar="x,y",
        default="",
        help="names of ndarrays: the cell is a function body, which is run",
    ),
    _option("-o", "--outputs", metavar="z", default="", help="names of the arrays that the body fills"),
    _switch("--isolate", help="run it in a forked child; the kernel survives a crash"),
    _switch("--trace", help="show its Python calls, references and arrays too"),
    _option("--cache-version", metavar="TUPLE", help="part of the cache key; () disables the cache"),
    _option("-l", "--lib", action="append", default=[], metavar="NAME", help="link with this library"),
    _option("-L", "--library-dir", action="append", default=[], metavar="DIR", help="search libraries here"),
    _option("-I", "--include-dir", action="append", default=[], metavar="DIR", help="search headers here"),
    _option("--arg", action="append", default=[], metavar="ARG", help="pass this to the compiler: --arg=-O3"),
    _switch("-v", "--verbose", help="show the compiler's command and the folder too"),
    _switch("--json", help="print the facts as JSON"),
)
"""How a C cell is compiled and run."""


PLACES = _option("places", nargs="*", help="a function, file.c:line, a prototype or a pattern")
BREAK = (
    _option("--preset", help="the places of a library: numpy, cffi, host, reticulate, torch"),
    _option(
        "--prototype",
        action="append",
        default=[],
        metavar="LINE",
        help="prototype of a function without debug information",
    ),
    _option(
        "--record",
        default="full",
        choices=("full", "stacks", "python", "native", "arguments", "count"),
        help="what to record at each hit; less than full is faster",
    ),
    _option("--budget", type=int, default=1000, metavar="N", help="record at most N hits (1000)"),
    _option("--depth", type=int, default=40, metavar="N", help="record at most N native frames a hit (40)"),
    _switch("--all-threads", help="stop the notebook kernel's own threads too"),
    _switch("--fast", help="faster hits; if gdb is killed, the kernel may die too"),
)
"""What breakpoints collect."""


def add_options(parser: Any, *groups: Iterable[Option]) -> None:
    """Add the options of `groups` to an argparse parser."""
    for group in groups:
        for option in group:
            parser.add_argument(*option.flags, **option.settings)
