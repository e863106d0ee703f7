"""torch: tensors and storages by their C++ structs; no method is called.

`data_ptr()` splits copy-on-write blocks, a subclass may override methods, and a tensor with freed storage
must not be read at all.
"""

# SPDX-License-Identifier: MIT
import array
import ctypes
import mmap
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from inspector import _native
from inspector.adapters.base import Adapter, Elements, type_module, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.formats import number_text
from inspector.adapters.told import Layer, Told, attribute, field, finding, of_type
from inspector.adapters.torch_beyond import Walk
from inspector.adapters.torch_gradients import gradient_of
from inspector.adapters.torch_graph import autograd_text, function_of, graph_of
from inspector.facts.autograd import Autograd
from inspector.facts.unknown import Unknown
from inspector.objects.classes import type_bases
from inspector.objects.layouts.torch_dtypes import DTYPES, dtype_bytes, dtype_name
from inspector.objects.layouts.torch_tensors import CPU, META, Storage, Tensor, storage, tensor, words_at

CDATA = 16
"""Offset of the pointer to the C++ object in THPVariable and THPStorage."""
BITS = {"Conjugate": "conj", "Negative": "neg", "ZeroTensor": "zero"}
"""Dispatch key -> the lazy bit it is."""
_COMPLEX = {"c8": "Zf", "c16": "Zd"}
"""Complex numbers -> PEP 3118's codes."""
FOREIGN: set[int] = set()
"""Addresses of deleters that hold another library's object; the self test finds them."""


class TorchTensors(Adapter):
    """TensorBase and the storages, with subclasses and fake tensors: they have the same struct."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = ("_C.TensorBase", "_C.StorageBase")

    def is_ready(self) -> bool:
        """After the whole of torch is imported, and not where every operation is intercepted."""
        return hasattr(sys.modules["torch"], "UntypedStorage") and is_plain()

    def self_test(self) -> None:
        """Shapes, addresses, deleters and copy-on-write counts are at the offsets of torch 2.13."""
        torch = sys.modules["torch"]
        base = torch.zeros(24, dtype=torch.int16)
        view = base[3:23].view(4, 5)
        found = read(view)
        told = (tuple(view.shape), tuple(view.stride()), view.storage_offset(), view.nelement())
        if found is None or (found.shape, found.strides, found.offset, found.elements) != told:
            raise ValueError("c10::TensorImpl does not lie as in torch 2.13")
        kept = found.storage
        where = (torch._C._data_address(base), 48, 2, DTYPES[found.dtype])
        if kept is None or (kept.start, kept.bytes, kept.tensors, DTYPES[found.dtype]) != where:
            raise ValueError("c10::StorageImpl does not lie as in torch 2.13")
        _learn(torch)

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its block; for a sparse tensor indices and values; () if reading would crash."""
        if _is_storage(x):
            kept = _storage(x)
            return () if kept is None or not kept.start else (_bytes(kept, x),)
        found = read(x)
        if found is None or _is_abstract(x, found):
            return ()
        return tuple(
            block for part in (found.parts or (found,)) for block in _block(part, type_name(type(x)))
        )

    def beside(self, x: Any) -> Iterator[tuple[str, tuple[Elements, ...]]]:
        """Its gradient."""
        yield "gradient", () if _is_storage(x) else gradient_of(read(x))

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The tensor that it is a view of, and the object that the storage's deleter releases."""
        kept = _storage(x) if _is_storage(x) else _kept(read(x))
        exporter = _exporter(kept)
        held = () if exporter is None else (("deleter", exporter),)
        base = None if _is_storage(x) else _base(x)
        return held if base is None else (("_base", base), *held)

    def beyond(self, x: Any, found: Beyond) -> None:
        """Its tensor or storage in C++, and with it the graph that the tensor keeps."""
        Walk(found, lent).add(x, False)

    def graph(self, held: Sequence[Any]) -> Autograd | None:
        """The graphs that tensors keep, and nodes."""
        found = [tensor for x in held if not _is_storage(x) and (tensor := read(x)) is not None]
        nodes = {node: one for one in found if (node := function_of(one))}
        return graph_of(nodes, sum(one.elements == 1 for one in nodes.values()))

    def owns(self, x: Any) -> bool | Unknown:
        """True if it made its storage and is not a view of another tensor."""
        kept = _storage(x) if _is_storage(x) else _kept(read(x))
        if kept is not None and kept.deleter in FOREIGN:
            if _exporter(kept) is None:
                return Unknown("its deleter does not tell whose memory it releases")
            return False
        return _is_storage(x) or _base(x) is None

    def sharers(self, x: Any) -> int | Unknown:
        """Other tensors of its storage; a storage's object of Python, once made, stays and is counted."""
        kept = _storage(x) if _is_storage(x) else _kept(read(x))
        return super().sharers(x) if kept is None else max(0, kept.tensors - 1 - bool(kept.wrapper))

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """dtype, strides in elements, offset, version and storage, in torch's terms."""
        found = None if _is_storage(x) else read(x)
        kept = _storage(x) if found is None else found.storage
        rows = [] if found is None else _tensor_names(x, found)
        if kept is not None:
            rows += [
                ("storage", f"{kept.bytes:,} B at {kept.start:#x}" if kept.start else "no memory"),
                ("storage use_count", str(kept.tensors)),
                ("deleter", _deleter_text(kept)),
            ]
        return tuple(rows)

    def text(self, block: Elements, raw: bytes) -> str | Unknown:
        """One number; bfloat16 is the upper half of a float32."""
        if block.format == "bfloat16":
            return str(struct.unpack("<f", b"\0\0" + raw)[0])
        return number_text(block.typestr, raw)

    def layers(self, x: Any) -> Told:
        """The tensor, then its storage; with bytes only if the storage has as many as the tensor needs."""
        if _is_storage(x):
            kept = _storage(x)
            return Told((_storage_layer(kept, "wrapper"),) if kept else (_closed(type_name(type(x))),))
        found = read(x)
        name = type_name(type(x))
        if found is None:
            why = Unknown(f"{name} is of a C++ class that is not known here")
            return Told((Layer("wrapper", name, why, why, why),), state=why)
        return _of_tensor(x, found)


