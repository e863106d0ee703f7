"""Imports point down: the table of docs/architecture.md, and no circle anywhere."""

# SPDX-License-Identifier: MIT
import re
import sys
from graphlib import TopologicalSorter

import pytest
import sources

pytestmark = pytest.mark.quick

FLOOR_1 = {"facts", "errors"}
FLOOR_2 = {*FLOOR_1, "_native", "binaries", "adapters", "objects", "objects.layouts"}
OBJECT = {*FLOOR_2, "objects.ownership", "objects.layers", "objects.sharing", "objects.reach"}
LISTENS = {*FLOOR_2, "tracing.events"}
TRACING = {"tracing.events", "tracing.arm", "tracing.record", "tracing.ask"}
DEBUGGER = {"debugger", "debugger.memory", "debugger.presets", "debugger.attach", "debugger.watch"}
DEBUGGER |= {"debugger.waiting", "debugger.dap", "debugger.kernel"}
FLOOR_3 = {*OBJECT, *TRACING, *DEBUGGER, "objects.probes", "objects.preview", "ledger", "lazy"}
FLOOR_3 |= {"sessions.compiler", "verdicts"}
FACE = {"api", "sessions", "sessions.catalogue", "report", "errors", "facts", "faces", "objects"}
VERBS = {*FACE, "faces.cluster"}

MAY_IMPORT = {
    "inspector": {*FLOOR_3, *VERBS, "magics", "views"},  # the door: names resolved on first use
    "facts": {"errors"},
    "errors": set(),
    "binaries": {*FLOOR_1, "_native"},
    "objects": FLOOR_1,  # a class as C stores it, a forked child, a call as it was written
    "objects.layouts": {*FLOOR_1, "_native"},
    "adapters": FLOOR_2,
    "objects.ownership": FLOOR_2,
    "objects.layers": FLOOR_2,
    "objects.sharing": FLOOR_2,  # two objects beside each other
    "objects.reach": {*FLOOR_2, "objects.layers", "objects.sharing"},  # what objects hold
    "objects.probes": OBJECT,
    "objects.preview": OBJECT,
    "tracing": set(),
    "tracing.events": FLOOR_2,
    "tracing.arm": LISTENS,
    "tracing.record": {*LISTENS, "tracing.arm"},
    "tracing.ask": {*LISTENS, "tracing.record"},
    "ledger": {*LISTENS, "tracing.arm", "tracing.record", "objects.ownership"},
    "debugger.memory": FLOOR_2,
    "debugger.presets": {*FLOOR_2, "debugger.memory"},
    "debugger": {*FLOOR_2, "debugger.memory", "debugger.presets"},
    "debugger.inside": {*FLOOR_2, "debugger.memory", "debugger.presets", "debugger"},
    "debugger.attach": {*FLOOR_2, "debugger.memory", "debugger"},
    "debugger.dap": {*FLOOR_2, "debugger.memory", "debugger.presets", "debugger.attach", "debugger"},
    "debugger.kernel": {*FLOOR_1, "debugger.dap"},
    "debugger.waiting": {*FLOOR_2, "debugger.memory", "debugger.attach"},
    "debugger.watch": {*FLOOR_2, "debugger.memory", "debugger.attach"},
    "lazy": FLOOR_2,
    "sessions.compiler": FLOOR_2,
    "verdicts": FLOOR_1,
    "views": {"facts"},
    "report": {*FLOOR_1, "views"},
    "api": {*FLOOR_3, "report", "views"},
    "sessions": {*FLOOR_3, "api", "report"},
    "sessions.catalogue": {*FLOOR_3, "api", "report", "sessions"},
    "faces": FLOOR_1,  # options as data, words of progress
    "faces.assistants": FACE,
    "faces.cli": {*VERBS, "faces.screens", "faces.assistants", "faces.selftest"},  # what commands open
    "faces.cluster": {*FACE, "verdicts"},
    "faces.screens": {*FACE, "views"},
    "faces.selftest": {*FACE, "inspector"},  # what a user's code imports
    "faces.startup": FACE,
    "__main__": {"faces.cli"},
    "faces.held_tests": FACE,
    "pytest_plugin": {*FACE, "faces.held_tests"},
    "magics": {*VERBS, "views"},
}
APART = {"objects.probes"}
"""Rooms whose files never import each other: what two of them need lies in a room below."""

