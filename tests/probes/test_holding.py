"""First sentences on what holds more than it shows: exceptions, paused generators, caches, futures, files."""

# SPDX-License-Identifier: MIT
import asyncio
import functools
import gc
import io
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np

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
    assert made[0]() is None and "traceback" not in first(error)


def test_variables_of_functions_that_still_run_are_not_kept_by_a_traceback() -> None:
    big = np.zeros(MB)
    try:
        raise ValueError(len(big))
    except ValueError as caught:
        assert "traceback" not in first(caught)


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


def test_a_file_in_memory_owns_its_bytes() -> None:
    alone = io.BytesIO(bytes(MB))
    assert first(alone) == "Owns its 1.0 MB."
