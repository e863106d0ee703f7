"""Sizes, first lines, names: the style of docs/style.md, as far as a machine can judge it."""

# SPDX-License-Identifier: MIT
import ast
import re
import statistics
import sys

import pytest
import sources

pytestmark = pytest.mark.quick

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60
LARGER_FILES: dict[str, int] = {}
"""Files above the cap, with the lines they have: the number may only go down."""
LARGER_FUNCTIONS: dict[str, int] = {}
"""Functions above the cap ("file:function"), with their lines: the number may only go down."""

BANNED = {"manager", "handler", "helper", "util", "utils", "info", "data", "process", "engine"}
SOURCES = [*sources.PYTHON, *sources.C]


def lines(path: sources.Path) -> int:
    """Lines of a file; the licence line, which every file has, is not counted."""
    return sum("SPDX-License-Identifier" not in line for line in path.read_text().splitlines())


def functions(path: sources.Path) -> list[tuple[str, int]]:
    """(name, lines) of each function of a file, docstrings and signatures included."""
    if path.suffix != ".py":
        return [(called, length) for called, _, length in sources.c_functions(path)]
    return [
        (node.name, (node.end_lineno or 0) - node.lineno + 1)
        for node in ast.walk(sources.tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_above_the_cap() -> None:
    above = {sources.name(path): lines(path) for path in SOURCES if lines(path) > FILE_LINES_MAX}
    assert above == LARGER_FILES


def test_no_function_is_above_the_cap() -> None:
    above = {
        f"{sources.name(path)}:{called}": length
        for path in SOURCES
        for called, length in functions(path)
        if length > FUNCTION_LINES_MAX
    }
    assert above == LARGER_FUNCTIONS


def test_files_and_functions_stay_small() -> None:
    sizes = sorted(lines(path) for path in SOURCES)
    assert statistics.median(sizes) <= 120
    assert sizes[len(sizes) * 9 // 10] <= 300
    lengths = sorted(length for path in SOURCES for _, length in functions(path))
    assert statistics.median(lengths) <= 12
    assert lengths[len(lengths) * 9 // 10] <= 35


def first_lines(paths: list[sources.Path]) -> list[tuple[str, str]]:
    return [(f"{sources.name(path)}:1", path.read_text().partition("\n")[0]) for path in paths]


def test_the_first_line_says_the_purpose() -> None:
    opened = first_lines([*sources.PYTHON, *sources.TESTS])
    assert [one for one in opened if not re.match(r'""".{20,}[.?!:]', one[1])] == []


def test_a_c_file_opens_with_its_purpose() -> None:
    assert [one for one in first_lines(sources.C) if not re.match(r"(//|/\*) .{20,}", one[1])] == []


def test_no_file_shadows_the_standard_library() -> None:
    """`magics/inspect.py` would break every kernel started in magics/."""
    stems = {path.stem for path in sources.PYTHON if not path.is_relative_to(sources.ROOT / "inspector")}
    assert {stem for stem in stems & sys.stdlib_module_names if not stem.startswith("__")} == set()


def names(path: sources.Path) -> set[str]:
    """Names a file defines: its own, its functions, classes, parameters and fields."""
    if path.suffix != ".py":
        return {path.stem, *(called for called, _, _ in sources.c_functions(path))}
    found = {path.stem}
    for node in ast.walk(sources.tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def words(called: str) -> set[str]:
    """Words of a snake_case or CamelCase name."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", called)}


def test_no_name_holds_an_empty_word() -> None:
    assert [
        f"{sources.name(path)}: {called}"
        for path in SOURCES
        for called in sorted(names(path))
        if words(called) & BANNED
    ] == []


KNOWN_TYPES_ONLY = {"referents.py", "aliases.py", "plain.py", "layouts.py"}
"""Beside the adapters: where the type of what gc.get_referents is asked of is known, and is no module."""


def test_what_any_object_refers_to_is_asked_in_one_place() -> None:
    """A module of CPython 3.12 may name freed objects, and a reference to one makes the next look endless."""
    asking = {
        sources.name(path)
        for path in sources.PYTHON
        if path.name not in KNOWN_TYPES_ONLY and "get_referents(" in path.read_text()
    }
    assert {one for one in asking if "/adapters/" not in one and not one.startswith("tests/")} == set()


def test_no_class_of_an_object_is_compared_by_value() -> None:
    """`type(x) in (list, tuple)` runs `__eq__` of a metaclass, in a set its `__hash__`."""
    found = [
        f"{sources.name(path)}:{node.lineno}: write _native.exactly({ast.unparse(node.left)[5:-1]}, ...)"
        for path in sources.PYTHON
        for node in ast.walk(sources.tree(path))
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.Is | ast.IsNot)
        if re.fullmatch(r"type\((?!node)[^()]*(\(.*\))?\)", ast.unparse(node.left))
    ]
    assert not found
