"""Objects that the adapter `awkward_arrays` is tried on."""

# SPDX-License-Identifier: MIT
import awkward as ak


def samples():
    """Eager, virtual in whole and in part, records, options, unions."""
    eager = ak.Array([[1, 2], [], [3]])
    yield eager
    yield from (ak.Array(values) for values in ([{"x": 1, "y": [1.5]}], [1, None], [1, "a"], []))
    yield ak.Array([{"x": 1}])[0]
    form, length, made = ak.to_buffers(eager)
    for used in (False, True):
        later = {key: (lambda buffer=buffer: buffer) for key, buffer in made.items()}
        lazy = ak.from_buffers(form, length, later)
        if used:
            ak.num(lazy)
        yield lazy
