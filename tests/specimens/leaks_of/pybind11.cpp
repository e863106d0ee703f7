// Faults in pybind11 and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#include <cstring>
#include <map>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
namespace py = pybind11;
struct LostBox {
    char text[200];
};
struct RawHolder {
    PyObject *o;
    explicit RawHolder(py::object x) : o(x.release().ptr()) {}
};
struct Holder {
    py::object o;
    explicit Holder(py::object x) : o(std::move(x)) {}
};
struct LostKeeper {
    py::object o;
    void set(py::object x) { o = std::move(x); }
};
static std::map<std::string, py::object> *cache;
static std::function<int(int)> *callback;
static py::object risky(py::object x) {
    if (py::isinstance<py::str>(x))
        throw py::value_error("no text");
    return x;
}
PYBIND11_MODULE(leaks_of_pybind11, m) {
    cache = new std::map<std::string, py::object>();
    py::class_<LostBox>(m, "Box");
    py::class_<RawHolder>(m, "RawHolder").def(py::init<py::object>());
    py::class_<Holder>(m, "Holder").def(py::init<py::object>()).def("get", [](Holder &h) { return h.o; });
    py::class_<LostKeeper>(m, "Keeper").def(py::init<>()).def("set", &LostKeeper::set);
    m.def("steal_fault", [](py::handle x) { // fault
        py::object o = py::reinterpret_steal<py::object>(x);
        return py::len(o);
    });
    m.def("steal_honest", [](py::handle x) {
        py::object o = py::reinterpret_borrow<py::object>(x);
        return py::len(o);
    });
    m.def("borrow_fault", [](py::handle x) {
        py::object o = py::reinterpret_borrow<py::object>(PyNumber_Add(x.ptr(), x.ptr())); // fault
        return py::len(o);
    });
    m.def("borrow_honest", [](py::handle x) {
        py::object o = py::reinterpret_steal<py::object>(PyNumber_Add(x.ptr(), x.ptr()));
        return py::len(o);
    });
    m.def("release_fault", [](py::handle x) -> py::handle {
        py::list l; // fault
        l.append(x);
        return l.release();
    });
    m.def("release_honest", [](py::handle x) -> py::object {
        py::list l;
        l.append(x);
        return py::reinterpret_steal<py::object>(l.release());
    });
    m.def("incref_fault", [](py::dict d) {
        for (auto item : d) // fault
            item.second.inc_ref();
    });
    m.def("incref_honest", [](py::dict d) {
        for (auto item : d) {
            item.second.inc_ref();
            item.second.dec_ref();
        }
    });
    m.def("decref_fault", [](py::dict d) {
        py::handle h = PyDict_GetItemString(d.ptr(), "key"); // fault
        h.dec_ref();
    });
    m.def("decref_honest", [](py::dict d) {
        py::handle h = PyDict_GetItemString(d.ptr(), "key");
        h.inc_ref();
        h.dec_ref();
    });
    m.def("throw_fault", [](py::object x) {
        PyObject *t = PyUnicode_FromFormat("made for %d", 12345); // fault
        risky(x);
        Py_DECREF(t);
    });
    m.def("throw_honest", [](py::object x) {
        auto t = py::reinterpret_steal<py::object>(PyUnicode_FromFormat("made for %d", 12345));
        risky(x);
    });
    m.def("capsule_fault", [](int n) {
        double *p = new double[n]; // fault
        return py::capsule(p, "numbers");
    });
    m.def("capsule_honest", [](int n) {
        double *p = new double[n];
        return py::capsule(p, [](void *q) { delete[] (double *)q; });
    });
    m.def("capsleak_fault", [](int n) {
        py::capsule c(new int(n), [](void *q) { delete (int *)q; }); // fault
        c.inc_ref();
    });
    m.def("capsleak_honest", [](int n) { py::capsule c(new int(n), [](void *q) { delete (int *)q; }); });
    m.def("cache_fault", [](py::object x) { // fault
        py::list(x).release();
    });
    m.def("cache_honest", [](py::object x) { (*cache)["one"] = py::list(x); });
    m.def("member_fault", [](py::object x) { // fault
        RawHolder h(x);
        return py::len(x);
    });
    m.def("member_honest", [](py::object x) {
        Holder h(x);
        return py::len(x);
    });
    m.def("callback_fault", [](py::function f) { // fault
        py::object(f).inc_ref();
        return 1;
    });
    m.def("callback_honest", [](std::function<int(int)> f) {
        delete callback;
        callback = new std::function<int(int)>(f);
        return (*callback)(3);
    });
    m.def("buffer_fault", [](py::object x) {
        Py_buffer view;
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_SIMPLE)) // fault
            throw py::error_already_set();
        return view.len;
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
    m.def("weak_fault", [](py::handle x) {
        py::weakref(x, py::cpp_function([](py::handle) {})).release(); // fault
    });
    m.def("weak_honest", [](py::handle x) {
        py::weakref(x, py::cpp_function([](py::handle w) { w.dec_ref(); })).release();
    });
    m.def(
        "policy_fault",
        []() {
            return new LostBox(); // fault
        },
        py::return_value_policy::copy);
    m.def("policy_honest", []() { return new LostBox(); }, py::return_value_policy::take_ownership);
    m.def("fetch_fault", [](py::object x) {
        try {
            x.attr("no_such_thing")();
        } catch (py::error_already_set &e) {
            e.restore();
            PyObject *t, *v, *tb;
            PyErr_Fetch(&t, &v, &tb); // fault
        }
    });
    m.def("fetch_honest", [](py::object x) {
        try {
            x.attr("no_such_thing")();
        } catch (py::error_already_set &e) {
        }
    });
    m.def("tuple_fault", [](py::list l) {
        PyObject *t = PyTuple_New(1);
        PyTuple_SET_ITEM(t, 0, PyList_GetItem(l.ptr(), 0)); // fault
        return py::reinterpret_steal<py::tuple>(t);
    });
    m.def("tuple_honest", [](py::list l) { return py::make_tuple(l[0]); });
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
    m.def("attr_fault", [](py::object x) {
        py::handle h = py::object(x.attr("part")).release(); // fault
        return py::len(h);
    });
    m.def("attr_honest", [](py::object x) {
        py::object h = x.attr("part");
        return py::len(h);
    });
    m.def("setitem_fault", [](py::dict d) {
        d["k"] = py::handle(PyUnicode_FromFormat("value %d", 777)); // fault
    });
    m.def("setitem_honest", [](py::dict d) {
        d["k"] = py::reinterpret_steal<py::object>(PyUnicode_FromFormat("value %d", 777));
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
