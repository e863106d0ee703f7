"""The terminal half of `make demo`: four looks at objects of real libraries.

    .venv/bin/python notebooks/demo.py

Run it anywhere the package, NumPy and pandas are installed. Each look is what `inspector show` prints.
"""

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


def show(says: str, x: object, name: str, **options: bool) -> None:
    """One look, under the line of code that made the object."""
    report = inspector.inspect(x, name=name, **options).drawn(everything=bool(options))
    del x
    print(f"\n>>> {says}")
    if console and not os.environ.get("NO_COLOR"):
        console.print(report, end="")
    else:
        print(report.drawn(width=WIDTH).to_text(sys.stdout.encoding), end="")


def a_view_and_its_base() -> None:
    """A transposed slice: which bytes of `big` it is, and what keeps them alive."""
    big = numpy.arange(100_000.0)
    x = big[20:32].reshape(3, 4).T
    show("x = big[20:32].reshape(3, 4).T", x, "x")


def a_column_of_a_frame() -> None:
    """A pandas column: the block it lies in, and who else has it."""
    frame = pandas.DataFrame({"price": [1.5, 2.5, 4.0] * 1000, "volume": [1.0, 2.0, 3.0] * 1000})
    show('frame["price"]', frame["price"], "price")


def a_type_of_an_extension() -> None:
    """A type written in C: its slots and its method table, each with the C function behind it."""
    show("decimal.Context", decimal.Context, "decimal.Context")


def held_by_c() -> None:
    """An object that C code holds in a static: the search names the library and the symbol."""
    if sys.version_info < (3, 13):  # later, _decimal keeps it in its module state
        show("decimal.DefaultContext", decimal.DefaultContext, "DefaultContext", scan=True)
    else:
        show("OSError", OSError, "OSError", scan=True)


if __name__ == "__main__":
    a_view_and_its_base()
    a_column_of_a_frame()
    a_type_of_an_extension()
    held_by_c()
