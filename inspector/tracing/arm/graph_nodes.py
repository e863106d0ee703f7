"""The nodes of one call of a compiled function: each thunk wrapped while it runs, and what it made."""

# SPDX-License-Identifier: MIT
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FunctionType
from typing import Any, Final

from inspector.facts.nodes import Breach, NodeRun
from inspector.facts.unknown import Unknown
from inspector.tracing.arm.checked_nodes import Checked
from inspector.tracing.arm.graph_contract import generated
from inspector.tracing.arm.graph_losses import Lost

COPIES: Final = frozenset(
    ("DeepCopyOp", "Alloc", "Reshape", "Join", "Identity", "Cast", "AdvancedSubtensor", "AdvancedSubtensor1",
     "IncSubtensor", "AdvancedIncSubtensor", "AdvancedIncSubtensor1")
)  # fmt: skip
"""Ops that move elements where their result has memory of its own: docs/reference/pytensor_nodes.md."""
_FUSED: Final = Unknown("not watched")
_KEPT: Final = "the C loop keeps memory between its calls: rows say what the graph declares"
Cell = list[Any]


class Watched:
    """A context in which the function's thunks tell what they do; everything is put back at its end."""

    def __init__(self, f: Any) -> None:
        self.f, self.vm = f, f.vm
        self.runs: list[NodeRun] = []
        self.lost: list[Lost] = []
        self.aside_ns = 0
        """Time that went into forked children."""
        self.provided: list[Any] = []
        """What lies in the input cells when the first node runs."""
        self.linker = linker_of(f)
        self.unwatched = ""
        self.thunks, self.order = _thunks(self.vm)
        self._before: list[Any] = []
        if self.thunks is None:
            whole = f"{self.linker} makes all nodes one function: rows say what the graph declares"
            self.unwatched = _KEPT if _is_c_loop(self.vm) else whole
        elif any(getattr(thunk, "lazy", False) for thunk in self.thunks):
            self.unwatched, self.thunks = "a lazy node decides what runs: its call was left as it is", None

    def __enter__(self) -> "Watched":
        self.names = _names(self.f)
        self.made: dict[int, int] = {}  # address of a block -> number of the node that made it
        if self.thunks is None:
            self.f.vm = _Whole(self.vm, self)
            return self
        self._before = list(self.thunks)
        if _is_c_loop(self.vm):
            self.f.vm = _Loop(self.vm, self.f, [self._wrapped(at) for at in range(len(self._before))])
        else:
            self.thunks[:] = [self._wrapped(at) for at in range(len(self._before))]
        return self

    def __exit__(self, *_: object) -> None:
        self.f.vm = self.vm
        if self.thunks is not None:
            self.thunks[:] = self._before

    def note_inputs(self) -> None:
        """What the nodes are given: as passed, or what was made of it."""
        self.provided = [cell.storage[0] for cell in self.f.input_storage]

    def _wrapped(self, at: int) -> Callable[[], Any]:
        from inspector._native import unrecorded  # a saved trace is drawn without the extension

        thunk, node = self._before[at], self.order[at]
        inputs = [self._cell(v, thunk, i, "inputs") for i, v in enumerate(node.inputs)]
        outputs = [self._cell(v, thunk, i, "outputs") for i, v in enumerate(node.outputs)]

        def watched() -> Any:
            if not at:
                self.note_inputs()
            old = [start(cell[0]) if cell is not None else 0 for cell in outputs]
            checked = unrecorded(lambda: Checked(node, thunk, inputs, outputs))
            self.aside_ns += checked.aside_ns
            begin = time.perf_counter_ns()
            result = thunk()
            spent = time.perf_counter_ns() - begin
            broken, lost = unrecorded(checked.after)
            self.lost += lost
            given = [cell[0] if cell is not None else None for cell in inputs]
            got = [cell[0] if cell is not None else None for cell in outputs]
            self.runs.append(self._run(at, node, thunk, given, old, got, spent, broken))
            return result

        watched.__dict__.update(vars(thunk))
        return watched

    def _cell(self, variable: Any, thunk: Any, at: int, side: str) -> Cell | None:
        cells = getattr(thunk, side, None)
        if cells is not None and at < len(cells):
            found: Cell = cells[at]
            return found
        storage = getattr(self.vm, "storage_map", {}).get(variable)
        return storage if isinstance(storage, list) else None

    def _run(
        self, at: int, node: Any, thunk: Any, given: list[Any], old: list[int], got: list[Any], spent: int,
        broken: list[tuple[int, Breach]],
    ) -> NodeRun:  # fmt: skip
        by = "C" if getattr(thunk, "cthunk", None) is not None else "Python"
        takes = tuple(self._called(variable) for variable in node.inputs)
        first = next((which for which, one in enumerate(got) if start(one)), 0)  # a generator's state is none
        out, (path, line) = got[first] if got else None, generated(thunk)
        made, of, is_declared = how_made(node, given, old, out, first)
        size = sum(getattr(one, "nbytes", 0) for one in got)
        for variable in node.outputs:
            self.names[variable] = str(at)
        return NodeRun(
            at, op_name(node.op), by, takes, described(out), made, takes[of] if of >= 0 else "", is_declared,
            0 if made in ("view", "no array") else size, spent, source=f"{path}:{line}" if path else "",
            breaches=tuple(replace(one, of=takes[i] + (one.of and f"'s {one.of}")) for i, one in broken),
        )  # fmt: skip

    def _called(self, variable: Any) -> str:
        found = self.names.get(variable)
        return found if found is not None else _constant(variable)


