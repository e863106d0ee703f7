"""How adapters are found: by folder and entry point, when their library is there, and never at any price."""

# SPDX-License-Identifier: MIT
import gc
import importlib.machinery
import sys
import types
from typing import Any

import numpy as np
import pytest
from apart import printed

from inspector.adapters import registry
from inspector.adapters.base import Adapter, Elements, type_attribute, type_name
from inspector.adapters.registry import Registry, adapter_of
from inspector.adapters.spans import numeric_spans
from inspector.errors import InspectorWarning

pytestmark = [pytest.mark.core, pytest.mark.quick]


class Vector:
    """A type of some library."""


class Vectors(Adapter):
    """Twenty lines are enough."""

    library = "vectors"
    versions = ("1", "2")

    def types(self) -> tuple[type, ...]:
        return (Vector,)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        return (Elements("struct fields", 4096, (3,), (8,), 8, "float64", "<f8", True, "Vector"),)


@pytest.fixture
def vectors(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The library, imported."""
    module = types.ModuleType("vectors")
    module.__version__ = "1.2"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vectors", module)
    return module


def test_an_adapter_waits_for_its_library(vectors: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Registry()
    found.add("vectors", Vectors)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "vectors")
        assert found.find(Vector) is None and found.awake == []
    adapter = found.find(Vector)
    assert isinstance(adapter, Vectors)
    assert (adapter.holds(0), adapter.owns(0), list(adapter.parts(0))) == ((), True, [])
    assert adapter.spans(0)[0].bytes == 24
    assert found.find(type("Heir", (Vector,), {})) is None, "exact types only"


@pytest.mark.parametrize(
    ("attribute", "value", "said"),
    [
        ("versions", ("2", "3"), "outside 2 <= version < 3"),
        ("self_test", lambda self: 1 / 0, "ZeroDivisionError"),
        ("types", lambda self: sys.exit(1) or (), "SystemExit"),
    ],
)
def test_a_broken_one_is_a_warning(vectors: Any, attribute: str, value: Any, said: str) -> None:
    found = Registry()
    found.add("vectors", type("Broken", (Vectors,), {attribute: value}))
    with pytest.warns(InspectorWarning, match=r"\[adapter-broken\]"):
        assert found.find(Vector) is None
    (problem,) = found.problems
    assert (problem.library, problem.slug) == ("vectors", "adapter-broken")
    assert said in problem.reason
    assert found.find(Vector) is None, "it is tried once"


def test_a_library_half_imported_is_waited_for(vectors: Any) -> None:
    vectors.__spec__ = importlib.machinery.ModuleSpec("vectors", None)
    vectors.__spec__._initializing = True
    found = Registry()
    found.add("vectors", Vectors)
    assert found.find(Vector) is None and found.problems == []
    vectors.__spec__._initializing = False
    assert found.find(Vector) is not None


def test_an_adapter_that_loads_others_while_it_is_loaded(vectors: Any) -> None:
    found = Registry()
    found.add("", lambda: (found.wake(), Adapter())[1])
    found.add("vectors", Vectors)
    assert isinstance(found.find(Vector), Vectors)


def test_an_installed_package_brings_its_adapter(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vectors.py").write_text("class Vector: pass\n__version__ = '1.5'\n")
    (tmp_path / "vectors_inspector.py").write_text(
        "from inspector.adapters.base import Adapter\nimport vectors\n"
        "class Vectors(Adapter):\n    library = 'vectors'\n    versions = ('1', '2')\n"
        "    def types(self): return (vectors.Vector,)\nADAPTER = Vectors()\n"
    )
    installed = tmp_path / "vectors_inspector-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Name: vectors-inspector\nVersion: 1\n")
    (installed / "entry_points.txt").write_text(
        "[inspector.adapters]\nvectors = vectors_inspector:ADAPTER\nabsent = nothing_here:ADAPTER\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    vectors = importlib.import_module("vectors")
    try:
        found = Registry()
        assert found.find(int) is None and not found._asked_outside
        assert type_name(type(found.find(vectors.Vector))) == "Vectors"
        assert found.find(Vector) is None and found.problems == []
    finally:
        for name in ("vectors", "vectors_inspector"):
            sys.modules.pop(name, None)


def test_nothing_is_imported_for_a_process_without_the_library() -> None:
    program = (
        "import sys; from inspector.adapters.registry import adapter_of; from decimal import Decimal;"
        "adapter_of(int); adapter_of(Decimal); adapter_of(bytes);"
        "print([name for name in ('numpy', 'pandas', 'ctypes', 'mmap') if name in sys.modules])"
    )
    assert printed("-c", program) == "[]\n"


@pytest.mark.libraries
@pytest.mark.parametrize("library", ["pyarrow", "awkward", "xarray", "polars", "dask.array", "h5py", "zarr"])
def test_a_look_and_a_trace_import_no_other_package(library: str) -> None:
    """pyarrow.array imports pandas, and a DataArray dask and SciPy: self tests make none."""
    source = f"""
import sys, numpy, elftools, {library}, inspector
def packages():
    return {{name.partition(".")[0] for name in sys.modules}}
before = packages()
with inspector.trace():
    inspector.inspect([1])
print(packages() - before - sys.stdlib_module_names)
"""
    assert printed("-W", "ignore", "-c", source).strip() == "set()"


def test_a_metaclass_is_not_asked() -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

        def __hash__(cls) -> int:
            raise AssertionError("hashed")

        def __eq__(cls, other: object) -> bool:
            raise AssertionError("compared")

        __instancecheck__ = __subclasscheck__ = __eq__

    kind = Meta("Kind", (), {"__array_interface__": 1})
    assert adapter_of(kind) is None
    assert type_name(kind) == "Kind"
    assert type_attribute(kind, "__array_interface__") == 1
    assert type_attribute(kind, "__dlpack__") is None


def test_no_type_is_held() -> None:
    heir = type("Heir", (np.ndarray,), {})
    gc.collect()  # heirs of other tests
    adapter_of(heir)
    before = sys.getrefcount(np.ndarray)
    same = adapter_of(np.ndarray) is adapter_of(heir)
    after = sys.getrefcount(np.ndarray)
    assert same and after == before
    held = [*registry.shared()._exact, *registry.shared()._families]
    assert all(type(key) is int for key in held)


def test_numeric_spans_leave_out_what_may_hold_references() -> None:
    numbers, objects = np.zeros(100_000), np.zeros(100_000, object)
    structs = np.zeros(100_000, [("a", "f8"), ("o", object)])
    (span,) = numeric_spans([numbers, numbers[5:], objects, structs, [], 5, np.zeros(3)])
    assert (span.start, span.bytes) == (numbers.ctypes.data, numbers.nbytes)


def test_loading_the_adapters_keeps_nothing_of_the_first_object() -> None:
    """A self test that leaves a cycle of frames would keep the object until the collector runs."""
    program = (
        "import gc, sys\n"
        "gc.disable()\n"
        "import inspector\n"
        "rows = [type('Subject', (), {})()]\n"
        "before = sys.getrefcount(rows[0])\n"
        "inspector.inspect(rows[0])\n"
        "assert sys.getrefcount(rows[0]) == before\n"
    )
    printed("-c", program)
