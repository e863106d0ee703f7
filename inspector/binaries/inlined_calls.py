"""Find the calls inlined at an address, in the DWARF tree of the function that contains it."""

# SPDX-License-Identifier: MIT
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

TREE_BYTES_MAX: Final = 32 << 20
"""Larger units are not read; one of 2 MB takes 0.3 s."""
_ENTERED: Final = ("DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type", "DW_TAG_subprogram")
"""Entries that contain functions: a lambda's is inside its enclosing function."""


def inlined_calls(dwarf: Any, unit: Any, address: int) -> list[tuple[int, int]]:
    """Number of the file and line of each call that was inlined there, the innermost first."""
    if unit["unit_length"] > TREE_BYTES_MAX:
        return []
    die = _function_at(dwarf, unit, address)
    found = list(_within(dwarf, unit, die, address)) if die is not None else []
    _prune(unit)
    return found[::-1]


def _function_at(dwarf: Any, unit: Any, address: int) -> Any:
    starts, spans = _functions(dwarf, unit)
    at = bisect_right(starts, address) - 1
    return unit.get_DIE_from_refaddr(spans[at][2]) if at >= 0 and address < spans[at][1] else None


def _prune(unit: Any) -> None:
    """Drop the entries that elftools keeps: later walks over the heap would meet them, 100,000 and more."""
    unit._dielist.clear()
    unit._diemap.clear()


def _within(dwarf: Any, unit: Any, die: Any, address: int) -> Iterator[tuple[int, int]]:
    for child in die.iter_children():
        ranges = list(ranges_of(dwarf, unit, child))
        if ranges and not any(start <= address < stop for start, stop in ranges):
            continue
        if child.tag == "DW_TAG_inlined_subroutine" and "DW_AT_call_line" in child.attributes:
            told = child.attributes
            yield told["DW_AT_call_file"].value, told["DW_AT_call_line"].value
        if child.has_children:
            yield from _within(dwarf, unit, child, address)


@lru_cache(16)
def _functions(dwarf: Any, unit: Any) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Sorted start addresses of a unit's functions; their starts, stops and the offsets of their DIEs."""
    spans = sorted(_spans(dwarf, unit, unit.get_top_DIE()))
    _prune(unit)
    return [row[0] for row in spans], spans


def _spans(dwarf: Any, unit: Any, die: Any) -> Iterator[tuple[int, int, int]]:
    for child in die.iter_children():
        if child.tag == "DW_TAG_subprogram":
            for start, stop in ranges_of(dwarf, unit, child):
                yield start, stop, child.offset
        if child.tag in _ENTERED and child.has_children:
            yield from _spans(dwarf, unit, child)


def ranges_of(dwarf: Any, unit: Any, die: Any) -> Iterator[tuple[int, int]]:
    """Start and stop of each code range of `die`."""
    if "DW_AT_low_pc" in die.attributes and "DW_AT_high_pc" in die.attributes:
        low, high = die.attributes["DW_AT_low_pc"].value, die.attributes["DW_AT_high_pc"]
        yield low, high.value if high.form == "DW_FORM_addr" else low + high.value
    elif "DW_AT_ranges" in die.attributes:
        base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        start = base.value if base else 0
        lists = dwarf.range_lists()
        for entry in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit):
            if not hasattr(entry, "begin_offset"):
                start = entry.base_address
                continue
            shift = 0 if getattr(entry, "is_absolute", False) else start
            yield entry.begin_offset + shift, entry.end_offset + shift


def template_types(dwarf: Any, unit: Any, address: int) -> Iterator[tuple[int, int]]:
    """Number of the file and line of each type that a template made the function there for: a lambda."""
    if unit["unit_length"] > TREE_BYTES_MAX:
        return
    function = _function_at(dwarf, unit, address)
    die = _declared(function) if function is not None else None
    while die is not None:
        for child in die.iter_children():
            if child.tag == "DW_TAG_template_type_param" and "DW_AT_type" in child.attributes:
                told = child.get_DIE_from_attribute("DW_AT_type").attributes
                if "DW_AT_decl_file" in told and "DW_AT_decl_line" in told:
                    yield told["DW_AT_decl_file"].value, told["DW_AT_decl_line"].value
        die = die.get_parent()


def _declared(die: Any) -> Any:
    """The DIE of a function's declaration, which differs from that of its code."""
    for _ in range(4):
        for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
            if link in die.attributes:
                die = die.get_DIE_from_attribute(link)
    return die
