"""torch.Generator: the state of random numbers in C++, read from memory."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any, Final

from inspector.adapters.base import Adapter
from inspector.adapters.beyond import ODD, Beyond, Counted
from inspector.adapters.told import Layer, Told, field
from inspector.adapters.torch_beyond import HEADER, NONE, cdata
from inspector.objects.layouts.shared_pointers import block_bytes
from inspector.objects.layouts.torch_tensors import COUNT, class_of, words_at

OF_CPU: Final = "CPUGeneratorImpl"
KIND: Final = "torch generator in C++"


class TorchGenerators(Adapter):
    """torch._C.Generator (THPGenerator) of a CPU; of other devices it is not known what they keep."""

    library = "torch"
    versions = ("2.13", "2.14")
    inherited = ("_C.Generator",)

    def is_ready(self) -> bool:
        """After the whole of torch is imported."""
        return hasattr(sys.modules["torch"], "autograd")

    def self_test(self) -> None:
        """A new generator has one reference to its state."""
        made = sys.modules["torch"]._C.Generator(device="cpu")
        if _counted(made) != 1:
            raise ValueError("at::CPUGeneratorImpl does not lie as in torch 2.13")

    def beyond(self, x: Any, found: Beyond) -> None:
        """The object in C++, which torch may hold too: the default one of all random functions."""
        references, address = _counted(x), cdata(id(x))
        if not references:
            found.why = "a generator of a C++ class that is not known here"
            return
        found.add(Counted(id(x), 0, 0, "", NONE, (address | ODD,)))
        found.add(Counted(address | ODD, references, HEADER + block_bytes(address), KIND, NONE, ()))

    def layers(self, x: Any) -> Told:
        """The wrapper, and the state behind it."""
        references = _counted(x)
        seen = (field("at::CPUGeneratorImpl", f"{references} references" if references else "not read"),)
        return Told((Layer("wrapper", "torch.Generator", "computed", "none", evidence=seen),))


def _counted(x: Any) -> int:
    """Strong references to the object in C++; 0 where it is of another class."""
    address = cdata(id(x))
    return words_at(address, 2)[1] & COUNT if class_of(address) == OF_CPU else 0


ADAPTER = TorchGenerators()
