"""The C-API slots of chosen modules: patched, extended as modules are imported, restored on every exit.

    with CapiSlots(("numpy",), "record"):
        ...

Records go into the rings (native/trace/record/ring.h); the caller begins and ends the session of rings.
Function pointers belong to the process, so only one can exist at a time, and only in the main interpreter.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

from inspector import _native
from inspector.errors import InspectorError
from inspector.objects.classes import module_names
from inspector.tracing.arm.numpy_table import NumpyTable
from inspector.tracing.arm.pointers import Pointers
from inspector.tracing.arm.targets import COMPILED, LEFT_OUT, MOVES_STACKS, fits

Grade = Literal["count", "record", "deep", "ledger"]
GRADES: Final[dict[str, int]] = {"count": 0, "record": 1, "deep": 2, "ledger": 3}
_OF_HOSTS: Final = {GRADES["record"]: GRADES["deep"]}
"""The grade of a host's slots, if different: Python cannot see its calls, so more is recorded."""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many patched slots were restored, and why others were not."""

    restored: int
    foreign: int
    """Not restored: another tracer patched them after us."""
    gone: int
    """Slots of modules unloaded meanwhile."""
    read_only: int


_NOT_APART: Final = ("site-packages", "dist-packages", *LEFT_OUT)
_INSTALLED: Final = ("/lib", "/usr/lib", f"{sys.base_prefix}/lib/", f"{sys.prefix}/lib/")
"""Where the libraries of the system and of Python are."""


