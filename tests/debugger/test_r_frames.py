"""R's functions between native frames: by the address of their contexts, not by any name."""

# SPDX-License-Identifier: MIT
import ctypes
import os
import struct
from typing import Any

import pytest

from inspector.debugger.memory.r_frames import Context, contexts, placed
from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

pytestmark = pytest.mark.core


def native(name: str) -> Frame:
    return Frame("native", name, "libR.so", Unknown("none"), False)


def test_a_context_stands_inside_the_frame_that_holds_it() -> None:
    frames = [native(name) for name in ("leaf", "eval", "closure", "eval", "closure", "main")]
    tops = [100, 200, 300, 400, 500, 600]
    found = placed(frames, tops, [Context(350, "inner"), Context(550, "outer")])
    functions = [frame.function for frame in found]
    assert functions == ["leaf", "eval", "inner", "closure", "eval", "outer", "closure", "main"]
    assert [frame.kind for frame in found].count("r") == 2


def test_contexts_of_frames_that_were_not_read_follow() -> None:
    found = placed([native("leaf")], [100, 200], [Context(150, "here"), Context(5_000, "deeper")])
    assert [frame.function for frame in found] == ["here", "leaf", "deeper"]


def test_names_are_read_as_the_call_was_written() -> None:
    """Structs of R laid out by hand: f(), pkg::g(), and a chain that ends at a context without a call."""
    kept: list[Any] = []

    def block(size: int, **words: int) -> int:
        made = ctypes.create_string_buffer(size)
        kept.append(made)
        for place, word in words.items():
            struct.pack_into("<Q", made, int(place[1:]), word)
        return ctypes.addressof(made)

    def symbol(name: str) -> int:
        chars = block(48 + len(name) + 1, _0=9, _32=len(name))
        ctypes.memmove(chars + 48, name.encode(), len(name))
        return block(56, _0=1, _32=chars)

    def call(function: int, *rest: int) -> int:
        tail = 0
        for one in reversed(rest):
            tail = block(56, _0=2, _32=one, _40=tail)
        return block(56, _0=6, _32=function, _40=tail)

    area = ctypes.create_string_buffer(3 * 300)  # contexts lie on one stack, outer ones higher
    first = ctypes.addressof(area)
    calls = [call(symbol("f")), call(call(symbol("::"), symbol("pkg"), symbol("g"))), 0]
    for n, called in enumerate(calls):
        struct.pack_into("<QQ", area, 300 * n, first + 300 * (n + 1), 4)
        struct.pack_into("<Q", area, 300 * n + 248, called)
    memory = RemoteMemory(os.getpid())
    assert [one.function for one in contexts(memory, first)] == ["f", "pkg::g"]
    assert contexts(memory, 8) == []
    memory.close()
