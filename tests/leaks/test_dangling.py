"""Views whose memory was freed while they lived: told with the call that freed it, and not drawn after."""

# SPDX-License-Identifier: MIT
import ctypes
import mmap
from collections.abc import Iterator
from typing import Any

import dangling
import pytest
import specimens

import inspector
from inspector import _native
from inspector.facts.unknown import Unknown
from inspector.objects.probes.layout import layout

pytestmark = [pytest.mark.core, pytest.mark.quick]


@pytest.fixture
def module() -> Iterator[Any]:
    built: Any = specimens.build("dangling", dangling.SOURCE)
    yield built
    built.end()


def told(found: Any) -> list[Any]:
    """The verdicts on views."""
    return [one for one in found if one.kind == "dangling view"]


def drawn(x: Any) -> Any:
    """The elements as a card shows them, or why not."""
    found = layout(_native.Subject(x))
    return found if isinstance(found, Unknown) or found is None else found.preview


@pytest.mark.parametrize("name", dangling.FAULTS)
def test_a_view_without_memory_is_told(module: Any, name: str) -> None:
    view = module.look()
    with inspector.leaks("dangling") as found:
        result = getattr(module, name)()
    (one,) = told(found)
    assert (one.certain, one.object, one.method) == (True, "memoryview", f"dangling.{name}")
    assert (one.conversion.role, one.conversion.function) == ("freed", dangling.FAULTS[name])
    if one.conversion.function in ("free", "realloc"):
        line = specimens.line_of(dangling.SOURCE, name, "// frees it")
        assert one.conversion.source == f"dangling.c:{line}"
    assert result is not False  # a block that moved took its bytes along
    shown = view if name == "grown" else result
    assert len(bytes(shown)) == 64  # kept apart: a read is no crash
    assert "freed" in drawn(shown).reason
    assert any(one.slug == "freed-storage" for one in inspector.materialization(shown).findings)


@pytest.mark.parametrize("name", dangling.HONEST)
def test_nothing_honest_is_accused(module: Any, name: str) -> None:
    with inspector.leaks("dangling") as found:
        result = getattr(module, name)()
    assert not told(found) and not found.certain
    if isinstance(result, memoryview) and name != "view_released_first":
        assert not isinstance(drawn(result), Unknown)


def test_memory_that_an_address_leads_to(module: Any) -> None:
    numbers = (ctypes.c_int * 4).from_address(module.address())
    with inspector.leaks("dangling") as found:
        module.end()
    (one,) = told(found)
    assert one.certain and one.object == "c_int_Array_4" and one.conversion.function == "free"
    assert list(numbers) == [0, 0, 0, 0]


def test_who_made_the_view_is_told_beside_who_freed_its_memory(module: Any) -> None:
    module.end()
    with inspector.leaks("dangling") as found:
        view = module.look()
        module.end()
    (one,) = told(found)
    made, freed = one.stack
    assert (made.role, made.function, made.method) == ("viewed", "PyMemoryView_FromMemory", "dangling.look")
    assert (freed.role, freed.function, freed.method) == ("freed", "free", "dangling.end")
    assert one.method == "dangling.end" and len(bytes(view)) == 64


def test_a_view_is_not_disturbed(module: Any, fingerprint: Any) -> None:
    view = module.static_memory()
    before = fingerprint(view)
    with inspector.leaks("dangling"):
        module.view_dies_later()
    assert fingerprint(view) == before


def test_a_view_at_the_start_of_a_mapping(module: Any) -> None:
    """Nothing is mapped where a pool's header would stand, as before a large block of malloc's."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype, libc.munmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
    start = libc.mmap(None, ctypes.c_size_t(0x10000), 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    pool = -(-start // 0x4000) * 0x4000
    assert libc.munmap(start, pool + mmap.PAGESIZE - start) == 0
    view = (ctypes.c_char * 64).from_address(pool + mmap.PAGESIZE)
    with inspector.leaks("dangling") as found:
        shown = memoryview(view)
    assert not told(found) and bytes(shown) == bytes(64)
    del shown, view
    assert libc.munmap(pool + mmap.PAGESIZE, start + 0x10000 - pool - mmap.PAGESIZE) == 0
