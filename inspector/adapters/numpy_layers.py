"""What NumPy stores of an array beyond its struct: masks, string arenas, pending write-backs, leaks."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, type_name
from inspector.adapters.told import (
    DERIVED,
    Evidence,
    Layer,
    Told,
    attribute,
    field,
    finding,
    of_type,
)
from inspector.facts.amounts import size
from inspector.facts.memory import Range
from inspector.facts.unknown import Unknown

WRITEBACKIFCOPY, WRITEABLE, OWNDATA = 0x2000, 0x400, 0x4
ARENA = Unknown("plus the arena of its long strings: NumPy does not say how large it is")


def layers(x: Any, adapter: Adapter, fields: tuple[Any, ...]) -> Told:
    """Wrapper and buffer of an ndarray; `fields` as `_native.ndarray_fields` gives them."""
    address, _, _, flags, base, descr = fields
    arena = descr.char == "T"
    wrapper = Layer("wrapper", type_name(type(x)), evidence=tuple(_about(x, flags, base, descr)))
    unowned = base is not None and not flags & OWNDATA and _is_unowned(adapter.spans(x), base)
    findings = [finding("pending-write-back")] if flags & WRITEBACKIFCOPY else []
    if unowned:
        findings.append(finding("unowned-bytes", f"the base does not hold {address:#x}"))
    return Told(
        (wrapper, *_mask(x)),
        state="unowned" if unowned else DERIVED,
        retained_bytes=ARENA if arena else DERIVED,
        findings=tuple(findings),
    )


def _about(x: Any, flags: int, base: Any, descr: Any) -> list[Evidence]:
    found = [of_type(type_name(type(x)))]
    if base is not None:
        found.append(field("PyArray_BASE", type_name(type(base))))
    if descr.hasobject:
        found.append(field("dtype.hasobject", "its bytes are pointers; copy() copies no object"))
    if not flags & WRITEABLE:
        found.append(field("WRITEABLE", "no, but others may still write"))
    return found


def _is_unowned(spans: tuple[Range, ...], base: Any) -> bool:
    """Whether the bytes of the array's base are known and do not contain the array's: nothing frees those."""
    if not spans:
        return False
    from inspector.adapters.registry import adapter_of

    known: list[Range] = []
    while base is not None and len(known) < 16:
        adapter = adapter_of(type(base))
        if adapter is None:
            return False
        known += adapter.spans(base)
        held = adapter.holds(base)
        base = held[0][1] if held else None
    return bool(known) and not any(_meets(span, one) for span in spans for one in known)


def _meets(a: Range, b: Range) -> bool:
    return a.start < b.stop and b.start < a.stop


def _mask(x: Any) -> tuple[Layer, ...]:
    """A masked array's mask; `nomask` is a shared constant without memory."""
    ma = sys.modules.get("numpy.ma")
    if ma is None or type(x) is not ma.MaskedArray:
        return ()
    mask = object.__getattribute__(x, "_mask")
    if mask is ma.nomask:
        evidence = (attribute("x._mask", "nomask"),)
        use, idle = ("getmaskarray(x)",), ("x.mask",)
        return (Layer("container", "mask", "lazy", "none", "owned", evidence, use, idle, depth=1),)
    evidence = (attribute("x._mask", f"an array {mask.shape}"),)
    return (Layer("container", f"mask of {size(mask.nbytes)}", evidence=evidence, depth=1),)
