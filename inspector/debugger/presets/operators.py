"""torch's operators by name: the overloads that a libtorch_cpu.so declares, and their arguments' registers.

`aten::add` is declared as "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", a text in
.rodata. The function that a call from C++ or Python enters is `at::_ops::add_Tensor::call`;
calls through torch.ops and TorchScript reach `at::_ops::add_Tensor::redispatch`.
"""

# SPDX-License-Identifier: MIT
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from inspector.debugger.presets.prototypes import INTEGER_REGISTERS, Parameter, split

LIBRARY: Final = "libtorch_cpu.so"
_NEEDED: Final = (".dynsym", ".dynstr", ".rodata", ".text")
NAMED: Final = re.compile(r"(?!aten::)\w+::\w+(?:\.\w+)?$")
"""An operator that another library may register, or a function of C++ in a namespace."""
OPERATOR: Final = re.compile(r"aten::(?P<name>\w+)(?:\.(?P<overload>\w+))?$")
_SMALL: Final = r"bool|int|c10::(?:ScalarType|Layout|Device|MemoryFormat)"
_IN_REGISTER: Final = re.compile(
    rf"({_SMALL}|double|long|c10::DispatchKeySet|c10::SymInt|std::optional<({_SMALL}|c10::SymInt)>)$"
)
_IN_TWO: Final = re.compile(r"c10::ArrayRef<.*>$|std::optional<long>$")
"""Classes of two words that are copied as they are."""
_ON_STACK: Final = "c10::OptionalArrayRef<"
"""Three words: on the stack, in no register."""
_BYTES: Final = {"bool": 1, "int": 4, "c10::ScalarType": 1}


class Schema(NamedTuple):
    """One overload, as torch declares it."""

    name: str
    overload: str
    parameters: tuple[str, ...]
    """Names in order."""
    result: str

    @property
    def function(self) -> str:
        """The class in `at::_ops` whose functions are called."""
        return f"{self.name}_{self.overload}" if self.overload else self.name

    @property
    def place(self) -> str:
        """As a user writes it: "aten::add.Tensor"."""
        return f"aten::{self.name}.{self.overload}" if self.overload else f"aten::{self.name}"


class Library:
    """A libtorch_cpu.so: what it declares and exports. Holds 29 MB of torch 2.13."""

    def __init__(self, path: str) -> None:
        self._sections = _sections(path)
        symbols = struct.iter_unpack("<IBBHQQ", self._bytes(".dynsym"))
        self._symbols = {name: at for name, _, _, section, at, _ in symbols if section}
        self._names = self._bytes(".dynstr")

    def schemas(self, place: str) -> list[Schema]:
        """What it declares of an operator, or of one overload; [] for none."""
        asked = OPERATOR.match(place)
        if asked is None:
            return []
        overload = rb"\." + asked["overload"].encode() if asked["overload"] else rb"(?:\.\w+)?"
        wanted = asked["name"].encode() + rb"(" + overload + rb")\(([^\0]*)\) -> ([^\0]+)\0"
        texts = self._bytes(".rodata")
        found = [*re.finditer(rb"\0" + wanted, texts), *re.finditer(rb"\0aten::" + wanted, texts)]
        parts = ([part.decode("ascii", "replace") for part in one.groups()] for one in found)
        return [_schema(asked["name"], *three) for three in parts]

    def entry(self, schema: Schema, function: str) -> int:
        """Bytes from where code is mapped to `at::_ops::...::call` or `redispatch`; 0 where not exported."""
        inner = f"{len(schema.function)}{schema.function}{len(function)}{function}"
        return self.function(f"_ZN2at4_ops{inner}E")

    def function(self, mangled: str) -> int:
        """Bytes from where code is mapped to the first function whose symbol begins so; 0 for none."""
        at = self._names.find(f"\0{mangled}".encode())
        return self._symbols.get(at + 1, 0) - self._shift if at >= 0 else 0

    @property
    def _shift(self) -> int:
        """Addresses in the file minus offsets in it, of code."""
        return self._sections[".text"].address - self._sections[".text"].offset

    def _bytes(self, name: str) -> bytes:
        return self._sections[name].content if name in self._sections else b""


class _Section(NamedTuple):
    address: int
    offset: int
    content: bytes


