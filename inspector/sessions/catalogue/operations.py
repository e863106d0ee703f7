"""The public operations of a library: functions, constructors, methods, properties and operators."""

# SPDX-License-Identifier: MIT
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from inspector.sessions.catalogue import arguments
from inspector.sessions.catalogue.kinds import ALIASES, Library

DANGEROUS: Final = re.compile(
    r"^(_|test$|exit|quit|input$|open|breakpoint|help$|plot|hist$|boxplot|save|load|read_|write_|scan_|sink_|fromfile$"
    r"|memmap$|DataSource|tofile$|dump$|dumps$|to_(clipboard|gbq|sql|csv|excel|hdf|parquet|feather|pickle|stata|orc|netcdf"
    r"|zarr|html|latex|markdown|xml|json)|show|info$|print|debug|system|fork|spawn|source$|lookfor|get_include|set_"
    r"|seterr|setbufsize|open_|exec|eval$|compile|vitals|cudart|hub|kill|download|register|unregister|import_ipc|share_memory_$"
    r"|enable_|disable_|use_|memory_map|OSFile|input_stream|output_stream|create_memory_map|foreign_buffer|_import"
    r"|from_address|default_memory_pool|.*_memory_pool$|log_memory|initial_seed|seed$|manual_seed|multiprocessing|classmethod"
    r"|staticmethod|property|super|globals|locals|vars|dir|id|delattr|setattr|__import__|vectorize|set_num|ipc_|to_disk|cuda$|(new_)?empty)"
)  # fmt: skip
"""Names that are never called: files, processes, other devices, plots, settings of the process, what gives
memory that nobody wrote."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One public callable, property or operator."""

    name: str
    """ "pandas.DataFrame.to_numpy"."""
    kinds: tuple[tuple[str, str], ...]
    """Kinds of its source, with their expressions."""
    statements: tuple[str, ...] = ()
    """What calls it; () where `calls` says it."""
    callee: str = ""
    function: Callable[..., Any] | None = None
    method: bool = False

    @property
    def takes_options(self) -> bool:
        """Whether options may change what it does; those of a ufunc do not."""
        return self.function is not None and type(self.function).__name__ != "ufunc"

    def tries(self) -> Iterator[str]:
        """The statements to try until one is accepted."""
        if self.function is None:
            yield from self.statements
        else:
            yield from arguments.calls(self.callee, self.function, self.method)


def words(library: Library, name: str) -> dict[str, Any]:
    """What expressions may name."""
    found: dict[str, Any] = {"np": importlib.import_module("numpy")}
    for module in ("array", "copy", "pickle", *library.needs, *library.modules):
        made = importlib.import_module(module)
        found[module.partition(".")[0]] = importlib.import_module(module.partition(".")[0])
        found[ALIASES.get(module, module.partition(".")[0])] = (
            made if module in ALIASES else found[module.partition(".")[0]]
        )
    return found


def operations(library: Library, names: dict[str, Any]) -> Iterator[Operation]:
    """All of a library, each once."""
    seen: set[int] = set()
    for name in library.modules:
        module = importlib.import_module(name)
        for attribute, value in _public(module):
            if not callable(value) or id(value) in seen or inspect.ismodule(value):
                continue
            seen.add(id(value))
            if not (inspect.isclass(value) and issubclass(value, BaseException)):
                kinds = (*library.own, *library.guests)
                yield Operation(
                    f"{name}.{attribute}", kinds, callee=_written(name, attribute), function=value
                )
    yield from _of_types(library, names)


def _written(module: str, name: str) -> str:
    if module == "builtins":
        return name
    return f"{ALIASES.get(module, module)}.{name}"


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    listed = getattr(module, "__all__", None) or dir(module)
    for name in sorted({*listed, *(dir(module) if module.__name__ in ("torch",) else ())}):
        if not DANGEROUS.match(name) and arguments.is_word(name) and hasattr(module, name):
            yield name, getattr(module, name)


def _of_types(library: Library, names: dict[str, Any]) -> Iterator[Operation]:
    """Methods, properties and operators of the types of a library's own kinds."""
    by_type: dict[type, list[tuple[str, str]]] = {}
    for kind in library.own:
        by_type.setdefault(type(eval(kind[1], dict(names))), []).append(kind)
    for owner, kinds in by_type.items():
        type_name = _name_of(owner)
        for name in dir(owner):
            value = inspect.getattr_static(owner, name)
            if name in arguments.OPERATORS:
                yield Operation(f"{type_name}.{name}", tuple(kinds), arguments.OPERATORS[name])
            elif not DANGEROUS.match(name):
                yield _of_attribute(
                    f"{type_name}.{name}", name, value, getattr(owner, name, None), tuple(kinds)
                )
        if _lends(kinds, names):
            yield Operation(f"{type_name}.__buffer__", tuple(kinds), arguments.OPERATORS["__buffer__"])
        yield from _of_accessors(type_name, kinds, names)


def _of_attribute(
    full: str, name: str, static: Any, value: Any, kinds: tuple[tuple[str, str], ...]
) -> Operation:
    is_function = callable(value) and not isinstance(static, property) and not inspect.isclass(value)
    if not is_function:
        return Operation(full, kinds, (f"x.{name}",))
    bound = isinstance(static, classmethod | staticmethod)
    return Operation(full, kinds, callee=f"x.{name}", function=value, method=not bound)


def _of_accessors(type_name: str, kinds: list[tuple[str, str]], names: dict[str, Any]) -> Iterator[Operation]:
    """What stands behind `.str`, `.dt`, `.cat`, `.list` of a column."""
    for accessor in ("str", "dt", "cat", "bin"):
        for kind in kinds:
            try:
                owner = type(getattr(eval(kind[1], dict(names)), accessor))
            except (AttributeError, TypeError):
                continue
            for name in (name for name in dir(owner) if not DANGEROUS.match(name)):
                full = f"{type_name}.{accessor}.{name}"
                static = inspect.getattr_static(owner, name)
                yield _of_attribute(full, f"{accessor}.{name}", static, getattr(owner, name, None), (kind,))


def _lends(kinds: list[tuple[str, str]], names: dict[str, Any]) -> bool:
    try:
        memoryview(eval(kinds[0][1], dict(names)))
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _name_of(owner: type) -> str:
    package = owner.__module__.partition(".")[0]
    package = (
        "scipy.sparse" if package == "scipy" else "numpy.ma" if owner.__name__ == "MaskedArray" else package
    )
    return owner.__name__ if package == "builtins" else f"{package}.{owner.__name__}"
