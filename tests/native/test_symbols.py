"""Addresses to files and symbols: exported ones by dladdr, local ones by the file's symbol table."""

# SPDX-License-Identifier: MIT
import ctypes

import pytest

from inspector import _native
from inspector.binaries.addresses import place, readable
from inspector.binaries.symbol_table import symbol_table
from inspector.facts.unknown import Unknown

pytestmark = [pytest.mark.core, pytest.mark.quick]


def _address(name):
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


def test_an_exported_function_by_name_and_offset():
    start = _address("PyList_New")
    assert _native.exported(start) == ("PyList_New", 0)
    assert (place(start + 4).symbol, place(start + 4).offset_bytes) == ("PyList_New", 4)


def test_a_local_symbol_is_found_in_the_symbol_table():
    found = place(_native.object_layout(_native.Subject([]))["type_address"])
    assert found.symbol == "PyList_Type"
    table = symbol_table(found.library)
    if not isinstance(table, Unknown) and not table.stripped:
        local = table.starts[len(table.starts) // 2]
        assert table.find(local) is not None


def test_a_stripped_library_says_so():
    # No function that the interpreter calls: in an executable that is no PIE such a one has its address.
    libc = place(ctypes.cast(ctypes.CDLL("libc.so.6").l64a, ctypes.c_void_p).value)
    table = symbol_table(libc.library)
    assert libc.symbol
    assert isinstance(table, Unknown) or table.starts == sorted(table.starts)


def test_an_address_in_no_file_has_no_library():
    block = ctypes.create_string_buffer(64)
    assert place(ctypes.addressof(block)).library == Unknown("in no loaded file")


def test_a_broken_file_is_unknown(tmp_path):
    for content in (b"", b"\x7fELF" + b"\2\1\1" + b"\xff" * 60, b"hello"):
        (tmp_path / "broken").write_bytes(content)
        assert isinstance(symbol_table(str(tmp_path / "broken")), Unknown)
    assert isinstance(symbol_table(str(tmp_path / "absent")), Unknown)


@pytest.fixture
def cpp_runtime():
    try:
        return ctypes.CDLL("libstdc++.so.6")
    except OSError:
        pytest.skip("no C++ runtime on this machine")


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("py_gcd", "py_gcd"),
        ("_Z3addii", "add"),
        ("_ZN5torch8autogradL15THPVariable_addEP7_objectS2_S2_", "torch::autograd::THPVariable_add"),
        ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"),
        ("_ZNK3foo3getEv", "foo::get"),
        ("_ZN3fooclEi", "foo::operator()"),
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_cpp_symbols_are_written_as_names(cpp_runtime, symbol, name):
    assert readable(symbol) == name


def test_long_template_arguments_and_return_types_are_left_out(cpp_runtime):
    short = "_Z4copyIiET_S0_"
    assert readable(short) == "copy<int>"
    assert readable("_Z4copyI" + "St6vectorIiSaIiEE" * 3 + "ET_S0_") == "copy<…>"
