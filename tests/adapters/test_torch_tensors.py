"""torch: every state of a tensor told from its structs, none of them changed by being told."""

# SPDX-License-Identifier: MIT
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import Tell, adapter

import inspector
from inspector import _native
from inspector.adapters.told import Told

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch", reason="not installed in this room: torch")


def words(x: torch.Tensor) -> tuple[Any, ...]:
    """The whole TensorImpl and StorageImpl: counts, the Python object, sizes, version, copy-on-write."""
    impl = struct.unpack("22Q", _native.read(x._cdata, 176) or b"")
    storage = _native.read(impl[2], 88) if impl[2] else None
    version = _native.read(impl[5], 24) if impl[5] else None
    return (impl, storage, version, torch._C._is_cow_tensor(x) if impl[2] else None)


@pytest.fixture
def state() -> Callable[[Any], Any]:
    return words


def test_an_owner(told: Tell) -> None:
    x = torch.arange(6, dtype=torch.float32).view(2, 3)
    root = x._base
    (block,) = adapter(x).elements(x)
    assert (block.shape, block.strides_bytes, block.format) == ((2, 3), (12, 4), "float32")
    assert block.address == torch._C._data_address(x)
    raw = _native.read(block.address, 24)
    assert raw is not None and struct.unpack("6f", raw) == (0, 1, 2, 3, 4, 5)
    assert told(root).layers[1].title == "owned" and adapter(root).owns(root) is True
    assert told(x).state != "freed"


def test_a_view_names_its_root_and_detach_shares_the_storage(told: Tell) -> None:
    x = torch.ones(10)
    view = x[1:][1:]
    assert adapter(view).holds(view) == (("_base", x),)
    assert adapter(view).owns(view) is False
    loose = x.detach()
    assert adapter(loose).holds(loose) == ()
    counts = dict(adapter(loose).names(loose))["storage use_count"]
    assert counts == "3"
    same = {adapter(t).elements(t)[0].range.stop for t in (x, view, loose)}
    assert len(same) == 1
    told(view), told(loose)


def test_expand_is_few_bytes_for_many_elements(told: Tell) -> None:
    x = torch.ones(3, 1).expand(3, 1000)
    (block,) = adapter(x).elements(x)
    assert (block.strides_bytes, block.size, block.range.bytes) == ((4, 0), 3000, 12)
    assert told(x).logical_bytes == 12_000


def test_memory_of_numpy_is_foreign_and_its_writes_go_unnoticed(told: Tell) -> None:
    n = np.arange(4.0)
    x = torch.from_numpy(n)
    ((relation, holder),) = adapter(x).holds(x)
    assert relation == "deleter" and holder is n
    assert adapter(x).owns(x) is False
    answer = told(x)
    assert answer.layers[1].title == "foreign"
    assert [found.slug for found in answer.findings] == ["unnoticed-write"]
    x[0] = 9
    assert x._version == 1 and "(1)" in told(x).findings[0].what
    n[1] = 8
    assert x[1] == 8 and x._version == 1, "what the finding says"


@pytest.mark.parametrize("lend", [bytearray, bytes, lambda n: memoryview(bytearray(n))])
def test_a_lent_buffer_is_found_in_the_deleter(lend: Callable[[int], Any]) -> None:
    lender = lend(16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bytes are not writable
        x = torch.frombuffer(lender, dtype=torch.float32)
    ((_, holder),) = adapter(x).holds(x)
    assert holder is lender


def test_a_lazy_clone_stays_whole(told: Tell) -> None:
    x = torch.arange(4.0)
    clone = torch._lazy_clone(x)
    for one in (x, clone):
        answer = told(one)
        assert answer.layers[1].title == "cow"
        assert [found.slug for found in answer.findings] == ["shared-copy-on-write"]
        assert "2 holders" in answer.findings[0].what and "data_ptr()" in answer.layers[1].would
    assert torch._C._data_address(x) == torch._C._data_address(clone)
    clone.add_(1)
    assert torch._C._is_cow_tensor(x), "the flag stays on the other side"
    assert told(x).layers[1].title == "owned" and told(x).findings == told(clone).findings == ()


def test_what_is_said_to_split_a_lazy_clone_does() -> None:
    calls = {"data_ptr()": True, "numpy()": True, "sum()": False, "const_data_ptr()": False}
    for call, splits in calls.items():
        clone = torch._lazy_clone(torch.arange(4.0))
        eval(f"clone.{call}")
        assert torch._C._is_cow_tensor(clone) is not splits, call


@pytest.mark.parametrize("left", [0, 8])
def test_freed_storage_is_told_and_never_read(told: Tell, left: int) -> None:
    x = torch.ones(4)
    x.untyped_storage().resize_(left)
    answer = told(x)
    assert answer.state == "freed"
    (danger,) = answer.findings
    assert (danger.slug, danger.what) == ("freed-storage", f"{left} of 16 bytes are left")
    assert adapter(x).elements(x) == () and adapter(x).spans(x) == ()


def test_lazy_bits(told: Tell) -> None:
    c = torch.ones(3, dtype=torch.complex64)
    conj = told(c.conj())
    assert (conj.state, conj.waits_for) == ("lazy", "resolve_conj()")
    negative = told((c * 1j).conj().imag)
    assert negative.waits_for == "resolve_neg()"
    zero = told(torch._efficientzerotensor(3))
    assert (zero.state, zero.logical_bytes) == ("virtual", 12)


def test_tensors_that_never_have_bytes(told: Tell) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    meta = told(torch.empty(10**6, 10**6, device="meta"))
    assert (meta.layers[0].value, meta.logical_bytes) == ("abstract", 4 * 10**12)
    with FakeTensorMode():
        fake = torch.empty(2, 2)
    assert told(fake).layers[0].value == "abstract" and adapter(fake).elements(fake) == ()


def test_a_parameter_that_waits_for_its_shape(told: Tell) -> None:
    layer = torch.nn.LazyLinear(3)  # a cycle: when it is collected, the weight loses a reference
    weight = layer.weight
    assert torch.nn.parameter.is_lazy(weight)
    assert (told(weight).layers[0].value, told(weight).waits_for) == ("lazy", "the first forward()")


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_tensor_is_its_stored_elements(told: Tell) -> None:
    x = torch.eye(1000).to_sparse()
    answer = told(x)
    assert (answer.state, answer.logical_bytes) == ("virtual", 4_000_000)
    assert sum(span.bytes for layer in answer.layers for span in layer.spans) == 20_000
    twice = torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2))
    assert "duplicates" in answer_text(told(twice)) and "duplicates" not in answer_text(answer)
    rows = told(torch.eye(1000).to_sparse_csr())
    assert [layer.level for layer in rows.layers] == ["wrapper", "buffer", "buffer", "buffer"]
    (said, *_) = inspector.inspect(x, name="x").answers.rows
    assert said.text.startswith("Has 20 kB in 2 blocks: `indices` and `values`; as one dense array")


