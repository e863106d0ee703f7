"""inspector/_native.pyi is the contract of the C extension: the same names, each with its docstring."""

# SPDX-License-Identifier: MIT
import ast
import inspect
from operator import attrgetter

import pytest
import sources

from inspector import _native

pytestmark = [pytest.mark.core, pytest.mark.quick]
STUB = ast.parse((sources.ROOT / "inspector" / "_native.pyi").read_text())


def public(names: object) -> set[str]:
    return {name for name in names if not name.startswith("__")}  # type: ignore[attr-defined]


def stub_names(body: list[ast.stmt]) -> set[str]:
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return public(found)


def test_the_stub_names_what_the_module_has() -> None:
    typed_only = {
        node.name for node in STUB.body if isinstance(node, ast.ClassDef) and "TypedDict" in ast.unparse(node)
    }
    assert stub_names(STUB.body) - typed_only == public(vars(_native))


def test_a_class_has_the_members_of_its_stub() -> None:
    for node in STUB.body:
        if isinstance(node, ast.ClassDef) and hasattr(_native, node.name):
            assert stub_names(node.body) == public(vars(getattr(_native, node.name))), node.name


def documented(body: list[ast.stmt], owner: str = "") -> list[tuple[str, str]]:
    """(dotted name, docstring) of what the stub describes and the module has."""
    found = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
            if owner or hasattr(_native, node.name):
                found.append((owner + node.name, ast.get_docstring(node) or ""))
            if isinstance(node, ast.ClassDef) and hasattr(_native, node.name):
                found += documented(node.body, f"{node.name}.")
    return found


def test_help_shows_the_words_of_the_stub() -> None:
    rows = documented(STUB.body)
    shown = {name: inspect.cleandoc(attrgetter(name)(_native).__doc__) for name, _ in rows}
    assert [name for name, words in rows if shown[name] != words] == []


def test_help_shows_the_signature_of_the_stub() -> None:
    assert str(inspect.signature(_native.read)) == "(address, size, /)"
    assert str(inspect.signature(_native.Subject.get)) == "(self, /)"


def test_everything_in_the_stub_is_documented() -> None:
    silent = [
        node.name
        for node in ast.walk(STUB)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("__")
        and not ast.get_docstring(node)
    ]
    assert silent == []
