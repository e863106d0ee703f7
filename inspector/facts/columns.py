"""The columns of a report: column name -> fact class; a class is imported when first needed."""

# SPDX-License-Identifier: MIT
import importlib
from typing import Final

from inspector.errors import InspectorError

COLUMNS: Final = {
    "answers": "answers:Answers",
    "object": "object:Object",
    "type": "object:Type",
    "module": "object:Module",
    "builtin": "object:Builtin",
    "refs": "refs:Refs",
    "owners": "refs:Owners",
    "buffer": "buffer:Buffer",
    "layout": "layout:Layout",
    "parts": "parts:Parts",
    "contents": "contents:Contents",
    "autograd": "autograd:Autograd",
    "model": "model:Model",
    "materialization": "materialization:Materialization",
    "lazy": "lazy:Lazy",
    "crossed": "converted:HostLines",
    "contract": "lazy:LazyContract",
    "r_object": "r_object:RObject",
    "lazy_trace": "lazy_trace:LazyTrace",
    "r_memory": "r_object:RMemory",
    "aliases": "aliases:Aliases",
    "watch": "watch:Watch",
    "sharing": "sharing:Sharing",
    "chain": "chain:Chain",
    "retained": "refs:Retained",
    "heap": "heap:Heap",
    "account": "account:Account",
    "lost": "lost:Lost",
    "snapshot": "heap:Snapshot",
    "difference": "heap:Difference",
    "growth": "growth:Growth",
    "comparison": "comparison:Comparison",
    "compiled": "compiled:Compiled",
    "call": "compiled:CellCall",
    "namespace": "namespace:Namespace",
    "map": "memory_map:MemoryMap",
    "graph": "graph:Graph",
    "breaks": "stack:Hits",
    "stack": "stack:Stack",
    "waits": "waits:Waits",
    "stacks": "stack:Stacks",
    "stop": "stack:Stop",
    "crash": "crash:Crash",
    "remote": "remote:Remote",
    "writes": "write:Writes",
    "samples": "remote:Samples",
    "machine": "machine:Machine",
    "statements": "statements:Statements",
    "nodes": "nodes:Nodes",
    "trace": "conversion:Trace",
    "hosted": "hosted:Hosted",
    "cluster_keys": "cluster:Keys",
    "cluster_heap": "cluster:ClusterHeap",
    "cluster_findings": "cluster:ClusterFindings",
    "cluster_transfers": "cluster:Transfers",
    "cluster_trace": "cluster:ClusterTrace",
    "cluster_leaks": "cluster:ClusterLeaks",
    "trace_difference": "trace_difference:TraceDifference",
    "previews": "preview:Previews",
    "prediction": "preview:Prediction",
    "leaks": "leaks:Leaks",
    "catalogue": "catalogue:Rules",
}
"""Column -> file in inspector/facts and class in it, in the order of a report."""


def fact_class(column: str) -> type:
    """The fact class of a column. Raises InspectorError `bad-report` if no column has that name."""
    if column not in COLUMNS:
        raise InspectorError(
            f"no column is called {column!r:.40}",
            slug="bad-report",
            why="the file is damaged, or was not written by inspector",
            do=f"columns are: {', '.join(COLUMNS)}",
        )
    file, _, name = COLUMNS[column].partition(":")
    found: type = getattr(importlib.import_module(f"inspector.facts.{file}"), name)
    return found
