// Faults in nanobind and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#include <map>
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
namespace nb = nanobind;
namespace bound = nanobind;
using nb::python_error;
using policy = nb::rv_policy;
#define STEAL(x) nb::steal(x)
#define BORROW(x) nb::borrow(x)
NB_MODULE(leaks_of_nanobind, m) {
    nb::set_leak_warnings(false);
    OF_BOTH
    m.def("decref_fault", [](nb::list l) {
        nb::handle h = PyList_GetItem(l.ptr(), 0); // fault
        h.dec_ref();
    });
    m.def("decref_honest", [](nb::list l) {
        nb::handle h = PyList_GetItem(l.ptr(), 0);
        h.inc_ref();
        h.dec_ref();
    });
    m.def("cache_fault", [](nb::object x) {
        nb::list(x).release(); // fault
    });
    m.def("raw_fault", [](nb::object x) { // fault
        return RawHolder(x);
    });
    m.def("raw_honest", [](nb::object x) { return Holder(x); });
    m.def("buffer_honest", [](nb::object x) {
        Py_buffer view;
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_SIMPLE))
            nb::raise_python_error();
        long n = view.len;
        PyBuffer_Release(&view);
        return n;
    });
}
