"""Seed 002, R's lazy_abs, beside ours: the session of the article step by step, in R's words and in ours."""

from __future__ import annotations

import ctypes
import os
import re
from typing import Any

import numpy as np
import pytest
import r_packages

import inspector
from inspector import lazy

pytestmark = pytest.mark.r
VALUES = [-0.664313, 0.332979, -1.3749, 0.784393, 1.3133]


@pytest.fixture(scope="module")
def r() -> Any:
    found = r_packages.start("altrepisode")
    found.evalr("library(altrepisode)")
    return found


@pytest.fixture
def both(r: Any) -> tuple[Any, lazy.Vector]:
    """The vector of the article, theirs (bound to y in R) and ours."""
    r.evalr(f"y <- lazy_abs(c({','.join(map(str, VALUES))}))")
    return r.globalenv["y"], lazy.abs(np.array(VALUES))


def words(text: str) -> list[str]:
    """The first line's state, and the values of each line after it: addresses and counts left out."""
    first, *rest = text.strip().splitlines()
    state = re.search(r"\] (.*)$", first)
    assert state is not None, first
    return [state[1], *(line.rsplit(" ", 1)[1].rstrip(".,") for line in rest)]


def theirs(r: Any) -> list[str]:
    return words(r_packages.printed(r, ".Internal(inspect(y))"))


def ours(x: lazy.Vector) -> list[str]:
    return words(str(x.inspect()))


def states(both: tuple[Any, Any]) -> tuple[Any, Any]:
    """`inspector.materialization` of both: the value of the layer that holds the elements."""
    found = (inspector.materialization(x) for x in both)
    told = [[layer.value for layer in fact.layers if layer.level != "pages"] for fact in found]
    return told[0][1], told[1][0]


def test_new_both_are_lazy_in_the_same_words(r: Any, both: tuple[Any, Any]) -> None:
    assert theirs(r)[0] == ours(both[1])[0] == "lazy(abs) (len=5)"
    assert len(theirs(r)) == len(ours(both[1])) == 2
    assert theirs(r)[1] == "-0.664313,0.332979,-1.3749,0.784393,1.3133" == ours(both[1])[1]
    assert states(both) == ("lazy", "lazy")
    facts = [inspector.materialization(x) for x in both]
    assert [fact.state for fact in facts] == ["lazy", "lazy"]
    assert [fact.logical_bytes for fact in facts] == [40, 40]


def test_head_leaves_both_lazy(r: Any, both: tuple[Any, Any]) -> None:
    assert list(r.evalr("head(y, 2)")) == both[1][:2].tolist() == [0.664313, 0.332979]
    assert theirs(r)[0] == ours(both[1])[0] == "lazy(abs) (len=5)"


def test_the_first_mean_is_right_and_only_theirs_materializes(r: Any, both: tuple[Any, Any]) -> None:
    right = sum(map(abs, VALUES)) / 5
    assert float(np.mean(both[1])) == pytest.approx(right, rel=1e-15)
    r.evalr("mean(y)")  # of a buffer that the seed's Get_region did not fill: the article prints 0
    assert r.evalr("mean(y)")[0] == pytest.approx(right), "the second is right"
    assert theirs(r)[0] == "materialized lazy(abs) (len=5)"
    assert ours(both[1])[0] == "lazy(abs) (len=5)"
    assert states(both) == ("computed", "lazy")


def test_sort_materializes_both_in_the_same_words(r: Any, both: tuple[Any, Any]) -> None:
    assert list(r.evalr("sort(y)")) == np.sort(both[1]).tolist() == sorted(map(abs, VALUES))
    assert theirs(r)[0] == ours(both[1])[0] == "materialized lazy(abs) (len=5)"
    assert len(theirs(r)) == len(ours(both[1])) == 3
    assert theirs(r)[2] == ours(both[1])[2] == "0.664313,0.332979,1.3749,0.784393,1.3133"
    assert states(both) == ("computed", "computed")


def test_an_input_that_r_would_write_is_copied_first(r: Any) -> None:
    r.evalr("x <- doubles(); y <- lazy_abs(x); x[1] <- 7")
    assert list(r.evalr("x")) == [7, -1, 0, 1, 2]
    assert list(r.evalr("y")) == [2, 1, 0, 1, 2]
    assert list(r.evalr("sort(y)")) == [0, 1, 1, 2, 2]
    source = np.array([-2.0, -1, 0, 1, 2])
    y = lazy.abs(source, freeze=True)
    with pytest.raises(ValueError, match="read-only"):
        source[0] = 7
    assert np.sort(y).tolist() == [0, 1, 1, 2, 2]


class OfR:
    """An R vector as a provider of ours: R's own functions answer, through its table of ALTREP methods."""

    dtype = "f8"

    def __init__(self, x: Any) -> None:
        self.x = x
        libr = ctypes.PyDLL("libR.so", mode=os.RTLD_NOLOAD)
        for name in ("DATAPTR_OR_NULL", "DATAPTR_RO"):
            getattr(libr, name).restype, getattr(libr, name).argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
        libr.REAL_GET_REGION.restype = ctypes.c_ssize_t
        libr.REAL_GET_REGION.argtypes = (ctypes.c_void_p, *[ctypes.c_ssize_t] * 2, ctypes.c_void_p)
        self.libr = libr

    @property
    def length(self) -> int:
        return len(self.x)

    def elt(self, index: int) -> float:
        return float(self.x[index])

    def get_region(self, start: int, count: int, out: Any) -> int:
        return int(self.libr.REAL_GET_REGION(self.x.rid, start, count, out.ctypes.data))

    def dataptr_or_null(self) -> int | None:
        return self.libr.DATAPTR_OR_NULL(self.x.rid)  # type: ignore[no-any-return]

    def dataptr(self) -> int:
        return int(self.libr.DATAPTR_RO(self.x.rid))


def test_get_region_of_the_seed_breaks_the_contract_and_r_s_own_keeps_it(r: Any) -> None:
    y, own = OfR(r.evalr("lazy_abs(c(-1,2,-3,4))")), OfR(r.evalr("as.numeric(1:10)"))
    answers = []
    for provider in (y, own):
        out = np.full(4, -99.0)
        answers.append((provider.get_region(1, 2, out), out[:2].tolist()))
    assert answers == [(3, [-99, -99]), (2, [2, 3])], "the seed says 3 for 2, and fills nothing"
    assert inspector.materialization(y.x).layers[1].value == "computed", "and materializes on the way"
    assert inspector.materialization(own.x).layers[1].value == "lazy"


def test_check_lazy_finds_it_in_one_call(r: Any) -> None:
    def broken(provider: OfR) -> list[str]:
        return [clause.name for clause in inspector.check_lazy(provider).clauses if clause.holds is False]

    assert any("region" in name for name in broken(OfR(r.evalr("lazy_abs(c(-1,2,-3,4))"))))
    assert not any("region" in name for name in broken(OfR(r.evalr("as.numeric(1:10)"))))


def test_r_s_own_states_have_our_words(r: Any) -> None:
    expressions = ("1:10", "as.numeric(1:10)", "as.character(1:5)", "c(1,2)")
    found = {expression: inspector.materialization(r.evalr(expression)).state for expression in expressions}
    assert found == {**dict.fromkeys(expressions, "lazy"), "c(1,2)": "owned"}


def test_numpy_s_view_of_an_r_vector_is_borrowed(r: Any) -> None:
    view = np.asarray(r.evalr("c(1,2,3)"))
    fact = inspector.materialization(view)
    assert fact.state == "borrowed" and [found.slug for found in fact.findings] == ["borrowed-pointer"]
