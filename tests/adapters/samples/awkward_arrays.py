"""Objects that the adapter `awkward_arrays` is tried on."""

# SPDX-License-Identifier: MIT
import awkward as ak


def samples():
    """Eager, virtual in whole and in part, records, options, unions."""
    eager = ak.Array([[1, 2], [], [3]])
    yield from (
        eager,
        ak.Array([{"x": 1, "y": [1.5]}]),
        ak.Array([1, None]),
        ak.Array([1, "a"]),
        ak.Array([]),
    )
    yield ak.Array([{"x": 1}])[0]
    form, length, made = ak.to_buffers(eager)
    for used in (False, True):
        lazy = ak.from_buffers(
            form, length, {key: (lambda buffer=buffer: buffer) for key, buffer in made.items()}
        )
        if used:
            ak.num(lazy)
        yield lazy
