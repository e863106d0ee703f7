// Faults that pybind11 and nanobind have in common, and their honest twins; it stands in both modules.
// SPDX-License-Identifier: MIT
struct RawHolder {
    PyObject *o;
    explicit RawHolder(bound::object x) : o(x.release().ptr()) {}
};
struct Holder {
    bound::object o;
    explicit Holder(bound::object x) : o(std::move(x)) {}
};
struct LostBox {
    char text[200];
};
bound::class_<LostBox>(m, "Box");
bound::class_<RawHolder>(m, "RawHolder").def(bound::init<bound::object>());
bound::class_<Holder>(m, "Holder").def(bound::init<bound::object>());
m.def("steal_fault", [](bound::handle x) { // fault
    bound::object o = STEAL(x);
    return bound::len(o);
});
m.def("steal_honest", [](bound::handle x) {
    bound::object o = BORROW(x);
    return bound::len(o);
});
m.def("borrow_fault", [](bound::handle x) {
    bound::object o = BORROW(PySequence_List(x.ptr())); // fault
    return bound::len(o);
});
m.def("borrow_honest", [](bound::handle x) {
    bound::object o = STEAL(PySequence_List(x.ptr()));
    return bound::len(o);
});
m.def("release_fault", [](bound::handle x) -> bound::handle {
    bound::list l; // fault
    l.append(x);
    return l.release();
});
m.def("release_honest", [](bound::handle x) -> bound::object {
    bound::list l;
    l.append(x);
    return STEAL(l.release());
});
m.def("incref_fault", [](bound::dict d) {
    for (auto item : d) // fault
        item.second.inc_ref();
});
m.def("incref_honest", [](bound::dict d) {
    for (auto item : d) {
        item.second.inc_ref();
        item.second.dec_ref();
    }
});
m.def("throw_fault", [](bound::object x) {
    PyObject *t = PyUnicode_FromFormat("made for %d", 12345); // fault
    if (bound::isinstance<bound::str>(x))
        throw bound::value_error("no text");
    Py_DECREF(t);
});
m.def("throw_honest", [](bound::object x) {
    bound::object t = STEAL(PyUnicode_FromFormat("made for %d", 12345));
    if (bound::isinstance<bound::str>(x))
        throw bound::value_error("no text");
});
m.def("capsule_fault", [](int n) {
    double *p = new double[n]; // fault
    return bound::capsule(p, "numbers");
});
m.def("capsule_honest", [](int n) {
    double *p = new double[n];
    return bound::capsule(p, [](void *q) noexcept { delete[] (double *)q; });
});
m.def("capsleak_fault", [](int n) {
    bound::capsule c(new int(n), [](void *q) noexcept { delete (int *)q; }); // fault
    c.release();
});
m.def("capsleak_honest", [](int n) { bound::capsule c(new int(n), [](void *q) noexcept { delete (int *)q; }); });
m.def("cache_honest", [](bound::object x) {
    static auto *cache = new std::map<std::string, bound::object>();
    (*cache)["one"] = bound::list(x);
});
m.def("member_fault", [](bound::object x) { // fault
    RawHolder h(x);
    return bound::len(x);
});
m.def("member_honest", [](bound::object x) {
    Holder h(x);
    return bound::len(x);
});
m.def("callback_honest", [](std::function<int(int)> f) {
    static std::function<int(int)> *kept;
    delete kept;
    kept = new std::function<int(int)>(f);
    return (*kept)(3);
});
m.def("buffer_fault", [](bound::object x) {
    Py_buffer view;
    if (PyObject_GetBuffer(x.ptr(), &view, PyBUF_SIMPLE)) // fault
        throw python_error();
    return (long)view.len;
});
m.def("weak_fault", [](bound::handle x) {
    bound::weakref(x, bound::cpp_function([](bound::handle) {})).release(); // fault
});
m.def("weak_honest", [](bound::handle x) {
    bound::weakref(x, bound::cpp_function([](bound::handle w) { w.dec_ref(); })).release();
});
m.def(
    "policy_fault",
    []() {
        return new LostBox(); // fault
    },
    policy::copy);
m.def("policy_honest", []() { return new LostBox(); }, policy::take_ownership);
m.def("fetch_fault", [](bound::object x) {
    try {
        x.attr("no_such_thing")();
    } catch (python_error &e) {
        e.restore();
        PyObject *t, *v, *tb;
        PyErr_Fetch(&t, &v, &tb); // fault
    }
});
m.def("fetch_honest", [](bound::object x) {
    try {
        x.attr("no_such_thing")();
    } catch (python_error &e) {
    }
});
m.def("tuple_fault", [](bound::list l) {
    PyObject *t = PyTuple_New(1);
    PyTuple_SET_ITEM(t, 0, PyList_GetItem(l.ptr(), 0)); // fault
    return STEAL(t);
});
m.def("tuple_honest", [](bound::list l) { return bound::make_tuple(l[0]); });
m.def("attr_fault", [](bound::object x) {
    bound::handle h = bound::object(x.attr("part")).release(); // fault
    return bound::len(h);
});
m.def("attr_honest", [](bound::object x) {
    bound::object h = x.attr("part");
    return bound::len(h);
});
m.def("setitem_fault", [](bound::dict d) {
    d["k"] = bound::handle(PyUnicode_FromFormat("value %d", 777)); // fault
});
m.def("setitem_honest", [](bound::dict d) { d["k"] = STEAL(PyUnicode_FromFormat("value %d", 777)); });
