"""What sampled growth costs: the same loop with it and without, in turn; memray beside it.

python tests/bench/bench_growth.py     a loop whose library is not installed is left out
"""

# SPDX-License-Identifier: MIT
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from statistics import median
from typing import Any

from bench import row

from inspector.sessions.growth.sampled import Sampled

ROUNDS = 15
BAR = 1.05


def groupby() -> Callable[[], object]:
    import numpy as np
    import pandas as pd

    keys = np.random.default_rng(1).integers(0, 1000, 1_000_000)
    frame = pd.DataFrame({"k": keys, "v": np.arange(1e6)})
    return lambda: [frame.groupby("k").v.agg(["mean", "std"]) for _ in range(8)]


def to_pandas() -> Callable[[], object]:
    import pyarrow as pa

    table = pa.table({"a": list(range(500_000)), "s": [str(n) for n in range(500_000)]})
    return lambda: [table.to_pandas().shape for _ in range(20)]


def json_loop() -> Callable[[], object]:
    text = json.dumps([{"id": n, "name": str(n), "tags": ["a", "b"]} for n in range(20_000)])
    return lambda: [len(json.loads(text)) for _ in range(8)]


def torch_loop() -> Callable[[], object]:
    import torch

    torch.set_num_threads(1)  # a second worker spins while it waits, which is not the loop's time
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    batch = torch.ones(64, 256)

    def loop() -> None:
        for _ in range(100):
            model(batch).sum().backward()

    return loop


def tracked() -> Iterator[AbstractContextManager[Any]]:
    """memray's trackers, each with a file of its own; none where it is not installed."""
    with suppress(ImportError):
        import memray

        with tempfile.TemporaryDirectory() as folder:
            for number in range(ROUNDS):
                yield memray.Tracker(Path(folder) / str(number))


def seconds(loop: Callable[[], object], within: AbstractContextManager[Any]) -> float:
    with within:
        begun = time.process_time()
        loop()
        return time.process_time() - begun


def main() -> None:
    for make in (groupby, to_pandas, json_loop, torch_loop):
        with suppress(ImportError):
            loop = make()
            loop()
            pairs = [(seconds(loop, nullcontext()), seconds(loop, Sampled())) for _ in range(ROUNDS)]
            row(f"sampled growth: {make.__name__}", median(b / a for a, b in pairs), bar=BAR, unit="x")
            others = [(seconds(loop, nullcontext()), seconds(loop, one)) for one in tracked()]
            if others:
                row(f"memray: {make.__name__}", median(b / a for a, b in others), unit="x")


if __name__ == "__main__":
    main()
