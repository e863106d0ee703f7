"""awkward on the real library: virtual buffers, of which none is made by a look."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from asking import Look

pytestmark = pytest.mark.libraries


def virtual(ak: Any, values: Any, made: list[str]) -> Any:
    form, length, buffers = ak.to_buffers(ak.Array(values))

    def later(key: str) -> Callable[[], Any]:
        return lambda: made.append(key) or buffers[key]  # type: ignore[func-returns-value]

    return ak.from_buffers(form, length, {key: later(key) for key in buffers})


def test_lazy_partial_and_computed(ak: Any, look: Look) -> None:
    made: list[str] = []
    x = virtual(ak, [[1, 2], [], [3]], made)
    told = look(x)
    assert told.state == "lazy" and told.waits_for == "2 buffers on first use" and made == []
    ak.num(x)
    told = look(x)
    assert told.state == "partially materialized" and len(made) == 1
    assert [layer.value for layer in told.layers[1:3]] == ["computed", "lazy"]
    ak.sum(x)
    told = look(x)
    assert told.layers[0].value == "computed" and told.waits_for == "" and len(made) == 2


def test_buffers_are_named_by_their_way(ak: Any, look: Look) -> None:
    x = ak.Array([{"x": 1, "y": [1.5]}, {"x": 2, "y": []}])
    names = [layer.what.split()[0] for layer in look(x).layers if layer.level == "buffer"]
    assert names == ["x.data", "y.offsets", "y.content.data"]
    address = ak.to_numpy(x.x).__array_interface__["data"][0]
    assert look(x).layers[1].spans[0].start == address
    for values in ([1, None], [1, "a"], [], [[[1]], []]):
        assert look(ak.Array(values)).layers[0].value == "computed"
    assert look(x[0]).layers[0].what.startswith("Record")


def test_a_slice_keeps_its_base(ak: Any, look: Look) -> None:
    whole = ak.Array(np.arange(1_000_000.0))
    told = look(whole[:10])
    assert told.logical_bytes == 80 and told.retained_bytes == 8_000_000
    assert [found.slug for found in told.findings] == ["large-base"]


def test_a_behaviour_is_not_run(ak: Any, look: Look) -> None:
    class Mine(ak.Array):  # type: ignore[misc]
        @property
        def layout(self) -> Any:
            raise AssertionError("asked")

    x = ak.Array([{"x": 1}], with_name="mine", behavior={("*", "mine"): Mine})
    assert type(x) is Mine
    assert look(x).layers[0].what == "Mine of 1 buffers"


def test_whose_the_buffers_of_a_layout_are(ak: Any, look: Look) -> None:
    mine = np.arange(100.0)
    assert look(ak.from_numpy(mine)).state == "shared-foreign"
    assert look(ak.Array([[1.0, 2.0], [], [3.0]])).state == "owned"