class _Whole:
    """Calls what cannot be watched inside, after a look at its inputs."""

    def __init__(self, vm: Any, watched: Watched) -> None:
        self._vm, self._watched = vm, watched

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._watched.note_inputs()
        return self._vm(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vm, name)


class _Loop:
    """Runs the thunks of a C loop in its order, for one call; nothing is kept between calls with gc."""

    def __init__(self, vm: Any, f: Any, thunks: list[Callable[[], Any]]) -> None:
        self.thunks, self.position_of_error = thunks, -1
        self._vm, self._f = vm, f

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vm, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args or kwargs:  # a subset of the outputs
            return self._vm(*args, **kwargs)
        fresh = [cell for variable, cell in self.storage_map.items() if variable.owner is not None]
        for cell in fresh:
            cell[0] = None
        for at, thunk in enumerate(self.thunks):
            self.position_of_error = at
            thunk()
        if self.allow_gc:
            kept = {id(one.storage) for one in self._f.output_storage}
            for cell in fresh:
                if id(cell) not in kept:
                    cell[0] = None
        return None


def _thunks(vm: Any) -> tuple[list[Any] | None, list[Any]]:
    """(the list of thunks that the loop reads, their nodes); None where there is no such list."""
    thunks, order = getattr(vm, "thunks", None), getattr(vm, "nodes", None)
    if thunks is None and isinstance(vm, FunctionType) and vm.__closure__:
        held = dict(
            zip(vm.__code__.co_freevars, (cell.cell_contents for cell in vm.__closure__), strict=True)
        )
        thunks, order = held.get("thunks"), held.get("order")
    if not isinstance(thunks, list) or order is None or len(thunks) != len(order):
        return None, []
    if _is_c_loop(vm) and (bool(getattr(vm, "need_update_inputs", False)) or not vm.allow_gc):
        return None, []
    return thunks, list(order)


def _is_c_loop(vm: Any) -> bool:
    return type(vm).__name__ == "CVM"


def linker_of(f: Any) -> str:
    """The linker by pytensor's name: "cvm", "numba"."""
    linker = getattr(f.maker, "linker", None)
    name = type(linker).__name__
    if name == "VMLinker":
        return "cvm" if _is_c_loop(f.vm) else "vm"
    known = {"OpWiseCLinker": "c|py", "PerformLinker": "py", "CLinker": "c"}
    return known.get(name, name.removesuffix("Linker").lower())


