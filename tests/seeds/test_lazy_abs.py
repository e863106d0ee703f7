"""Article 002, lazy_abs: an ALTREP class of R beside the vector of `inspector.lazy`, in the same words."""

# SPDX-License-Identifier: MIT
import ctypes
import gc
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import r_libraries

import inspector
from inspector import lazy

pytestmark = pytest.mark.r
VALUES = [-0.664313, 0.332979, -1.3749, 0.784393, 1.3133]


@pytest.fixture(scope="module")
def r() -> Any:
    return r_libraries.start("altrep_classes")


def vector(r: Any, options: str = "") -> Any:
    """`lazy_abs` of VALUES in R, bound to y there."""
    r.evalr(f"y <- lazy_abs(c({','.join(map(str, VALUES))}){options})")
    return r.globalenv["y"]


@pytest.fixture
def both(r: Any) -> tuple[Any, lazy.Vector]:
    """The vector of the article: R's, and inspector's."""
    return vector(r), lazy.abs(np.array(VALUES))


def words(text: str) -> list[str]:
    """The first line's state, and the values of each line after it: addresses and counts left out."""
    first, *rest = text.strip().splitlines()
    state = re.search(r"\] (.*)$", first)
    assert state is not None, first
    return [state[1], *(line.rsplit(" ", 1)[1].rstrip(".,") for line in rest)]


def in_r(r: Any) -> list[str]:
    return words(r_libraries.printed(r, ".Internal(inspect(y))"))


def in_python(x: lazy.Vector) -> list[str]:
    return words(str(x.inspect()))


def states(both: tuple[Any, Any]) -> tuple[Any, Any]:
    """`inspector.materialization` of both: the value of the layer that holds the elements."""
    found = (inspector.materialization(x) for x in both)
    told = [[layer.value for layer in fact.layers if layer.level != "pages"] for fact in found]
    return told[0][1], told[1][0]


def test_new_both_are_lazy_in_the_same_words(r: Any, both: tuple[Any, Any]) -> None:
    assert in_r(r)[0] == in_python(both[1])[0] == "lazy(abs) (len=5)"
    assert len(in_r(r)) == len(in_python(both[1])) == 2
    assert in_r(r)[1] == "-0.664313,0.332979,-1.3749,0.784393,1.3133" == in_python(both[1])[1]
    assert states(both) == ("lazy", "lazy")
    facts = [inspector.materialization(x) for x in both]
    assert [fact.state for fact in facts] == ["lazy", "lazy"]
    assert [fact.logical_bytes for fact in facts] == [40, 40]


def test_head_leaves_both_lazy(r: Any, both: tuple[Any, Any]) -> None:
    assert list(r.evalr("head(y, 2)")) == both[1][:2].tolist() == [0.664313, 0.332979]
    assert in_r(r)[0] == in_python(both[1])[0] == "lazy(abs) (len=5)"


def test_a_mean_leaves_both_lazy(r: Any, both: tuple[Any, Any]) -> None:
    right = pytest.approx(sum(map(abs, VALUES)) / 5, rel=1e-15)
    assert r.evalr("mean(y)")[0] == right and float(np.mean(both[1])) == right
    assert in_r(r)[0] == in_python(both[1])[0] == "lazy(abs) (len=5)"
    assert states(both) == ("lazy", "lazy")


def test_the_article_s_get_region_materializes_at_the_first_mean(r: Any) -> None:
    """Its first pass reads a buffer that nobody filled: the article prints 0, and only then the mean."""
    y = vector(r, ", faulty = TRUE")
    assert in_r(r)[0] == "lazy(abs) (len=5)"
    r.evalr("mean(y)")
    assert r.evalr("mean(y)")[0] == pytest.approx(sum(map(abs, VALUES)) / 5), "the second is right"
    assert in_r(r)[0] == "materialized lazy(abs) (len=5)"
    assert inspector.materialization(y).layers[1].value == "computed"


def test_sort_materializes_both_in_the_same_words(r: Any, both: tuple[Any, Any]) -> None:
    assert list(r.evalr("sort(y)")) == np.sort(both[1]).tolist() == sorted(map(abs, VALUES))
    assert in_r(r)[0] == in_python(both[1])[0] == "materialized lazy(abs) (len=5)"
    assert len(in_r(r)) == len(in_python(both[1])) == 3
    assert in_r(r)[2] == in_python(both[1])[2] == "0.664313,0.332979,1.3749,0.784393,1.3133"
    assert states(both) == ("computed", "computed")


