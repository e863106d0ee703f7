"""Verdicts on raw memory: a block that no pointer in memory refers to is lost.

Valgrind calls it definitely lost (mc-manual, "Memory leak detection"). Several runs that each lose blocks are
proof; after a single run an encoded address may still keep a block.
"""

# SPDX-License-Identifier: MIT
from inspector.facts.leaks import RawMemory, Touch, Verdict

_FREED_BY = {"operator new": "delete", "PyObject_Malloc": "PyObject_Free", "PyMem_Raw": "PyMem_RawFree",
             "Py": "PyMem_Free"}  # fmt: skip
"""Prefix of the allocating function -> the function that frees; the first match counts, else `free`."""


def of_raw_memory(memory: RawMemory) -> tuple[Verdict, ...]:
    """The verdict on the blocks of one place; empty if no block is lost."""
    lost = sum(memory.lost)
    if not lost:
        return ()
    allocation = memory.asked[0]
    name = allocation.function
    frees = next((frees for prefix, frees in _FREED_BY.items() if name.startswith(prefix)), "free")
    verdict = Verdict(
        kind="bytes leaked outside objects",
        object=_size(memory, lost),
        certain=not memory.doubts,
        objects=lost,
        references=0,
        conversion=allocation,
        stack=memory.asked,
        method=allocation.method or memory.module,
        rule=f"every block from {name} needs {frees} on each return path",
        cure=f"{frees} the block from {_where(allocation)}",
        reason=_reason(memory),
    )
    return (verdict,)


def _size(memory: RawMemory, lost: int) -> str:
    blocks = sum(memory.blocks)
    each = sum(memory.bytes) // blocks if blocks else 0
    return f"{each} B" if lost == 1 or sum(memory.bytes) == each * blocks else f"about {each} B"


def _reason(memory: RawMemory) -> str:
    why = "nothing in memory points to its start or into it"
    if len(memory.lost) > 1:
        numbers = ", ".join(f"{count}" for count in memory.lost)
        why += f"; {numbers} blocks lost by {len(memory.lost)} runs"
    return "; ".join((why, *memory.doubts))


def _where(touch: Touch) -> str:
    return touch.source if isinstance(touch.source, str) else touch.function
