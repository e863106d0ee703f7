"""What each protocol says when it is asked, by the api and by the program; unasked nobody is called."""

# SPDX-License-Identifier: MIT
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import programs
import pytest

import inspector
from inspector.facts.buffer import Exposure
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]

SPEAKERS = '''
"""Speakers of one protocol each over the same bytes, and the names of those that were called."""
import ctypes
import numpy as np

CALLED = []
ARRAY = np.arange(6, dtype="i4").reshape(2, 3)[:, ::2]
ARRAY.flags.writeable = False
COLUMN = np.arange(4.0)
INTERFACE, STRUCT = ARRAY.__array_interface__, ARRAY.__array_struct__

class Interface:
    @property
    def __array_interface__(self):
        CALLED.append("__array_interface__")
        return INTERFACE

class Struct:
    @property
    def __array_struct__(self):
        CALLED.append("__array_struct__")
        return STRUCT

class Device:
    @property
    def __cuda_array_interface__(self):
        CALLED.append("__cuda_array_interface__")
        return {"shape": (2, 2), "strides": (4, 8), "typestr": "<i4", "data": (1 << 60, True), "version": 3}

class Tensor:
    def __dlpack__(self, **how):
        CALLED.append("__dlpack__")
        return COLUMN.__dlpack__()

    def __dlpack_device__(self):
        CALLED.append("__dlpack_device__")
        return (1, 0)

class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("rest", ctypes.c_void_p * 8)]

class Array(ctypes.Structure):
    _fields_ = [("numbers", ctypes.c_int64 * 5), ("buffers", ctypes.c_void_p), ("rest", ctypes.c_void_p * 4)]

POINTERS = (ctypes.c_void_p * 2)(0, COLUMN.ctypes.data)
SCHEMA, DATA = Schema(b"g"), Array((3, 0, 1, 2, 0), ctypes.addressof(POINTERS))
capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class Column:
    def __arrow_c_array__(self, requested_schema=None):
        CALLED.append("__arrow_c_array__")
        schema = capsule(ctypes.addressof(SCHEMA), b"arrow_schema", None)
        return schema, capsule(ctypes.addressof(DATA), b"arrow_array", None)

class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        CALLED.append("__arrow_c_stream__")

class Every(Interface, Struct, Device, Tensor, Column, Stream):
    """Speaks all six."""

class Exporter(bytearray):
    """A buffer of a type that is not on the list: C code, but its class may be anybody's."""

interface, struct, device, tensor, column, stream = (
    Interface(), Struct(), Device(), Tensor(), Column(), Stream()
)
exported, every = Exporter(b"abcdef"), Every()
'''


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "speakers.py"
    path.write_text(SPEAKERS)
    return path


@pytest.fixture(scope="module")
def made(script: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "speakers"}
    exec(compile(script.read_text(), str(script), "exec"), names)
    return names


def said(x: object, ask: bool) -> dict[str, Exposure | Unknown]:
    found = inspector.inspect(x, ask=ask).facts["buffer"]
    return {row.protocol: row.exposure for row in found.spoken}


ANSWERS = [
    # (name, protocol, attribute, strides in bytes, format, itemsize, read-only)
    ("interface", "__array_interface__", "__array_interface__", (2, 2), (12, 8), "<i4", 4, True),
    ("struct", "__array_struct__", "__array_struct__", (2, 2), (12, 8), "i4", 4, True),
    ("device", "__cuda_array_interface__", "__cuda_array_interface__", (2, 2), (4, 8), "<i4", 4, True),
    ("tensor", "DLPack", "__dlpack__", (4,), (8,), "float64", 8, False),
    ("column", "Arrow C data", "__arrow_c_array__", (3,), (8,), "g", 8, True),
    ("exported", "buffer", "", (6,), (1,), "B", 1, False),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[row[1] for row in ANSWERS])
def test_each_protocol_says_where_and_how(made: dict[str, Any], row: Any) -> None:
    name, protocol, attribute, shape, strides, format_, itemsize, readonly = row
    x, called = made[name], made["CALLED"]
    called.clear()
    assert said(x, ask=False) == {protocol: Unknown("not asked")} and called == []
    answer = said(x, ask=True)[protocol]
    assert called == ([attribute] if attribute else []), "the one protocol, once"
    assert isinstance(answer, Exposure)
    assert (answer.protocol, answer.shape, answer.strides_bytes) == (protocol, shape, strides)
    assert (answer.format, answer.itemsize_bytes, answer.readonly) == (format_, itemsize, readonly)
    assert answer.exporter == type(x).__name__ or answer.exporter.endswith(".Exporter")
    assert answer.address == {
        "device": 1 << 60,
        "tensor": made["COLUMN"].ctypes.data,
        "column": made["COLUMN"].ctypes.data + 8,
        "exported": np.frombuffer(x, "u1").ctypes.data if name == "exported" else 0,
    }.get(name, made["ARRAY"].ctypes.data)
    assert isinstance(answer.mapping, Unknown) is (name == "device"), "no mapping of this process holds it"


def test_protocols_of_one_object_are_found_in_order_and_asked(
    made: dict[str, Any],
) -> None:
    called, protocols = made["CALLED"], [row[1] for row in ANSWERS[:5]]
    called.clear()
    found = said(made["every"], ask=False)
    assert list(found) == [*protocols, "Arrow C stream"]
    assert set(found.values()) == {Unknown("not asked")} and called == []
    fact = inspector.inspect(made["every"], ask=True).facts["buffer"]
    assert {row.protocol for row in fact.spoken if isinstance(row.exposure, Exposure)} == {*protocols}
    assert sorted(called) == sorted(row[2] for row in ANSWERS[:5]), "a stream would be used up"
    assert fact.logical_bytes == 16


def test_a_stream_is_found_and_never_read(made: dict[str, Any]) -> None:
    made["CALLED"].clear()
    assert said(made["stream"], ask=False) == {"Arrow C stream": Unknown("not asked")}
    answer = said(made["stream"], ask=True)["Arrow C stream"]
    assert isinstance(answer, Unknown) and "uses it up" in answer.reason
    assert made["CALLED"] == []


def test_an_answer_leaves_the_exporter_as_it_was(made: dict[str, Any], fingerprint: Any) -> None:
    for name in ("interface", "struct", "device", "tensor", "column", "stream", "exported"):
        x = made[name]  # pytest keeps what an assert names
        before = fingerprint(x)
        said(x, ask=True)
        assert fingerprint(x) == before, name
    made["exported"].append(1)  # BufferError while a buffer is out
    made["exported"].pop()


def test_the_program_asks_only_when_told_to(script: Path) -> None:
    def shown(name: str, *options: str) -> str:
        ran = programs.inspector("show", name, *options, "--script", str(script))
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    assert re.search("speaks +__cuda_array_interface__ +not asked", shown("device", "--all"))
    asked = shown("device", "--ask", "-v")
    assert "__cuda_array_interface__  <i4 (2, 2), read-only" in asked and "not asked" not in asked
    assert "at 0x1000000000000000, strides (4, 8) bytes, by Device" in asked
    (row,) = json.loads(shown("column", "--ask", "--json"))["facts"]["buffer"]["spoken"]
    answer = row["exposure"]
    assert (row["protocol"], answer["format"], answer["shape"]) == ("Arrow C data", "g", [3])