def test_an_input_that_r_would_write_is_copied_first(r: Any, tmp_path: Path) -> None:
    """Composition: lazy_abs of a mapped file. R writes into a copy, so the mapped vector stays as it was."""
    np.array([-2.0, -1, 0, 1, 2]).tofile(tmp_path / "doubles")
    r.evalr(f"x <- mapped_file('{tmp_path}/doubles'); y <- lazy_abs(x); x[1] <- 7")
    assert list(r.evalr("x")) == [7, -1, 0, 1, 2]
    assert list(r.evalr("y")) == [2, 1, 0, 1, 2]
    assert list(r.evalr("sort(y)")) == [0, 1, 1, 2, 2]
    assert np.fromfile(tmp_path / "doubles").tolist() == [-2, -1, 0, 1, 2]
    source = np.array([-2.0, -1, 0, 1, 2])
    y = lazy.abs(source, freeze=True)
    with pytest.raises(ValueError, match="read-only"):
        source[0] = 7
    assert np.sort(y).tolist() == [0, 1, 1, 2, 2]


def test_a_mapped_file_is_there_and_unmapped_by_r_s_gc(r: Any, tmp_path: Path) -> None:
    path = tmp_path / "mapped"
    np.arange(1000.0).tofile(path)
    x = r.evalr(f"mapped_file('{path}')")
    fact = inspector.materialization(x)
    assert (fact.state, fact.layers[1].storage) == ("memory-mapped", "file-mapped")
    (span,) = fact.layers[1].spans
    (mapped,) = [line for line in Path("/proc/self/maps").read_text().splitlines() if str(path) in line]
    assert (span.start, span.bytes) == (int(mapped.partition("-")[0], 16), 8000)
    assert r.evalr("sum")(x)[0] == 499_500
    del x
    for _ in range(3):
        gc.collect()
        r.evalr("gc()")
    assert str(path) not in Path("/proc/self/maps").read_text()


def test_no_na_is_asked_of_the_input(r: Any, tmp_path: Path) -> None:
    """`sort(1:3)` knows that it has no NA, a plain vector and a mapped file do not; lazy_abs passes it on."""
    np.ones(3).tofile(tmp_path / "ones")
    vectors = {"sort(c(1, -2))": 1, "c(1, -2)": 0, f"mapped_file('{tmp_path}/ones')": 0}
    libr = ctypes.PyDLL("libR.so", mode=os.RTLD_NOLOAD)
    libr.REAL_NO_NA.argtypes = (ctypes.c_void_p,)
    assert {text: libr.REAL_NO_NA(r.evalr(f"lazy_abs({text})").rid) for text in vectors} == vectors


def test_r_s_own_states_have_our_words(r: Any) -> None:
    expressions = ("1:10", "as.numeric(1:10)", "as.character(1:5)", "c(1,2)")
    found = {expression: inspector.materialization(r.evalr(expression)).state for expression in expressions}
    assert found == {**dict.fromkeys(expressions, "lazy"), "c(1,2)": "owned"}


def test_numpy_s_view_of_an_r_vector_is_borrowed(r: Any) -> None:
    view = np.asarray(r.evalr("c(1,2,3)"))
    fact = inspector.materialization(view)
    assert fact.state == "borrowed" and [found.slug for found in fact.findings] == ["borrowed-pointer"]


COLUMNS = [("d$number", "vroom_dbl of vroom"), ("d$whole", "vroom_int of vroom")]


@pytest.mark.parametrize(("column", "name"), COLUMNS)
def test_a_class_that_others_wrote_before_and_after(r: Any, tmp_path: Path, column: str, name: str) -> None:
    """vroom of Debian reads a column of a file when it is asked for; the adapter knows nothing of vroom."""
    (tmp_path / "table.csv").write_text("number,whole\n1.5,2\n2.5,3\n-3.5,4\n")
    r.evalr(f"d <- vroom::vroom('{tmp_path}/table.csv', altrep = TRUE, progress = FALSE, col_types = 'di')")
    x = r.evalr(column)

    def shown() -> tuple[object, ...]:
        fact = inspector.materialization(x)
        said = "materialized=T" in r_libraries.printed(r, f".Internal(inspect({column}))")
        return fact.state, fact.layers[1].value, len(fact.layers[1].spans), said

    assert name in inspector.materialization(x).layers[1].what
    assert shown() == ("lazy", "lazy", 0, False)
    assert x[1] in (2.5, 3) and shown() == ("lazy", "lazy", 0, False), "one element leaves it lazy"
    assert np.asarray(x).tolist() in ([1.5, 2.5, -3.5], [2, 3, 4])
    assert shown() == ("owned", "computed", 1, True)
