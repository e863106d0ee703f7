"""Sums over the tensors of a module or optimizer: each storage once, by its struct in C++."""

# SPDX-License-Identifier: MIT
from typing import Any

from inspector.adapters.torch_tensors import is_lazy, is_of_torch, is_tensor, read
from inspector.facts.model import Model, ModelPart
from inspector.objects.layouts.torch_dtypes import dtype_bytes, dtype_name
from inspector.objects.layouts.torch_nodes import Meta, meta
from inspector.objects.layouts.torch_tensors import CPU, META, Storage, Tensor, only_storage, tensor

DEVICES = {CPU: "cpu", 1: "cuda", 6: "xla", 12: "xpu", 13: "mps", META: "meta"}
"""c10::DeviceType -> torch's name."""


def device_name(device: int) -> str:
    """torch's name of a c10::DeviceType."""
    return DEVICES.get(device, f"device type {device}")


class Sums:
    """What was met so far, by storage."""

    def __init__(self, is_optimizer: bool = False) -> None:
        self.is_optimizer = is_optimizer
        self.elements = self.trainable = self.meta_bytes = self.pending = 0
        self.parameter_bytes = self.buffer_bytes = self.gradient_bytes = self.state_bytes = 0
        self.kinds: dict[tuple[int, int], int] = {}
        """(c10::ScalarType, c10::DeviceType) of parameters -> bytes."""
        self.names: dict[int, list[str]] = {}
        self.state_names: dict[str, None] = {}
        self._seen = set[int]()
        self._shapes: dict[int, tuple[int, ...]] = {}

    @property
    def own_bytes(self) -> int:
        """Of parameters and buffers."""
        return self.parameter_bytes + self.buffer_bytes

    def add(self, name: str, x: Any, is_parameter: bool) -> None:
        """A parameter or buffer, and the gradient that it has."""
        found = read(x) if is_tensor(x) else None
        if found is None:
            return
        if not is_of_torch(x) and is_lazy(x):
            self.pending += 1
            return
        self._shapes[id(x)] = found.shape
        place = found.storage.address if found.storage is not None else 0
        if place:
            self.names.setdefault(place, []).append(name)
        of = meta(found.autograd) if found.autograd else None
        is_new = found.address not in self._seen
        self._seen.add(found.address)
        if is_parameter and is_new:
            self.elements += found.elements
            self.trainable += found.elements if of is not None and of.wants_gradient else 0
        size = self._bytes(found)
        if is_parameter and found.device != META:
            kind = found.dtype, found.device
            self.kinds[kind] = self.kinds.get(kind, 0) + size
        if is_parameter:
            self.parameter_bytes += size
            self._gradient(of)
        else:
            self.buffer_bytes += size

    def add_state(self, state: Any) -> int:
        """An optimizer's state of one parameter; its bytes."""
        before = self.state_bytes
        for name, x in list(state.items()) if isinstance(state, dict) else ():
            if is_tensor(x) and (found := read(x)) is not None:
                self.state_bytes += self._bytes(found)
                self.state_names[str(name)] = None
        return self.state_bytes - before

    def shape(self, x: Any) -> str:
        """Its shape as text."""
        return str(self._shapes.get(id(x), "without a shape yet"))

    def model(self, parts: tuple[ModelPart, ...], left_out: int) -> Model:
        """All of it as a fact."""
        most = sorted(self.kinds.items(), key=lambda kind: -kind[1])
        kinds = tuple(
            (f"{dtype_name(dtype)} on {device_name(device)}", size) for (dtype, device), size in most
        )
        shared = tuple(tuple(names) for names in self.names.values() if len(names) > 1)
        return Model(
            self.elements, self.trainable, self.parameter_bytes, self.buffer_bytes, self.gradient_bytes,
            self.state_bytes, kinds, shared, self.meta_bytes, self.pending, tuple(self.state_names),
            self.is_optimizer, parts, left_out,
        )  # fmt: skip

    def _gradient(self, of: Meta | None) -> None:
        if of is None or not of.gradient:
            return
        if (kept := only_storage(of.gradient)) is not None:
            self.gradient_bytes += self._fresh(kept)
        elif (there := tensor(of.gradient)) is not None:
            self.gradient_bytes += self._bytes(there)

    def _bytes(self, found: Tensor) -> int:
        """Of its storages that were not met before; of a tensor on meta, the bytes that are not there."""
        if found.device == META:
            self.meta_bytes += found.elements * dtype_bytes(found.dtype)
            return 0
        return sum(self._fresh(part.storage) for part in found.parts or (found,))

    def _fresh(self, kept: Storage | None) -> int:
        if kept is None or kept.address in self._seen:
            return 0
        self._seen.add(kept.address)
        return kept.bytes