def answer_text(answer: Told) -> str:
    return " ".join(seen.says for layer in answer.layers for seen in layer.evidence)


@pytest.mark.filterwarnings("ignore:.*(quantize|nested|deprecated)")
def test_quantized_and_nested_have_their_storage(told: Tell) -> None:
    quantized = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)
    assert adapter(quantized).elements(quantized)[0].format == "qint8"
    assert told(quantized).logical_bytes == 4
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert sum(span.bytes for span in adapter(nested).spans(nested)) == 20
    told(nested)


def test_files_and_shared_memory_are_told_by_their_addresses(told: Tell, tmp_path: Path) -> None:
    from inspector.binaries.mappings import mapping
    from inspector.facts.memory import Mapping

    (tmp_path / "x.bin").write_bytes(bytes(64))
    torch.save(torch.ones(1000), tmp_path / "s.pt")
    mapped = torch.from_file(str(tmp_path / "x.bin"), shared=True, size=16, dtype=torch.float32)
    loaded = torch.load(tmp_path / "s.pt", mmap=True)
    shared = torch.ones(4).share_memory_()
    for x, kind in ((mapped, "shared file"), (loaded, "file"), (shared, "shared memory")):
        (span,) = adapter(x).spans(x)
        found = mapping(span)
        assert isinstance(found, Mapping) and found.kind == kind, found
        told(x)


def test_a_subclass_is_not_asked(told: Tell) -> None:
    class Spy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise AssertionError(f"asked for {function}")

    with torch._C.DisableTorchFunction():
        x = torch.ones(4).as_subclass(Spy)
        y = x[1:]
    for one in (x, y):
        before = _native.read(one.__reduce_ex__ and id(one), 48)
        adapter(one).layers(one), adapter(one).elements(one), adapter(one).names(one), adapter(one).owns(one)
        assert _native.read(id(one), 48) is not None and before is not None
    assert adapter(x).elements(x)[0].shape == (4,)


def test_an_unknown_struct_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.facts.unknown import Unknown
    from inspector.objects.layouts import torch_tensors

    x = torch.ones(2)
    monkeypatch.setattr(torch_tensors, "class_at", lambda vtable: "")
    told = adapter(x).layers(x)
    assert isinstance(told.state, Unknown) and adapter(x).elements(x) == ()


def test_memory_that_was_only_reserved(told: Tell) -> None:
    from fingerprints import resident_pages

    empty = torch.empty(64 << 20, dtype=torch.uint8)  # more than malloc keeps for reuse: mallopt(3)
    (span,) = adapter(empty).spans(empty)
    before = resident_pages(span.start, span.bytes)
    told(empty)
    fact = inspector.materialization(empty)
    assert resident_pages(span.start, span.bytes) == before
    assert fact.resident_bytes == pytest.approx(before * 4096, abs=8192)
    written = inspector.materialization(torch.zeros(8 << 20, dtype=torch.uint8))
    assert written.resident_fraction == 1.0, "torch writes its zeros"


def test_a_saved_tensor_and_its_version(told: Tell) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    saved = y.grad_fn._saved_result
    assert adapter(saved).elements(saved)[0].address == adapter(y).elements(y)[0].address
    told(saved), told(y)
    with torch.no_grad():
        y.add_(1)
    told(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    dear = (x * 2).pow(2)
    copied = torch._lazy_clone(dear.grad_fn._saved_self.detach())
    assert told(copied).layers[1].title == "cow"
    dear.sum().backward()
    assert x.grad.tolist() == [8, 8, 8], "a look neither split nor released what backward needs"


def test_a_tensor_made_complex_has_the_operands_values(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(
        "import torch\nx = torch.arange(4096.0)\na = x.cfloat()\nb = x.double().to(torch.complex64)\n"
    )
    with inspector.trace() as trace:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    made = {row.target: row.verdict for row in trace.statements.rows}
    assert (made["a"], made["b"]) == ("copied", "copied")


def test_tensors_of_a_nested_one_lie_one_behind_the_other() -> None:
    x = torch.nested.nested_tensor([torch.ones(2), torch.full((3,), 2.0)])
    (block,) = (way.exposure for way in inspector.inspect(x, name="x").buffer.spoken[:1])
    assert (block.shape, block.format, block.range.bytes) == ((5,), "f", 20)
