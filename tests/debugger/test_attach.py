"""Another Python from outside: paths followed, owners named, hosts of every kind; each is left as it was."""

# SPDX-License-Identifier: MIT
import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import hosts
import pytest
from debugged import Program, target, until
from refused import refused

from inspector.debugger.attach.look import look
from inspector.debugger.attach.objects import Objects
from inspector.debugger.attach.still_memory import StillMemory
from inspector.debugger.memory import proc
from inspector.errors import InspectorError, TargetGone
from inspector.facts.unknown import Immortal
from inspector.objects import isolation
from inspector.report import Report
from inspector.sessions import running
from inspector.sessions.trace_attached import Visited

pytestmark = [
    pytest.mark.debugger,
]

OBJECTS = """
class Marked: pass
class Slotted: __slots__ = ("x", "y")
class Plain: computed = property(len)
class Sub(dict): pass
marked = Marked()
marked.v = 7
slotted = Slotted(); slotted.x, slotted.y = marked, -3
plain = Plain(); plain.kept = marked; plain.text = "t" * 3
dicted = Plain(); dicted.__dict__["held"] = marked
cache = {"k": [1, 2, {"deep": marked}], 3: "three", None: 2.5, b"raw": True}
row = (1, marked)
sub = Sub(q=marked)
members = {marked}
big = list(range(1000))
number, wide = -10**12, 10**200
def generated(z):
    yield 0
running = generated(marked); next(running)
def wait(argument):
    say(ready=1)
    sys.stdin.readline()
    say(value=argument.v, count=sys.getrefcount(argument))
    sys.stdin.readline()
wait(marked)
"""
PYTHONS = hosts.others()


VALUES = {
    "number": "int -1000000000000",
    "wide": "int (23 digits of 30 bits)",
    "cache['k'][1]": "int 2",
    "cache[3]": "str 'three'",
    "cache[None]": "float 2.5",
    "cache[b'raw']": "bool True",
    "cache['k'][2]['deep'].v": "int 7",
    "row[-1].v": "int 7",
    "slotted.y": "int -3",
    "plain.text": "str 'ttt'",
    "dicted.held.v": "int 7",
    "sub['q'].v": "int 7",
    "big[-1]": "int 999",
    "__main__.plain.kept": "Marked",
    "os.path.sep": "str '/'",
    "len": "builtin_function_or_method",
    "Marked": "type Marked",
}


@pytest.mark.quick
@pytest.mark.core
@pytest.mark.parametrize("python", PYTHONS)
def test_paths_are_followed_on_every_python(python: str) -> None:
    with target(OBJECTS, python) as (program, other):
        begin = time.perf_counter_ns()
        cache = other.inspect("cache")
        assert 0 < cache.stopped_ns < time.perf_counter_ns() - begin  # type: ignore[operator]
        immortal = other.inspect("cache[b'raw']").references
        assert immortal is Immortal if other.python != "3.11" else isinstance(immortal, int)
        assert [one.key for one in cache.entries] == ["['k']", "[3]", "[None]", "[b'raw']"]
        assert (cache.more, cache.references) == (0, 1)
        wait_reads(program)  # it stands still by itself: the rest is asked without a fork for each
        found, memory = other._runtime, StillMemory(program.pid)
        objects = Objects(memory, found.frames, found.where)
        assert {path: look(objects, found, path).value for path in VALUES} == VALUES
        assert look(objects, found, "big").more == 960
        assert [one.key for one in look(objects, found, "plain").entries] == [".kept", ".text"]
        memory.close()


def wait_reads(program: Program) -> None:
    """Until the program waits in read(0, ...)."""
    until(lambda: Path(f"/proc/{program.pid}/syscall").read_text().startswith("0 0x0 "))


OWNERS = {
    ("global", "__main__", "marked"),
    ("slot", "Slotted, global `slotted` of __main__", ".x"),
    ("attribute", "Plain, global `plain` of __main__", ".kept"),
    ("item", "tuple (2 items), global `row` of __main__", "[1]"),
    ("item", "Sub (1 item), global `sub` of __main__", "['q']"),
    ("item", "set, global `members` of __main__", ""),
    ("item", "dict (1 item), item [2] of list (3 items)", "['deep']"),
    ("generator local", "generator, global `running` of __main__", "z"),
    ("local", "wait()", "argument"),
}


