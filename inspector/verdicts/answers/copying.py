"""Copies: the code that makes one by the library's own word, and what C code copies before it can read."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.facts.amounts import size
from inspector.facts.answers import Answer
from inspector.verdicts.answers.words import answer, called, known

Facts = Mapping[str, Any]
COPIES = {
    "numpy.ndarray": "{}.copy()",
    "numpy.memmap": "numpy.array({})",
    "memoryview": "bytes({})",
    "torch.Tensor": "{}.clone()",
    "pandas.Series": "{}.copy()",
    "pandas.DataFrame": "{}.copy()",
}
"""Type -> the code that copies its bytes and keeps nothing else alive."""


def copy_of(name: str, facts: Facts) -> str:
    """The code that copies the object by its library's own word; "" where none is known."""
    found = known(facts, "object")
    form = COPIES.get(found.type_name, "") if found is not None else ""
    return form.format(name) if form and called(name) != "it" else ""


def c_code(name: str, facts: Facts) -> Iterator[Answer]:
    """What C code that wants contiguous elements copies first."""
    layout, buffer = known(facts, "layout"), known(facts, "buffer")
    if (
        layout is None
        or buffer is None
        or known(facts, "parts")
        or layout.c_contiguous
        or layout.format == "object"
    ):
        return
    cost = layout.itemsize_bytes
    for length in layout.shape:
        cost *= length
    if not cost:
        return
    if layout.f_contiguous:
        text = (
            f"{size(cost)} are copied first where C order is wanted; Fortran code (BLAS) reads it as it is."
        )
    else:
        text = f"{size(cost)} are copied first where contiguous elements are wanted."
    yield answer("c-code-copies", text, "layout.c_contiguous", about=(name,), costs_bytes=cost)
