"""Arithmetic of integers that wraps around, with the line, the exact number and what the array has."""

# SPDX-License-Identifier: MIT
from typing import Any

import numpy as np
import one_line
import pytest

pytestmark = [pytest.mark.core, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
SETUP = """u = np.array([200, 250, 3], np.uint8); i = np.array([100, 3, -100], np.int8); k = 5
h = np.arange(3, dtype='u4') * 1_000_000_000; n = np.arange(100_000, dtype='i4'); f = np.zeros(3)
img = np.arange(12, dtype='u1').reshape(3, 4)[::-1]; m = memoryview(bytes([200, 1]))
class Own(np.ndarray):
    def __add__(self, other): return np.minimum(np.asarray(self) + other.astype(int), 255).astype('u1')
w = u.view(Own)
def fill(): u[:] = 0; return 0"""
WRAPS = (
    ("v = u + u", "400", "144", 2, 3),
    ("v = -u", "-200", "56", 3, 3),
    ("v = u - k * 41", "-5", "251", 2, 3),
    ("v = i << 1", "200", "-56", 2, 3),
    ("v = h * 31 ^ h", "30268505088", "203734016", 2, 3),
    ("v = n ** 2", "2148322500", "-2146644796", 0, 100_000),
    ("v = img[1:] - img[:-1]", "-4", "252", 8, 8),
    ("u += 100", "300", "44", 2, 3),
    ("u[1:] -= 200", "-197", "59", 1, 2),
    ("u[:] = u * 2", "400", "144", 2, 3),
    ("v = np.square(i)", "10000", "16", 2, 3),
    ("v = np.diff(u)", "-247", "9", 1, 2),
    ("np.add(u, u, out=u)", "400", "144", 2, 3),
    ("v = (u + u).astype(int)", "400", "144", 2, 3),
    ("v = np.clip(u + 100, 0, 255)", "300", "44", 2, 3),
    ("u = np.minimum(u + 100, 255)", "300", "44", 2, 3),
    ("v = (img[1:] * 40).mean()", "280", "24", 1, 8),
    ("print([u + u, k])", "400", "144", 2, 3),
    ("v = f'{u * 2}'", "400", "144", 2, 3),
    ("v = u.sum(dtype=np.uint8)", "453", "197", 1, 1),
    ("v = np.cumsum(u, dtype='u1')", "450", "194", 2, 3),
    ("v = i @ i", "20009", "41", 1, 1),
    ("v = np.dot(img[:1], img[0])", "366", "110", 1, 1),
    ("v = np.prod(np.arange(1, 25))", "620448401733239439360000", "-7835185981329244160", 1, 1),
)
HONEST = (
    *("v = u - i", "v = (u - k) & 255", "v = ~u", "v = u + 1", "v = u + f", "v = u / 2", "v = u * 1.5"),
    *("v = k + 2**70", "v = u.astype(int) * 300", "v = img + 0", "v = u[0:0] + 200", "v = w + w", "v = m[0]"),
    *("v = u // 2 + u // 2", "v = (u > 3) * u", "v = u % 7 << 3", "v = u >> 1"),
    *(
        "v = i.sum(dtype='i1')",
        "v = np.sum(img, axis=0, dtype='i1')",
        "v = u.sum()",
        "v = u.prod(dtype=float)",
    ),
    *("v = np.bitwise_and(u + 200, 255)", "v = (u + 200).astype('u1')", "v = (u + 200).view('i1')"),
    *("v = len('a') + (u[:0] + u[:0]).sum()", "v = k or u + u", "v = [u + u for _ in ()]"),
    *(
        "v = (w + w).sum()",
        "v = fill() + (u + 200).sum()",
        "v = lambda: u + u",
        "v = ((img[1:] - img[:-1]) ** 2).mean()",
    ),
)


def wraps(line: str) -> Any:
    """What the rows of a traced line say that wrapped around."""
    t = one_line.traced(SETUP, line, {"np": np})
    return [one for row in t.statements.rows for one in row.losses if one.rule == "wrapped"]


@pytest.mark.parametrize(("line", "exact", "made", "lost", "of"), WRAPS, ids=[one[0] for one in WRAPS])
def test_what_wraps_is_told(line: str, exact: str, made: str, lost: int, of: int) -> None:
    (found,) = wraps(line)
    assert (found.elements, int(found.before) - int(found.after)) == (of, int(exact) - int(made))
    if of <= 4096:
        assert (found.before, found.after) == (exact, made)
        assert (found.lost, found.confidence) == (lost, "certain")
    else:
        assert 0 < found.lost <= found.compared < of and found.confidence == "by sample"


@pytest.mark.parametrize("line", HONEST)
def test_what_keeps_every_number_is_not(line: str) -> None:
    assert wraps(line) == []


@pytest.mark.parametrize(
    ("line", "is_meant"),
    [
        ("v = h * 31 ^ h", True),
        ("h *= 2654435761", True),  # Knuth's
        ("v = h * 1103515245 + 12345", True),
        ("v = h * 100_000_000", False),  # a price
        ("v = h[:2] - h[1:]", False),
        ("v = h * h", False),
        ("v = u * 31 ^ u", False),  # bytes, as of an image
        ("v = n * 1_000_001 ^ n", False),  # signed
    ],
)
def test_what_a_hash_function_lets_go_is_no_headline(line: str, is_meant: bool) -> None:
    t = one_line.traced(SETUP, line, {"np": np})
    (found,) = [one for row in t.statements.rows for one in row.losses]
    said = [one.slug for one in t.report.facts["answers"].rows if one.slug == "values-changed"]
    assert (found.rule, found.is_asked_for, bool(said)) == ("wrapped", is_meant, not is_meant)


def test_a_function_is_told_in_its_own_line() -> None:
    (found,) = wraps("def mean(a, b):\n    return (a + b) // 2\nv = mean(u, u)")
    assert (found.before, found.after, found.site.line) == ("200", "72", one_line.LINE + 1)


def test_a_line_that_raises_wraps_nothing() -> None:
    own = "def own(a, b):\n    c = a + b[:2] + b\n"
    assert wraps(f"{own}try:\n    own(u, u)\nexcept ValueError:\n    pass") == []


def test_the_words_of_a_screen() -> None:
    told = str(one_line.traced(SETUP, "v = u + u", {"np": np}))
    assert told.strip().startswith("2 of 3 values wrapped around in line")
    assert "2 of 3 values wrapped around: 400 → 144" in told


def test_what_an_array_chooses_out_of_a_large_one_is_not_copied_to_be_compared() -> None:
    assert wraps("v = n[n] ** 2") == [] != wraps("v = u[n[:2]] * 2")
