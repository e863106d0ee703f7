// What the objects of `datetime` refer to. They are no gc types, so nothing else tells of their time zone.
//
// Exact types alone: the fields of a class that derives from one are not known. `datetime` is not imported
// for this. Its types are static, so the pointers stay good for the life of the process.
// SPDX-License-Identifier: MIT
#define INSPECTOR_WITHOUT_GIL
#include "objects/objects.h"

#include <datetime.h>

typedef struct { // Modules/_datetimemodule.c: PyDateTime_TimeZone, the same from 3.2 to 3.15
    PyObject_HEAD PyObject *offset; // owned
    PyObject *name;                 // owned, or NULL
} timezone_fields;

static PyTypeObject *datetime_type, *time_type, *timezone_type; // borrowed: static; NULL until imported

static PyTypeObject *find(const char *name, size_t size) {
    PyTypeObject *type = native_imported_type("datetime", name);
    PyErr_Clear();
    int is_known =
        type && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_basicsize == (Py_ssize_t)size;
    return is_known ? type : NULL;
}

void datetimes_prepare(void) {
    if (!datetime_type) {
        time_type = find("time", sizeof(PyDateTime_Time));
        timezone_type = find("timezone", sizeof(timezone_fields));
        datetime_type = find("datetime", sizeof(PyDateTime_DateTime)); // last: another thread may ask
    }
}

int datetimes_is(PyTypeObject *type) {
    return type == datetime_type || type == time_type || type == timezone_type;
}

// An object without a time zone is shorter: it has no such field.
int datetimes_visit(PyObject *object, visitproc visit, void *arg) {
    if (Py_TYPE(object) == timezone_type) {
        Py_VISIT(((timezone_fields *)object)->offset);
        Py_VISIT(((timezone_fields *)object)->name);
    } else if (Py_TYPE(object) == datetime_type && ((PyDateTime_DateTime *)object)->hastzinfo) {
        Py_VISIT(((PyDateTime_DateTime *)object)->tzinfo);
    } else if (Py_TYPE(object) == time_type && ((PyDateTime_Time *)object)->hastzinfo) {
        Py_VISIT(((PyDateTime_Time *)object)->tzinfo);
    }
    return 0;
}
