"""Pillow: opening an image file reads no pixels; __array_interface__ would decode them."""

# SPDX-License-Identifier: MIT
import sys
from typing import Any

from inspector.adapters.base import Adapter, stored, type_name
from inspector.adapters.beyond import Beyond
from inspector.adapters.told import DERIVED, Layer, Told, attribute, finding
from inspector.facts.unknown import Unknown

_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "LA": 4, "I": 4, "F": 4}
"""Bytes per pixel in Pillow's memory (ImagingNewPrologue); four for the other modes."""
_STORAGE: dict[Any, Any] = {"computed": "heap", "lazy": "remote/on disk"}
_USES: dict[Any, tuple[str, ...]] = {"lazy": ("load()", "np.asarray", "hasattr(x, '__array_interface__')")}
NOTHING = Unknown("it has neither pixels nor a file to read them from")
IN_C = Unknown("Pillow gives no address of its pixels without copying them")


class PilImages(Adapter):
    """Image and its subclasses: reads the instance dict, never a property."""

    library = "PIL"
    versions = ("10.4", "14")
    inherited = ("Image.Image",)

    def self_test(self) -> None:
        """A new image has pixels; an empty one has not."""
        if module := sys.modules.get("PIL.Image"):
            states = [_state(x) for x in (module.new("L", (2, 2)), module.Image())]
            if states != ["computed", NOTHING]:
                raise ValueError(f"Image._im says {states}")

    def owns(self, x: Any) -> bool | Unknown:
        """False if it shows another object's buffer (frombuffer, an unloaded file)."""
        return not _readonly(x) and _state(x) == "computed"

    def beyond(self, x: Any, found: Beyond) -> None:
        """The pixels of its C image, which frees them; of another's buffer, it may be the last to show it."""
        size, core = _pixel_bytes(x), id(_pixels(x))
        if self.owns(x) is True and not isinstance(size, Unknown):
            found.add_block(core, core, size, "Pillow's pixels")
        elif _readonly(x) and _state(x) == "computed":
            found.why = "Pillow does not tell whose bytes an image of another's buffer shows"

    def names(self, x: Any) -> tuple[tuple[str, str], ...]:
        """Mode and size."""
        return (("mode", str(stored(x, "_mode"))), ("size", str(stored(x, "_size"))))

    def layers(self, x: Any) -> Told:
        """lazy until load(), when the file is decoded into memory; closed by close()."""
        value, tiles = _state(x), stored(x, "tile") or []
        mode, size = stored(x, "_mode"), stored(x, "_size")
        there = _STORAGE.get(value, "none")
        shared = value == "computed" and bool(_readonly(x))
        wrapper = Layer(
            "wrapper",
            f"{type_name(type(x))} {mode} {_by(size)}",
            value=value,
            storage=there,
            title="cow" if shared else "owned",
            evidence=(
                attribute("x._im", type_name(type(_pixels(x)))),
                attribute("x.tile", f"{len(tiles)} to decode"),
                attribute("x._readonly", _readonly(x)),
            ),
            would=_USES.get(value, ("a write copies",) if shared else ()),
            would_not=("x.size", "x.mode", "repr"),
        )
        return Told(
            (wrapper,),
            state=value if isinstance(value, Unknown) else DERIVED,
            logical_bytes=_pixel_bytes(x),
            waits_for="load()" if value == "lazy" else "",
            findings=(finding("shared-copy-on-write"),) if shared else (),
        )


def _pixel_bytes(x: Any) -> int | Unknown:
    mode, size = stored(x, "_mode"), stored(x, "_size")
    pixels = size[0] * size[1] if type(size) is tuple and len(size) == 2 else 0
    return pixels * _BYTES.get(mode, 4) if type(mode) is str else IN_C


def _by(size: Any) -> str:
    return f"{size[0]:,} × {size[1]:,}" if type(size) is tuple and len(size) == 2 else str(size)


def _pixels(x: Any) -> Any:
    return stored(x, "_im", stored(x, "im"))


def _readonly(x: Any) -> int:
    said = stored(x, "_readonly", stored(x, "readonly", 0))
    return said if type(said) is int else 0


def _state(x: Any) -> Any:
    """By the C image: present, a deferred error (closed), or not loaded yet."""
    pixels = _pixels(x)
    if type_name(type(pixels)) == "ImagingCore":
        return "computed"
    if pixels is not None:
        return "closed"
    return "lazy" if stored(x, "tile") else NOTHING


ADAPTER = PilImages()
