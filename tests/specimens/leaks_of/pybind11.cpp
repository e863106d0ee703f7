// Faults in pybind11 and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <map>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
namespace py = pybind11;
namespace bound = pybind11;
using python_error = py::error_already_set;
using policy = py::return_value_policy;
#define STEAL(x) py::reinterpret_steal<py::object>(x)
#define BORROW(x) py::reinterpret_borrow<py::object>(x)
struct LostKeeper {
    py::object o;
    void set(py::object x) { o = std::move(x); }
};
PYBIND11_MODULE(leaks_of_pybind11, m) {
    OF_BOTH
    py::class_<LostKeeper>(m, "Keeper").def(py::init<>()).def("set", &LostKeeper::set);
    m.def("decref_fault", [](py::dict d) {
        py::handle h = PyDict_GetItemString(d.ptr(), "key"); // fault
        h.dec_ref();
    });
    m.def("decref_honest", [](py::dict d) {
        py::handle h = PyDict_GetItemString(d.ptr(), "key");
        h.inc_ref();
        h.dec_ref();
    });
    m.def("cache_fault", [](py::object x) { // fault
        py::list(x).release();
    });
    m.def("callback_fault", [](py::function f) { // fault
        py::object(f).inc_ref();
        return 1;
    });
    m.def("buffer_honest", [](py::buffer x) {
        py::buffer_info info = x.request();
        return info.size;
    });
    m.def("bufinfo_fault", [](py::buffer x) {
        auto *info = new py::buffer_info(x.request()); // fault
        return info->size;
    });
    m.def("bufinfo_honest", [](py::buffer x) {
        auto info = std::make_unique<py::buffer_info>(x.request());
        return info->size;
    });
    m.def("iter_fault", [](py::object x) {
        PyObject *it = PyObject_GetIter(x.ptr()), *item;
        int n = 0;
        while ((item = PyIter_Next(it))) // fault
            n++;
        Py_DECREF(it);
        return n;
    });
    m.def("iter_honest", [](py::object x) {
        int n = 0;
        for (auto item : x)
            n++;
        return n;
    });
    m.def("errset_fault", [](int n) { // fault
        PyErr_SetString(PyExc_ValueError, "forgotten");
        return n + 1;
    });
    m.def("errset_honest", [](int n) {
        PyErr_SetString(PyExc_ValueError, "forgotten");
        PyErr_Clear();
        return n + 1;
    });
    m.def("keepset_honest", [](py::object x) {
        static LostKeeper *k = new LostKeeper();
        k->set(x);
    });
    m.def("gil_fault", []() {
        py::gil_scoped_release no;
        PyObject *l = PyBytes_FromStringAndSize("abcdef", 6); // fault
        return (size_t)l;
    });
    m.def("gil_honest", []() {
        py::gil_scoped_release no;
        py::gil_scoped_acquire yes;
        PyObject *l = PyBytes_FromStringAndSize("abcdef", 6);
        Py_DECREF(l);
        return (size_t)1;
    });
    m.def("arg_fault", [](py::args args) {
        PyObject *t = PyTuple_GetSlice(args.ptr(), 0, 1); // fault
        return py::len(t);
    });
    m.def("arg_honest", [](py::args args) { return py::len(args[py::slice(0, 1, 1)]); });
    m.def("call_fault", [](py::object f) {
        PyObject *r = PyObject_CallFunction(f.ptr(), "i", 300); // fault
        return r != nullptr;
    });
    m.def("call_honest", [](py::object f) {
        py::object r = f(300);
        return true;
    });
}
