"""Load the module of a recipe: from the cache by its key, or built; adds plain C functions through cffi."""

# SPDX-License-Identifier: MIT
import atexit
import importlib.machinery
import importlib.util
import itertools
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from inspector.errors import InspectorError, needs_gil
from inspector.facts.compiled import Compiled, CompiledField, CompiledFunction, CompiledStruct
from inspector.sessions.compiler import cache
from inspector.sessions.compiler.build import Built, build, compiler, compiler_name
from inspector.sessions.compiler.plain import plain
from inspector.sessions.compiler.prototypes import Parameter, Prototype
from inspector.sessions.compiler.recipe import Recipe

_numbers = itertools.count(1)
_made_before: dict[str, ModuleType] = {}
"""Library -> its module: CPython initializes a single-phase module fully only once."""


def compiled(recipe: Recipe) -> tuple[ModuleType, Compiled]:
    """Return the module of `recipe` and the facts of its build. A process loads it only once."""
    needs_gil()  # loading it would switch the GIL on
    _check(recipe)
    start = time.perf_counter_ns()
    key = recipe.key(compiler_name(compiler()))
    name = f"inspector_c_{key}" + ("" if recipe.is_cached else f"_{next(_numbers)}")
    folder = cache.found(key) if recipe.is_cached else None
    was_cached = folder is not None
    if folder is None:
        folder = _made(recipe, key, name)
    kept = json.loads((folder / "built.json").read_text())
    built_ns = 0 if was_cached else time.perf_counter_ns() - start
    functions = tuple(
        Prototype(one["name"], one["result"], tuple(Parameter(**row) for row in one["parameters"]))
        for one in kept["functions"]
    )
    if kept["module"]:
        module = _imported(kept["module"], folder / kept["library"])
    else:
        module = _loaded(name, folder / kept["library"], functions)
    return module, Compiled(
        name=recipe.name,
        key=key,
        cached=was_cached,
        kept=recipe.is_cached,
        cache_version=repr(recipe.cache_version) if recipe.cache_version is not None else "",
        folder=str(folder).replace(str(Path.home()), "~", 1),  # without private names
        library_bytes=(folder / kept["library"]).stat().st_size,
        command=" ".join(kept["command"]),
        compile_ns=built_ns,
        warnings=tuple(kept["warnings"]),
        functions=tuple(CompiledFunction(one.name, str(one), _caller(one, module)) for one in functions),
        module=kept["module"],
        structs=tuple(
            CompiledStruct(one["name"], one["bytes"], tuple(CompiledField(**row) for row in one["fields"]))
            for one in kept["structs"]
        ),
    )


def _check(recipe: Recipe) -> None:
    for word in (recipe.name, *recipe.inputs, *recipe.outputs):
        if not word.isidentifier() or not word.isascii() or word.startswith("inspector_"):
            raise InspectorError(
                f"{word!r} cannot be a name in C.",
                slug="not-a-c-name",
                do="use letters, digits and underscores",
            )


def _made(recipe: Recipe, key: str, name: str) -> Path:
    def fill(folder: Path) -> None:
        final = cache.root() / key if recipe.is_cached else folder
        built = build(recipe, name, folder, final)
        (folder / "built.json").write_text(json.dumps(_kept(built)))

    if recipe.is_cached:
        return cache.made(key, fill)
    kept = tempfile.TemporaryDirectory(prefix="inspector-c-")
    atexit.register(kept.cleanup)  # debuggers read its lines until then
    folder = Path(kept.name)
    fill(folder)
    return folder


def _kept(built: Built) -> dict[str, Any]:
    return {
        "library": built.library.name,
        "functions": [asdict(one) for one in built.functions],
        "warnings": built.warnings,
        "command": built.command,
        "module": built.module,
        "structs": [asdict(one) for one in built.structs],
    }


def _imported(name: str, library: Path) -> ModuleType:
    """The module that a cell defines itself: `import NAME` finds it; a changed cell replaces it."""
    known = sys.modules.get(name)
    if known is not None and "__compiled__" not in vars(known):
        raise InspectorError(
            f"the cell makes a module {name!r}, and another one is imported under that name.",
            slug="module-name-taken",
            why=f"it comes from {getattr(known, '__file__', None) or 'the interpreter itself'}",
            do="give PyInit_ and the PyModuleDef another name",
        )
    if str(library) not in _made_before:
        _made_before[str(library)] = _executed(name, library)
    sys.modules[name] = _made_before[str(library)]
    return sys.modules[name]


def _executed(name: str, library: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)  # runs the cell's init; its exception is the user's
    return module


def _loaded(name: str, library: Path, functions: tuple[Prototype, ...]) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    module = _executed(name, library)
    for called, function in plain(library, functions).items():
        setattr(module, called, function)
    sys.modules[name] = module
    return module


def _caller(function: Prototype, module: ModuleType) -> str:
    if not hasattr(module, function.name):
        return "not callable from Python"
    return "C-API, holds the GIL" if function.speaks_python else "cffi, lets the GIL go"
