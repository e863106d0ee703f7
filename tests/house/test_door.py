"""The door: `import inspector` is light, the facts need nothing, the installed package holds no strangers."""

# SPDX-License-Identifier: MIT
import json
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sources

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]
FACTS = sorted(sources.module(path) for path in sources.ROOT.glob("inspector/facts/*.py"))
INSTALLED = Path(inspector.__file__).parent


def modules_after(statement: str, *options: str) -> set[str]:
    report = "print(json.dumps(sorted(set(sys.modules) - bare)))"
    script = f"import sys, json; bare = set(sys.modules); {statement}; {report}"
    command = [sys.executable, *options, "-c", script]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(told.stdout))


def test_import_of_inspector_loads_nothing_heavy() -> None:
    """Of its own rooms none; of the standard library only what `typing` itself needs; nobody else's."""
    loaded = modules_after("import inspector", "-P") - modules_after("import typing, json", "-P")
    assert loaded <= {"inspector", "__future__"}


def test_facts_need_only_the_standard_library() -> None:
    """-I -S: no site-packages, no environment, no current folder."""
    statement = f"sys.path.insert(0, {str(sources.ROOT)!r}); import {', '.join(FACTS)}"
    loaded = modules_after(statement, "-I", "-S")
    strangers = {n for n in loaded if n.split(".")[0] not in {*sys.stdlib_module_names, "inspector"}}
    assert strangers == set()
    assert "inspector._native" not in loaded


@pytest.mark.debugger
def test_facts_are_imported_inside_gdb() -> None:
    """The same dataclasses serve in gdb's own Python."""
    gdb = shutil.which("gdb")
    if not gdb:
        pytest.skip("gdb is not installed")
    statement = f"sys.path.insert(0, {str(sources.ROOT)!r}); import {', '.join(FACTS)}"
    script = f"python import sys; {statement}; print('imported')"
    told = subprocess.run([gdb, "-nx", "-batch", "-ex", script], capture_output=True, text=True)
    assert "imported" in told.stdout, told.stderr


def test_the_installed_package_holds_no_strangers() -> None:
    """An editable install would let `inspector.native` and `inspector.tests` in: test the wheel."""
    assert list(inspector.__path__) == [str(INSTALLED)]
    found = {module.name for module in pkgutil.iter_modules(inspector.__path__)}
    expected = {
        path.stem if path.is_file() else path.name
        for path in (sources.ROOT / "inspector").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found == (expected - {"__init__"}) | {"_native", "magics"}


def test_the_wheel_holds_what_the_checkout_holds() -> None:
    """The very files: a stale wheel would test yesterday's code."""
    for path in sources.PYTHON:
        place = INSTALLED.parent / path.relative_to(sources.ROOT)
        if path.is_relative_to(sources.ROOT / "magics"):
            place = INSTALLED / path.relative_to(sources.ROOT)
        assert place.read_text() == path.read_text(), f"{sources.name(path)}: the wheel is stale"
    assert (INSTALLED / "py.typed").exists()
    assert (INSTALLED / "_native.pyi").exists()
