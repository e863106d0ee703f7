"""How a trace is drawn: at 80 columns, folded, and honest about what was dropped or not seen."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

import pytest
from samples import conversion_fact

from inspector.views.conversion import of_trace
from inspector.views.rows import Drawing
from inspector.views.to_html import to_html
from inspector.views.to_text import plain_text

pytestmark = pytest.mark.quick

PICTURE = """\
 copies   2 of 3 crossings with bytes copied 16 MB                       94.0 ms
   8.0 MB   cell 7:3  np.asarray(rows)  list of 1,000,000 float → ndarray
            float64
            why    a list has no buffer (likely)
            avoid  keep it an array from the start
            memory _multiarray_umath
   8.0 MB   cell 7:4  np.ascontiguousarray(m.T)  ndarray float64 → ndarray
            float64
            why    layout changes: Fortran order → C order (by sample)
            avoid  keep the layout
            memory _multiarray_umath
 shared   8.0 MB crossed without a copy
   8.0 MB   cell 7:5  torch.from_numpy(m)  ndarray float64 → Tensor
 lost     no value was seen to change  in 2 recorded calls
 lines    2 crossed into native code
   line      calls  conversions  in native  crossing
   cell 7:3      1    1,000,001    26.0 ms   11.0 ms
 calls    2 from Python
   7:3      np.asarray(rows)  list of 1,000,000 float → ndarray 8.0 MB   26.0 ms
              PyNumber_Float ×1,000,000 → 0.5  new                       11.0 ms
              PyArray_NewFromDescr  new                                   1.0 µs
   7:4      np.ascontiguousarray(m.T)  ndarray 8.0 MB → ndarray 8.0 MB  500.0 µs
 seen     2,064 functions hooked in 1 module                               --all
 events   1,000,014 · 0 dropped  record
"""


def test_the_picture_at_80_columns() -> None:
    assert plain_text(of_trace(conversion_fact()), Drawing()) == PICTURE


def test_what_was_dropped_is_said() -> None:
    drawn = plain_text(of_trace(replace(conversion_fact(), dropped=1234)), Drawing())
    assert "1,234 dropped: the oldest are missing" in drawn


def test_nothing_crossed() -> None:
    drawn = plain_text(of_trace(replace(conversion_fact(), copies=(), calls=(), crossings=())), Drawing())
    assert "no value with bytes  in 2,064 watched functions" in drawn and "0 from Python" in drawn


def test_the_page_folds_without_a_script() -> None:
    page = to_html(of_trace(conversion_fact()), Drawing())
    assert page.count("<details") >= 4 and "<script" not in page


def test_what_imports_did_is_one_line_of_its_own() -> None:
    fact = conversion_fact()
    at = replace(fact.calls[0].site, text="import pandas as pd")
    crossing = replace(fact.crossings[0], site=at, calls=571, conversions=0)
    copy = replace(fact.copies[0], site=at, copied_bytes=131_000)
    whole = replace(
        fact,
        calls=(*fact.calls, replace(fact.calls[0], site=at)),
        copies=(*fact.copies, copy),
        crossings=(*fact.crossings, crossing),
    )
    drawn = plain_text(of_trace(whole), Drawing())
    said = " imports  571 calls and 131 kB copied while modules were imported          --all\n"
    without = drawn.replace(said, "").replace("3 recorded calls", "2 recorded calls")
    assert without == PICTURE and said in drawn
    assert "import pandas as pd" in plain_text(of_trace(whole), Drawing(everything=True))


def test_a_trace_of_nothing_but_imports_shows_them() -> None:
    fact = conversion_fact()
    at = replace(fact.calls[0].site, text="from json import loads")
    alone = replace(fact, calls=(replace(fact.calls[0], site=at),), copies=(), crossings=())
    assert "from json import loads" in plain_text(of_trace(alone), Drawing())
