"""The project's own source files, as the rules of the house see them."""

# SPDX-License-Identifier: MIT
import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = sorted([*ROOT.glob("inspector/**/*.py"), *ROOT.glob("magics/**/*.py")])
C = sorted([*ROOT.glob("native/**/*.c"), *ROOT.glob("native/**/*.h")])
TESTS = sorted(ROOT.glob("tests/**/*.py"))


def name(path: Path) -> str:
    """Path as the project says it: inspector/facts/refs.py."""
    return path.relative_to(ROOT).as_posix()


def module(path: Path) -> str:
    """Import name of a source file; magics/ is installed as inspector.magics."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = ("inspector", *parts) if parts[0] == "magics" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    """Syntax tree of a Python file."""
    return ast.parse(path.read_text(), str(path))


@cache
def imports(path: Path, text: str = "") -> tuple[tuple[str, int, bool], ...]:
    """(module or name imported, line, at module level) of every import: lazy, relative, for types only too.

    `text` stands for the file's own where the file is only supposed.
    """
    parsed = ast.parse(text) if text else tree(path)
    top = _module_level(parsed)
    found = []
    for node in ast.walk(parsed):
        for target in _targets(node, path):
            found.append((target, node.lineno, node in top))
    return tuple(found)


def _module_level(parsed: ast.Module) -> set[ast.AST]:
    """Statements that run at import: not those in functions, nor those under `if TYPE_CHECKING`."""
    reached: set[ast.AST] = set()
    waiting: list[ast.AST] = [parsed]
    while waiting:
        node = waiting.pop()
        reached.add(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        waiting.extend(ast.iter_child_nodes(node))
    return reached


def _targets(node: ast.AST, path: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _absolute(node, path)
        return [_deepest(f"{base}.{alias.name}", base) for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and node.args:
        argument = node.args[0]
        return [argument.value] if isinstance(argument, ast.Constant) else []
    return []


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    package = module(path).split(".")
    up = node.level - (path.name == "__init__.py")
    return ".".join([*package[: len(package) - up], *([node.module] if node.module else [])])


def _deepest(candidate: str, base: str) -> str:
    return candidate if candidate in _modules() else base


@cache
def _modules() -> frozenset[str]:
    return frozenset({"inspector._native", *map(module, PYTHON)})


def c_functions(path: Path) -> list[tuple[str, int, int]]:
    """(name, first line, lines) of each C function: from the line that ends in `{` to `}` at column 0."""
    found, start, called = [], 0, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if start and line == "}":
            found.append((called, start, number - start + 1))
            start = 0
        elif (
            not start and line.endswith("{") and (match := re.search(r"(\w+)\(", line)) and line[0].isalpha()
        ):
            start, called = number, match[1]
    return found
