// Faults in nanobind and their honest twins; what is expected of each: leaks_of_bindings.py.
// SPDX-License-Identifier: MIT
#include <map>
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
namespace nb = nanobind;
struct RawHolder {
    PyObject *o;
    explicit RawHolder(nb::object x) : o(x.release().ptr()) {}
};
struct Holder {
    nb::object o;
    explicit Holder(nb::object x) : o(std::move(x)) {}
};
static std::map<std::string, nb::object> *cache;
struct LostBox {
    char t[300];
};
NB_MODULE(leaks_of_nanobind, m) {
    nb::set_leak_warnings(false);
    cache = new std::map<std::string, nb::object>();
    nb::class_<LostBox>(m, "Box").def(nb::init<>());
    nb::class_<RawHolder>(m, "RawHolder").def(nb::init<nb::object>());
    nb::class_<Holder>(m, "Holder").def(nb::init<nb::object>());
    m.def("steal_fault", [](nb::handle x) { // fault
        nb::object o = nb::steal(x);
        return nb::len(o);
    });
    m.def("steal_honest", [](nb::handle x) {
        nb::object o = nb::borrow(x);
        return nb::len(o);
    });
    m.def("borrow_fault", [](nb::handle x) {
        nb::object o = nb::borrow(PySequence_List(x.ptr())); // fault
        return nb::len(o);
    });
    m.def("borrow_honest", [](nb::handle x) {
        nb::object o = nb::steal(PySequence_List(x.ptr()));
        return nb::len(o);
    });
    m.def("release_fault", [](nb::handle x) -> nb::handle {
        nb::list l; // fault
        l.append(x);
        return l.release();
    });
    m.def("release_honest", [](nb::handle x) -> nb::object {
        nb::list l;
        l.append(x);
        return nb::steal(l.release());
    });
    m.def("incref_fault", [](nb::dict d) {
        for (auto item : d) // fault
            item.second.inc_ref();
    });
    m.def("incref_honest", [](nb::dict d) {
        for (auto item : d) {
            item.second.inc_ref();
            item.second.dec_ref();
        }
    });
    m.def("decref_fault", [](nb::list l) {
        nb::handle h = PyList_GetItem(l.ptr(), 0); // fault
        h.dec_ref();
    });
    m.def("decref_honest", [](nb::list l) {
        nb::handle h = PyList_GetItem(l.ptr(), 0);
        h.inc_ref();
        h.dec_ref();
    });
    m.def("throw_fault", [](nb::object x) {
        PyObject *t = PyUnicode_FromFormat("made for %d", 12345); // fault
        if (nb::isinstance<nb::str>(x))
            throw nb::value_error("no");
        Py_DECREF(t);
    });
    m.def("throw_honest", [](nb::object x) {
        nb::object t = nb::steal(PyUnicode_FromFormat("made for %d", 12345));
        if (nb::isinstance<nb::str>(x))
            throw nb::value_error("no");
    });
    m.def("capsule_fault", [](int n) {
        double *p = new double[n]; // fault
        return nb::capsule(p);
    });
    m.def("capsule_honest", [](int n) {
        double *p = new double[n];
        return nb::capsule(p, [](void *q) noexcept { delete[] (double *)q; });
    });
    m.def("capsleak_fault", [](int n) {
        nb::capsule c(new int(n), [](void *q) noexcept { delete (int *)q; }); // fault
        c.release();
    });
    m.def("capsleak_honest",
          [](int n) { nb::capsule c(new int(n), [](void *q) noexcept { delete (int *)q; }); });
    m.def("cache_fault", [](nb::object x) {
        nb::list(x).release(); // fault
    });
    m.def("cache_honest", [](nb::object x) { (*cache)["one"] = nb::list(x); });
    m.def("member_fault", [](nb::object x) { // fault
        RawHolder h(x);
        return nb::len(x);
    });
    m.def("member_honest", [](nb::object x) {
        Holder h(x);
        return nb::len(x);
    });
    m.def("raw_fault", [](nb::object x) { // fault
        return RawHolder(x);
    });
    m.def("raw_honest", [](nb::object x) { return Holder(x); });
    m.def("callback_honest", [](std::function<int(int)> f) {
        static std::function<int(int)> *kept;
        delete kept;
        kept = new std::function<int(int)>(f);
        return (*kept)(3);
    });
    m.def("attr_fault", [](nb::object x) {
        nb::handle h = nb::object(x.attr("part")).release(); // fault
        return nb::len(h);
    });
    m.def("attr_honest", [](nb::object x) {
        nb::object h = x.attr("part");
        return nb::len(h);
    });
    m.def("setitem_fault", [](nb::dict d) {
        d["k"] = nb::handle(PyUnicode_FromFormat("value %d", 777)); // fault
    });
    m.def("setitem_honest", [](nb::dict d) { d["k"] = nb::steal(PyUnicode_FromFormat("value %d", 777)); });
    m.def("tuple_fault", [](nb::list l) {
        PyObject *t = PyTuple_New(1);
        PyTuple_SET_ITEM(t, 0, PyList_GetItem(l.ptr(), 0)); // fault
        return nb::steal<nb::tuple>(t);
    });
    m.def("tuple_honest", [](nb::list l) { return nb::make_tuple(l[0]); });
    m.def("weak_fault", [](nb::handle x) {
        nb::weakref(x, nb::cpp_function([](nb::handle) {})).release(); // fault
    });
    m.def("weak_honest", [](nb::handle x) {
        nb::weakref(x, nb::cpp_function([](nb::handle w) { w.dec_ref(); })).release();
    });
    m.def("fetch_fault", [](nb::object x) {
        try {
            x.attr("no_such_thing")();
        } catch (nb::python_error &e) {
            e.restore();
            PyObject *t, *v, *tb;
            PyErr_Fetch(&t, &v, &tb); // fault
        }
    });
    m.def("fetch_honest", [](nb::object x) {
        try {
            x.attr("no_such_thing")();
        } catch (nb::python_error &e) {
        }
    });
    m.def(
        "policy_fault",
        []() {
            return new LostBox(); // fault
        },
        nb::rv_policy::copy);
    m.def("policy_honest", []() { return new LostBox(); }, nb::rv_policy::take_ownership);
    m.def("buffer_fault", [](nb::object x) {
        Py_buffer view;
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_SIMPLE)) // fault
            nb::raise_python_error();
        return (long)view.len;
    });
    m.def("buffer_honest", [](nb::object x) {
        Py_buffer view;
        if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_SIMPLE))
            nb::raise_python_error();
        long n = view.len;
        PyBuffer_Release(&view);
        return n;
    });
}
