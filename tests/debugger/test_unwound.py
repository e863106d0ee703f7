"""Stacks that are known again: by the words that unwinding reads, in memory and in a process with gdb."""

# SPDX-License-Identifier: MIT
import ctypes
import os
from collections.abc import Iterator

import pytest
from debugged import Program, breaking

from inspector.debugger.memory.remote_memory import RemoteMemory
from inspector.debugger.memory.unwound import Registers, Unwound

pytestmark = [pytest.mark.core, pytest.mark.quick]
WORDS = 64
RED_ZONE, INNER, MIDDLE, OUTER = 0, 16, 24, 40
"""Where things begin in the stack below, in words: three frames, the outermost without an end."""


class Stack:
    """Memory of our own as a stack of three frames: `pc` 10, 20, 30; the middle one saves `bp`."""

    def __init__(self) -> None:
        self.words = (ctypes.c_uint64 * WORDS)()
        self.base = ctypes.addressof(self.words)
        self.words[MIDDLE - 1], self.words[OUTER - 1] = 20, 30
        self.words[OUTER - 2] = 777
        self.memory = RemoteMemory(os.getpid())
        self.known = Unwound(self.memory)

    def at(self, word: int) -> int:
        return self.base + 8 * word

    def frames(self) -> list[Registers]:
        places = ((10, INNER, 555), (20, MIDDLE, 555), (30, OUTER, 777))
        return [Registers(pc, self.at(word), bp) for pc, word, bp in places]

    def find(self) -> object:
        return self.known.find(self.frames()[0])


@pytest.fixture
def stack() -> Iterator[Stack]:
    made = Stack()
    made.known.keep(made.frames(), "told")
    yield made
    made.memory.close()


def test_a_stack_is_found_again_whatever_its_variables_are(stack: Stack) -> None:
    assert stack.find() == "told"
    stack.words[INNER] = stack.words[MIDDLE + 3] = stack.words[OUTER + 1] = 4711
    assert stack.find() == "told"
    assert stack.known.find(stack.frames()[0]._replace(bp=556)) is None


@pytest.mark.parametrize("word", [MIDDLE - 1, OUTER - 1, OUTER - 2], ids=["inner", "outer", "saved"])
def test_a_return_address_or_a_saved_frame_pointer_that_differs_is_another_stack(
    stack: Stack, word: int
) -> None:
    before, stack.words[word] = stack.words[word], 5
    assert stack.find() is None
    stack.words[word] = before
    assert stack.find() == "told"


def test_a_frame_pointer_saved_in_the_red_zone_is_seen() -> None:
    made = Stack()
    made.words[RED_ZONE + 15] = 555  # under the stack pointer, as leaf functions may
    made.known.keep(made.frames(), "told")
    assert made.find() == "told"
    made.words[RED_ZONE + 15] = 556
    assert made.find() is None
    made.memory.close()


def test_two_stacks_with_the_same_registers_are_told_apart(stack: Stack) -> None:
    stack.words[OUTER - 1] = 31
    other = [*stack.frames()[:2], Registers(31, stack.at(OUTER), 777)]
    stack.known.keep(other, "other")
    assert stack.find() == "other"
    stack.words[OUTER - 1] = 30
    assert stack.find() == "told"
    stack.known.forget()
    assert stack.find() is None


def test_what_is_laid_out_in_another_way_is_not_kept(stack: Stack) -> None:
    stack.known.forget()
    stack.known.keep([*stack.frames()[:2], Registers(99, stack.at(OUTER), 777)], "a signal's frame")
    stack.known.keep(stack.frames()[:1], "of one frame")
    stack.known.keep([Registers(10, 8, 0), Registers(20, 64, 0)], "nowhere")
    assert stack.find() is None and stack.known.find(Registers(10, 8, 0)) is None


def test_stacks_that_never_come_again_are_not_kept_for_ever(stack: Stack) -> None:
    for _ in range(1000):
        if stack.known.learns:
            stack.known.keep(stack.frames()[:1], "never")
    assert not stack.known.learns
    stack.find()
    assert stack.known.learns


TURNS = breaking("""
def by_python(n):
    return probing.probe(n)
def by_sorting(n):
    return sorted([n], key=probing.probe)
def by_mapping(n):
    return list(map(probing.probe, [n]))
ways = [by_python, by_sorting, by_mapping]
with Breakpoints("storm_probe", record="stacks", fast=True) as found:
    for n in range(30):
        ways[n % 3](n)
stacks = [[[f.kind, f.function] for f in hit.stack.frames if not f.plumbing] for hit in found.hits]
say(stacks=stacks)
""")


@pytest.mark.debugger
@pytest.mark.timeout(240)
def test_each_hit_has_the_stack_of_its_own_call() -> None:
    """Three ways in turn: the first of each was unwound by gdb, the later ones are as that was."""
    with Program(TURNS) as program:
        stacks = program.said()["stacks"]
        program.assert_whole()
    assert len(stacks) == 30
    for way, name in enumerate(("by_python", "by_sorting", "by_mapping")):
        mine = stacks[way::3]
        assert all(stack == mine[0] for stack in mine)
        assert mine[0][:2] == [["native", "storm_probe"], ["native", "probe"]] and ["python", name] in mine[0]
    assert len({str(stack) for stack in stacks}) == 3


REMADE = breaking("""
seen = set()
with Breakpoints("storm_probe", record="python") as found:
    for n in range(12):
        space = {"probing": probing}
        source = f"def made_{n}(x): return probing.probe(x)\\nmade_{n}({n})"
        exec(compile("\\n" * n + source, "made.py", "exec"), space)
        space.clear()
frames = [[[f.function, f.line.rpartition(":")[2]] for f in hit.stack.frames][:2] for hit in found.hits]
say(frames=frames)
""")


@pytest.mark.debugger
@pytest.mark.timeout(240)
def test_code_at_the_address_of_code_that_was_freed_has_its_own_name() -> None:
    """Each function goes before the next is made, so that the next may lie where it lay."""
    with Program(REMADE) as program:
        frames = program.said()["frames"]
    assert frames == [[[f"made_{n}", str(n + 1)], ["<module>", str(n + 2)]] for n in range(12)]
