"""A module's or an optimizer's tensors: parameters, buffers, gradients, state, and what is shared."""

# SPDX-License-Identifier: MIT
from inspector.facts.record import dataclass


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One module with what is below it, or one parameter of an optimizer."""

    path: str
    """"0", "encoder.layers"; "" for the module itself."""
    type_name: str
    what: str
    """"weight (1000, 1000), bias (1000,)" of its own tensors; "13 modules" of those below."""
    bytes: int
    """Of parameters and buffers, each storage where it is first met."""
    gradient_bytes: int
    state_bytes: int
    """Of an optimizer's state."""


@dataclass(frozen=True, slots=True)
class Model:
    """All tensors of a module or optimizer, each storage counted once."""

    parameters: int
    """Numbers in the parameters."""
    trainable: int
    """Those whose gradient is wanted."""
    parameter_bytes: int
    buffer_bytes: int
    gradient_bytes: int
    state_bytes: int
    kinds: tuple[tuple[str, int], ...]
    """("float32 on cpu", bytes) of parameters, most bytes first."""
    shared: tuple[tuple[str, ...], ...] = ()
    """Names whose tensors lie in one storage: tied weights."""
    meta_bytes: int = 0
    """Bytes that tensors on the meta device would take."""
    pending: int = 0
    """Parameters without a shape until the first forward()."""
    state_names: tuple[str, ...] = ()
    """"exp_avg", "exp_avg_sq"; () before the first step, and for a module."""
    is_optimizer: bool = False
    parts: tuple[ModelPart, ...] = ()
    parts_left_out: int = 0

    @property
    def bytes(self) -> int:
        """Of all of them."""
        return self.parameter_bytes + self.buffer_bytes + self.gradient_bytes + self.state_bytes

    def __repr__(self) -> str:
        return f"<Model: {self.parameters:,} parameters, {self.bytes:,} bytes>"
