"""First sentences on what holds more than it shows: exceptions, paused generators, caches, futures, files."""

# SPDX-License-Identifier: MIT
import asyncio
import ctypes
import functools
import gc
import io
import mmap
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inspector

MB = 1_000_000


def first(x: object, name: str = "x") -> str:
    rows = inspector.inspect(x, name=name).answers.rows
    return rows[0].text if rows else ""


def failed(made: list[Any]) -> ValueError:
    def boom() -> None:
        big = np.zeros(MB)
        made.append(weakref.ref(big))
        raise ValueError("x")

    try:
        boom()
    except ValueError as error:
        return error
    raise AssertionError


def test_an_exception_tells_the_variables_that_its_traceback_keeps_and_how_they_go() -> None:
    made: list[Any] = []
    error = failed(made)
    (said, *_) = inspector.inspect(error, name="error").answers.rows
    assert said.text.startswith("Its traceback keeps 8.0 MB of variables, nearly all in `big` of `")
    assert said.do == "with_traceback(None)" and made[0]() is not None
    eval(f"error.{said.do}", {"error": error})
    gc.collect()
    assert made[0]() is None and first(error) == "Has no traceback: it keeps no frame."


def test_variables_of_functions_that_still_run_are_not_kept_by_a_traceback() -> None:
    big = np.zeros(MB)
    try:
        raise ValueError(len(big))
    except ValueError as caught:
        assert first(caught).startswith("Raised in `test_variables_of_functions_that_still_run")


def test_a_paused_generator_tells_what_it_keeps() -> None:
    def rows() -> Iterator[int]:
        big = bytearray(MB)
        yield from big

    paused = rows()
    assert first(paused) == "Makes its items one by one, when `next()` asks for them."
    next(paused)
    assert first(paused).endswith(" Until it ends it keeps 1.0 MB.")


def test_a_cache_tells_the_bytes_of_its_results() -> None:
    kept = functools.lru_cache(bytes)
    kept(MB)
    assert first(kept) == "Keeps 1 result of earlier calls, 1.0 MB."


def test_a_future_that_nobody_computes_is_not_called_computing() -> None:
    assert first(Future()) == "Has no result yet; `result()` waits for it."
    loop = asyncio.new_event_loop()
    assert first(loop.create_future()) == "Has no result yet; `await` waits for it."
    loop.close()


def test_a_finished_future_tells_how_it_ended_and_what_it_keeps() -> None:
    done: Future[np.ndarray] = Future()
    done.set_result(np.zeros(MB))
    ended = "Done. 8.0 MB in all, nearly all in its `._result`: an ndarray float64 (1000000,)."
    assert first(done) == ended

    async def wait() -> Any:
        task = asyncio.ensure_future(asyncio.sleep(0, np.zeros(MB)))
        await task
        return task

    assert first(asyncio.run(wait())) == ended
    broken: Future[None] = Future()
    broken.set_exception(failed([]))
    told = "Ended with ValueError. 8.0 MB in all, nearly all in its `._exception`: a ValueError."
    assert first(broken) == told
    refs = sys.getrefcount(broken._exception)
    again = first(broken)
    now = sys.getrefcount(broken._exception)
    assert (again, now) == (told, refs)


def test_a_file_in_memory_owns_its_bytes() -> None:
    alone = io.BytesIO(b"x" * MB)
    assert first(alone) == "Owns its 1.0 MB."


def test_iterators_tell_what_they_keep_and_which_let_it_go_at_their_end() -> None:
    big = [bytearray(MB)]
    once = iter(big)
    assert first(once).endswith(" Until it ends it keeps 1.0 MB.")
    list(once)
    assert first(once) == "Used up: nothing more comes out of it."
    both = zip([1], big, strict=True)
    list(both)
    assert gc.get_referents(both) and first(both).endswith(" It keeps 1.0 MB.")