@pytest.mark.quick
@pytest.mark.core
@pytest.mark.parametrize("python", PYTHONS)
def test_owners_are_named_on_every_python(python: str) -> None:
    with target(OBJECTS, python) as (program, other):
        found = other.owners("marked")
        named = {(one.kind, one.holder, one.key) for one in found.owners if one.certain}
        assert named >= OWNERS
        (rest,) = named - OWNERS
        assert rest[2] in ("['held']", ".held")
        program.go_on()
        borrows = tuple(map(int, other.python.split("."))) >= (3, 14)  # on the stack, what variables own
        counted = program.said()["count"] - (0 if borrows else 2)  # of getrefcount, and the stack of `wait`
        assert found.references in (counted, counted + 1)
        assert found.named == len(named) <= found.references


def test_a_dict_of_plain_values_is_found_though_the_collector_does_not_know_it() -> None:
    script = "words = {'a': str(10**60)}\npair = (str(10**61), 1)\nsay(ready=1)\nsys.stdin.readline()"
    with target(script) as (_, other):
        (owner,) = [one for one in other.owners("words['a']").owners if one.certain]
        assert (owner.kind, owner.key) == ("item", "['a']")
        assert owner.holder == "dict (1 item), global `words` of __main__"
        (owner,) = [one for one in other.owners("pair[0]").owners if one.certain]
        assert owner.holder.startswith("tuple (2 items)")


