"""Verdicts on memory outside objects: a block that nothing points at any more is lost, whoever got it.

That is what Valgrind calls definitely lost (mc-manual, "Memory leak detection"). Several runs that each lose
some leave no doubt; what only one run shows could be kept by an address in disguise.
"""

from __future__ import annotations

from inspector.facts.leaks import RawMemory, Touch, Verdict

_FREED_BY = {"operator new": "delete", "PyObject_Malloc": "PyObject_Free", "PyMem_Raw": "PyMem_RawFree",
             "Py": "PyMem_Free"}  # fmt: skip
"""How the name of who gives a block begins -> who takes it back, the first that fits; else `free`."""


def of_raw_memory(one: RawMemory) -> tuple[Verdict, ...]:
    """The verdict on blocks of one place; none where nothing is lost."""
    lost = sum(one.lost)
    if not lost:
        return ()
    asked = one.asked[0]
    back = next((back for gave, back in _FREED_BY.items() if asked.function.startswith(gave)), "free")
    verdict = Verdict(
        kind="bytes leaked outside objects",
        object=_size(one, lost),
        certain=not one.doubts,
        objects=lost,
        references=0,
        conversion=asked,
        stack=one.asked,
        method=asked.method or one.module,
        rule=f"who calls {asked.function} calls {back}, on each way out",
        cure=f"{back} what {_where(asked)} gave",
        reason=_reason(one),
        owners=(),
    )
    return (verdict,)


def _size(one: RawMemory, lost: int) -> str:
    blocks = sum(one.blocks)
    each = sum(one.bytes) // blocks if blocks else 0
    return f"{each} B" if lost == 1 or sum(one.bytes) == each * blocks else f"about {each} B"


def _reason(one: RawMemory) -> str:
    why = "nothing in memory points at its start or its inside"
    if len(one.lost) > 1:
        numbers = ", ".join(f"{count}" for count in one.lost)
        why += f"; {numbers} blocks lost by {len(one.lost)} runs"
    return "; ".join((why, *one.doubts))


def _where(touch: Touch) -> str:
    return touch.source if isinstance(touch.source, str) else touch.function
