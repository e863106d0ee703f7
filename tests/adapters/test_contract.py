"""What every adapter must keep: no question changes the object, keeps a reference or runs its code."""

# SPDX-License-Identifier: MIT
import functools
import gc
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from inspector._native import Subject
from inspector.adapters import registry
from inspector.adapters.base import Adapter, Elements, type_module
from inspector.adapters.told import Told
from inspector.facts.finding import KINDS
from inspector.facts.materialization import AXES, NO_BYTES, STATES, Level
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.contract, pytest.mark.quick]

FOLDER = Path(__file__).parent / "samples"
SAMPLES = tuple(sorted(path.stem for path in FOLDER.glob("*.py")))
"""One file an adapter, named as the adapter is: it imports the library, `samples()` makes fresh objects."""
EVERYWHERE = {"numpy", "pandas", "pyarrow", "cffi", *sys.stdlib_module_names}
"""Libraries of every room; the others have two rooms of their own."""


def room(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Where the samples of an adapter can be made."""
    library = name.partition("_")[0]
    if library in EVERYWHERE or library == name:
        return ()
    return (pytest.mark.r if library == "rpy2" else pytest.mark.libraries,)


PARAMETERS = [pytest.param(name, marks=room(name)) for name in SAMPLES]


@functools.cache
def module(adapter: str) -> ModuleType:
    """The samples' file of an adapter; it imports the library, whose objects no later collection looks at."""
    spec = importlib.util.spec_from_file_location(f"samples_{adapter}", FOLDER / f"{adapter}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():  # what an old release says about a newer one beside it
        warnings.simplefilter("ignore")
        spec.loader.exec_module(found)
    gc.collect()
    gc.freeze()
    return found


def samples(adapter: str) -> list[Any]:
    """Fresh objects of one adapter's library."""
    return list(module(adapter).samples())


def awake(adapter: str) -> Adapter:
    """The adapter of the file `adapter`, woken by its library."""
    module(adapter)
    registry.shared().wake()
    if adapter == "pybind11_instances":  # a class wakes it: pybind11 leaves no module of that name
        registry.adapter_of(type(next(module(adapter).samples())))
    found = {type_module(type(one)).rpartition(".")[2]: one for one in registry.shared().awake}
    assert adapter in found, registry.problems()
    return found[adapter]


def test_every_adapter_has_samples() -> None:
    files = Path(registry.__file__).parent.glob("*.py")
    assert {path.stem for path in files} - set(registry._NOT_ADAPTERS) == set(SAMPLES)


def ask_all(adapter: Adapter, x: Any) -> None:
    """Every question of the protocol; answers have the types the protocol promises."""
    blocks = adapter.elements(x)
    assert all(type(block) is Elements for block in blocks)
    spans = adapter.spans(x)
    assert all(type(span) is Range and span.start < span.stop for span in spans)
    assert all(type(relation) is str for relation, _ in adapter.holds(x))
    assert all(type(name) is str for name, _ in islice(adapter.parts(x), 100))
    assert type(adapter.owns(x)) in (bool, Unknown)
    assert type(adapter.exports(x)) in (int, Unknown)
    assert all(type(name) is str and type(value) is str for name, value in adapter.names(x))
    check_told(adapter.layers(x))
    for block in blocks:
        if block.size and block.numeric:
            assert type(adapter.text(block, bytes(block.itemsize_bytes))) in (str, Unknown)


def check_told(told: Told) -> None:
    """The words are those of the vocabulary; an adapter never asks for pages."""
    assert isinstance(told.state, Unknown) or told.state in STATES
    for layer in told.layers:
        for axis in ("value", "storage", "title"):
            word = getattr(layer, axis)
            assert isinstance(word, Unknown) or word in AXES[axis], (axis, word)
        assert layer.level in get_args(Level) and layer.level != "pages"
        assert layer.residency == NO_BYTES
        assert all(type(says.says) is str for says in layer.evidence)
    slugs = {kind.slug for kind in KINDS}
    assert all(found.slug in slugs for found in told.findings)


@pytest.mark.parametrize("name", PARAMETERS)
def test_no_question_disturbs_the_object(name: str, fingerprint: Callable[[object], Any]) -> None:
    expected = awake(name)
    for x in samples(name):
        adapter = registry.adapter_of(type(x))
        assert adapter is expected
        ask_all(adapter, x)  # the first time may fill the library's own caches
        before = fingerprint(x)
        ask_all(adapter, x)
        assert fingerprint(x) == before, f"{type(x)} was changed"


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_first_question_leaves_the_refcount(name: str) -> None:
    adapter = awake(name)
    for x in module(name).samples():
        subject = Subject(x)
        del x
        before = subject.refcount()
        ask_all(adapter, subject.get())
        assert subject.refcount() == before


@pytest.mark.filterwarnings("ignore:sys._clear_type_cache:DeprecationWarning")  # 3.14; there is no other
@pytest.mark.parametrize("name", PARAMETERS)
def test_a_thousand_looks_keep_nothing(name: str) -> None:
    adapter, found = awake(name), samples(name)

    def objects() -> int:
        gc.collect()
        sys._clear_type_cache()  # it keeps 4,096 names, and takes each that C code makes anew for another
        return sys.getallocatedblocks()

    grown = []
    for _ in range(8):  # the libraries' own caches fill slowly; a leak grows in every round
        before = objects()
        for x in found:
            for _ in range(25):
                ask_all(adapter, x)
        grown.append(objects() - before)
        if grown[-1] < 25:
            return
    raise AssertionError(f"a leak in one sample is 25 blocks a round: {grown}")
