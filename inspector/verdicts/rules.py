"""What a library does with an object, by rule: used if trying is not safe. A test runs each row for real."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from inspector.facts.given import Given
from inspector.facts.preview import Preview
from inspector.facts.unknown import Unknown


class Rule(NamedTuple):
    """Applies to objects of these kinds for which `when` is true."""

    consumer: str
    kinds: tuple[str, ...]
    when: Callable[[Given], bool]
    copies: bool | None
    """None: the conversion fails."""
    reason: str
    avoid: str = ""
    same_size: bool = True
    """Whether a copy has as many bytes as the object."""


def _numeric(given: Given) -> bool:
    """Whether elements are native C numbers: NumPy's "<f8", or a letter of the struct module."""
    if len(given.typestr) == 1:
        return given.typestr in "bBhHiIlLqQfd"
    return given.typestr[-2:-1] in ("i", "u", "f") and not given.typestr.startswith(">")


def _plain(given: Given) -> bool:
    return _numeric(given) and given.contiguous and not given.backwards


def _numbers(given: Given) -> bool:
    return _numeric(given) or (given.typestr[1:2] in ("b", "c") and not given.typestr.startswith(">"))


def _wide(given: Given) -> bool:
    """Whether jax narrows the numbers to 32 bits (it does without jax_enable_x64)."""
    return given.typestr[-2:] in ("i8", "u8", "f8") or given.typestr.endswith("c16")


def _always(given: Given) -> bool:
    return True


_BUFFERS: Final = ("bytearray", "memoryview", "array")
_LISTS: Final = ("list", "tuple")
_NO_BUFFER: Final = "a list has no buffer"
_START: Final = "keep it an array from the start"
_GAPS, _ONCE = "layout changes: gaps → one axis", "np.ascontiguousarray(x) once"
_OF_ITS_OWN: Final = "jax keeps arrays of its own"
RULES: Final = (
    Rule("numpy", ("ndarray", *_BUFFERS), _always, False, ""),
    Rule("numpy", ("Tensor",), _numeric, False, ""),
    Rule("numpy", ("Series",), _numeric, False, ""),
    Rule("numpy", ("DataFrame",), lambda g: g.blocks == 1 and _numeric(g), False, ""),
    Rule("numpy", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("torch", ("ndarray",), lambda g: g.backwards, None, "torch has no negative strides", "x.copy()"),
    Rule("torch", ("ndarray",), lambda g: g.typestr[1:2] in "OUSMm", None, "no tensor has such elements"),
    Rule("torch", ("ndarray",), _numeric, False, ""),
    Rule("torch", ("Tensor",), _always, False, ""),
    Rule("torch", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("pyarrow", ("ndarray",), lambda g: _plain(g) and g.dimensions == 1, False, ""),
    Rule(
        "pyarrow",
        ("ndarray",),
        lambda g: g.dimensions == 1 and g.typestr.endswith("b1"),
        True,
        "Arrow keeps booleans as bits",
    ),
    Rule(
        "pyarrow",
        ("ndarray",),
        lambda g: _numeric(g) and not g.contiguous and g.dimensions == 1,
        True,
        _GAPS,
        _ONCE,
    ),
    Rule("pyarrow", ("Arrow array",), _always, False, ""),
    Rule("pyarrow", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("pandas", ("Series", "DataFrame"), _always, False, ""),
    Rule("pandas", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("polars", ("polars Series", "polars DataFrame"), _always, False, ""),
    Rule(
        "polars",
        ("ndarray",),
        lambda g: _plain(g) and g.dimensions == 1 and g.typestr[-2:] != "f2",
        False,
        "",
    ),
    Rule(
        "polars",
        ("ndarray",),
        lambda g: _numeric(g) and g.dimensions == 1 and not _plain(g),
        True,
        _GAPS,
        _ONCE,
    ),
    Rule("polars", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("jax", ("ndarray",), lambda g: not _numbers(g), None, "jax has no such elements"),
    Rule("jax", ("ndarray",), lambda g: _wide(g), True, _OF_ITS_OWN, same_size=False),
    Rule("jax", ("ndarray",), _always, True, _OF_ITS_OWN),
    Rule("jax", _LISTS, _always, True, _NO_BUFFER, _START),
    Rule("memoryview", ("ndarray", "bytes", *_BUFFERS), _always, False, ""),
    Rule("bytes", ("ndarray", *_BUFFERS), _always, True, "bytes own their memory", "memoryview(x) shares it"),
    Rule("bytes", ("bytes",), _always, False, ""),
)
"""The first matching rule applies."""


def ruled(given: Given, consumer: str, function: str, why: str) -> Preview:
    """The result of the first matching rule; without a match, Unknown with `why` it was not tried."""
    fits = (
        rule for rule in RULES if rule.consumer == consumer and given.kind in rule.kinds and rule.when(given)
    )
    rule = next(fits, None)
    told = partial(Preview, consumer, function)
    if rule is None:
        nothing = Unknown(f"no rule applies, and it was not tried: {why}")
        return told(nothing, nothing, nothing, nothing, "", "", "", False, "not found")
    if rule.copies is None:
        fails = Unknown("the conversion fails")
        return told(fails, fails, fails, fails, "", rule.reason, rule.avoid, True, "by rule")
    not_tried, known = Unknown(f"not tried: {why}"), given.blocks and rule.same_size
    copied = given.size_bytes if rule.copies and known else 0 if not rule.copies else not_tried
    reason = rule.reason, rule.avoid
    return told(rule.copies, copied, not_tried, not_tried, "", *reason, False, "by rule")
