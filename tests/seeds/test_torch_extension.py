"""Article 001 on the real torch: extensions as small as the article's, and what of them is found in torch."""

# SPDX-License-Identifier: MIT
import ctypes
import importlib
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import seed_sources
from refused import refused

import inspector
from inspector.facts.compiled import CompiledField
from inspector.facts.unknown import Unknown


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "seed-cells"))


@pytest.fixture
def sample() -> Any:
    """The first extension of tutorial 30, under a name that no other test has."""
    return inspector.compile_c(named(seed_sources.SAMPLE), support=seed_sources.SUPPORT)


@pytest.fixture
def tally() -> Any:
    return inspector.compile_c(named(seed_sources.TALLY))


def named(source: str) -> str:
    for name in ("sample", "tally"):
        source = source.replace(f"PyInit_{name}", f"PyInit_seed_{name}").replace(
            f'"{name}"', f'"seed_{name}"'
        )
    return source


class TestSmall:
    """gcd and Tally, built here."""

    pytestmark = pytest.mark.core

    def test_a_cell_with_its_own_init_is_that_module(self, sample: Any) -> None:
        assert importlib.import_module("seed_sample") is sample and sample.gcd(35, 42) == 7
        built = sample.__compiled__
        assert (built.module, built.functions, built.structs) == ("seed_sample", (), ())

    def test_a_changed_cell_takes_its_place_and_the_first_one_comes_back(self, sample: Any) -> None:
        changed = named(seed_sources.SAMPLE).replace("One function in C", "another")
        other = inspector.compile_c(changed, support=seed_sources.SUPPORT)
        assert other is not sample and sys.modules["seed_sample"] is other
        again = inspector.compile_c(named(seed_sources.SAMPLE), support=seed_sources.SUPPORT)
        assert again is sample and again.__doc__ == "One function in C" and again.gcd(4, 6) == 2

    def test_its_method_table(self, sample: Any) -> None:
        (row,) = inspector.inspect(sample).module.methods
        assert (row.name, row.flags, row.doc) == ("gcd", ("METH_VARARGS",), "Greatest common divisor")
        assert row.place.symbol == "sample_gcd"
        module = inspector.inspect(sample).module
        assert (module.doc, module.m_size, module.phases) == ("One function in C", -1, "single-phase")
        assert module.state_address == Unknown("m_size is -1: state in globals")
        assert (module.name, module.file) == ("seed_sample", sample.__file__)
        builtin = inspector.inspect(sample.gcd).builtin
        assert builtin.method == row and builtin.bound_to == "seed_sample"
        assert builtin.kind == "builtin_function_or_method"

    @pytest.mark.parametrize(
        ("arguments", "error", "words"),
        [
            ((35,), TypeError, "function takes exactly 2 arguments (1 given)"),
            (("a", 2), TypeError, "'str' object cannot be interpreted as an integer"),
            ((2**40, 3), OverflowError, "signed integer is greater than maximum"),
            ((3.5, 2), TypeError, "'float' object cannot be interpreted as an integer"),
        ],
    )
    def test_what_does_not_fit(self, sample: Any, arguments: Any, error: type, words: str) -> None:
        with pytest.raises(error) as caught:
            sample.gcd(*arguments)
        assert str(caught.value) == words
        assert sample.gcd(True, 4) == 1

    def test_the_trace_has_format_values_and_failure(self, sample: Any) -> None:
        with inspector.trace("seed_sample", grade="deep") as trace:
            sample.gcd(35, 42)
            with pytest.raises(TypeError):
                sample.gcd(35)
        shown = trace.tree()
        assert 'PyArg_ParseTuple "ii" → 35, 42' in shown
        assert 'Py_BuildValue "i" → 7' in shown
        assert "failed" in shown

    def test_an_instance_is_a_struct(self, tally: Any, fingerprint: Callable[[object], Any]) -> None:
        (struct,) = tally.__compiled__.structs
        head = CompiledField("ob_base", "PyObject", 0, 16)
        count = CompiledField("count", "int", 16, 4)
        assert (struct.name, struct.bytes, struct.fields) == ("Tally", 24, (head, count))
        x = tally.Tally()
        before = fingerprint(x)
        report = inspector.inspect(x)
        assert fingerprint(x) == before
        assert report.object.size_bytes == tally.Tally.__basicsize__ == 24
        assert report.refs.references == 1 and isinstance(report.object.gc_tracked, Unknown)
        assert inspector.inspect(tally.Tally).type.slots[0].place.symbol == "PyType_GenericNew"
        assert ctypes.c_int.from_address(id(x) + count.offset_bytes).value == 0

    def test_a_name_of_another_module_is_refused(self) -> None:
        taken = seed_sources.TALLY.replace("PyInit_tally", "PyInit_json")
        with refused("module-name-taken"):
            inspector.compile_c(taken)
        import json

        assert json.loads("1") == 1


