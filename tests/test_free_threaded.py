"""What a free-threaded CPython says of one object and its counts, and what it refuses."""

# SPDX-License-Identifier: MIT
import sys
import sysconfig
import threading
from typing import Any

import pytest
from apart import printed, ran
from refused import refused

import inspector

pytestmark = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not on CPython with the GIL"
)


class Own:
    def __sizeof__(self) -> int:
        raise AssertionError("it is asked")


class Twin:
    pass


def header(x: Any) -> dict[str, str]:
    return {field.name: field.value for field in inspector.inspect(x).facts["object"].header}


def test_importing_leaves_the_gil_off() -> None:
    inspector.refcount(object())
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


@pytest.mark.parametrize("x", [10**30, "hällo", b"abc", [1, "a"], {"k": 1}, {1}, 2.5, None, (1, [2])])
def test_the_card_says_what_python_says(x: Any) -> None:
    found = inspector.inspect(x).facts["object"]
    assert (found.type_name, found.size_bytes) == (type(x).__name__, sys.getsizeof(x))
    if type(x) in (int, str, bytes, float, type(None)):
        assert found.preview == repr(x)


def test_the_code_of_a_class_is_not_run() -> None:
    found = inspector.inspect(Own()).facts["object"]
    assert found.type_name.endswith("Own") and found.size_bytes == sys.getsizeof(Twin())


def test_counts_of_this_thread_and_of_others() -> None:
    x = object()
    alone, told = inspector.refcount(x), sys.getrefcount(x)
    assert alone == told - 1 == 1
    more = [x] * 5
    count, words = inspector.refcount(x), header(x)
    assert count == 6 and words["ob_tid"].endswith(" this thread")
    assert words["ob_ref_local"].startswith("7, ") and words["ob_ref_shared"].startswith(
        "0, "
    )  # and `header`'s
    others: list[Any] = []
    thread = threading.Thread(target=lambda: others.extend([x] * 3))
    thread.start()
    thread.join()
    count, words = inspector.refcount(x), header(x)
    assert count == 9 and words["ob_ref_shared"].startswith("3, ") and len(more) == 5


def test_an_object_of_a_thread_that_ended_is_of_no_thread_or_another() -> None:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(object()))
    thread.start()
    thread.join()
    count, words = inspector.refcount(made[0]), header(made[0])
    assert count == 1 and "this thread" not in words["ob_tid"]


DEFERRED = """
import inspector
class Own: pass
def own(): pass
for x in (own, Own, own.__code__):
    try:
        told = repr(inspector.refcount(x))
    except inspector.errors.InspectorError as error:
        told = error.slug
    card = inspector.inspect(x).facts
    print(told, type(card["refs"]).__name__, "refcount deferred" in card["object"].header[2].value)
"""


def test_a_refcount_that_nobody_counts_is_unknown() -> None:
    assert printed("-c", DEFERRED).split("\n")[:-1] == ["free-threaded Unknown True"] * 3
    assert repr(inspector.refcount(None)) == "Immortal"


def test_a_dict_is_counted_but_not_the_namespace_of_a_module() -> None:
    one: dict[str, int] = {"k": 1}
    more = [one] * 3
    assert inspector.refcount(one) == 1 + len(more)
    with refused("free-threaded"):
        inspector.refcount(vars(threading))


def test_watching_bytes_is_refused() -> None:
    with refused("free-threaded"):
        inspector.writes(bytearray(8))


@pytest.mark.parametrize("verb", ["leaks", "trace", "lost"])
def test_verbs_on_the_process_are_refused(verb: str) -> None:
    with refused("free-threaded"), getattr(inspector, verb)():
        pass


@pytest.mark.parametrize(("verb", "asked"), [("breakpoints", "malloc"), ("compile_c", "int f(void);")])
def test_verbs_that_begin_elsewhere_are_refused_before_they_begin(verb: str, asked: str) -> None:
    """A compiled module switches the GIL on when it is imported."""
    with refused("free-threaded"), getattr(inspector, verb)(asked):
        pass
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


MAGICS = r"""
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "inspector")
shell.user_ns["x"] = [1, 2]
for typed in sys.argv[1:]:
    print("##", end="")
    shell.run_cell(typed)
assert not sys._is_gil_enabled()
"""
REFUSED = [
    "%inspect_trace x",
    *(
        f"%%inspect_{name}"
        for name in ("leaks\nx", "writes x\nx", "c\nint f(void) { return 1; }", "break malloc\nx", "debug\nx")
    ),
]


def test_magics_work_or_are_refused() -> None:
    typed = ["%inspect x", "%inspect --owners x", "%inspect", "%inspect_watch x", *REFUSED]
    cards, names, told = (said := printed("-c", MAGICS, *typed).split("##")[1:])[:2], said[2:4], said[4:]
    assert all("C memory is not searched without the GIL" in card for card in cards)
    assert "1 name holds 72 B" in names[0] and "72 B     1  2 items" in names[1]
    assert len(told) == len(REFUSED) and all("not on a free-threaded CPython yet" in one for one in told)


@pytest.mark.parametrize("words", ["show [1]", "memory", "doctor", "trace x.py", "--version"])
def test_the_command_says_so(words: str) -> None:
    done = ran("-m", "inspector", *words.split())
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr
    assert ("free-threaded" in done.stdout + done.stderr) == (words not in ("show [1]", "memory"))


def test_eight_threads_look_at_one_object_that_all_count() -> None:
    shared, wrong = [object()], []

    def look() -> None:
        for _ in range(300):
            held = [shared[0]] * 3
            count, counts = inspector.refcount(held[0]), header(held[0])
            if not isinstance(count, int) or not 1 <= count <= 100 or len(counts) != 4:
                wrong.append((count, counts))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    count = inspector.refcount(shared[0])
    assert not wrong and count == 1
