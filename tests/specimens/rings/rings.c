/* A small library with memory of its own: a Ring is `len` doubles from malloc, filled when asked; a part of
   a ring shows the ring's memory and keeps the ring alive. It lends its memory by the buffer protocol. */
// SPDX-License-Identifier: MIT
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
typedef struct {
  PyObject_HEAD
  double *samples;  /* owned where base is NULL */
  Py_ssize_t length;
  char filled;
  PyObject *base; /* owned: the ring whose part this is; NULL */
  Py_ssize_t exports;
} Ring;
static PyTypeObject ring_type;
static PyObject *ring_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  Py_ssize_t length;
  if (!PyArg_ParseTuple(args, "n:Ring", &length))
    return NULL;
  Ring *self = (Ring *)type->tp_alloc(type, 0);
  if (self)
    self->length = length;
  return (PyObject *)self;
}
static void ring_dealloc(Ring *self) {
  if (!self->base)
    free(self->samples);
  Py_CLEAR(self->base);
  Py_TYPE(self)->tp_free((PyObject *)self);
}
static PyObject *ring_fill(Ring *self, PyObject *unused) {
  if (!self->samples) {
    self->samples = malloc((size_t)self->length * sizeof(double) + 1);
    if (!self->samples)
      return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < self->length; i++)
    self->samples[i] = (double)i;
  self->filled = 1;
  return Py_NewRef((PyObject *)self);
}
static PyObject *ring_part(Ring *self, PyObject *args) {
  Py_ssize_t start, length;
  if (!PyArg_ParseTuple(args, "nn:part", &start, &length))
    return NULL;
  if (!self->filled || start < 0 || length < 0 || start + length > self->length) {
    PyErr_SetString(PyExc_ValueError, "no such part of a filled ring");
    return NULL;
  }
  Ring *made = (Ring *)ring_type.tp_alloc(&ring_type, 0);
  if (made) {
    made->samples = self->samples + start;
    made->length = length;
    made->filled = 1;
    made->base = Py_NewRef((PyObject *)self);
  }
  return (PyObject *)made;
}
static Py_ssize_t ring_length(Ring *self) { return self->length; }
static PyObject *ring_address(Ring *self, void *closure) { return PyLong_FromVoidPtr(self->samples); }
static int ring_getbuffer(Ring *self, Py_buffer *view, int flags) {
  if (!self->filled) {
    PyErr_SetString(PyExc_BufferError, "not filled");
    return -1;
  }
  if (PyBuffer_FillInfo(view, (PyObject *)self, self->samples, self->length * 8, 0, flags) < 0)
    return -1;
  self->exports++;
  return 0;
}
static void ring_releasebuffer(Ring *self, Py_buffer *view) { self->exports--; }
static PyMemberDef members[] = {
    {"filled", T_BOOL, offsetof(Ring, filled), READONLY, "whether its samples exist"},
    {"base", T_OBJECT, offsetof(Ring, base), READONLY, "the ring whose part it is"},
    {"exports", T_PYSSIZET, offsetof(Ring, exports), READONLY, "buffers lent now"},
    {NULL},
};
static PyGetSetDef getters[] = {{"address", (getter)ring_address, NULL, "of its first sample", NULL}, {NULL}};
static PyMethodDef methods[] = {
    {"fill", (PyCFunction)ring_fill, METH_NOARGS, "make its samples"},
    {"part", (PyCFunction)ring_part, METH_VARARGS, "part(start, length): a view"},
    {NULL},
};
static PySequenceMethods sequence = {.sq_length = (lenfunc)ring_length};
static PyBufferProcs buffer = {(getbufferproc)ring_getbuffer, (releasebufferproc)ring_releasebuffer};
static PyTypeObject ring_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "rings.Ring",
    .tp_basicsize = sizeof(Ring),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = ring_new,
    .tp_dealloc = (destructor)ring_dealloc,
    .tp_members = members,
    .tp_getset = getters,
    .tp_methods = methods,
    .tp_as_sequence = &sequence,
    .tp_as_buffer = &buffer,
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "rings", .m_size = -1};
PyMODINIT_FUNC PyInit_rings(void) {
  PyObject *made = PyType_Ready(&ring_type) < 0 ? NULL : PyModule_Create(&module);
  if (made) {
    PyModule_AddStringConstant(made, "__version__", "1.4");
    PyModule_AddObjectRef(made, "Ring", (PyObject *)&ring_type);
  }
  return made;
}
