"""Two containers or instances: what both keep, by identity and by the memory of their arrays."""

# SPDX-License-Identifier: MIT
import ctypes
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]


def first(a: Any, b: Any) -> str:
    return inspector.compare(a, b, names=("a", "b")).answers[0].text


class Holds:
    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a look ran this")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("a look ran this")


class Slotted:
    __slots__ = ("kept", "unset")

    def __init__(self, kept: Any) -> None:
        self.kept = kept


class Pair(NamedTuple):
    kept: Any
    count: int = 0


@pytest.mark.parametrize("made", [Holds, Slotted, Pair, lambda x: partial(len, x), lambda x: [{"k": x}]])
def test_instances_and_containers_share_through_what_they_keep(made: Callable[[Any], Any]) -> None:
    x = np.arange(100.0)
    assert "is in both: a change of it is seen in both." in first(made(x), made(x))
    assert re.search(r"; `a\S+` and `b\S+` share memory", first(made(x[:9]), made(x[5:])))
    assert re.search(r"; `a\S+` and `b` share memory", first(made(x[:9]), x))
    none = "no mutable object is in both: a change of one is not seen in the other"
    assert none in first(made(x[:5]), made(x[5:])) and none in first(made(x.copy()), x)


def test_an_instance_whose_dict_was_never_made_keeps_none() -> None:
    one, other = Holds([1]), Holds([1])
    assert first(one, other) == (
        "Two Holds objects with equal attributes and no mutable object in common: a change of one is not seen"
        " in the other."
    )
    layers = [inspector.inspect(one).materialization.layers for one in (one, other)]
    assert all("attributes without a dict" in str(layer) for layer in layers)
    assert (
        first([one], [other])
        == "Two lists; no mutable object is in both: a change of one is not seen in the other."
    )
    assert first([lambda: one], [one]).startswith("Two lists; `a[0].__closure__[0].cell_contents` is in both")


def test_what_a_class_keeps_for_its_instances_is_in_both() -> None:
    class Keeps:
        seen: list[int] = []  # noqa: RUF012  what this is about
        limit = 3

        def __init__(self, own: bool) -> None:
            if own:
                self.seen = []

    told = "Two Keeps objects; both have `seen` of their class: a change of it is seen in both"
    assert first(Keeps(False), Keeps(False)).startswith(told.replace(";", " with equal attributes;"))
    assert "no mutable object in common" in first(Keeps(True), Keeps(True))


def test_items_that_cannot_change_are_not_told_as_common() -> None:
    assert first(["a", 1000], ["a", 1000]).startswith(
        "Two lists with equal items and no mutable object in common"
    )


def test_lists_that_c_code_has_not_filled_are_not_read() -> None:
    """Reading one of their items ends the process."""
    new = ctypes.pythonapi.PyList_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_ssize_t]
    unseen = "no mutable object is in both. Inside `list` was not looked."
    assert first(new(3), new(2)) == f"Two lists; {unseen}"
    assert first(Holds(new(3)), Holds(new(2))) == f"Two Holds objects; {unseen}"


def test_an_instance_tells_which_attribute_keeps_most() -> None:
    held = Holds(np.zeros(100_000))
    said = "800 kB in all, nearly all in its `.kept`: an ndarray float64 (100000,)."
    assert inspector.inspect(held, name="held").answers.rows[0].text == said

    class Rows(list[Any]):
        pass

    rows = Rows([np.zeros(1000)])
    rows.meta = bytes(100_000)  # type: ignore[attr-defined]
    assert [item.key for item in inspector.inspect(rows).contents.items] == [".meta", "[0]"]


def test_what_a_set_or_a_bound_function_hides_is_not_called_nothing() -> None:
    shared: list[int] = []
    held = Slotted(shared)
    assert first([{held}], [{held}]).endswith("Inside `set` was not looked.")
    assert first([shared.append], [shared]).endswith("Inside `builtin_function_or_method` was not looked.")
    assert first([{1, "a"}], [{1, "a"}]).endswith("a change of one is not seen in the other.")


def test_the_sentence_counts_pairs_and_names_items() -> None:
    x = np.arange(9.0)
    assert "; `a[0]` and `b` share memory, and 1 more pair." in first([x[:3], x[4:]], x)
    assert first(Counter("ab"), Counter("ab")).startswith("Two Counter objects with equal items")
