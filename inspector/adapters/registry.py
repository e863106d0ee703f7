"""Finds the adapter of a type, and loads adapters when their library is imported."""

# SPDX-License-Identifier: MIT
import importlib
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import RLock
from types import ModuleType

from inspector.adapters import trial
from inspector.adapters.base import Adapter, type_attribute, type_module
from inspector.errors import InspectorWarning
from inspector.facts.record import dataclass
from inspector.objects.classes import type_bases

ENTRY_POINTS = "inspector.adapters"
_NOT_ADAPTERS = (
    "__init__",
    "arrow_blocks",
    "base",
    "beyond",
    "columns",
    "formats",
    "holders",
    "protocols",
    "pyarrow_beyond",
    "pyarrow_rows",
    "registry",
    "spans",
    "told",
    "torch_beyond",
    "torch_graph",
    "torch_gradients",
    "torch_parts",
    "trial",
    "numpy_layers",
    "pandas_layers",
)
_MODULES = {
    "cffi": "_cffi_backend",
    "cython": "cython_runtime",
    "futures": "concurrent.futures._base",
    "importlib": "importlib.util",
    "pybind11": "pybind11_builtins",
    "sharedmemory": "multiprocessing.shared_memory",
}
"""First word of a file name -> the module to wait for, if it differs: a compiled cffi module needs only the
extension, a package only the submodule that defines the type; pybind11 leaves only the module that its
metaclass names."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An adapter that cannot be used, and why; the card is drawn without it."""

    library: str
    reason: str
    slug: str = "adapter-broken"


class Registry:
    """The adapters of this process. Types are stored by id: a reference would change their refcounts."""

    def __init__(self) -> None:
        self.awake: list[Adapter] = []  # loaded; only these answer
        self.problems: list[Problem] = []
        self._waiting: dict[str, list[Callable[[], Adapter]]] = {}
        self._exact: dict[int, Adapter] = {}
        self._families: dict[int, Adapter] = {}
        self._marked: dict[str, Adapter] = {}
        self._claiming: list[Adapter] = []
        self._asked_outside = False
        self._modules: dict[str, int] = {}

    def add(self, library: str, load: Callable[[], Adapter]) -> None:
        """Register `load`, which returns an adapter; called after the process has imported `library`."""
        self._waiting.setdefault(library, []).append(load)

    def find(self, kind: type) -> Adapter | None:
        """The adapter of `kind`, by identity: no metaclass runs its `__hash__` or `__eq__`."""
        found = self.known(kind)
        if found is not None:
            return found
        with _lock:
            return self._loaded(kind)

    def _loaded(self, kind: type) -> Adapter | None:
        """The same after what is due was loaded, by one thread at a time."""
        found = self.known(kind)
        if found is None and any((self.wake(), self._generators(kind), self._submodules(kind))):
            found = self.known(kind)
        if found is None and not self._asked_outside and type_module(kind) != "builtins":
            self._asked_outside = True
            self._look_outside()
            if self.wake():
                found = self.known(kind)
        return found

    def wake(self) -> bool:
        """Load the adapters whose library has been imported since; return whether there were any."""
        due = [library for library in self._waiting if not library or _is_imported(library)]
        for library in due:
            for load in self._waiting.pop(library, ()):  # one that was loaded may have loaded it
                self._load(library, load)
        return bool(due)

    def known(self, kind: type) -> Adapter | None:
        """The adapter of `kind` among those that are loaded: loads nothing and runs no library code."""
        found = self._exact.get(id(kind))
        if found is None and self._families:
            found = next((self._families[id(b)] for b in type_bases(kind) if id(b) in self._families), None)
        if found is None and self._marked:
            marks = (mark for mark in self._marked if type_attribute(kind, mark) is not None)
            found = next((self._marked[mark] for mark in marks), None)
        if found is None and self._claiming:
            found = next((adapter for adapter in self._claiming if adapter.claims(kind)), None)
        return found

    def _generators(self, kind: type) -> bool:
        """Load the adapter of a binding generator by the metaclass's module: the generator leaves none."""
        library = type_module(type(kind))
        due = self._waiting.pop(library, []) if library != "builtins" else []
        for load in due:
            self._load(library, load)
        return bool(due)

    def _submodules(self, kind: type) -> bool:
        """Read the adapters' types again: `dask.dataframe` may be imported long after `dask`."""
        top, dot, _ = type_module(kind).partition(".")
        if self._modules.get(top) == len(sys.modules):
            return False
        self._modules[top] = len(sys.modules)
        due = [adapter for adapter in self.awake if dot and adapter.library == top]
        for adapter in due:
            with suppress(Exception):
                self._take(adapter)
        return bool(due)

    def _take(self, adapter: Adapter) -> None:
        exact = {id(kind): adapter for kind in adapter.types()}
        families = {id(kind): adapter for kind in adapter.families()}
        self._exact.update(exact)
        for kind in families:
            self._exact.setdefault(kind, adapter)  # most instances are of the class itself
        self._families.update(families)
        # other threads read the old ones meanwhile
        self._marked = self._marked | dict.fromkeys(adapter.marks, adapter)
        claims = type_attribute(type(adapter), "claims")
        if claims not in (None, Adapter.claims) and adapter not in self._claiming:
            self._claiming = [*self._claiming, adapter]

    def _load(self, library: str, load: Callable[[], Adapter]) -> None:
        try:
            adapter = load()
            if not adapter.is_ready():
                self.add(library, load)
                return
            check_version(adapter)
            adapter.self_test()
            trial.check(adapter)
            self._take(adapter)
        except (Exception, SystemExit) as error:  # third-party code: the card is drawn whatever it raises
            self._report(Problem(library, f"{type(error).__name__}: {error}"[:200]))
            return
        self.awake.append(adapter)

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        text = f"the adapter of {problem.library or 'Python'} is left out: {problem.reason} [{problem.slug}]"
        with suppress(InspectorWarning):  # under -W error the card is still drawn
            warnings.warn(text, InspectorWarning, stacklevel=2)

    def _look_outside(self) -> None:
        if any(map(_names_adapters, sys.path)):
            from importlib.metadata import entry_points

            for point in entry_points(group=ENTRY_POINTS):
                self.add(point.name, point.load)


