"""Objects of pybind11 and nanobind, memoryviews of Cython: who owns, who is kept alive, how many hold."""

# SPDX-License-Identifier: MIT
import array
from typing import Any

import pytest
from asking import Tell, adapter

pytestmark = pytest.mark.libraries


def made_by(library: str) -> Any:
    pytest.importorskip(library, reason=f"not installed in this room: {library}")
    import bindings

    return bindings.made_by(library.lower())


@pytest.fixture(params=["pybind11", "nanobind"])
def made(request: pytest.FixtureRequest) -> Any:
    return made_by(request.param)


def names(x: Any) -> dict[str, str]:
    return dict(adapter(x).names(x))


def test_an_object_that_python_made_is_owned(made: Any, told: Tell) -> None:
    x = made.Box(3)
    assert adapter(x).owns(x) is True and told(x).layers[0].title == "owned" and told(x).findings == ()
    assert hex(made.address(x)) in names(x).values()


def test_an_object_of_cpp_is_borrowed(made: Any, told: Tell) -> None:
    x = made.the_box()
    answer = told(x)
    assert adapter(x).owns(x) is False and answer.layers[0].title == "borrowed"
    (danger,) = answer.findings
    assert danger.slug == "borrowed-pointer" and not danger.certain
    assert hex(made.address(x)) in names(x).values() and x.n == 7


def test_keep_alive_is_told(made: Any, told: Tell) -> None:
    keeper, plain = made.Keeper([]), made.Box(1)
    assert names(keeper)["keep_alive"].startswith("keeps others alive")
    assert names(plain)["keep_alive"] == "nobody"
    told(keeper)


def test_an_object_without_its_constructor_is_closed(made: Any, told: Tell) -> None:
    class Heir(made.Box):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            seen.append(adapter(self).layers(self).layers[0].value)
            super().__init__(1)

    seen: list[Any] = []
    assert told(Heir()).layers[0].value == "computed"
    assert seen == ["closed"]


def test_the_holder_of_pybind11() -> None:
    made = made_by("pybind11")
    assert names(made.Shared())["holder"] == "of two pointers (shared_ptr, use_count 1)"
    assert names(made.Box(1))["holder"] == "of one pointer (unique_ptr)"
    assert names(made.the_box())["holder"] == "none"


def test_nanobind_keeps_the_object_inside() -> None:
    made = made_by("nanobind")
    inside, outside = made.Box(1), made.the_box()
    assert adapter(inside).layers(inside).layers[0].storage == "inline"
    assert names(outside)["internal"] == "no" and names(outside)["state"] == "ready"


def test_typed_memoryviews_count_who_acquired_them(told: Tell) -> None:
    made = made_by("Cython")
    x = array.array("d", [1.0, 2.0, 3.0, 4.0])
    keeper = made.Keeper(x)
    one = keeper.give()
    assert adapter(one).holds(one) == (("obj", x),) and adapter(one).owns(one) is False
    (block,) = adapter(one).elements(one)
    assert (block.address, block.shape, block.format) == (x.buffer_info()[0], (4,), "float64")
    count = int(names(one)["acquisition_count"])
    two = keeper.give()
    assert int(names(one)["acquisition_count"]) == count + 1
    told(one)
    del two
    assert int(names(one)["acquisition_count"]) == count


def test_a_part_of_a_typed_memoryview(told: Tell) -> None:
    import numpy as np

    n = np.arange(24.0).reshape(4, 6)
    rows = made_by("Cython").rows(n)
    (block,) = adapter(rows).elements(rows)
    assert (block.shape, block.strides_bytes, block.address) == ((2, 6), (96, 8), n.ctypes.data)
    assert adapter(rows).holds(rows)[0][1] is n
    told(rows)
