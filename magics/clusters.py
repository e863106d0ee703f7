"""`--on CLIENT`: inspect the workers of a Dask cluster."""

# SPDX-License-Identifier: MIT
import argparse
from typing import Any

from inspector.magics import progress

from inspector.errors import InspectorError
from inspector.faces.cluster.client import on
from inspector.report import Report


def report(client: Any, keys: list[Any], options: argparse.Namespace) -> Report:
    """The table of all workers' keys, or the card of one key (a Future or its name)."""
    if len(keys) > 1:
        raise InspectorError(
            f"{len(keys)} keys are too many for one card.",
            slug="too-many-objects",
            why="a card is made on the worker that holds the key",
            do="%inspect --on client key, or %inspect --on client for the table of all",
        )
    also = tuple(column for column in ("chain", "retained", "aliases") if getattr(options, column))
    with progress.of_workers() as progressed:
        cluster = on(client, progressed)
        return cluster.inspect(keys[0], scan=options.owners, also=also) if keys else cluster.namespace()
