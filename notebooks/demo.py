"""The terminal half of `make demo`: five looks at objects of real libraries.

    .venv/bin/python notebooks/demo.py

Run it anywhere the package, NumPy and pandas are installed. Each look is what `inspector show` prints.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import decimal
import os
import sys

import numpy
import pandas
from rich.console import Console

import inspector

WIDTH = 80
console = Console(width=WIDTH, highlight=False) if sys.stdout.isatty() else None

# A transposed slice: which bytes of `big` it is, and what keeps them alive.
big = numpy.arange(100_000.0)
x = big[20:32].reshape(3, 4).T

# A table: the blocks its columns lie in, and who else has them.
prices = numpy.arange(3000.0)
frame = pandas.DataFrame({"price": prices, "sold": range(3000)}, copy=False)
price = frame["price"]


def look(expression: str, says: str = "", scan: bool = False) -> None:
    """One look at what an expression gives, under the line of code that made it."""
    report = inspector.inspect(
        eval(expression, globals()),
        name=expression,
        names={id(globals()): "demo.py"},
        known={id(value): name for name, value in globals().items()},
        scan=scan,
    ).drawn(everything=scan)
    print(f"\n>>> {says or expression}")
    if console and not os.environ.get("NO_COLOR"):
        console.print(report, end="")
    else:
        print(report.drawn(width=WIDTH).to_text(sys.stdout.encoding), end="")


if __name__ == "__main__":
    look("x", "x = big[20:32].reshape(3, 4).T")
    look("frame", 'frame = pandas.DataFrame({"price": prices, "sold": range(3000)}, copy=False)')
    look("price", 'price = frame["price"]')
    # A type written in C: its slots and its method table, each with the C function behind it.
    look("decimal.Context")
    # An object that C code holds in a static: the search names the library and the symbol. From 3.13 on
    # _decimal keeps its own in its module state.
    look("decimal.DefaultContext" if sys.version_info < (3, 13) else "OSError", scan=True)
