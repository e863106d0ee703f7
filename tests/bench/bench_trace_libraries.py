"""Whole libraries with their C-API slots armed: what each grade costs, beside the same work untraced."""

# SPDX-License-Identifier: MIT
import io
from collections.abc import Callable

import numpy as np
import pandas as pd
from bench import absent, optional, row
from bench_trace import grades, interleaved

from inspector import _native

ROUNDS = 12


def workloads() -> dict[str, tuple[Callable[[], object], str, float | None]]:
    """Name -> (what runs, part of its libraries' paths, bar of grade record without a clock or None)."""
    numbers = [float(n) for n in range(1000)]
    table = pd.DataFrame({"k": [n % 7 for n in range(1000)], "v": numbers})
    lines, grid = table.to_csv(), np.random.default_rng(1).random((100, 100))
    found: dict[str, tuple[Callable[[], object], str, float | None]] = {
        "groupby.sum": (lambda: [table.groupby("k").v.sum() for _ in range(3)], "pandas", 1.12),
        "pd.Series(list)": (lambda: [pd.Series(numbers[:3]) for _ in range(40)], "pandas", 1.2),
        "pd.read_csv": (lambda: pd.read_csv(io.StringIO(lines)), "pandas", None),
        "DataFrame.merge": (lambda: table.merge(table, on="v"), "pandas", None),
        "np.concatenate": (lambda: [np.concatenate([table.v, table.v]) for _ in range(40)], "numpy", 1.2),
        "np.linalg.solve": (lambda: [np.linalg.solve(grid, grid) for _ in range(3)], "numpy", None),
    }
    if torch := optional("torch"):
        tensor = torch.tensor(grid)
        found["torch.tensor(list)"] = (lambda: [torch.tensor(numbers) for _ in range(10)], "torch", 1.15)
        found["torch.sum"] = (lambda: [tensor.sum() for _ in range(200)], "torch", None)
    if arrow := optional("pyarrow"):
        column = arrow.array(numbers)
        found["pa.array(list)"] = (lambda: [arrow.array(numbers) for _ in range(40)], "pyarrow", 1.03)
        found["Array.to_pylist"] = (lambda: [column.to_pylist() for _ in range(40)], "pyarrow", None)
    return found


def main() -> None:
    """Off, disarmed again, and each grade, interleaved."""
    for library in ("torch", "pyarrow"):
        if not optional(library):
            absent(f"a list to {library}", library)
    for name, (body, library, bar) in workloads().items():
        body()
        paths = frozenset(path for path in _native.got_objects() if f"/{library}" in path or "/numpy" in path)
        least = interleaved(paths, body, ROUNDS)
        spread = max(least["off"], least["off again (A/A)"])
        row(f"{name}, disarmed", least["disarmed"], against="A/A", theirs=spread, bar=1.02)
        grades(name, least, bar)


if __name__ == "__main__":
    main()
