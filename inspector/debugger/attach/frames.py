"""The variables of another process's running frames, by the addresses of their slots."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from itertools import islice
from typing import Final

from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory.python_layout import UNTAGGED
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown

_THREADS_MAX: Final = 4_096
_FRAMES_MAX: Final = 10_000
_STACK_SLOTS_MAX: Final = 10_000
_NO_PLACE: Final = Unknown("a frame of Python")


def frame_slots(objects: Objects, found: Runtime) -> dict[int, Owner]:
    """Address of a slot -> the owner: certain for variables, possible for evaluation stacks."""
    slots: dict[int, Owner] = {}
    for frame in _frames(objects, found):
        try:
            for owner in _slots(objects, frame):
                slots[owner.address] = owner
        except Unreadable:
            continue
    return slots


def _frames(objects: Objects, found: Runtime) -> Iterator[int]:
    every = (frame for state in thread_states(objects, found) for frame in frames_of(objects, found, state))
    return islice(every, _FRAMES_MAX)


def thread_frames(objects: Objects, found: Runtime, thread: int) -> list[int]:
    """The addresses of a thread's Python frames, innermost first; `thread`: as gettid(2)."""
    for state in thread_states(objects, found):
        if objects.memory.word(state + found.frames.native_thread_id) == thread:
            return list(frames_of(objects, found, state))
    return []


def thread_states(objects: Objects, found: Runtime) -> Iterator[int]:
    """The addresses of the interpreter's thread states, newest first, at most 4,096."""
    state = objects.memory.word(found.interpreter + found.frames.threads)
    for _ in range(_THREADS_MAX):
        if not state:
            return
        yield state
        state = objects.memory.word(state + found.frames.next_thread)


def frames_of(objects: Objects, found: Runtime, state: int, most: int = _FRAMES_MAX) -> Iterator[int]:
    """The addresses of a thread's Python frames, innermost first; `most`: with those that only mark C."""
    where, word = found.frames, objects.memory.word
    frame = where.newest_frame(word, state)
    for _ in range(most):
        if not frame:
            return
        if objects.memory.read(frame + where.owner, 1)[0] < where.shim_owner:
            yield frame
        frame = word(frame + where.previous)


def _slots(objects: Objects, frame: int) -> Iterator[Owner]:
    code = objects.memory.word(frame + objects.where.frame_code) & UNTAGGED
    function = objects.values.text(objects.memory.word(code + objects.values.where.qualified_name), 100)
    count = 0
    for name, slot in objects.variables(frame):
        count += 1
        yield Owner("local", f"{function}()", name, 1, True, Address(slot), _NO_PLACE, _NO_PLACE)
    size = struct.unpack("<i", objects.memory.read(code + objects.where.code_stack, 4))[0]
    start = frame + objects.where.frame_variables + 8 * count
    for i in range(min(max(size, 0), _STACK_SLOTS_MAX)):
        slot = Address(start + 8 * i)
        yield Owner("stack", f"{function}()", "evaluation stack", 1, False, slot, _NO_PLACE, _NO_PLACE)
