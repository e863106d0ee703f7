"""Breakpoints on a real process: what they collect, what they refuse, how the process is left."""

# SPDX-License-Identifier: MIT
from typing import Any

import pytest
from debugged import PREPARE, Program, breaking, told

pytestmark = [pytest.mark.core, pytest.mark.debugger, pytest.mark.quick]

COLLECT = breaking("""
from inspector.facts.wire import to_wire
def inner(n):
    return probing.mix([1, 2])
def beside():
    while not stop.is_set():
        probing.probe(7)
stop = threading.Event()
thread = threading.Thread(target=beside)
thread.start()
with Breakpoints("mixed", "storm_probe if n > 3", "probing.c:8") as found:
    state = found.state
    value = sorted([None], key=inner) and probing.mix(None)
    total = sum(probing.probe(i) for i in range(8))
    found.add("PyLong_AsLong")
    probing.probe(1)
stop.set()
thread.join()
say(facts=to_wire(found.facts), state=state, value=value, total=total)
""")


@pytest.fixture(scope="module")
def collected() -> dict[str, Any]:
    """What COLLECT says, its process looked at afterwards."""
    with Program(COLLECT) as program:
        said = program.said()
        program.assert_whole()
    return said


def test_hits_are_collected_with_arguments_and_both_stacks(collected: dict[str, Any]) -> None:
    facts, hits = collected["facts"], collected["facts"]["hits"]
    assert (collected["state"], collected["total"]) == ("running", 92)
    assert collected["value"] == 2.5 * -3 + 1 + 1 + ord("w")
    counts = {place["place"]: place["hits"] for place in facts["places"]}
    assert counts["mixed"] == 2
    assert counts["storm_probe"] == 4  # the condition; the other thread's calls are not asked for
    assert counts["PyLong_AsLong"] == 1
    assert facts["dropped"] == 0 and facts["ended"] == ""
    assert len(hits) == sum(counts.values())
    arguments = {argument["name"]: argument["value"] for argument in hits[0]["arguments"]}
    assert arguments["object"] == "list (2 items)"
    assert arguments["factor"] == "2.5" and arguments["n"] == "-3"
    assert '"word"' in arguments["word"]
    probes = [hit for hit in hits if hit["place"] == "storm_probe"]
    assert [hit["arguments"][0]["value"] for hit in probes] == ["4", "5", "6", "7"]


def test_native_and_python_frames_are_in_their_true_order(collected: dict[str, Any]) -> None:
    hit = collected["facts"]["hits"][0]
    assert "unknown" not in hit["stack"]["python"]
    frames = [frame for frame in hit["stack"]["frames"] if not frame["plumbing"]]
    names = [(frame["kind"], frame["function"]) for frame in frames]
    assert names[:3] == [("native", "mixed"), ("native", "mix"), ("python", "inner")]
    last = names.index(("python", "<module>"))
    assert all(kind == "native" for kind, _ in names[last + 1 :])
    between = [name for kind, name in names[3:last]]
    is_stripped = any(frame["function"].startswith("0x") for frame in hit["stack"]["frames"])
    assert between or is_stripped  # sorted() called the key function
    assert all("sort" in name for name in between)
    lines = [frame["line"] for frame in frames if frame["kind"] == "python"]
    source = (PREPARE + COLLECT).splitlines()
    told = [source[int(line.rpartition(":")[2]) - 1].strip() for line in lines]
    assert [line.partition("(")[0] for line in told] == ["return probing.mix", "value = sorted"]


STRIPPED = breaking("""
line = "double mixed(PyObject *object, double factor, int n, const char *word, void *p)"
with Breakpoints("storm_probe", line, budget=3) as found:
    probing.mix("text")
    for i in range(10):
        probing.probe(40 + i)
rows = [(hit.place, [(a.name, str(a.value), a.evidence) for a in hit.arguments]) for hit in found.hits]
say(rows=rows, places=[(p.place, p.hits, p.says) for p in found.facts.places], dropped=found.facts.dropped)
""")


@pytest.fixture(scope="module")
def stripped() -> dict[str, Any]:
    """What STRIPPED says."""
    return told(STRIPPED, "-g0", "-Wl,--strip-debug")


def test_without_debug_information_a_prototype_or_the_registers_tell(stripped: dict[str, Any]) -> None:
    place, arguments = stripped["rows"][0]
    assert place == "mixed"
    values = {"object": "str 'text'", "factor": "2.5", "n": "-3", "word": "'word'"}
    assert arguments[:4] == [[name, value, "prototype"] for name, value in values.items()]
    place, arguments = stripped["rows"][1]
    assert (place, arguments[0]) == ("storm_probe", ["rdi", "0x28", "register"])


def test_the_budget_ends_the_recording_and_says_so(stripped: dict[str, Any]) -> None:
    counts = {place: (hits, says) for place, hits, says in stripped["places"]}
    assert len(stripped["rows"]) == 3
    hits, says = counts["storm_probe"]
    assert says == "budget of 3 hits reached: switched off, the program continues"
    assert stripped["dropped"] == hits + counts["mixed"][0] - 3 >= 1


PENDING = """
import ctypes
ctypes.pythonapi.PyLong_FromUnicodeObject.restype = ctypes.py_object
from inspector.debugger.session import Breakpoints
with Breakpoints("storm_probe", "nowhere_at_all", "PyLong_FromUnicode?bject", record="count") as found:
    probing = load(PATH)
    for i in range(5):
        probing.probe(i)
    ctypes.pythonapi.PyLong_FromUnicodeObject(ctypes.py_object("12"), 10)  # int() may pass its symbol by
say(places=[(p.place, p.hits, p.locations, p.says) for p in found.facts.places])
try:
    with Breakpoints("storm_probe") as found:
        raise KeyError("body")
except KeyError:
    say(hits=len(found.hits))
sys.stdin.readline()
"""


def test_a_place_in_a_library_that_comes_later_and_patterns() -> None:
    with Program(PENDING) as program:
        places = {place: rest for place, *rest in program.said()["places"]}
        assert places["storm_probe"][:2] == [5, 1]
        *none, says = places["nowhere_at_all"]
        assert none == [0, 0] and "no loaded library has a function of this name" in says
        assert places["PyLong_FromUnicodeObject"][0] == 1
        assert program.said() == {"hits": 0}  # the body's exception is the user's own; gdb has left
        program.assert_whole()


REFUSED = """
from inspector.debugger.session import Breakpoints
from inspector.errors import InspectorError
def slug(*places, **options):
    try:
        with Breakpoints(*places, **options):
            return "entered"
    except InspectorError as error:
        return error.slug
with Breakpoints("PyLong_FromLong", record="count"):
    slugs = [slug("PyLong_FromLong"), slug("PyLong_FromLong", pid=os.getpid())]
slugs += [slug(), slug("a b"), slug("Py*"), slug("no_such_*"), slug("x", preset="nothing"), slug("int f(")]
slugs.append(slug("x", pid=2**22 - 1))
path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
slugs.append(slug("PyLong_FromLong"))
os.environ["PATH"] = path
say(slugs=slugs, after=slug("PyLong_FromLong"))
sys.stdin.readline()
"""


def test_what_cannot_be_is_refused_before_anything_is_touched() -> None:
    with Program(REFUSED) as program:
        said = program.said()
        program.assert_whole()
    running = ["session-running"] * 2
    bad = ["bad-place", "bad-place", "bad-place", "bad-place", "no-preset", "bad-prototype"]
    assert said["slugs"] == [*running, *bad, "no-process", "gdb-missing"]
    assert said["after"] == "entered"
