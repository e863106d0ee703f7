"""What a trace says of how much of a library it sees, against the files themselves."""

# SPDX-License-Identifier: MIT
import itertools
import math
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trace_coverage
from elftools.elf.elffile import ELFFile

import inspector
from inspector import _native

pytestmark = pytest.mark.core
KINDS = {6: "GLOB_DAT", 7: "JUMP_SLOT"}
"""R_X86_64 types of the ELF x86-64 ABI, table "Relocation Types"."""


def exported() -> set[str]:
    """Functions of this Python: of its library, or of the program itself."""
    library = Path(sysconfig.get_config_var("LIBDIR")) / str(sysconfig.get_config_var("LDLIBRARY"))
    shared = sysconfig.get_config_var("Py_ENABLE_SHARED") and library.suffix != ".a"
    with (library if shared else Path("/proc/self/exe")).open("rb") as file:
        table = ELFFile(file).get_section_by_name(".dynsym")
        return {
            one.name
            for one in table.iter_symbols()
            if one["st_info"]["type"] == "STT_FUNC" and one["st_shndx"] != "SHN_UNDEF"
        }


def imported(path: str, functions: set[str]) -> Counter[tuple[str, str]]:
    """Function and kind of relocation -> slots of one file."""
    found: Counter[tuple[str, str]] = Counter()
    with Path(path).open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".dynsym")
        sections = [elf.get_section_by_name(name) for name in (".rela.plt", ".rela.dyn")]
        for entry in itertools.chain(*(one.iter_relocations() for one in sections if one is not None)):
            symbol = symbols.get_symbol(entry["r_info_sym"])
            kind = KINDS.get(entry["r_info_type"])
            if kind and symbol.name in functions and symbol["st_shndx"] == "SHN_UNDEF":
                found[symbol.name, kind] += 1
    return found


def test_import_slots_are_those_of_the_files() -> None:
    """But for functions that a module also compares as values, where the word may be such a value."""
    with inspector.trace("numpy", grade="count") as t:
        np.array([1.5])
        slots = [row for row in _native.got_slots() if row[6] and row[3] >= -1 and "/numpy" in row[1]]
    functions = exported()
    expected = sum((imported(path, functions) for path in {row[1] for row in slots}), Counter[Any]())
    (seen,) = (one for one in t.seen if one.module == "numpy")
    missing = Counter(name for name, _ in expected.elements()) - Counter(row[2] for row in slots)
    assert seen.imports == len(slots) == expected.total() - missing.total() > 250
    assert "PyType_GenericNew" in missing and all((name, "GLOB_DAT") in expected for name in missing)
    assert 0.6 * seen.imports < seen.imports_hooked < seen.imports


def test_what_lies_beside_a_package_is_counted_with_it() -> None:
    """cffi's calls are those of _cffi_backend, a module beside the package."""
    cffi = pytest.importorskip("cffi", reason="cannot be installed")
    with inspector.trace("cffi", grade="count") as t:
        cffi.FFI().new("int[]", [1, 2])
    assert next(one for one in t.seen if one.module == "_cffi_backend").imports > 100


@pytest.mark.small
def test_calls_of_a_work_are_counted_or_recorded() -> None:
    """A row of the table, where a second count is at hand: bytes are read one by one."""
    numbers = [math.pi * n for n in range(1000)]
    counts = [
        trace_coverage.counted("numpy", grade, lambda: np.array(numbers)) for grade in ("count", "record")
    ]
    (seen, calls), (_, left) = counts
    assert calls - left >= 1000, "PyNumber_Float of each number"
    assert left >= 1000, "PyType_IsSubtype of each"
    assert seen.functions_hooked > 500
