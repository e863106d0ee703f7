"""The op of "Extending Theano with a C Op" for pytensor: importable, since pytensor pickles it."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.link.c.op import COp

C_CODE = """
if (PyArray_NDIM(%(x)s) != 1) { PyErr_SetString(PyExc_ValueError, "x is not a 1d tensor"); %(fail)s; }
if (PyArray_NDIM(%(y)s) != 0) { PyErr_SetString(PyExc_ValueError, "y is not a scalar"); %(fail)s; }
if (NULL == %(z)s || PyArray_NDIM(%(z)s) != 1 || PyArray_DIMS(%(x)s)[0] != PyArray_DIMS(%(z)s)[0]) {
    Py_XDECREF(%(z)s);
    %(first)s
    %(z)s = (PyArrayObject *)PyArray_Empty(1, PyArray_DIMS(%(x)s), PyArray_DESCR(%(x)s), 0);
    if (!%(z)s) { %(fail)s; }
}
{
    npy_float64 *x_data_ptr = (npy_float64 *)PyArray_DATA(%(x)s);
    npy_float64 *z_data_ptr = (npy_float64 *)PyArray_DATA(%(z)s);
    npy_float64 y_value = ((npy_float64 *)PyArray_DATA(%(y)s))[0];
    int x_stride = PyArray_STRIDES(%(x)s)[0] / 8;
    int z_stride = PyArray_STRIDES(%(z)s)[0] / 8;
    for (int i = 0; i < PyArray_DIMS(%(x)s)[0]; i++)
        z_data_ptr[i * z_stride] = x_data_ptr[i * x_stride] * y_value;
}
"""


class VectorTimesScalar(COp):
    """`first` is C's name of a function that the dtype is given to before PyArray_Empty steals it."""

    __props__ = ("first",)

    def __init__(self, first: str = "") -> None:
        self.first = first

    def make_node(self, x: Any, y: Any) -> Any:
        if x.type.ndim != 1:
            raise TypeError("x must be a 1-d vector")
        if y.type.ndim != 0:
            raise TypeError("y must be a scalar")
        return Apply(self, [x, y], [x.type()])

    def perform(self, node: Any, inputs: Any, out: Any) -> None:
        raise NotImplementedError

    def c_code_cache_version(self) -> tuple[int, ...]:
        return (len(self.first), 1)

    def c_code(self, node: Any, name: str, inp: Any, out: Any, sub: Any) -> str:
        first = self.first and f"{self.first}(PyArray_DESCR({inp[0]}));"
        return C_CODE % {"x": inp[0], "y": inp[1], "z": out[0], "fail": sub["fail"], "first": first}
