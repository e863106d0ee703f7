"""Owners have a path that a user can type, and the code that lets go."""

# SPDX-License-Identifier: MIT

import programs
import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]

KEPT = """
import functools
import inspector

class S: cache = {}
class M: pass
class W: __slots__ = ("slot",)
class Thing: pass

@functools.lru_cache
def load(name): return x

def outer():
    kept = []
    return lambda: kept

def numbers():
    mine = x
    yield mine

x = Thing(); model = M(); model.deep = [{"it's": M()}]; small = W(); small.slot = x; inner = outer()
load("a"); running = numbers(); next(running)
S.cache[3] = x; model.deep[0]["it's"].best = x; pair = ((x, 1), 2); inner().append(x); odd = {("a", 1): [x]}
NAMES = {id(globals()): "notebook"}
found = inspector.owners(x, scan=True, names=NAMES)
paths = {one.path: one.do for one in found}
assert all(eval(path) is x for path in paths if path and path not in ("load", "running")), paths
del found
for do in sorted(paths.values()):
    exec(do)
left = inspector.owners(odd["a", 1][0], scan=True, names=NAMES)
print(sorted(paths.items()), left.references, sep="\\n")
"""


def test_what_is_told_to_type_reaches_the_object_and_what_is_told_to_do_lets_it_go() -> None:
    paths, left = programs.python(KEPT).splitlines()
    told: dict[str, str] = dict(eval(paths))
    assert told.pop("") == "", "a key that has no text to type: odd[('a', 1)]"
    assert told == {
        "S.cache[3]": "del S.cache[3]",
        "inner.__closure__[0].cell_contents[0]": "del inner.__closure__[0].cell_contents[0]",
        "load": "load.cache_clear()",
        'model.deep[0]["it\'s"].best': 'del model.deep[0]["it\'s"].best',
        "pair[0][0]": "del pair",
        "running": "running.close()",
        "small.slot": "del small.slot",
        "x": "del x",
    }
    assert left == "1", "all but the one without a path let it go"


def test_who_exports_a_buffer_is_named_until_it_is_released() -> None:
    code = """
import inspector, mmap
room, views, held, shared = bytearray(100), [], {}, mmap.mmap(-1, 4096)
views.append(memoryview(room)); held["v"] = memoryview(room); window = memoryview(shared)
for one in (room, shared):
    said = inspector.inspect(one, scan=True, name="it").answers.rows
    print(next(row.text for row in said if row.slug == "exports"))
views[0].release(); held["v"].release()
room.append(1)
"""
    room, shared = programs.python(code).splitlines()
    assert room.startswith("2 memoryviews stop it from growing: ") and room.endswith("; `.release()` them.")
    assert "`views[0]`" in room and "`held['v']`" in room
    assert shared == "1 memoryview stops it from being resized or closed: `window`; `.release()` it."