OUTSIDE = {
    "rich": {"views", "report", "faces.cli", "magics", "faces.screens"},
    "textual": {"faces.screens"},
    "IPython": {"magics", "inspector"},
    "ipywidgets": {"magics"},
    "anywidget": {"magics"},
    "traitlets": {"magics"},
    "numpy": {"adapters", "ledger", "lazy", "sessions.compiler", "sessions.catalogue", "faces.selftest"}
    | {"tracing.events", "tracing.record", "tracing.ask"},
    "pandas": {"adapters"},
    "pyarrow": {"tracing.ask"},
    "psutil": {"binaries", "objects.probes", "debugger", "debugger.memory", "debugger.attach"},
    "elftools": {"binaries", "sessions.compiler"},
    "cffi": {"sessions.compiler"},
    "gdb": {"debugger.inside"},
    "libstdcxx": {"debugger.inside"},
    "zmq": {"debugger.kernel"},
    "jupyter_client": {"debugger.kernel"},
    "jupyter_core": {"debugger.kernel"},
    "pystack": {"debugger"},
    "distributed": {"faces.cluster"},
    "dask": {"faces.cluster"},
    "cloudpickle": {"faces.cluster"},
    "pytest": {"pytest_plugin", "faces.held_tests"},
    "_pytest": {"faces.held_tests"},
    "shtab": {"faces.cli"},
    "mcp": {"faces.assistants"},
}
"""Library -> the rooms that may import it."""
RESERVED = {
    "subprocess": {"debugger", "debugger.attach", "debugger.dap", "debugger.kernel"}
    | {"sessions.compiler", "tracing.record", "faces.selftest"},
    "multiprocessing": set(),
}
"""Standard library modules that belong to some rooms only."""


def room(module: str) -> str:
    """The room of a module: the longest name of the table that it begins with."""
    parts = module.split(".")[1:]
    nearest = (".".join(parts[:n]) for n in (2, 1) if ".".join(parts[:n]) in {*MAY_IMPORT, "_native"})
    return next(nearest, parts[0] if parts else "inspector")


def complaints(path: sources.Path, text: str = "") -> list[str]:
    here, found = room(sources.module(path)), []
    for target, line, top in sources.imports(path, text):
        top_name = target.split(".")[0]
        where = f"{sources.name(path)}:{line}: {here}"
        if top_name == "inspector":
            there = room(target)
            own = here == there and (here not in APART or sources.module(path) == target)
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


def test_imports_point_down() -> None:
    assert [words for path in sources.PYTHON for words in complaints(path)] == []


def test_every_room_is_in_the_table() -> None:
    rooms = {room(sources.module(path)) for path in sources.PYTHON}
    assert rooms <= set(MAY_IMPORT)


def test_no_circle() -> None:
    graph = {}
    for path in sources.PYTHON:
        here = sources.module(path)
        there = {target for target, _, _ in sources.imports(path) if target.startswith("inspector.")}
        graph[here] = there - {here} if here != "inspector" else ()  # the door resolves names on first use
    TopologicalSorter(graph).prepare()


def test_the_judge_sees_lazy_relative_and_type_imports() -> None:
    """A supposed file with each kind of import is caught at each."""
    supposed = sources.ROOT / "inspector" / "facts" / "supposed.py"
    text = (
        "import numpy\nfrom ..views import view\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from inspector.objects.probes import refs\n"
        "def f():\n    import inspector.api\n    importlib.import_module('inspector.magics')\n"
    )
    caught = {re.search(r"import (\S+)", line)[1] for line in complaints(supposed, text)}  # type: ignore[index]
    rooms = {"inspector.views.view", "inspector.objects.probes.refs", "inspector.api", "inspector.magics"}
    assert caught == {"numpy"} | rooms


def test_no_circle_between_rooms() -> None:
    graph = {here: set() for here in MAY_IMPORT}  # type: dict[str, set[str]]
    for path in sources.PYTHON:
        here = room(sources.module(path))
        there = {room(target) for target, _, _ in sources.imports(path) if target.startswith("inspector.")}
        graph[here] |= there - {here}
    graph["inspector"] = set()  # the door resolves names on first use
    TopologicalSorter(graph).prepare()
