"""What a card costs: the facts and the drawing, against the size of the payload and against wat and rich."""

# SPDX-License-Identifier: MIT
import io
from collections.abc import Callable

import numpy
import pandas
from bench import best, row
from rich.console import Console

import inspector

SMALL_BYTES, LARGE_BYTES = 10**3, 10**8


def card(x: object) -> Callable[[], str]:
    """Facts and text of the default card."""
    return lambda: inspector.inspect(x, name="x").to_text()


def wat(x: object) -> Callable[[], object]:
    """wat's text of the same object."""
    from wat import wat

    return lambda: wat.str / x if hasattr(wat, "str") else wat(x, str=True)


def rich_inspect(x: object) -> Callable[[], object]:
    """rich.inspect into a console of the same width."""
    from rich import inspect

    def draw() -> str:
        console = Console(file=io.StringIO(), width=80, force_terminal=False)
        inspect(x, console=console)
        return str(console.file.getvalue())  # type: ignore[attr-defined]

    return draw


def payload() -> None:
    """The cost may not grow with the payload."""
    small = numpy.zeros(SMALL_BYTES // 8)
    large = numpy.ones(LARGE_BYTES // 8)
    times: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(5):  # in turn: a busy moment hits both alike
        times["small"].append(best(card(small), 20, 0.3))
        times["large"].append(best(card(large), 20, 0.3))
    ours, theirs = min(times["large"]), min(times["small"])
    row("card of an ndarray of 1e8 bytes", ours, against="of 1e3 bytes", theirs=theirs, bar=1.2)


def peers() -> None:
    """Faster than wat and rich.inspect on each."""
    columns = {f"c{i}": numpy.arange(10.0**6) for i in range(10)}
    subjects = {
        "ndarray of 1e8 bytes": numpy.ones(LARGE_BYTES // 8),
        "list of 1e6 ints": list(range(10**6)),
        "DataFrame of 1e6 x 10": pandas.DataFrame(columns),
    }
    for name, x in subjects.items():
        ours = best(card(x), 20, 1.0)
        for peer, draw in (("wat", wat(x)), ("rich.inspect", rich_inspect(x))):
            row(f"card of a {name}", ours, against=peer, theirs=best(draw, 5, 3.0), bar=1.0)
        row(f"text of the card of a {name}", len(card(x)()), bar=4096, unit="B")


def facts() -> None:
    """1 ms of facts."""
    subjects = {"ndarray of 1e8 bytes": numpy.ones(LARGE_BYTES // 8), "list of 1e6 ints": list(range(10**6))}
    for name, x in subjects.items():
        row(f"facts of a {name}", best(lambda x=x: inspector.inspect(x), 50, 1.0), bar=0.001)  # type: ignore[misc]


if __name__ == "__main__":
    payload()
    facts()
    peers()