def _of_tensor(x: Any, found: Tensor) -> Told:
    """The first matching case: never any data, not yet, elsewhere, freed; else by the storage."""
    name, size = type_name(type(x)), dtype_bytes(found.dtype)
    logical = found.elements * size
    what = f"{name} {dtype_name(found.dtype)} {found.shape}"
    if is_lazy(x):
        kind = of_type(name)
        first = "the first forward()"
        layer = Layer("wrapper", name, "lazy", "none", evidence=(kind,), would=(first,), would_not=("repr",))
        return Told((layer,), logical_bytes=0, waits_for=first)
    if _is_abstract(x, found):
        seen = of_type("FakeTensor") if _is_fake(x) else field("device", "meta")
        return Told((Layer("wrapper", what, "abstract", "none", evidence=(seen,)),), logical_bytes=logical)
    if found.device != CPU:
        seen = field("device", f"c10::DeviceType {found.device}")
        return Told((Layer("wrapper", what, "computed", "device", evidence=(seen,)),), logical_bytes=logical)
    if found.parts:
        return _of_sparse(what, found, logical)
    wrapper = Layer("wrapper", what, evidence=(of_type(found.kind),))
    bits = _lazy_bits(x)
    if "zero" in bits:
        layer = Layer("wrapper", what, "computed", "none", evidence=(attribute("_is_zerotensor", "True"),))
        return Told((layer,), state="virtual", logical_bytes=logical)
    if bits:
        raw = tuple(attribute(f"is_{bit}()", "True") for bit in bits)
        calls = tuple(f"resolve_{bit}()" for bit in bits)
        wrapper = Layer("wrapper", what, "lazy", evidence=raw, would=calls, would_not=("x.T", "repr"))
        told = _of_storage(found, wrapper, logical)
        freed = told.state == "freed"
        return (
            told if freed else Told(told.layers, "lazy", logical, waits_for=calls[0], findings=told.findings)
        )
    return _of_storage(found, wrapper, logical)


def _of_storage(found: Tensor, wrapper: Layer, logical: int) -> Told:
    kept, need = found.storage, _reach(found)
    if kept is None or kept.bytes < need or (need and not kept.start):
        there = kept.bytes if kept is not None and kept.start else 0
        danger = finding(
            "freed-storage", f"{there:,} of {need:,} bytes are left", do="drop it, or resize_ its storage"
        )
        return Told((wrapper, _closed("storage")), state="freed", logical_bytes=logical, findings=(danger,))
    dangers = []
    if kept.is_cow and kept.cow_holders > 1:
        what = f"{kept.cow_holders} holders; the first write copies {kept.bytes:,} bytes"
        dangers.append(finding("shared-copy-on-write", what))
    exporter = _exporter(kept)
    if exporter is not None:
        name = type_name(type(exporter))
        what = (
            f"writes through the {name} do not move _version ({found.version}): autograd cannot notice them"
        )
        dangers.append(finding("unnoticed-write", what, do="write through the tensor, or clone() it"))
    layers = (wrapper, _storage_layer(kept, "container"))
    if kept.deleter in FOREIGN and exporter is None:
        return Told(layers, "shared-foreign", logical, findings=tuple(dangers))
    return Told(layers, logical_bytes=logical, findings=tuple(dangers))


