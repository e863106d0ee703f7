"""Report the end of an import or the load of a library, so that a running trace hooks new modules."""

# SPDX-License-Identifier: MIT
import importlib
import sys
from collections.abc import Callable
from typing import Any

_bootstrap: Any = vars(importlib)["_bootstrap"]


class ImportWatch:
    """Calls `done` after each outermost import of something new; CPython looks the function up by name.

    An import within another one is reported if `wanted` says so of its name. `begins` is called before each
    outermost one.
    """

    def __init__(
        self,
        done: Callable[[], None],
        wanted: Callable[[str], bool] = lambda name: False,
        begins: Callable[[], None] = lambda: None,
    ) -> None:
        self._done, self._wanted, self._begins = done, wanted, begins
        self._original: Any = None
        self._is_open = False
        self._depth = 0

    @property
    def is_outermost(self) -> bool:
        """Whether the import that is reported is part of no other one."""
        return self._depth == 1

    def begin(self) -> None:
        """Replace importlib's function by a wrapper."""
        self._is_open = True
        self._original = _bootstrap._find_and_load
        _bootstrap._find_and_load = self._find_and_load

    def end(self) -> None:
        """Restore it; where other code has replaced it since, what is left of this one does nothing."""
        self._is_open = False
        if _bootstrap._find_and_load == self._find_and_load:
            _bootstrap._find_and_load = self._original

    def _find_and_load(self, name: str, import_: Any) -> Any:
        if self._is_open and not self._depth:
            self._begins()
        self._depth += 1
        try:
            return self._original(name, import_)
        except BaseException as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # no frame of this tool
            raise
        finally:
            if self._is_open and (self._depth == 1 or self._wanted(name)):
                self._done()  # imports made by `done` belong to the same import
            self._depth -= 1


class LoadWatch:
    """Calls `done` after ctypes or cffi loaded a library; both look their function up by name."""

    def __init__(self, done: Callable[[], None]) -> None:
        self._done = done
        self._replaced: dict[tuple[str, str], tuple[Any, Any]] = {}
        """(module, name) -> (the original, our wrapper)."""

    def widen(self) -> None:
        """Wrap the functions of the modules imported by now."""
        for module, name in (("ctypes", "_dlopen"), ("_cffi_backend", "load_library")):
            table = vars(sys.modules[module]) if module in sys.modules else {}
            if name in table and (module, name) not in self._replaced:
                ours = self._before(table[name])
                self._replaced[module, name] = table[name], ours
                table[name] = ours

    def _before(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def load(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            self._done()
            return found

        return load

    def end(self) -> None:
        """Restore them, unless other code has replaced them since; a second call does nothing."""
        for (module, name), (original, ours) in self._replaced.items():
            if (table := vars(sys.modules[module])).get(name) is ours:
                table[name] = original
        self._replaced = {}
