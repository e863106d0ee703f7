"""Imports point down: the table of docs/architecture.md, and no circle anywhere."""

from __future__ import annotations

import re
import sys

import pytest
import sources

FLOOR_1 = {"facts", "errors", "classes", "referents", "unwarned"}
FLOOR_2 = {
    *FLOOR_1,
    "_native",
    "adapters",
    "isolation",
    "places",
    "symbol_table",
    "cython_lines",
    "line_table",
    "line_program",
    "inlined_calls",
    "mappings",
    "strides",
    "overlap",
    "r_structs",
    "tensor_structs",
    "call_site",
    "call_arguments",
    "stack_height",
    "ownership",
    "layers",
}
FLOOR_3 = {*FLOOR_2, "probes", "tracing", "preview", "debugger", "lazy", "compiler", "verdicts"}
FLOOR_5 = {
    *FLOOR_3,
    "views",
    "report",
    "traced",
    "leaked",
    "launched",
    "promises",
    "previewed",
    "called",
    "api",
    "running",
    "visited",
    "graph",
    "cluster",
    "arguments",
}
FACE = {
    "api",
    "traced",
    "leaked",
    "launched",
    "leaked_launched",
    "previewed",
    "called",
    "running",
    "graph",
    "report",
    "errors",
    "arguments",
    "so_far",
    "given_modules",
    "facts",
    "unwarned",
}
VERBS = {*FACE, "cluster"}

MAY_IMPORT = {
    "inspector": FLOOR_5 | {"magics"},  # the door: names resolved on first use
    "facts": {"errors"},
    "errors": set(),
    "given_modules": {"errors", "classes"},
    "places": {*FLOOR_1, "_native", "mappings", "symbol_table"},
    "symbol_table": FLOOR_1,
    "line_table": {*FLOOR_1, "cython_lines", "inlined_calls", "line_program"},
    "cython_lines": set(),
    "line_program": set(),
    "inlined_calls": set(),
    "mappings": {*FLOOR_1, "_native"},
    "strides": set(),  # arithmetic
    "overlap": {"facts"},  # arithmetic; facts for their cheaper dataclass
    "r_structs": {*FLOOR_1, "_native"},
    "tensor_structs": {"_native"},
    "isolation": FLOOR_1,
    "call_site": {"unwarned"},
    "classes": set(),
    "referents": set(),
    "unwarned": set(),
    "call_arguments": {"_native", "stack_height"},
    "stack_height": set(),
    "adapters": {*FLOOR_1, "_native", "places", "mappings", "overlap", "r_structs", "tensor_structs"},
    "ownership": {*FLOOR_1, "_native", "places", "r_structs", "stack_height"},
    "layers": {*FLOOR_1, "_native", "adapters", "mappings", "overlap"},
    "probes": FLOOR_2,
    "tracing": FLOOR_2,
    "debugger": FLOOR_2,
    "lazy": FLOOR_2,
    "compiler": FLOOR_2,
    "verdicts": FLOOR_1,
    "views": {"facts"},
    "report": {*FLOOR_1, "views"},
    "api": FLOOR_3 | {"report", "views"},
    "running": FLOOR_3 | {"visited", "traced", "launched"},
    "visited": {*FLOOR_1, "given_modules", "debugger", "launched", "traced"},
    "graph": FLOOR_3,
    "traced": {*FLOOR_1, "given_modules", "tracing", "verdicts", "report"},
    "promises": {*FLOOR_1, "given_modules", "tracing", "traced"},
    "launched": {*FLOOR_1, "tracing", "traced"},
    "preview": FLOOR_2,
    "previewed": {*FLOOR_2, "preview", "verdicts", "traced", "api"},
    "called": FLOOR_3 | {"traced", "leaked"},
    "leaked": {
        *FLOOR_1,
        "given_modules",
        "_native",
        "tracing",
        "verdicts",
        "report",
        "leaked_apart",
        "leaked_outside",
    },
    "leaked_apart": {*FLOOR_1, "isolation", "verdicts"},
    "leaked_launched": {*FLOOR_1, "_native", "tracing", "verdicts", "report", "leaked", "launched"},
    "leaked_outside": {*FLOOR_1, "tracing", "verdicts"},
    "arguments": FLOOR_1,
    "so_far": set(),  # words
    "cli": VERBS | {"screens"},  # the commands that open them
    "__main__": {"cli"},
    "cluster": FACE,
    "startup": FACE,
    "pytest_plugin": FACE | {"promises"},
    "magics": VERBS | {"views"},
    "screens": FACE | {"views"},
}
TOGETHER = {
    "facts",
    "ownership",
    "layers",
    "adapters",
    "debugger",
    "tracing",
    "preview",
    "lazy",
    "compiler",
    "verdicts",
    "views",
    "cluster",
    "cli",
    "magics",
    "screens",
}
"""Rooms whose files may import each other. Probes never do: what two of them need lives on floor 2."""