def _of_sparse(what: str, found: Tensor, logical: int) -> Told:
    """Indices and values: few bytes that describe many elements."""
    seen = [field("stored elements", f"{found.parts[-1].elements:,} of {found.elements:,}")]
    if found.kind == "SparseTensorImpl":
        seen.append(field("coalesced_", "true" if found.coalesced else "false: duplicates pending"))
    layers = [Layer("wrapper", what, evidence=tuple(seen), would=("to_dense()",), would_not=("repr",))]
    for at, part in enumerate(found.parts, 1):
        name = "values" if at == len(found.parts) else "indices"
        text = f"{name} {dtype_name(part.dtype)} {part.shape}"
        spans = tuple(block.range for block in _block(part, "") if block.range.bytes)
        layers.append(Layer("buffer", text, spans=spans, depth=1))
    return Told(tuple(layers), "virtual", logical)


def _storage_layer(kept: Storage, level: Any) -> Layer:
    if not kept.start:
        return _closed("storage") if level == "wrapper" else Layer("container", "storage 0 B", storage="none")
    shared = kept.is_cow and kept.cow_holders > 1
    title: Any = "cow" if shared else "foreign" if kept.deleter in FOREIGN else "owned"
    evidence = (field("deleter", _deleter_text(kept)), field("use_count", kept.tensors))
    calls = ("a write", "data_ptr()", ".numpy()", "to_dlpack()") if shared else ()
    stays = ("repr", "sum()", "const_data_ptr()") if shared else ()
    return Layer(level, f"storage {kept.bytes:,} B", "computed", "heap", title, evidence, calls, stays)


def _closed(what: str) -> Layer:
    return Layer("container", what, "closed", "none", evidence=(field("data", "NULL or too small"),))


def read(x: Any) -> Tensor | None:
    """The struct of an instance of the TensorBase family."""
    return tensor(_pointer(x))


def _storage(x: Any) -> Storage | None:
    return storage(_pointer(x))


def _pointer(x: Any) -> int:
    """Address of its TensorImpl; only of torch's own classes the getter runs no other code."""
    if is_of_torch(x):
        return int(x._cdata)
    return int.from_bytes(_native.read(id(x) + CDATA, 8) or b"", "little")


def _kept(found: Tensor | None) -> Storage | None:
    return None if found is None else found.storage


def is_plain() -> bool:
    """Whether torch is imported, and no mode or transform (fake tensors, vmap) changes what operations do."""
    torch = sys.modules["torch"]
    if not hasattr(torch, "Tensor"):
        return False
    c = torch._C
    modes = [c._get_dispatch_stack_at(at) for at in range(c._len_torch_dispatch_stack())]
    others = (
        sum(not hasattr(type(one), "is_of_the_inspector") for one in modes) + c._len_torch_function_stack()
    )
    return not others and c._functorch.peek_interpreter_stack() is None


def is_tensor(x: Any) -> bool:
    """Whether it has the struct of a tensor."""
    return is_of_torch(x) or sys.modules["torch._C"].TensorBase in type_bases(type(x))


def is_of_torch(x: Any) -> bool:
    """Whether it is of one of torch's own two classes: most are, and these are known without a look."""
    torch = sys.modules["torch"]
    return type(x) is torch.nn.Parameter or type(x) is torch.Tensor


def _is_storage(x: Any) -> bool:
    return sys.modules["torch._C"].StorageBase in type_bases(type(x))


def _is_fake(x: Any) -> bool:
    return any(
        type_module(kind) == "torch._subclasses.fake_tensor" and type_name(kind) == "FakeTensor"
        for kind in type_bases(type(x))
    )


def is_lazy(x: Any) -> bool:
    """Whether it is a parameter or buffer without a shape until the first forward()."""
    names = ("UninitializedParameter", "UninitializedBuffer")
    return type_name(type(x)) in names and type_module(type(x)) == "torch.nn.parameter"


def _is_abstract(x: Any, found: Tensor) -> bool:
    return found.device == META or _is_fake(x)


