"""What is said of objects that C code made and no adapter knows, and of frames."""

# SPDX-License-Identifier: MIT
import operator
import re
import sys
import types
import xml.etree.ElementTree
import zlib
from collections.abc import Iterator
from typing import Any

import greenlet
import numpy as np
import pytest

import inspector

pytestmark = [pytest.mark.core, pytest.mark.quick]


def texts(report: Any) -> list[str]:
    return [row.text for row in report.answers.rows]


def test_what_no_adapter_knows_is_said_to_be_unknown() -> None:
    (said, *_) = texts(inspector.inspect(greenlet.greenlet(len), name="x"))
    assert re.fullmatch(r"At least \d+ B in all; what C code keeps for `greenlet` is not known\.", said)
    (said,) = texts(inspector.inspect(zlib.compressobj(), name="x"))
    assert said == "What it keeps in C is not known: no adapter knows `zlib.Compress`."
    (said,) = texts(inspector.inspect({"z": zlib.compressobj()}, name="x"))
    assert said.endswith("what C code keeps for `Compress` is not known.")


def test_an_object_of_c_says_what_it_holds() -> None:
    held = xml.etree.ElementTree.Element("a")
    held.extend(xml.etree.ElementTree.Element("b") for _ in range(10_000))
    (answer, *_) = inspector.inspect(held, name="x").answers.rows
    assert answer.text.endswith("kB in all.")
    assert answer.costs_bytes == pytest.approx(sum(map(sys.getsizeof, (held, *held))), rel=0.05)
    (said, *_) = texts(inspector.inspect(operator.itemgetter(np.ones(10_000)), name="x"))
    assert said.startswith("80 kB in all, nearly all in an ndarray float64")


def test_a_frame_says_its_line_and_what_its_variables_hold() -> None:
    def ended() -> types.FrameType:
        big = np.ones(100_000)  # noqa: F841
        return sys._getframe()

    def paused() -> Iterator[types.FrameType]:
        yield sys._getframe()

    (said, *_) = texts(inspector.inspect(ended(), name="x"))
    assert re.search(r"A frame of `ended`, in line \d+ of test_of_c\.py; it does not run now\.", said)
    assert said.endswith("Its variables hold 800 kB.")
    generator = paused()
    assert "does not run now" in texts(inspector.inspect(next(generator), name="x"))[0]
    assert "it runs now" in texts(inspector.inspect(sys._getframe(), name="x"))[0]