OUTSIDE = {
    "rich": {"views", "report", "cli", "magics", "screens"},
    "textual": {"screens"},
    "IPython": {"magics", "inspector"},
    "ipywidgets": {"magics"},
    "anywidget": {"magics"},
    "traitlets": {"magics"},
    "numpy": {"adapters", "lazy", "compiler", "tracing"},
    "pandas": {"adapters"},
    "pyarrow": {"tracing"},
    "psutil": {"mappings", "probes", "debugger"},
    "elftools": {"symbol_table", "line_table", "compiler"},
    "cffi": {"compiler"},
    "gdb": {"debugger"},
    "pystack": {"debugger"},
    "distributed": {"cluster"},
    "dask": {"cluster"},
    "cloudpickle": {"cluster"},
    "pytest": {"pytest_plugin"},
    "shtab": {"cli"},
}
"""Library -> the rooms that may import it."""
RESERVED = {"subprocess": {"debugger", "compiler", "doctor", "tracing"}, "multiprocessing": set()}
"""Standard library modules that belong to some rooms only."""


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def complaints(path: sources.Path, text: str = "") -> list[str]:
    here, found = room(sources.module(path)), []
    for target, line, top in sources.imports(path, text):
        top_name = target.split(".")[0]
        where = f"{sources.name(path)}:{line}: {here}"
        if top_name == "inspector":
            there = room(target)
            own = here == there and (here in TOGETHER or sources.module(path) == target)
            if not own and there not in MAY_IMPORT.get(here, set()):
                found.append(f"{where} may not import {target}")
        elif top_name in sys.stdlib_module_names:
            if top_name in RESERVED and here not in RESERVED[top_name]:
                found.append(f"{where} may not import {top_name}")
        elif here not in OUTSIDE.get(top_name, set()):
            found.append(f"{where} may not import {top_name} (the table OUTSIDE says who may)")
        elif here == "adapters" and top:
            found.append(f"{where} imports {top_name} at module level: do it inside the function")
    return found


@pytest.mark.parametrize("path", sources.PYTHON, ids=sources.name)
def test_imports_point_down(path: sources.Path) -> None:
    assert complaints(path) == []


def test_every_room_is_in_the_table() -> None:
    rooms = {room(sources.module(path)) for path in sources.PYTHON}
    assert rooms <= set(MAY_IMPORT)


def test_no_circle() -> None:
    graph = {
        sources.module(path): {
            target
            for target, _, _ in sources.imports(path)
            if target.startswith("inspector.") and target != sources.module(path)
        }
        for path in sources.PYTHON
        if sources.module(path) != "inspector"
    }
    done: set[str] = set()

    def walk(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, "circle: " + " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for target in sorted(graph.get(module, ())):
                walk(target, (*path, module))
            done.add(module)

    for module in sorted(graph):
        walk(module, ())


def test_the_judge_sees_lazy_relative_and_type_imports() -> None:
    """A supposed file with each kind of import is caught at each."""
    supposed = sources.ROOT / "inspector" / "facts" / "supposed.py"
    text = (
        "import numpy\nfrom ..views import view\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from inspector.probes import refs\n"
        "def f():\n    import inspector.api\n    importlib.import_module('inspector.magics')\n"
    )
    caught = {re.search(r"import (\S+)", line)[1] for line in complaints(supposed, text)}  # type: ignore[index]
    rooms = {"inspector.views.view", "inspector.probes.refs", "inspector.api", "inspector.magics"}
    assert caught == {"numpy"} | rooms
