"""An op for pytensor in C, a vector times a scalar, which does what Theano's tutorial teaches.

pytensor pickles it, so it is a module. It gives PyArray_Empty a dtype that it borrowed, as the tutorial does.
"""

# SPDX-License-Identifier: MIT
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp

C_CODE = """
npy_intp length = PyArray_DIM({x}, 0);
if ({z} == NULL || PyArray_NDIM({z}) != 1 || PyArray_DIM({z}, 0) != length) {{
    Py_CLEAR({z}); // the storage of the call before, if there is one, has another length
    {first}
    {z} = (PyArrayObject *)PyArray_Empty(1, &length, PyArray_DESCR({x}), 0);
    if ({z} == NULL) {{
        {fail}
    }}
}}
for (npy_intp i = 0; i < length; i++)
    *(double *)PyArray_GETPTR1({z}, i) = *(double *)PyArray_GETPTR1({x}, i) * *(double *)PyArray_DATA({y});
"""


class VectorTimesScalar(COp):
    """`first` is C's name of a function that the dtype is given to before PyArray_Empty steals it."""

    __props__ = ("first",)

    def __init__(self, first: str = "") -> None:
        self.first = first

    def make_node(self, x: Any, y: Any) -> Any:
        if (x.type.ndim, y.type.ndim) != (1, 0) or x.type.dtype != "float64":
            raise TypeError(
                f"a vector and a scalar are needed, not {x.type.ndim} and {y.type.ndim} dimensions"
            )
        return Apply(self, [x, y], [x.type()])

    def perform(self, node: Any, inputs: Any, out: Any) -> None:
        raise NotImplementedError("there is C only")

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (len(self.first), 2)

    def c_code(self, node: Any, name: str, inp: Any, out: Any, sub: Any) -> str:
        first = self.first and f"{self.first}(PyArray_DESCR({inp[0]}));"
        return "{" + C_CODE.format(x=inp[0], y=inp[1], z=out[0], fail=sub["fail"], first=first) + "}"


class Careless(COp):
    """A copy of a vector that breaks one promise, or, with "", none."""

    __props__ = ("first",)

    def __init__(self, first: str) -> None:
        self.first = first

    def make_node(self, x: Any) -> Any:
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, out: Any) -> None:
        raise NotImplementedError("there is C only")

    def c_code(self, node: Any, name: str, inp: Any, out: Any, sub: Any) -> str:
        x, z = inp[0], out[0]
        first = {
            "writes": f"*(double *)PyArray_DATA({x}) += 1;",
            "leaked": f"Py_INCREF({x});",
            "over-released": f"Py_DECREF({x});",
            "reads past": f"volatile double y = ((double *)PyArray_DATA({x}))[PyArray_SIZE({x})]; (void)y;",
            "reads before": f"volatile double y = ((double *)PyArray_DATA({x}))[-1]; (void)y;",
        }
        made = (
            f"PyArray_View({x}, NULL, NULL)" if self.first == "views" else f"PyArray_NewCopy({x}, NPY_CORDER)"
        )
        return f"{first.get(self.first, '')} Py_CLEAR({z}); {z} = (PyArrayObject *){made};"
