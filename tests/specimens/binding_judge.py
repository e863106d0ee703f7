"""Run by tests/leaks/test_bindings.py for one binding: what is told of each function; JSON.

Beside it what a count without the tool sees of 200 calls, in a child of its own, for some of them end it.
"""

# SPDX-License-Identifier: MIT
import colorsys  # noqa: F401 - imported by a specimen
import contextlib
import gc
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import leaks_of_bindings as table
from allocators import in_use
from leak_judge import clearly, holders, verdicts

import inspector

CALLS = 200


def first_call(module: ModuleType, binding: str, name: str, suffix: str) -> dict[str, Any]:
    """What one call's counts say, and what C keeps."""
    given = table.arguments(binding, name)
    variables = [*given]
    result = None
    with inspector.leaks(module.__name__) as found, contextlib.suppress(Exception):
        result = getattr(module, f"{name}_{suffix}")(*given)
    answer = {"verdicts": verdicts(found), "kept": holders(found)}
    del result, variables
    return answer


def runs(module: ModuleType, binding: str, names: list[str], suffix: str) -> list[dict[str, Any]]:
    """What several runs say, in a copy of this process."""

    def run() -> None:
        for name in names:
            with contextlib.suppress(Exception):
                getattr(module, f"{name}_{suffix}")(*table.arguments(binding, name))

    return verdicts(inspector.leaks(module.__name__).run(run, isolate=True))


def counted(module: ModuleType, binding: str, name: str, suffix: str) -> str:
    """ "more", "fewer", "error" or "balanced", by counts of references, blocks and bytes alone."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, _counted(getattr(module, f"{name}_{suffix}"), binding, name).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return answer.read() or "fewer: it died"


def _counted(function: Any, binding: str, name: str) -> str:
    given = table.arguments(binding, name)
    inside = [*given, *gc.get_referents(*given), *(part for one in given for part in _parts(one))]
    spare = [inside] + [one for one in inside for _ in range(4 * CALLS)]  # so that none of them dies
    try:
        errors = [_called(function, given) for _ in range(3)]
    except Exception:  # what an earlier call left set
        return "error"
    if any(isinstance(one, SystemError) for one in errors):
        return "error"
    before = [sys.getrefcount(one) for one in inside]
    for _ in range(CALLS):
        _called(function, given)
    moved = [sys.getrefcount(one) - count for one, count in zip(inside, before, strict=True)]
    del spare
    shared = [one for one in sys.modules.values() if isinstance(one, ModuleType)]
    shared += [one for one in vars(sys.modules[function.__module__]).values() if isinstance(one, type)]
    before = [sys.getrefcount(one) for one in shared]
    growth = min(_growth(function, binding, name) for _ in range(3))  # a table grows once
    moved += [sys.getrefcount(one) - count for one, count in zip(shared, before, strict=True)]
    return _judged(moved, growth)


def _parts(one: Any) -> list[Any]:
    parts = list(one.values()) if isinstance(one, dict) else []
    return [*parts, *([one.part] if isinstance(one, table.Thing) else [])]


def _called(function: Any, given: tuple[Any, ...]) -> Any:
    try:
        return function(*given) and None
    except Exception as error:
        return error.with_traceback(None)


def _growth(function: Any, binding: str, name: str) -> int:
    """Blocks that 200 calls with arguments of their own leave: of Python, and by 16 bytes of malloc's."""
    gc.collect()
    blocks, size = sys.getallocatedblocks(), in_use()
    for _ in range(CALLS):
        _called(function, table.arguments(binding, name))
    gc.collect()
    return max(sys.getallocatedblocks() - blocks, (in_use() - size) // 16)


def _judged(moved: list[int], growth: int) -> str:
    if min(moved) < -CALLS // 2:
        return "fewer"
    if max(*moved, growth) > CALLS // 2:
        return "more"
    return "balanced"


def judged(binding: str) -> dict[str, Any]:
    """All that is said of a binding's module."""
    module = table.module(binding)
    faults, twins = table.FAULTS[binding], table.honest(binding)
    both = [(name, "fault") for name in faults] + [(name, "honest") for name in twins]
    many = [name for name in faults if faults[name].runs]

    def once(name: str, suffix: str) -> dict[str, Any]:
        return clearly(lambda: first_call(module, binding, name, suffix), lambda found: found["kept"])

    return {
        "counted": {f"{name}_{suffix}": counted(module, binding, name, suffix) for name, suffix in both},
        "first": {
            f"{name}_{suffix}": once(name, suffix)
            for name, suffix in both
            if suffix == "honest" or name not in many
        },
        "runs": {f"{name}_fault": runs(module, binding, [name], "fault") for name in many},
        "honest": runs(module, binding, twins, "honest"),
    }


if __name__ == "__main__":
    print(json.dumps(judged(sys.argv[1])))