class CapiSlots:
    """The slots through which modules call Python; `modules` as in `inspector.trace`, none: every module.

    `hosts` adds the program and libraries that embed this Python; `pointers` adds function pointers in
    libraries' own data. `also` receives the files.
    """

    def __init__(
        self,
        modules: Iterable[str] = (),
        grade: Grade = "record",
        hosts: bool = False,
        pointers: Pointers | None = None,
        also: Callable[[frozenset[str]], object] | None = None,
    ) -> None:
        self.modules = tuple(modules)
        self.also = also
        self.hosts: frozenset[str] | None = frozenset() if hosts else None
        self.adopts = False
        """Whether packages that come later are chosen too, but the standard library and `LEFT_OUT`."""
        self.grade = GRADES[grade]
        self.pointers = pointers
        self.numpy = NumpyTable(self.grade)
        self.armed = 0
        self.restored: Restored | None = None
        self._original: Any = None
        self._watching: Any = None
        self._paths = frozenset[str]()
        self._coming: dict[str, str] = {}
        """Names and files of extensions: in sys.modules only when their body runs (multi-phase init)."""

    def begin(self) -> None:
        """Patch. Raises InspectorError `trace-subinterpreter` in any interpreter but the main one."""
        self._original = ExtensionFileLoader.create_module
        atexit.register(self.end)
        try:
            self._widen()
            self.look_again()
            self._watch()
        except RuntimeError as error:
            self.end()
            raise InspectorError(
                "a trace cannot be armed in a second interpreter.",
                slug="trace-subinterpreter",
                why=f"{error}",
                do="start it from the main interpreter",
            ) from None
        except BaseException:
            self.end()
            raise

    def choose(self, modules: Iterable[str]) -> None:
        """Patch these modules' slots from now on, including modules already loaded."""
        self.modules, self._paths = tuple(modules), frozenset()
        self._widen()

    def look_again(self) -> None:
        """Patch pointers that libraries stored in their data since: no event announces them."""
        if self.pointers is not None:
            self.pointers.widen(self.wanted(frozenset(_native.got_objects())))

    def end(self) -> None:
        """Restore every slot; a second call does nothing."""
        if self._original is not None:
            if ExtensionFileLoader.create_module is self._watching:
                setattr(ExtensionFileLoader, "create_module", self._original)  # noqa: B010
            self._original = self._watching = None
            self.numpy.end()
            if self.pointers is not None:
                self.pointers.end()
            _native.hosts_disarm()
            self.restored = Restored(*_native.got_disarm())
            atexit.unregister(self.end)

    def __enter__(self) -> CapiSlots:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.end()

    def _watch(self) -> None:
        """Wrap the loader of extensions: a new module's slots are patched before its body runs."""
        original = self._original

        def create_module(loader: ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
            if spec.origin is not None and self._original is not None:
                self._adopt(spec.name.partition(".")[0])
                self._coming[spec.name] = spec.origin  # now: what its body imports widens too
            module: ModuleType = original(loader, spec)
            if self._original is not None:
                self._widen()
            return module

        self._watching = create_module
        setattr(ExtensionFileLoader, "create_module", create_module)  # noqa: B010

    def _adopt(self, package: str) -> None:
        left_out = package in sys.stdlib_module_names or package in LEFT_OUT
        if self.adopts and self.modules and not left_out and package not in self.modules:
            self.modules = (*self.modules, package)

    def without_trampoline(self) -> dict[str, int]:
        """Path of each chosen object -> number of import slots without a free trampoline."""
        found = dict(_native.got_without_trampoline())
        wanted = self.wanted(frozenset(found)) | (self.hosts or frozenset())
        return {path: count for path, count in found.items() if path in wanted}

    def _widen(self) -> None:
        """Patch objects loaded since; patched slots stay as they are."""
        loaded = frozenset(_native.got_objects())
        fresh = loaded - self._paths
        new = self.wanted(fresh) if fresh else frozenset()
        if any(MOVES_STACKS in path for path in fresh):
            _native.ring_greenlets()
        self._paths |= loaded
        if new:
            armed, _, _ = _native.got_arm(new, self.grade)
            self.armed += armed
            if self.also is not None:
                self.also(new)
        self.numpy.widen(new)
        if self.hosts is not None:
            self._widen_hosts()

    def _widen_hosts(self) -> None:
        self.hosts = frozenset(_native.got_hosts()) | (self.hosts or frozenset())
        self.hosts |= frozenset(_native.hosts_arm(self.hosts))
        self.numpy.widen(self.hosts)
        if self.hosts:
            armed, _, _ = _native.got_arm(self.hosts, _OF_HOSTS.get(self.grade, self.grade))
            self.armed += armed
            if self.also is not None:
                self.also(self.hosts)

    def wanted(self, paths: frozenset[str], modules: tuple[str, ...] = ()) -> frozenset[str]:
        """Those of `paths` that are a file of a chosen module, or of `modules`, or in such a package."""
        apart = frozenset(filter(_is_apart, paths)) if self.adopts and not modules else frozenset()
        modules = modules or self.modules
        paths = frozenset(path for path in paths if MOVES_STACKS not in path)
        if not modules or not paths:
            return paths
        files, folders = _files(modules, tuple(self._coming.items()), _imported())
        return apart | frozenset(p for p in paths if p in files or p.startswith(folders))


def _is_apart(path: str) -> bool:
    """Whether a library is of no installed package: its module may stand in no sys.modules.

    torch's load_inline loads one so, and torch.ops.load_library one that is no module at all.
    """
    installed = path.startswith(_INSTALLED) or any(f"/{name}/" in path for name in _NOT_APART)
    return path.endswith(".so") and not installed and path != _native.__file__


def _imported() -> tuple[tuple[str, int], ...]:
    """Names and identities of what stands in sys.modules."""
    return tuple(zip(list(sys.modules), map(id, list(sys.modules.values())), strict=False))


@lru_cache(16)
def _files(
    modules: tuple[str, ...], coming: tuple[tuple[str, str], ...], _imported: object
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Files of the chosen modules that are imported, and the beginnings of files in their folders."""
    places = [Path(file) for name, file in coming if any(fits(name, one) for one in modules)]
    by_name = [pattern for pattern in modules if "." in pattern or "*" in pattern]
    whole = {name.partition(".")[0] for name in sys.modules}
    whole = {package for package in whole if any(fits(package, pattern) for pattern in modules)}
    for name, module in list(sys.modules.items()):
        of_whole = name.partition(".")[0] in whole
        is_module = module_names(module) is not None
        if is_module and (of_whole or any(fits(name, pattern) for pattern in by_name)):
            places += _places_of(name, module)
    folders: list[str] = []
    for folder in sorted({f"{place}/" for place in places}):  # one within another follows it
        if not (folders and folder.startswith(folders[-1])):
            folders.append(folder)
    return frozenset(map(str, places)), tuple(folders)


def _places_of(name: str, module: ModuleType) -> list[Path]:
    """A package's folders, with what wheels put beside them (numpy.libs); another module's file."""
    names = module_names(module) or {}
    folders = names.get("__path__")
    if folders is not None and any(name in compiled for compiled in COMPILED.values()):
        return [Path(folder).parent for folder in folders]
    if folders is not None:
        return [place for folder in folders for place in (Path(folder), Path(f"{folder}.libs"))]
    file = names.get("__file__")
    is_native = isinstance(file, str) and not file.endswith((".py", ".pyc"))
    return [Path(str(file))] if is_native else []