def memory_of(pid: int) -> dict[int, tuple[str, bytes]]:
    """Each writable mapping: which pages are in memory, and a hash of what they hold."""
    found = {}
    with Path(f"/proc/{pid}/pagemap").open("rb") as pages, Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for start, stop, _ in proc.writable(pid):
            pages.seek(start // 4096 * 8)
            words = pages.read((stop - start) // 4096 * 8)
            here = [words[i + 7] >> 7 for i in range(0, len(words), 8)]
            digest = hashlib.sha256()
            for number, resident in enumerate(here):
                if resident:
                    digest.update(os.pread(memory.fileno(), 4096, start + number * 4096))
            found[start] = ("".join(map(str, here)), digest.digest())
    return found


@pytest.mark.quick
@pytest.mark.core
def test_memory_references_and_pages_are_as_before() -> None:
    """The process waits in read(2); byte for byte and page for page it is the same after both looks."""
    script = OBJECTS.replace("def generated", "untouched = bytearray(1 << 26)\ndef generated")
    # The kernel writes the processor's number into a thread's rseq area whenever it moves: switched off.
    with target(script, GLIBC_TUNABLES="glibc.pthread.rseq=0") as (program, other):
        wait_reads(program)
        before = memory_of(program.pid)
        other.inspect("cache")
        other.inspect("untouched")
        other.owners("marked")
        assert memory_of(program.pid) == before
        program.go_on()
        assert program.said()["value"] == 7


@hosts.shared_library
@pytest.mark.parametrize("state", ["asleep", "holds", "without"])
def test_a_host_linked_with_python_is_read_whatever_it_does(state: str) -> None:
    program = hosts.host(hosts.EMBEDS, *hosts.linked(), stripped=state != "asleep")
    with hosts.hosting(str(program), state, sys.base_prefix) as pid:
        other = running.attach(pid)
        assert other.inspect("cache['k'][2]").value == "str 'three'"
        assert [one.key for one in other.owners("cache").owners if one.certain] == ["cache"]


def test_where_it_spends_its_time_is_seen_without_stopping_it() -> None:
    script = "def spin():\n    while True: pass\nsay(ready=1)\nspin()"
    with target(script) as (_, other):
        found = other.sample(0.3)
        assert found.rounds >= 1 and found.stacks[0].stack.frames[0].function == "spin"
        assert found.stacks[0].samples <= found.rounds


@pytest.mark.quick
def test_stacks_are_read_with_pystack_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    with target(OBJECTS) as (program, other):
        wait_reads(program)
        (both,) = other.stacks().threads
        assert {frame.kind for frame in both.frames} == {"native", "python"}
        monkeypatch.setitem(sys.modules, "pystack.engine", None)
        (alone,) = other.stacks().threads
        functions = [frame.function for frame in alone.frames]
        assert functions == ["wait", "<module>"] and "Python frames only" in str(alone.python)


REFUSED = [
    ("nowhere", "no-such-path", "no global of __main__"),
    ("cache['no']", "no-such-path", "no such key"),
    ("big[1000]", "no-such-path", "it has 1,000 items"),
    ("big['k']", "no-such-path", "numbers"),
    ("marked.absent", "no-such-path", "no attribute"),
    ("plain.computed", "no-such-path", "computes it"),
    ("members[0]", "no-such-path", "computes its items"),
    ("f(1)", "not-a-path", "no code runs"),
    ("a +", "not-a-path", "no code runs"),
    ("big[1:2]", "not-a-path", "no code runs"),
]


def test_what_cannot_be_read_is_one_sentence() -> None:
    with target(OBJECTS) as (_, other):
        for expression, slug, why in REFUSED:
            with pytest.raises(InspectorError) as caught:
                other.inspect(expression)
            assert (caught.value.slug, caught.value.exit_code) == (slug, 2)
            assert why in caught.value.why, expression


IN_MODULES = """
import types
for made in ("app", "shop", "lib"):
    sys.modules[made] = types.ModuleType(made)
sys.modules["app"].cache = sys.modules["lib"].cache = cache
sys.modules["shop"].cache = {}
sys.modules["shop"].stock = sys.modules["lib"].stock = [1]
"""


def test_the_card_says_whose_global_it_is_and_who_has_a_namesake() -> None:
    with target(OBJECTS.replace("wait(marked)", IN_MODULES + "wait(marked)")) as (_, other):
        seen = other.inspect("cache['k']")
        assert (seen.global_name, seen.modules) == ("cache", ("__main__", "app", "lib"))
        assert seen.namesakes == ("functools", "shop")
        card = Report("cache", {"remote": seen}).to_text()
        assert "cache of __main__, app, lib" in card
        assert "another object of that name in functools, shop" in card
        assert other.inspect("shop.cache").modules == ("shop",)
        assert other.inspect("shop.stock[0]").modules == ("shop", "lib")
        assert other.inspect("shop").global_name == other.inspect("len").global_name == ""
        with pytest.raises(InspectorError) as caught:
            other.inspect("stock")
        assert caught.value.do == "globals of that name: lib.stock, shop.stock"


def test_what_is_no_python_and_what_is_not_there_are_refused() -> None:
    with pytest.raises(TargetGone) as gone:
        running.attach(2**22 - 1)
    assert gone.value.slug == "no-process"
    with subprocess.Popen(["sleep", "1000"]) as child:
        with refused("not-python"):
            running.attach(child.pid)
        child.kill()


NOBODY = """
import ctypes, os
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, {dumpable}, 0, 0, 0)  # PR_SET_DUMPABLE
"""
HIDDEN = f"{NOBODY.format(dumpable=0)}say(ready=1)\nsys.stdin.readline()"


def as_nobody(pid: int) -> list[object]:
    """In a forked child: what attach says to a user who may not look."""
    exec(NOBODY.format(dumpable=1))
    try:
        Visited(pid)  # imported by now: another user may not read our files
    except InspectorError as error:
        return [error.slug, error.exit_code, error.what]
    return ["allowed"]


@pytest.mark.parametrize("script", [OBJECTS, HIDDEN], ids=["another user's", "that may not be dumped"])
def test_without_the_right_it_is_one_sentence(script: str) -> None:
    """Another user's process: ours as nobody, or root's first one; one of nobody's own."""
    with Program(script) as program:
        program.said()
        pid = program.pid if os.geteuid() == 0 or script == HIDDEN else 1
        slug, code, what = isolation.run(partial(as_nobody, pid), 60, 1 << 30)
        assert (slug, code) == ("ptrace-forbidden", 2)
        assert str(pid) in what and "the system forbids tracing it" in what
        assert proc.tracer(program.pid) == 0


def test_a_client_that_is_killed_lets_the_process_go() -> None:
    script = "keep = [[i] for i in range(300_000)]\n" + OBJECTS
    with target(script) as (program, _):
        command = [sys.executable, "-P", "-m", "inspector", "attach", str(program.pid), "owners", "marked"]
        client = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        until(lambda: proc.tracer(program.pid) or client.poll() is not None)
        with contextlib.suppress(ProcessLookupError):  # it was quicker than we looked
            os.killpg(client.pid, signal.SIGKILL)
        client.wait()
        until(lambda: proc.tracer(program.pid) == 0)
        program.go_on()
        assert program.said()["value"] == 7


@pytest.mark.quick
def test_signals_that_come_while_it_stands_still_arrive() -> None:
    """One is sent again and again while it is looked at; every burst is seen, and the program goes on."""
    script = (
        "import signal, time\nseen = []\nsignal.signal(signal.SIGUSR1, lambda *_: seen.append(1))\n"
        "say(ready=1)\nwhile not seen: time.sleep(0.02)\nsay(seen=len(seen))\nsys.stdin.readline()"
    )
    with target(script) as (program, other):
        other.inspect("seen")
        os.kill(program.pid, signal.SIGUSR1)
        other.inspect("seen")
        assert program.said()["seen"] == 1


@pytest.mark.quick
def test_the_terminal_asks_and_answers(capsys: pytest.CaptureFixture[str]) -> None:
    from inspector.faces.cli import main

    with target(OBJECTS) as (program, _):
        pid = str(program.pid)
        assert main(["attach", pid, "show", "cache", "--json"]) == 0
        facts = json.loads(capsys.readouterr().out)["facts"]["remote"]
        assert facts["value"] == "dict (4 items)" and facts["stopped_ns"] > 0
        assert main(["attach", pid, "owners", "marked", "--all"]) == 0
        assert "`row` of __main__" in " ".join(capsys.readouterr().out.split())
        assert main(["attach", pid, "sample", "--seconds", "0.05"]) == 0
        assert "wait" in capsys.readouterr().out
        assert main(["attach", pid, "show"]) == 2
        assert main(["attach", pid, "trace", "--seconds", "0"]) == 2
        assert main(["attach", "999999999", "show", "x"]) == 3


ARRAYS = """
import numpy as np
x = np.arange(1000.0)
v = x[::2]
cache = {(1, "a"): x, (2, "b"): v, "c": bytes(500), "d": [bytes(7000)]}
say(ready=1)
sys.stdin.readline()
"""


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("x", "Owns its 8.0 kB."),
        ("v", "A view of x: 4.0 kB of its 8.0 kB, and keeps it."),
        ("cache", "At least 8.5 kB in all, in arrays and bytes among its 4 items, not deeper."),
        ("cache[1, 'a']", "Owns its 8.0 kB."),
    ],
)
def test_an_object_of_another_process_answers_first(
    path: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arrays over one memory count once; a tuple is a key that can be typed."""
    from inspector.faces.cli import main

    with target(ARRAYS) as (program, _):
        assert main(["attach", str(program.pid), "show", path]) == 0
    assert capsys.readouterr().out.splitlines()[0].strip() == first


def test_a_view_of_another_process_is_a_holder(capsys: pytest.CaptureFixture[str]) -> None:
    """The collector tracks no ndarray."""
    from inspector.faces.cli import main

    with target(ARRAYS) as (program, _):
        assert main(["attach", str(program.pid), "owners", "x"]) == 0
    said = capsys.readouterr().out
    assert "all 3 named" in said and "cache[(1, 'a')]" in said and ".base" in said
    assert "possible" not in said


def test_samples_answer_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The line where it mostly is, and whether it runs there or waits."""
    from inspector.faces.cli import main

    for line, said in (("time.sleep(0.01)", "it mostly waits ("), ("pass", "it runs (")):
        (script := tmp_path / "loop.py").write_text(
            f"import time\nprint(1, flush=True)\nwhile True:\n    {line}\n"
        )
        with subprocess.Popen([sys.executable, "-P", script], stdout=subprocess.PIPE) as program:
            assert program.stdout is not None
            program.stdout.readline()
            assert main(["attach", str(program.pid), "sample", "--seconds", "0.5"]) == 0
            program.kill()
        first = " ".join(capsys.readouterr().out.split())
        assert first.startswith("At loop.py:") and said in first
