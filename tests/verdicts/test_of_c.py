"""What is said of objects that C code made and no adapter knows, and of frames."""

# SPDX-License-Identifier: MIT
import operator
import re
import select
import sys
import time
import types
import xml.etree.ElementTree
import xml.parsers.expat
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
    (said,) = texts(inspector.inspect(select.epoll(), name="x"))
    assert said == "What it keeps in C is not known: no adapter knows `select.epoll`."
    (said,) = texts(inspector.inspect({"x": xml.parsers.expat.ParserCreate()}, name="x"))
    assert said.endswith("what C code keeps for `xmlparser` is not known.")


def test_an_object_of_c_says_what_it_holds() -> None:
    held = xml.etree.ElementTree.Element("a")
    held.extend(xml.etree.ElementTree.Element("b") for _ in range(10_000))
    (answer, *_) = inspector.inspect(held, name="x").answers.rows
    assert answer.text.endswith("kB in all.")
    assert answer.costs_bytes == pytest.approx(sum(map(sys.getsizeof, (held, *held))), rel=0.05)
    (said, *_) = texts(inspector.inspect(operator.itemgetter(np.ones(10_000)), name="x"))
    assert said.startswith("80 kB in all, nearly all in an ndarray float64")


def test_functions_of_c_and_tuples_of_c_are_what_they_were() -> None:
    """What a function refers to, its module's names, is not what it holds."""
    assert inspector.inspect(np.random.rand, name="x").answers.rows[0].costs_bytes < 20_000
    (said, *_) = texts(inspector.inspect(np.random.default_rng, name="x"))
    assert said.startswith("What it keeps in C is not known")
    (said, *_) = texts(inspector.inspect(time.localtime(), name="x"))
    assert said.endswith("B in all.")


def test_an_iterator_over_a_sequence_keeps_it() -> None:
    big = np.ones(100_000)
    (said, *_) = texts(inspector.inspect(iter(big), name="x"))
    assert said.endswith("Until it ends it keeps 800 kB.")


def test_the_texts_of_numpys_strings_are_not_forgotten() -> None:
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("not on CPython with this NumPy: NumPy 2 has the type")
    (said, *_) = texts(inspector.inspect(np.array(["a" * 100] * 1000, dtype="T"), name="x"))
    assert said.startswith("Owns its 16 kB; texts of more than 15 bytes lie beside them")


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
