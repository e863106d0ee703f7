"""What to write instead of a line that copies; tests/verdicts/test_advice.py runs each on real libraries."""

# SPDX-License-Identifier: MIT
from typing import Final, NamedTuple

_X: Final = r"(?P<x>[\w.\[\]\"':]+)"
"""An object as it is written: a name, an attribute, an item."""

_D: Final = r"(?P<d>[^,()]+)"
"""An element type as it is written."""
_FROM: Final = r"(?P<a>\w+), (?P<b>\w+)"
_Y: Final = _X.replace("<x>", "<y>")
_NO_LIST: Final = r"(?!list|tuple|set|dict|str)"


class Advice(NamedTuple):
    """Applies to a statement that copied: its right side as a whole, the copy's source in words."""

    written: str
    """A pattern."""
    instead: str
    """Code; {x} and other groups of `written` are the user's own words."""
    source: str = ""
    """A pattern for the beginning of "ndarray float64"; "": any source."""
    same_type: bool = False
    """Only where the elements keep their type."""
    by: str = ""
    """The function that copied; "": any. An image of Pillow has a `tobytes` too, and is no buffer."""
    result: str = ""
    """A pattern for the beginning of the value in words: "bytes uint8 (1000,)"; "": any value."""


ADVICE: Final = (
    Advice(rf"(?:np|numpy)\.array\({_X}\[:\]\)", "{x}[:]", same_type=True),
    Advice(rf"(?:np|numpy)\.array\({_X}\)", "np.asarray({x})", _NO_LIST, True),
    Advice(rf"(?:np|numpy)\.array\({_X}\)", "np.asarray({x})", r"\w+_Array_\d+$"),  # of ctypes
    Advice(rf"(?:np|numpy)\.array\({_X}, (?P<d>dtype=[^,()]+)\)", "np.asarray({x}, {d})", "ndarray", True),
    Advice(rf"(?:np|numpy)\.concatenate\(\[{_X}\]\)", "np.asarray({x})"),
    Advice(rf"{_X}\.astype\((?P<d>[^,()]+)\)", "{x}.astype({d}, copy=False)", "", True),
    Advice(rf"{_X}\.flatten\(\)", "{x}.ravel()", "ndarray", True),
    Advice(rf"{_X}\.to_numpy\(copy=True\)", "{x}.to_numpy()", "", True),
    Advice(rf"{_X}\.to_numpy\(writable=True\)", "{x}.to_numpy()", "", True),
    Advice(rf"{_X}\.to_numpy\(\)\.copy\(\)", "{x}.to_numpy()", "", True),
    Advice(rf"{_X}\.(?P<f>tobytes|to_pybytes)\(\)", "memoryview({x})", by="{f}"),
    Advice(rf"(?:bytes|bytearray)\({_X}\)", "memoryview({x})"),
    Advice(r"(?P<t>\(?[\w. *]+\)?)\.from_buffer_copy\((?P<x>\w+)\)", "{t}.from_buffer({x})"),
    Advice(rf"torch\.tensor\({_X}\)", "torch.from_numpy({x})", "ndarray", True),
    Advice(rf"torch\.tensor\({_X}\)", "{x}.detach()", "Tensor", True),
    Advice(rf"torch\.from_numpy\({_X}\.copy\(\)\)", "torch.from_numpy({x})"),
    Advice(rf"torch\.cat\(\[{_X}\]\)", "{x}"),
    Advice(rf"{_X}\.to\((?P<d>torch\.\w+), copy=True\)", "{x}.to({d})", "Tensor", True),
    Advice(
        rf"(?P<p>pd|pandas)\.(?P<k>Series|DataFrame)\({_X}\)", "{p}.{k}({x}, copy=False)", "ndarray", True
    ),
    Advice(rf"pa\.array\({_X}\.tolist\(\)\)", "pa.array({x})"),
    Advice(rf"pl\.Series\({_X}\.tolist\(\)\)", "pl.Series({x})"),
    Advice(rf"(?P<k>sp|sparse)\.(?P<t>\w+)\({_X}, copy=True\)", "{k}.{t}({x})", "ndarray", True),
    Advice(rf"{_X}\.transpose\(copy=True\)", "{x}.T", "ndarray", True),
    Advice(rf"(?:np|numpy)\.array\({_X}, copy=True\)", "np.asarray({x})", _NO_LIST, True),
    Advice(r"(?:np|numpy)\.array\((?P<x>[\w.]+\([^()]*\))\)", "np.asarray({x})", _NO_LIST, True),
    Advice(rf"(?:np|numpy)\.take\({_X}, (?:np|numpy)\.arange\({_FROM}\), axis=0\)", "{x}[{a}:{b}]"),
    Advice(rf"{_X}\[torch\.arange\({_FROM}\)\]", "{x}[{a}:{b}]"),
    Advice(rf"torch\.index_select\({_X}, 0, torch\.arange\({_FROM}\)\)", "{x}[{a}:{b}]"),
    Advice(rf"(?:np|numpy)\.delete\({_X}, 0, axis=0\)", "{x}[1:]"),
    Advice(rf"(?:np|numpy)\.delete\({_X}, -1, axis=0\)", "{x}[:-1]"),
    Advice(rf"(?:np|numpy)\.stack\(\[{_X}\] \* (?P<k>\w+)\)", "np.broadcast_to({x}, ({k}, *{x}.shape))"),
    Advice(
        rf"(?:np|numpy)\.repeat\({_X}\[None\], (?P<k>\w+), axis=0\)",
        "np.broadcast_to({x}, ({k}, *{x}.shape))",
    ),
    Advice(rf"{_X}(?:\.unsqueeze\(0\)|\[None\])\.repeat\((?P<k>\w+), 1\)", "{x}.expand({k}, -1)"),
    Advice(rf"torch\.stack\(\[{_X}\]\)", "{x}[None]"),
    Advice(rf"torch\.from_numpy\(np\.array\({_X}\)\)", "torch.from_numpy({x})", "ndarray", True),
    Advice(rf"{_X}\.numpy\(\)\.copy\(\)", "{x}.numpy()"),
    Advice(rf"{_X}\.values\.copy\(\)", "{x}.values"),
    Advice(rf"{_X}\[(?P<i>:|\.\.\.)\]\.copy\(\)", "{x}[{i}]"),
    Advice(rf"(?P<k>xr|xarray)\.DataArray\(np\.array\({_X}\)\)", "{k}.DataArray({x})", "ndarray", True),
    Advice(rf"{_X}\.to(?P<f>csr|csc|coo)\(copy=True\)", "{x}.to{f}()", "ndarray", True),
    Advice(rf"(?P<k>sp|sparse)\.(?P<t>\w+)\({_X}\.toarray\(\)\)", "{k}.{t}({x})"),
    Advice(rf"(?:np|numpy)\.frombuffer\({_X}\.tobytes\(\), {_D}\)", "np.frombuffer({x}, {d})"),
    Advice(rf"(?:np|numpy)\.frombuffer\(bytes\({_X}\), {_D}\)", "np.frombuffer({x}, {d})"),
    Advice(rf"memoryview\((?:{_X}\.tobytes\(\)|bytes\({_Y}\))\)", "memoryview({x}{y}).cast('B')"),
    Advice(rf"pa\.py_buffer\((?:{_X}\.tobytes\(\)|bytes\({_Y}\))\)", "pa.py_buffer({x}{y})"),
    Advice(rf"pa\.concat_arrays\(\[{_X}\]\)", "{x}"),
    Advice(r"(?P<t>\([\w. *]+\))\(\*(?P<x>\w+)\)", "{t}.from_buffer({x})"),
    Advice(rf"{_X}\[(?P<i>[^\[\],:]*:[^\[\],:]*)\]", "memoryview({x})[{i}]", result="(bytes|bytearray) "),
    Advice(rf"b['\"]{{2}}\.join\(\[{_X}\]\)", "memoryview({x})"),
)
"""The first that fits is told."""