class TestTorch:
    """The same parts in the torch that is installed."""

    pytestmark = pytest.mark.libraries

    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch", reason="not installed in this room: torch")

    def test_sizes_and_cdata(self, torch: Any) -> None:
        x = torch.ones(4)
        kept = x.untyped_storage()
        sizes = [kind.__basicsize__ for kind in (torch.Tensor, torch._C.TensorBase, torch._C.StorageBase)]
        assert sizes == [48, 40, 24]
        assert [kind.__name__ for kind in torch.Tensor.__mro__] == ["Tensor", "TensorBase", "object"]
        assert ctypes.c_size_t.from_address(id(x) + 16).value == x._cdata
        assert ctypes.c_size_t.from_address(id(kept) + 16).value == kept._cdata

    def test_torch_c_is_one_module_and_its_tables_lead_to_c(self, torch: Any) -> None:
        module = inspector.inspect(torch._C).module
        assert module.phases == "single-phase" and len(module.methods) > 100
        assert symbols(module.methods)["_initExtension"] == "THPModule_initExtension"
        pooled = symbols(inspector.inspect(torch._C._nn).module.methods)["avg_pool2d"]
        added = symbols(inspector.inspect(torch._C.TensorBase).type.methods)["addcmul"]
        node = inspector.inspect(torch._C._FunctionBase).type
        assert {"apply", "register_hook"} <= {row.name for row in node.methods}
        saved = symbols(node.getset)["saved_tensors"]
        found = [name.rpartition("::")[2] for name in (pooled, added, saved)]
        assert found == ["THPVariable_avg_pool2d", "THPVariable_addcmul", "THPFunction_saved_tensors"]

    def test_pseudo_types(self, torch: Any) -> None:
        assert type(torch.FloatTensor).__name__ == "tensortype"
        assert isinstance(torch.ones(1), torch.FloatTensor) and type(torch.ones(1)) is torch.Tensor

    def test_from_numpy_counts(self, torch: Any) -> None:
        a = np.arange(4.0)
        assert inspector.refcount(a) == 1
        x = torch.from_numpy(a)
        assert inspector.refcount(a) == 2 and x.data_ptr() == a.ctypes.data
        view = x[1:]
        del x
        assert inspector.refcount(a) == 2
        owner = inspector.inspect(view).buffer.holders[-1]  # which its base leads to as well
        assert (owner.type_name, owner.references) == ("ndarray", 2)
        assert inspector.shares(view, a).overlap_bytes == 24
        del view
        assert inspector.refcount(a) == 1

    def test_views_hold_their_base(self, torch: Any) -> None:
        x = torch.ones(4)
        before = x._use_count(), torch._C._storage_Use_Count(x.untyped_storage()._cdata)
        views = x[1:], x[2:]
        after = x._use_count(), torch._C._storage_Use_Count(x.untyped_storage()._cdata)
        assert (after[0] - before[0], after[1] - before[1]) == (2, 2)
        assert all(view._base is x for view in views)

    def test_numpy_of_a_tensor_has_an_alias_as_base(self, torch: Any) -> None:
        x = torch.ones(4)
        before = torch._C._storage_Use_Count(x.untyped_storage()._cdata)
        a = x.numpy()
        assert torch._C._storage_Use_Count(x.untyped_storage()._cdata) - before == 1
        assert a.base is not x and inspector.shares(a, x).overlap is True
        a[0] = 7
        assert x[0] == 7 and x._version == 0
        x[0] = 9
        assert a[0] == 9 and x._version == 1

    def test_what_copies_and_what_shares(self, torch: Any) -> None:
        a = np.arange(4.0)
        made = torch.tensor(a), torch.as_tensor(a), torch.as_tensor(a, dtype=torch.float32)
        assert [inspector.shares(x, a).overlap for x in made] == [False, True, False]

    def test_dlpack_is_consumed_once(self, torch: Any) -> None:
        x = torch.ones(3)
        capsule = torch.utils.dlpack.to_dlpack(x)
        assert '"dltensor"' in repr(capsule)
        y = torch.utils.dlpack.from_dlpack(capsule)
        assert '"used_dltensor"' in repr(capsule) and inspector.shares(x, y).overlap is True
        with pytest.raises(RuntimeError):
            torch.utils.dlpack.from_dlpack(capsule)

    def test_a_look_leaves_a_lazy_clone_and_a_freed_storage(self, torch: Any) -> None:
        x = torch.ones(4)
        later = torch._lazy_clone(x)
        assert inspector.inspect(later).materialization.state == "copy-on-write pending"
        assert torch._C._is_cow_tensor(x) and torch._C._is_cow_tensor(later)
        freed = torch.ones(4)
        freed.untyped_storage().resize_(0)
        assert inspector.inspect(freed).materialization.state == "freed"

    def test_the_parsers_signatures_and_their_order(self, torch: Any) -> None:
        from inspector.debugger.memory.remote_memory import RemoteMemory
        from inspector.debugger.memory.torch_values import parser_text, signature_text

        torch.addcmul(torch.ones(1), torch.ones(1), torch.ones(1))  # makes the parser
        memory = RemoteMemory(os.getpid())
        texts = [parser_text(memory, address) for address in parsers("addcmul")]
        (told,) = [text for text in texts if not isinstance(text, Unknown)]
        assert told.split(" | ") == [
            "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value, Tensor out) #1",
            "addcmul(Tensor input, Number value, Tensor tensor1, Tensor tensor2, *, Tensor out)|deprecated"
            " #0",
        ]
        assert isinstance(signature_text(memory, id(told)), Unknown), "what is none is unknown"
        assert isinstance(parser_text(memory, 8), Unknown)
        memory.close()

    def test_the_error_of_no_signature(self, torch: Any) -> None:
        words = r"got \(int, Tensor\), but expected \(Tensor input, Tensor tensor1"
        with pytest.raises(TypeError, match=words):
            torch.addcmul(2, torch.ones(3))

    def test_a_function_keeps_its_tensors_until_backward(
        self, torch: Any, fingerprint: Callable[[object], Any]
    ) -> None:
        w = torch.arange(3.0, requires_grad=True)
        y = square(torch).apply(w)
        node = y.grad_fn
        before = fingerprint(node), fingerprint(w)
        there = inspector.inspect(node)
        assert (fingerprint(node), fingerprint(w)) == before
        assert node.saved_tensors[0] is w
        assert [owner.relation for owner in there.buffer.holders] == ["saved_tensors[0]"]
        assert dict(there.buffer.facts)["has_freed_buffers"] == "false"
        y.sum().backward()
        assert w.grad.tolist() == [0, 2, 4]
        gone = inspector.inspect(node)
        assert gone.materialization.state == "freed" and gone.buffer.holders == ()
        assert dict(gone.buffer.facts)["has_freed_buffers"] == "true"
        with pytest.raises(RuntimeError, match="second time"):
            _ = node.saved_tensors

    def test_what_a_hook_packed_is_not_unpacked(self, torch: Any) -> None:
        ran: list[str] = []

        def unpack(x: Any) -> Any:
            ran.append("unpack")
            return torch.from_numpy(x)

        with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), unpack):
            node = square(torch).apply(torch.ones(2, requires_grad=True)).grad_fn
        report = inspector.inspect(node)
        assert "1 packed by a hook" in str(report.drawn(everything=True)) and ran == []


def square(torch: Any) -> Any:
    """A function that saves its input for the way back."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * gradient

    return Square


def symbols(rows: Any) -> dict[str, str]:
    """Name in Python -> C function, of the rows whose place is known."""
    return {row.name: row.place.symbol for row in rows if not isinstance(row.place, Unknown)}


def parsers(function: str) -> list[int]:
    """Addresses of the static parsers of a THPVariable function: torch keeps its symbol table."""
    from elftools.elf.elffile import ELFFile

    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps if "libtorch_python.so" in line]
    base, path = int(lines[0][0].partition("-")[0], 16), Path(lines[0][-1])
    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        entries, names = table.data(), table.stringtable.data()
    fields = [("name", "<u4"), ("kind", "<u4"), ("value", "<u8"), ("size", "<u8")]
    symbols = np.frombuffer(entries, dtype=fields)
    known = function.encode()
    mangled = b"_ZZN5torch8autogradL%dTHPVariable_%bEP7_objectS2_S2_E6parser\0" % (len(known) + 12, known)
    places = [found.start() for found in re.finditer(re.escape(mangled), names)]
    return [base + int(value) for value in symbols["value"][np.isin(symbols["name"], places)]]
