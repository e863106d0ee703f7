"""How objects, types, modules and builtins are drawn: the lines, the folds, the bounds."""

# SPDX-License-Identifier: MIT
import dataclasses
import re

import pytest
import samples

from inspector._native import Subject
from inspector.facts.native import Method, Place, Slot
from inspector.facts.unknown import Address, Unknown
from inspector.objects.probes.object import details
from inspector.views import place
from inspector.views.rows import Drawing
from inspector.views.to_text import plain_text
from inspector.views.view import view

pytestmark = pytest.mark.quick


def drawn(fact, **how):
    """The text, with the blanks between label, value and evidence cut to two."""
    return re.sub("(?<=[^ \n]) {2,}", "  ", plain_text(view(fact), Drawing(**how)))


def test_an_object_in_two_lines():
    assert drawn(samples.object_fact()) == (
        " type  numpy.ndarray  static, in _multiarray_umath.so\n object  96 B  of its own, no gc header\n"
    )


def test_a_class_statement_names_its_module_and_its_bases():
    fact = dataclasses.replace(
        samples.object_fact(),
        type_name="app.Cat",
        type_mro=("app.Cat", "app.Animal", "object"),
        heap_type=True,
        defined_in="app",
        gc_tracked=True,
        interned=True,
        immortal=True,
        size_bytes=Unknown("no"),
    )
    text = drawn(fact)
    assert " type  app.Cat  class statement in app\n bases  app.Animal\n" in text
    assert " object  ? no  gc tracked · interned · immortal\n" in text


@pytest.mark.parametrize(
    ("library", "symbol", "text"),
    [
        ("/usr/lib/a.cpython-312-x86_64-linux-gnu.so", "f", "a.so f+0x10"),
        ("/usr/lib/libc.so.6", "malloc", "libc.so malloc+0x10"),
        ("/usr/lib/b.so", Unknown("stripped: local names are gone"), "b.so+0x10 ? stripped"),
        (Unknown("in no loaded file"), Unknown("in no loaded file"), "0x1000 ? in no loaded file"),
    ],
)
def test_a_place_in_words(library, symbol, text):
    spans = place.place_spans(Place(Address(0x1000), library, symbol, 16))
    assert "".join(span.text for span in spans) == text


def test_a_huge_type_stays_below_four_kilobytes():
    at = Place(Address(4096), "/usr/lib/" + "long_library" * 3 + ".so", "f" * 200, 0)
    method = Method("m" * 120, ("METH_VARARGS", "METH_KEYWORDS"), at, "d" * 120)
    fact = dataclasses.replace(
        details(Subject(list))["type"],
        name="n" * 120,
        bases=("b" * 120,) * 64,
        flags=("Py_TPFLAGS_HAVE_VECTORCALL",) * 32,
        slots=tuple(Slot("tp_" + "x" * 20, at, n % 2 == 0) for n in range(80)),
        methods=(method,) * 4096,
        getset=(method,) * 4096,
        members=("m" * 150,) * 4096,
    )
    text = drawn(fact)
    assert len(text.encode()) < 4096
    assert "… 4,088 more (--all)" in text
    assert max(map(len, text.splitlines())) <= 80