def test_cells_proxies_and_views_of_dicts_tell_what_they_keep() -> None:
    big = np.zeros(MB)
    cell = (lambda: big).__closure__
    assert cell and first(cell[0]) == "8.0 MB in all, nearly all in an ndarray float64 (1000000,)."
    held = {"big": big}
    for x in (types.MappingProxyType(held), held.values(), held.keys()):
        assert first(x) == "8.0 MB in all, nearly all in a dict (1 item)."


def test_a_view_of_a_bytesio_is_one() -> None:
    file = io.BytesIO(bytes(MB))
    view = file.getbuffer()
    before = sys.getrefcount(file)
    assert first(view, "view") == "A view of `file`."
    assert sys.getrefcount(file) == before


def test_pointers_of_ctypes_tell_where_they_lead() -> None:
    number, text = ctypes.c_int(3), ctypes.c_char_p(b"hello")
    kept, bare = ctypes.pointer(number), ctypes.cast(ctypes.addressof(number), ctypes.POINTER(ctypes.c_int))
    assert first(kept) == "A pointer to a c_int of 4 B, which it keeps alive."
    assert first(bare) == "A pointer to a c_int of 4 B, which it does not keep alive."
    assert first(text) == "A pointer to characters, which it keeps alive."
    assert first(ctypes.c_void_p(1)) == "A pointer to 0x1, where this process has no memory."
    assert first(ctypes.POINTER(ctypes.c_int)()) == "A pointer to nothing: it is NULL."
    assert first(number) == "Owns its 4 B."


def test_a_mask_is_told_beside_the_data() -> None:
    x = np.ma.masked_greater(np.zeros(MB), 5)
    x[0] = np.ma.masked
    assert first(x).endswith(", and a mask of 1.0 MB.")


def test_one_object_that_is_easily_taken_for_many_is_said_first() -> None:
    """`[[]] * 3`, `dict.fromkeys(..., [])`, a default that all calls share; not three equal lists."""
    same = [1]
    said = " items are one and the same list: a change of it is seen in all."
    assert first([[1]] * 3).startswith(f"Its 3{said}")
    assert first(dict.fromkeys("ab", same)).startswith(f"Its 2{said}")
    assert said not in first([[1]] * 3000), "a thousand are looked at"
    assert said not in first([[1], [1]]) + first([[1]]) + first([5000] * 3)

    def keep(x: object, kept: list[object] = [], *, by: int = 3) -> None:
        kept.append(x)

    keep(1)
    assert first(keep).startswith("Its default of `kept` is one list (1 item) for all calls.")
    assert "default" not in first(failed)


def test_a_weak_reference_tells_the_type_it_refers_to() -> None:
    kind = type("Kept", (), {})
    kept, made = kind(), weakref.ref(kind())
    assert first(weakref.ref(kept)) == "Refers to a Kept and does not keep it alive."
    assert first(made) == "The object that it referred to is gone."


def test_a_mapped_file_tells_what_this_process_has_read_of_it(tmp_path: Path) -> None:
    """The kernel has all of it in its cache, as it was just written."""
    path = tmp_path / "numbers"
    path.write_bytes(bytes(MB))
    x = np.memmap(path, "u1", "r")
    assert first(x) == "The 1.0 MB are in the file `numbers`; this process has read none of them yet."
    assert x[:: mmap.PAGESIZE].sum() == 0
    assert first(x) == "The 1.0 MB are those of the file `numbers`, all read by this process."
    assert "all read in, file numbers" in str(inspector.inspect(x))


@pytest.mark.parametrize("name", ["bytes", "arrays", "conditions", "bound methods"])
def test_a_card_weighs_what_retained_counts(name: str) -> None:
    """Headers of many small leaves, and methods of objects, are counted by both."""
    makes = {
        "bytes": lambda: [bytes(100) for _ in range(5_000)],
        "arrays": lambda: [np.ones(4) for _ in range(3_000)],
        "conditions": lambda: [threading.Condition() for _ in range(3_000)],
        "bound methods": lambda: [[1000.5].append for _ in range(3_000)],
    }
    x = makes[name]()
    kept = inspector.retained(x).retained_bytes
    found = inspector.inspect(x)
    assert abs(found.contents.bytes + found.object.size_bytes - kept) < 65_536