def _names(f: Any) -> dict[Any, str]:
    """Inputs of the graph by name: those of the user's, and shared variables."""
    found = {}
    for at, variable in enumerate(f.maker.fgraph.inputs):
        found[variable] = variable.name or f"input {at}"
    return found


def _constant(variable: Any) -> str:
    held = getattr(variable, "data", None)
    size = getattr(held, "size", 1)
    text = str(held)[:12] if size == 1 else "a constant"
    return f"{text}:{getattr(held, 'dtype', '')}" if text.isdigit() else text  # not the number of a node


def op_name(op: Any) -> str:
    """The op as pytensor prints it, shortened."""
    text = str(op)
    return text if len(text) <= 40 else f"{text[:39]}…"


def described(x: Any) -> str:
    """The element type and shape of an array; the type of anything else."""
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return f"{x.dtype} {tuple(x.shape)}"
    return "" if x is None else type(x).__name__


def how_made(node: Any, given: list[Any], old: list[int], out: Any, which: int) -> tuple[Any, int, bool]:
    """(how an output was made, of which input or -1, whether the op declares it)."""
    first = start(out)
    if not first:
        return ("no array", -1, True)
    destroys = _map(node.op, "destroy_map", which)
    views = _map(node.op, "view_map", which)
    sharing = [at for at, x in enumerate(given) if shares(x, out)]
    for at in sorted(sharing, key=lambda at: at not in destroys | views):  # the one that is declared first
        x = given[at]
        if at in destroys or (at not in views and start(x) == first and _writes(node)):
            return "in place", at, at in destroys
        return "view", at, at in views
    if _copies(node):
        return "copied", -1, True
    return ("reused" if first == old[which] else "new"), -1, True


def _copies(node: Any) -> bool:
    """Whether its elements are those of an input, element by element ops included; one number fills."""
    name = type(getattr(node.op, "scalar_op", node.op)).__name__
    return name in COPIES and not (name == "Alloc" and node.inputs[0].ndim == 0)


def _map(op: Any, name: str, which: int) -> set[int]:
    """Inputs that an output views or destroys."""
    return set((getattr(op, name, None) or {}).get(which, ()))


def _writes(node: Any) -> bool:
    return bool(getattr(node.op, "destroy_map", None))


def start(x: Any) -> int:
    """Address of an array's data; 0 for anything else."""
    interface = getattr(x, "__array_interface__", None) if type(x).__module__ == "numpy" else None
    return int(interface["data"][0]) if interface and getattr(x, "nbytes", 0) else 0


def shares(x: Any, out: Any) -> bool:
    """Whether two arrays may have bytes in common, by the ends of their memory."""
    numpy = sys.modules["numpy"]  # pytensor imported it
    both = isinstance(x, numpy.ndarray) and isinstance(out, numpy.ndarray)
    return both and (x is out or numpy.may_share_memory(x, out))


def declared(watched: Watched) -> Iterator[NodeRun]:
    """The nodes of a function whose nodes cannot be watched, by what their ops declare."""
    names = dict(watched.names)
    for at, node in enumerate(watched.f.maker.fgraph.toposort()):
        takes = tuple(names.get(one) or _constant(one) for one in node.inputs)
        names.update(dict.fromkeys(node.outputs, str(at)))
        inputs = sorted(_map(node.op, "destroy_map", 0)) or sorted(_map(node.op, "view_map", 0))
        made: Any = "in place" if _writes(node) else "view" if inputs else _FUSED
        made = "copied" if not inputs and _copies(node) else made
        of = takes[inputs[0]] if inputs and inputs[0] < len(takes) else ""
        by = f"one {watched.linker} function"
        yield NodeRun(at, op_name(node.op), by, takes, "", made, of, True, _FUSED, _FUSED)