def _lazy_bits(x: Any) -> tuple[str, ...]:
    """conj, neg, zero: bits of the dispatch key set, which torch returns without dispatching."""
    c = sys.modules["torch._C"]
    keys = c._dispatch_keys(x)
    return tuple(bit for key, bit in BITS.items() if keys.has(getattr(c.DispatchKey, key)))


def _base(x: Any) -> Any:
    """The root of a view; with torch's function protocol disabled, no subclass code runs."""
    c = sys.modules["torch._C"]
    with c.DisableTorchFunction():
        return c.TensorBase.__dict__["_base"].__get__(x)


def _reach(found: Tensor) -> int:
    """Bytes of the storage that the tensor needs, its offset included; 0 if it has no elements."""
    if not found.elements or len(found.strides) != len(found.shape):
        return 0
    last = found.offset + sum((n - 1) * step for n, step in zip(found.shape, found.strides, strict=True))
    return (last + 1) * dtype_bytes(found.dtype)


def _block(found: Tensor, exporter: str) -> tuple[Elements, ...]:
    """One block; () if there are no bytes, or fewer than the tensor needs: reading them would crash."""
    kept, size = found.storage, dtype_bytes(found.dtype)
    if kept is None or not kept.start or not size or found.device != CPU:
        return ()
    if kept.bytes < _reach(found):
        return ()
    strides, shape = tuple(step * size for step in found.strides), found.shape
    address = kept.start + found.offset * size
    if found.kind == "NestedTensorImpl":  # its tensors lie one behind the other
        address, shape, strides = kept.start, (kept.bytes // size,), (size,)
    spelled = DTYPES[found.dtype].partition(":")[2]
    code = _COMPLEX.get(spelled, spelled[0])
    name = dtype_name(found.dtype)
    return (Elements("struct fields", address, shape, strides, size, name, code, False, exporter),)


def _bytes(kept: Storage, x: Any, exporter: str = "") -> Elements:
    name = exporter or type_name(type(x))
    return Elements("struct fields", kept.start, (kept.bytes,), (1,), 1, "uint8", "B", False, name)


def _exporter(kept: Storage | None) -> Any:
    """The Python object that a foreign storage releases, if its type confirms that the word is one."""
    if kept is None or kept.deleter not in FOREIGN:
        return None
    known = {id(kind) for kind in (bytes, bytearray, memoryview, mmap.mmap, array.array)}
    if numpy := sys.modules.get("numpy"):
        known.add(id(numpy.ndarray))
    held = next((one for one in (kept.exporter, kept.lender) if words_at(one, 2)[1] in known), 0)
    return ctypes.cast(held, ctypes.py_object).value if held else None


def lent(kept: Storage) -> tuple[bool, Any]:
    """Whether another library frees a storage's bytes, and its Python object that does, or None."""
    return kept.deleter in FOREIGN, _exporter(kept)


def _learn(torch: Any) -> None:
    """Find the deleter of borrowed memory (by borrowing a bytearray) and check copy-on-write blocks."""
    lender = bytearray(16)
    borrowed = torch.frombuffer(lender, dtype=torch.uint8)
    kept = _kept(read(borrowed))
    if kept is None or kept.exporter != id(lender):
        raise ValueError("the deleter of torch.frombuffer does not hold its object where it did")
    clone = torch._lazy_clone(torch.zeros(2))
    shared = _kept(read(clone))
    if shared is None or not shared.is_cow or shared.cow_holders != 1:
        raise ValueError("a copy-on-write block does not count its holders where it did")
    FOREIGN.add(kept.deleter)


def _deleter_text(kept: Storage) -> str:
    if kept.is_cow:
        return f"copy-on-write, {kept.cow_holders} holders"
    if kept.deleter in FOREIGN:
        exporter = _exporter(kept)
        return "another library's" if exporter is None else f"releases {type_name(type(exporter))}"
    return "torch's own"


def _tensor_names(x: Any, found: Tensor) -> list[tuple[str, str]]:
    rows = [
        ("dtype", f"torch.{dtype_name(found.dtype)}"),
        ("stride()", f"{found.strides} elements"),
        ("storage_offset()", str(found.offset)),
        ("_version", "not counted (inference mode)" if found.version is None else str(found.version)),
        ("use_count", str(found.references)),
        ("autograd", autograd_text(found)),
    ]
    bits = () if _is_fake(x) else _lazy_bits(x)
    return [*rows, *((f"is_{bit}", "True") for bit in bits)]


ADAPTER = TorchTensors()
