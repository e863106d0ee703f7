"""jax: arrays that may be pending, deleted or donated; tracers and shapes that never have elements.

The adapter makes no array: the first array starts a backend, whose device is the user's choice.
"""

# SPDX-License-Identifier: MIT
import sys
from math import prod
from typing import Any

from inspector.adapters.base import Adapter, Elements, type_attribute, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.registry import numbers
from inspector.adapters.told import Layer, Told, attribute, of_type
from inspector.facts.unknown import Unknown

READ = ("aval", "_npy_value", "_committed", "sharding")
ASKED = ("is_deleted", "is_ready", "unsafe_buffer_pointer", "platform")
"""Attributes of ArrayImpl, both implemented in C++; no other attribute is used."""
CODES = {"f": {2: "e", 4: "f", 8: "d"}, "i": {1: "b", 2: "h", 4: "i", 8: "q"}, "b": {1: "?"}}
ADDRESS_SINCE = (0, 10)
"""Before it, `unsafe_buffer_pointer()` left a list of arrays in the array (seen in 0.4.30 to 0.7.2)."""
NOT_SAID = Unknown("jax does not tell whether the bytes are its own or those of a NumPy array (device_put)")


class JaxArrays(Adapter):
    """ArrayImpl, keys, shapes: exact types; all tracers."""

    library = "jax"
    versions = ("0.4.30", "0.11")
    exact = (
        "_src.array.ArrayImpl",
        "_src.api.ShapeDtypeStruct",
        "_src.sharding_impls.ShapeDtypeStruct",
        "ShapeDtypeStruct",
        "_src.prng.PRNGKeyArray",
        "_src.random.prng.PRNGKeyArray",
    )
    inherited = ("_src.core.Tracer",)

    def is_ready(self) -> bool:
        """When the module of the arrays is imported."""
        return hasattr(sys.modules.get("jax._src.array"), "ArrayImpl") and "jax._src.core" in sys.modules

    def self_test(self) -> None:
        """The attributes that will be read exist, in C++ or as properties of jax."""
        kind = sys.modules["jax._src.array"].ArrayImpl
        missing = [name for name in READ + ASKED if type_attribute(kind, name) is None]
        if missing:
            raise ValueError(f"ArrayImpl has no {', '.join(missing)}")

    def elements(self, x: Any) -> tuple[Elements, ...]:
        """Its block, if it is computed, in this host's memory and in one piece."""
        if not _is_array(x) or _state(x) != "computed" or not (_is_here(x) and _may_ask_address()):
            return ()
        try:
            address = x.unsafe_buffer_pointer()
        except Exception:  # jaxlib's own error type: deleted concurrently, or not addressable
            return ()
        aval, size = x.aval, x.aval.dtype.itemsize
        strides = [size]
        for length in aval.shape[:0:-1]:
            strides.append(strides[-1] * length)
        code = CODES.get(aval.dtype.kind, {}).get(size, "")
        if aval.dtype.kind == "u":
            code = CODES["i"].get(size, "").upper()
        turned = tuple(reversed(strides[: len(aval.shape)]))
        return (
            Elements(
                "struct fields", address, tuple(aval.shape), turned, size,
                str(aval.dtype.name), code or f"|V{size}", True, type_name(type(x)),
            ),
        )  # fmt: skip

    def unseen(self, x: Any) -> bool:
        """One that is being computed: its elements come later."""
        return _is_array(x) and _state(x) == "pending"

    def holds(self, x: Any) -> tuple[tuple[str, Any], ...]:
        """The host copy that `np.asarray` left behind; the numbers of a key."""
        if _is_array(x):
            copy = None if x.is_deleted() else x._npy_value
            return () if copy is None else (("_npy_value", copy),)
        if type_name(type(x)) == "PRNGKeyArray":
            return (("_base_array", object.__getattribute__(x, "_base_array")),)
        return ()

    def owns(self, x: Any) -> bool | Unknown:
        """jax does not tell: `device_put` may share a NumPy array's memory."""
        return NOT_SAID if _is_array(x) else type_name(type(x)) != "PRNGKeyArray"

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """is_deleted, is_ready, committed, platform, the cached host copy."""
        if not _is_array(x):
            return ()
        if x.is_deleted():
            return (("is_deleted()", "True"),)
        return (
            ("aval", str(x.aval)),
            ("is_ready()", str(x.is_ready())),
            ("committed", str(x._committed)),
            ("platform", str(x.platform())),
            ("sharding", type_name(type(x.sharding))),
            ("_npy_value", "None" if x._npy_value is None else "a host copy"),
        )

    def beyond(self, x: Any, found: Beyond) -> None:
        """Unknown how much: buffers are counted in C++."""
        if _is_array(x):
            found.why = "jax counts in C++ what its arrays share"

    def layers(self, x: Any) -> Told:
        """Deleted, pending or computed; abstract for placeholders that exist only while tracing."""
        name = type_name(type(x))
        if name == "PRNGKeyArray":
            return Told((Layer("wrapper", name, evidence=(of_type(name),)),))
        if not _is_array(x):
            layer = Layer("wrapper", name, "abstract", "none", evidence=(of_type(name),))
            return Told((layer,))
        value = _state(x)
        if value == "closed":
            gone = attribute("x.is_deleted()", "True")
            stays = ("x.shape", "x.dtype")
            layer = Layer("wrapper", name, "closed", "none", evidence=(gone,), would_not=stays)
            return Told((layer,), logical_bytes=_logical(x))
        here = _is_here(x)
        seen = [attribute("x.is_ready()", value == "computed"), attribute("x.platform()", str(x.platform()))]
        if not _may_ask_address():
            seen.append(attribute("x.unsafe_buffer_pointer()", "not asked: it leaves a cache in the array"))
        layer = Layer(
            "wrapper", f"{name} {x.aval}", value, "heap" if here else "device",
            "owned" if not here else NOT_SAID, tuple(seen),
        )  # fmt: skip
        waits = "" if value == "computed" else "block_until_ready()"
        return Told((layer,), logical_bytes=_logical(x), waits_for=waits)


def _is_array(x: Any) -> bool:
    return type(x) is sys.modules["jax._src.array"].ArrayImpl


def _state(x: Any) -> Any:
    """The report of a deleted or donated array: every other attribute would raise."""
    if x.is_deleted():
        return "closed"
    return "computed" if x.is_ready() else "pending"


def _may_ask_address() -> bool:
    return numbers(sys.modules["jax"].__version__) >= ADDRESS_SINCE


def _is_here(x: Any) -> bool:
    """Whether its bytes are one block of this host's memory."""
    return str(x.platform()) == "cpu" and type_name(type(x.sharding)) == "SingleDeviceSharding"


def _logical(x: Any) -> int:
    return int(x.aval.dtype.itemsize * prod(x.aval.shape))


ADAPTER = JaxArrays()