def _sections(path: str) -> dict[str, _Section]:
    """The needed sections of a 64-bit ELF file (elf(5)); gdb's Python may lack a reader of ELF files."""
    with Path(path).open("rb") as file:

        def read(at: int, size: int) -> bytes:
            file.seek(at)
            return file.read(size)

        header = read(0, 64)
        (at,) = struct.unpack_from("<Q", header, 40)
        size, count, names = struct.unpack_from("<3H", header, 58)
        rows = [struct.unpack_from("<II4Q", read(at + n * size, size)) for n in range(count)]
        texts = read(*rows[names][4:6])
        found = {}
        for row in rows:
            name = texts[row[0] : texts.index(b"\0", row[0])].decode("ascii", "replace")
            if name in _NEEDED:
                found[name] = _Section(row[3], row[4], b"" if name == ".text" else read(*row[4:6]))
        return found


def _schema(name: str, overload: str, parameters: str, result: str) -> Schema:
    names = (part.strip().partition("=")[0].rpartition(" ")[2] for part in split(parameters))
    return Schema(name, overload[1:], tuple(one for one in names if one not in ("*", "")), result)


def parameters(schema: Schema, signature: str) -> tuple[Parameter, ...] | None:
    """The parameters of `at::_ops::add_Tensor::call(at::Tensor const&, ...)`, by its demangled name.

    None where their number is not that of the schema. A class that is copied by code of its own comes by
    address; a result of such a class is made where the first register points to (the Itanium C++ ABI).
    """
    types = split(signature.partition("(")[2].rpartition(")")[0])
    if types[0].strip() == "c10::DispatchKeySet":
        names: tuple[str, ...] = ("", *schema.parameters)
    else:
        names = schema.parameters
    if len(types) != len(names):
        return None
    return _placed(names, types, INTEGER_REGISTERS[_is_made_in_place(schema.result) :])


def kernel_types(signature: str) -> list[str]:
    """The C++ types of a kernel's arguments, by the name of the function that enters it without boxing.

    `c10::impl::wrap_kernel_functor_unboxed_<...>::call(c10::OperatorKernel*, c10::DispatchKeySet, ...)`.
    """
    at, depth = len(signature), 0
    for at in range(len(signature) - 1, -1, -1):
        depth += (signature[at] == ")") - (signature[at] == "(")
        if not depth:
            break
    return [one.strip() for one in split(signature[at + 1 : -1])[2:]]


def kernel_parameters(
    names: Sequence[str], types: Sequence[str], is_made_in_place: bool
) -> tuple[Parameter, ...]:
    """The parameters of that function behind the first two; `names` are as many as `types`."""
    return _placed(names, types, INTEGER_REGISTERS[is_made_in_place + 2 :])


def _placed(names: Sequence[str], types: Sequence[str], registers: Sequence[str]) -> tuple[Parameter, ...]:
    free = list(registers)
    floats = [f"xmm{i}" for i in range(8)]
    found, known = [], True
    for name, kind in zip(names, map(str.strip, types), strict=True):
        wanted = _registers(kind)
        known = known and (bool(wanted) or kind.startswith(_ON_STACK))
        pool = floats if kind == "double" else free
        taken = [pool.pop(0) for _ in range(wanted)] if known and len(pool) >= wanted else ()
        by_address = kind.endswith(("&", "SymInt", "at::Tensor")) or wanted == 2
        if name:
            found.append(Parameter(name, kind, " ".join(taken), _BYTES.get(kind, 8), True, by_address))
    return tuple(found)


def _registers(kind: str) -> int:
    """How many registers a parameter takes; 0: not known, nor where the next ones are."""
    if kind.endswith(("&", "*")) or kind == "at::Tensor" or _IN_REGISTER.match(kind):
        return 1
    return 2 if _IN_TWO.match(kind) else 0


def _is_made_in_place(result: str) -> bool:
    """Whether the caller gives the address where the result is made, as of a Tensor that is no reference."""
    one = result.strip().removeprefix("(").removesuffix(")").strip()
    parts = [part.strip() for part in split(one)] if one else []
    references = all("!" in part.partition(" ")[0] for part in parts)
    if len(parts) > 1:
        return True  # a tuple, also one of references
    kind = parts[0].split()[0] if parts else "bool"
    return not references and kind not in ("bool", "int", "float", "ScalarType")
