"""R's vectors through rpy2: plain, ALTREP, shared; told apart by their headers, and never expanded."""

# SPDX-License-Identifier: MIT
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import r_libraries
from asking import adapter

from inspector import _native

pytestmark = pytest.mark.r


@pytest.fixture(scope="module")
def r() -> Any:
    return r_libraries.start("altrep_classes")


def words(x: Any) -> tuple[int, ...]:
    """The R object's header as R has it: sxpinfo without the gc's bits, data1 or length, data2, class."""
    raw = _native.read(x.rid, 56)
    assert raw is not None
    info, attributes, _, _, *rest = struct.unpack("7Q", raw)
    return (info & ~(0xFF << 24), attributes, *rest)


ALTREP = [
    # expression, SEXPTYPE, class, elements there
    ("1:10", "INTSXP", "compact_intseq of base", False),
    ("as.numeric(1:10)", "REALSXP", "compact_realseq of base", False),
    ("as.character(1:5)", "STRSXP", "deferred_string of base", False),
    ("sort(c(3,1,2))", "REALSXP", "wrap_real of base", True),
    ("lazy_abs(c(-1,2))", "REALSXP", "lazy_abs of altrep_classes", False),
    ("mapped_file('FILE')", "REALSXP", "mapped_file of altrep_classes", True),
]


@pytest.mark.parametrize(("expression", "kind", "name", "there"), ALTREP)
def test_an_altrep_is_told_and_left_alone(
    r: Any,
    tmp_path: Path,
    fingerprint: Callable[[object], Any],
    expression: str,
    kind: str,
    name: str,
    there: bool,
) -> None:
    (tmp_path / "doubles").write_bytes(struct.pack("2d", -1, 2))
    x = r.evalr(expression.replace("FILE", f"{tmp_path}/doubles"))
    adapter(x)
    before, seen = words(x), fingerprint(x)
    told = adapter(x).layers(x)
    facts = dict(adapter(x).names(x))
    assert words(x) == before and fingerprint(x) == seen
    assert (facts["SEXPTYPE"].split()[1], facts["ALTREP"]) == (f"({kind})", name)
    container = told.layers[1]
    assert (container.value, container.storage) == (("computed", "heap") if there else ("lazy", "none"))
    assert bool(container.spans) == there
    assert told.waits_for == ("" if there else "np.asarray(x)")
    assert told.logical_bytes == len(x) * (4 if kind == "INTSXP" else 8)


@pytest.mark.parametrize("use", ["np.asarray(x)", "memoryview(x)", "hasattr(x, '__array_interface__')"])
def test_what_is_said_to_expand_does(r: Any, use: str) -> None:
    import numpy as np

    x = r.evalr("1:1000")
    (layer,) = adapter(x).layers(x).layers[1:]
    assert use in layer.would and layer.value == "lazy"
    eval(use.replace("memoryview(x)", "x.memoryview()"), {"np": np, "x": x})
    (layer,) = adapter(x).layers(x).layers[1:]
    assert (layer.value, layer.storage) == ("computed", "heap")
    assert layer.spans[0].bytes == 4000
    assert layer.evidence[-1].says.startswith("INTSXP at 0x")


def test_what_is_said_to_keep_it_lazy_does(r: Any) -> None:
    x = r.evalr("1:1000")
    before = words(x)
    assert (x[3], len(x)) == (4, 1000) and repr(x) and str(x) and x[2:4]
    assert words(x) == before and adapter(x).layers(x).layers[1].value == "lazy"


def test_a_plain_vector_is_elements(r: Any) -> None:
    x = r.FloatSexpVector([1.5, 2.5, 3.5])
    (block,) = adapter(x).elements(x)
    assert (block.shape, block.format, block.address) == ((3,), "float64", x.rid + 48)
    raw = _native.read(block.address, 24)
    assert raw is not None and struct.unpack("3d", raw) == (1.5, 2.5, 3.5)
    assert dict(adapter(x).names(x))["rpy2 handles"] == "1"
    same = r.FloatSexpVector(x)
    assert same.rid == x.rid


def test_a_matrix_has_its_two_dimensions_and_na_its_name(r: Any) -> None:
    x = r.evalr("matrix(c(TRUE,NA,FALSE,TRUE,TRUE,FALSE), 2)")
    (block,) = adapter(x).elements(x)
    assert (block.shape, block.strides_bytes, block.format) == ((2, 3), (4, 8), "logical")
    assert adapter(x).text(block, struct.pack("i", -(2**31))) == "NA"


def test_a_vector_with_two_names_is_copied_by_the_next_write(r: Any) -> None:
    r.evalr("one_name <- c(1,2,3)")
    x = r.globalenv["one_name"]
    assert adapter(x).layers(x).layers[1].title == "cow"
    r.evalr("other <- one_name; other[1] <- 9")
    assert list(x) == [1, 2, 3]
    assert adapter(x).layers(x).layers[1].evidence[0].place == "REF"


def test_while_another_thread_is_in_r_the_length_is_unknown(r: Any) -> None:
    import threading

    from rpy2.rinterface_lib import openrlib

    x, inside, leave = r.evalr("1:10"), threading.Event(), threading.Event()

    def hold() -> None:
        with openrlib.rlock:
            inside.set()
            leave.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert inside.wait(60)
        told = adapter(x).layers(x)
        assert str(told.logical_bytes) == "? R runs in another thread"
    finally:
        leave.set()
        other.join()
