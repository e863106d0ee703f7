"""C of the five articles, as they have it: what our tutorials and the tests of tests/seeds build."""

SAMPLE_H = """\
static int gcd(int x, int y)
{
    while (x > 0) {
        int rest = y % x;
        y = x;
        x = rest;
    }
    return y;
}
"""

SAMPLE = """\
static PyObject *py_gcd(PyObject *self, PyObject *args) {
  int x, y, result;

  if (!PyArg_ParseTuple(args,"ii", &x, &y)) {
    return NULL;
  }
  result = gcd(x,y);
  return Py_BuildValue("i", result);
}

static PyMethodDef SampleMethods[] = {
  {"gcd",  py_gcd, METH_VARARGS, "Greatest common divisor"},
  { NULL, NULL, 0, NULL}
};

static struct PyModuleDef samplemodule = {
  PyModuleDef_HEAD_INIT,
  "sample",           /* name of module */
  "A sample module",  /* Doc string (may be NULL) */
  -1,                 /* Size of per-interpreter state or -1 */
  SampleMethods       /* Method table */
};

PyMODINIT_FUNC PyInit_sample(void) {
  return PyModule_Create(&samplemodule);
}
"""

NODDY = """\
typedef struct {
    PyObject_HEAD
    int value;
} noddy_NoddyObject;

static PyTypeObject noddy_NoddyType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "noddy.Noddy",
    .tp_basicsize = sizeof(noddy_NoddyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Noddy objects",
};

static struct PyModuleDef noddymodule = {
    PyModuleDef_HEAD_INIT, "noddy", "Example module", -1, NULL
};

PyMODINIT_FUNC PyInit_noddy(void) {
    noddy_NoddyType.tp_new = PyType_GenericNew;
    if (PyType_Ready(&noddy_NoddyType) < 0)
        return NULL;
    PyObject *m = PyModule_Create(&noddymodule);
    Py_INCREF(&noddy_NoddyType);
    PyModule_AddObject(m, "Noddy", (PyObject *)&noddy_NoddyType);
    return m;
}
"""
