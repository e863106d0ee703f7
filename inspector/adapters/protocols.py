"""Calls the protocols of an object (`--ask`): library code runs, and the exported object is released."""

# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

from inspector import _native
from inspector.adapters.base import Elements, type_name
from inspector.adapters.formats import format_name
from inspector.facts.strides import dense
from inspector.facts.unknown import Unknown

LONGEST_REASON = 80
WRITEABLE = 0x400
ITEM_BYTES = {code: size for size, codes in ((1, "cC"), (2, "sSe"), (4, "iIf"), (8, "lLg")) for code in codes}
"""Arrow format of a number -> its bytes (Arrow C data interface, "Data type description")."""


def ask(x: Any, attribute: str) -> Elements | Unknown:
    """The answer of one protocol; Unknown with the reason if it refuses, raises or is inconsistent."""
    try:
        return _ANSWERS[attribute](x)
    except (Exception, SystemExit) as error:  # third-party code: the card must be drawn
        return Unknown(_reason(error))


def _reason(error: BaseException) -> str:
    try:
        detail = str(error)
    except Exception:
        detail = ""
    detail = detail if len(detail) <= LONGEST_REASON else detail[: LONGEST_REASON - 1] + "…"
    return f"refused: {type_name(type(error))}{': ' if detail else ''}{detail}"


def _buffer(x: Any) -> Elements | Unknown:
    address, _, itemsize, typestr, shape, strides, readonly, indirect, exporter = _native.ask_buffer(x)
    if indirect:
        return Unknown("its elements lie behind pointers (suboffsets)")
    name = format_name(typestr, itemsize)
    return Elements("buffer", address, shape, strides, itemsize, name, typestr, readonly, exporter)


def _from_dict(x: Any, attribute: str) -> Elements | Unknown:
    """The array interface, version 3 (numpy.org/doc/stable/reference/arrays.interface.html)."""
    interface = getattr(x, attribute)
    typestr = str(interface["typestr"])
    shape = tuple(int(length) for length in interface["shape"])
    if (place := interface.get("data")) is None:
        return Unknown("its bytes are behind its buffer: the interface gives no address")
    address, readonly = place
    itemsize = _items_of(typestr)
    strides = interface.get("strides")
    steps = dense(shape, itemsize) if strides is None else tuple(int(step) for step in strides)
    if len(steps) != len(shape):
        return Unknown(f"its shape has {len(shape)} axes, its strides {len(steps)}")
    exporter = type_name(type(x))
    return Elements(
        attribute, int(address), shape, steps, itemsize, typestr, typestr, bool(readonly), exporter
    )


def _struct(x: Any) -> Elements | Unknown:
    address, shape, strides, itemsize, kind, flags = _native.array_struct(x.__array_struct__)
    typestr = f"{kind}{itemsize}"
    return Elements(
        "__array_struct__", address, shape, strides, itemsize, typestr, typestr, not flags & WRITEABLE,
        type_name(type(x)),
    )  # fmt: skip


def _dlpack(x: Any) -> Elements | Unknown:
    address, shape, strides, itemsize, code, bits, device, number, readonly = _native.dlpack(x.__dlpack__())
    if device not in _HOST:
        return Unknown(f"its bytes are on a device (DLDeviceType {device}, number {number})")
    name = f"{_DL_CODES.get(code, f'code {code} ')}{bits}"
    steps = dense(shape, itemsize) if strides is None else strides
    return Elements("DLPack", address, shape, steps, itemsize, name, name, readonly, type_name(type(x)))


_HOST = (1, 3, 11)
"""kDLCPU, kDLCUDAHost, kDLROCMHost."""
_DL_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}


def _arrow(x: Any) -> Elements | Unknown:
    format_, length, nulls, offset, buffers = _native.arrow(*x.__arrow_c_array__())
    if format_ not in ITEM_BYTES or len(buffers) != 2:
        return Unknown(f"Arrow format {format_!r}: {len(buffers)} buffers")
    itemsize = ITEM_BYTES[format_]
    address = buffers[1] + offset * itemsize
    flags = (f"{nulls} nulls",) if nulls > 0 else ()
    return Elements(
        "Arrow C data", address, (length,), (itemsize,), itemsize, format_, format_, True,
        type_name(type(x)), flags=flags,
    )  # fmt: skip


def _items_of(typestr: str) -> int:
    """Bytes of an element: "<f8" -> 8, "<U3" -> 12."""
    count = int(typestr[2:].partition("[")[0] or 8)
    return 4 * count if typestr[1:2] == "U" else 8 if typestr[1:2] in ("M", "m") else count


_ANSWERS: dict[str, Callable[[Any], Elements | Unknown]] = {
    "buffer": _buffer,
    "__array_interface__": lambda x: _from_dict(x, "__array_interface__"),
    "__array_struct__": _struct,
    "__cuda_array_interface__": lambda x: _from_dict(x, "__cuda_array_interface__"),
    "__dlpack__": _dlpack,
    "__arrow_c_array__": _arrow,
    "__arrow_c_stream__": lambda _: Unknown("a stream: its chunks are made by reading, which uses it up"),
}
