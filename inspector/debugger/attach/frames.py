"""The variables of another process's running frames, by the addresses of their slots."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Iterator
from typing import Final

from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.runtime import Runtime
from inspector.debugger.memory.python_layout import UNTAGGED
from inspector.debugger.memory.remote_memory import Unreadable
from inspector.facts.refs import Owner
from inspector.facts.unknown import Address, Unknown

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
    return (frame for state in _states(objects, found) for frame in _of_state(objects, found, state))


def thread_frames(objects: Objects, found: Runtime, thread: int) -> list[int]:
    """The addresses of a thread's Python frames, innermost first; `thread`: as gettid(2)."""
    for state in _states(objects, found):
        if objects.memory.word(state + found.frames.native_thread_id) == thread:
            return list(_of_state(objects, found, state))
    return []


def _states(objects: Objects, found: Runtime) -> Iterator[int]:
    state = objects.memory.word(found.interpreter + found.frames.threads)
    while state:
        yield state
        state = objects.memory.word(state + found.frames.next_thread)


def _of_state(objects: Objects, found: Runtime, state: int) -> Iterator[int]:
    where, word = found.frames, objects.memory.word
    frame = word(state + where.current_frame)
    if where.frame_of_c_frame >= 0:
        frame = word(frame + where.frame_of_c_frame)
    for _ in range(_FRAMES_MAX):
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