def _names_adapters(folder: str) -> bool:
    """Whether a package in `folder` names our entry-point group; importlib.metadata is 100 times slower."""
    with suppress(OSError), os.scandir(folder or ".") as rows:
        installed = [row.path for row in rows if row.name.endswith((".dist-info", ".egg-info"))]
        return any(map(_mentions, installed))
    return False


def _mentions(installed: str) -> bool:
    from pathlib import Path

    try:
        return ENTRY_POINTS.encode() in Path(installed, "entry_points.txt").read_bytes()
    except OSError:
        return False


def check_version(adapter: Adapter) -> None:
    """Raise ValueError if the adapter was not tested with the library's version."""
    module = sys.modules.get(adapter.library)
    version = vars(module).get("__version__", "") if module else ""  # its `__getattr__` is not asked
    first, below = adapter.versions
    if version and not numbers(first) <= numbers(version) < numbers(below):
        raise ValueError(f"version {version} of {adapter.library} is outside {first} <= version < {below}")


def numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: "2.4.0rc1" -> (2, 4, 0)."""
    result = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        result.append(int(digits))
    return tuple(result)


def _is_imported(library: str) -> bool:
    """Whether its import has finished: a partly imported library would fail the self test for good."""
    module = sys.modules.get(library)
    if type(module) is not ModuleType:
        return False
    return not getattr(module.__dict__.get("__spec__"), "_initializing", False)


def _from_folder() -> Registry:
    """A registry of this folder's files: `numpy_arrays.py` waits for numpy, `language.py` does not."""
    from inspector import _native

    registry, tried = Registry(), getattr(_native, "ADAPTERS", None)  # of a free-threaded CPython
    folder = os.path.dirname(__file__)  # noqa: PTH120 (pathlib would import as much as the adapters do)
    files = os.listdir(folder)  # noqa: PTH208
    for name in sorted(file[:-3] for file in files if file.endswith(".py")):
        if name not in _NOT_ADAPTERS and (tried is None or name in tried):
            library, underscore, _ = name.partition("_")
            library = _MODULES.get(library, library)
            registry.add(library if underscore else "", partial(_import, name))
    return registry


def _import(name: str) -> Adapter:
    adapter: Adapter = importlib.import_module(f"inspector.adapters.{name}").ADAPTER
    return adapter


_registry: Registry | None = None
_lock = RLock()  # an adapter's own test asks for adapters


def _unlock() -> None:
    """In a forked child no other thread lives that would open the lock."""
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_unlock)


def shared() -> Registry:
    """The registry of this process."""
    global _registry
    if _registry is None:
        with _lock:
            _registry = _registry or _from_folder()
    return _registry


def adapter_of(kind: type) -> Adapter | None:
    """The adapter of `kind`; None if there is none."""
    return shared().find(kind)


def problems() -> tuple[Problem, ...]:
    """Adapters that cannot be used."""
    return tuple(shared().problems)
