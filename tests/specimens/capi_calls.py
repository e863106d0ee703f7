"""A C extension with one function a row of CAPI_ROWS: it makes the call and tells what became of it.

The text is generated from the rows, so a wrong signature does not compile: each call is checked
against the prototype of the running Python's own headers (-Werror).
"""

# SPDX-License-Identifier: MIT
import ctypes
import re
from pathlib import Path
from types import ModuleType

import specimens

from inspector import _native

COLUMNS = (
    *("name", "type", "params", "obj", "val", "aux"),
    *("keep", "fails", "owns", "effects", "direction", "form"),
)
ALL_ROWS = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in _native.CAPI_ROWS}
IN_A_TABLE = {_native.CAPI_ROWS[place[0]][0] for place in _native.NUMPY_PLACES}
"""NumPy's: called through its table, not by a name that Python exports."""
ROWS = {name: row for name, row in ALL_ROWS.items() if name not in IN_A_TABLE}

HEAD = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *watched;
static Py_ssize_t before[32];
static void watch(PyObject *objects) {
    watched = objects;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++)
        before[i] = Py_REFCNT(PyTuple_GET_ITEM(objects, i));
}
static PyObject *changes(void) { // after the call: how many references each has more
    PyObject *list = PyList_New(PyTuple_GET_SIZE(watched));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(watched); i++) {
        Py_ssize_t now = Py_REFCNT(PyTuple_GET_ITEM(watched, i));
        PyList_SET_ITEM(list, i, PyLong_FromSsize_t(now - before[i]));
    }
    return list;
}
static PyObject *told(PyObject *list, int failed, PyObject *result, Py_ssize_t refs, PyObject *error,
                      PyObject *out) {
    result = result ? result : Py_NewRef(Py_None);
    return Py_BuildValue("(NONnNN)", list, failed ? Py_True : Py_False, result, refs, error, out);
}
static PyObject *error_taken(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return type ? type : Py_NewRef(Py_None);
}
#define ITEM(i) PyTuple_GET_ITEM(args, i)
#define OBJECT(i) (ITEM(i) == Py_Ellipsis ? NULL : ITEM(i))
#define POINTER(i) (ITEM(i) == Py_None ? NULL : (void *)PyBytes_AS_STRING(ITEM(i)))
#define NUMBER(i) PyLong_AsUnsignedLongLongMask(ITEM(i))
"""
INTEGERS = {
    *("int", "long", "long long", "Py_ssize_t", "size_t"),
    *("unsigned long", "unsigned long long", "char", "Py_UCS4"),
}
POINTERS = {
    *("const char *", "const unsigned char *", "const void *", "char *", "void *", "unsigned char *"),
    *("wchar_t *", "const wchar_t *", "Py_UCS4 *", "PyCapsule_Destructor", "const Py_ssize_t *"),
    "PyCompilerFlags *",
}
OBJECTS = {"PyObject *", "PyTypeObject *", "PyLongObject *"}


def cases(file: Path) -> dict[str, tuple[str, str]]:
    """Function -> arguments of a call that succeeds, and of one that fails, as the lines of a file say."""
    found: dict[str, tuple[str, str]] = {}
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            names, _, rest = line.partition(":")
            success, _, failure = rest.partition(" | ")
            found |= dict.fromkeys(names.split(), (success.strip(" |"), failure.strip()))
    return found


def exported(name: str) -> bool:
    """Whether the running Python has the function."""
    return hasattr(ctypes.pythonapi, name)


def parameters(row: dict[str, str]) -> list[tuple[str, str]]:
    """(type, name) of each; the letters of `effects` go with them."""
    if row["params"].strip() in ("void", "(void)"):
        return []
    found = []
    for one in re.split(r",\s*", row["params"].strip("() ")):
        match = re.fullmatch(r"(.*?)(\w+)", one.strip())
        assert match, row
        ctype = re.sub(r"\s*\*\s*", " *", match[1].strip())
        found.append((ctype.replace("* *", "**").replace("* *", "**"), match[2]))
    return found


FORMS = {
    **dict.fromkeys(OBJECTS, ("{type} a{n} = ({type})OBJECT({n});", "a{n}")),
    **dict.fromkeys(INTEGERS, ("{type} a{n} = ({type})NUMBER({n});", "a{n}")),
    **dict.fromkeys(POINTERS, ("{type} a{n} = ({type})POINTER({n});", "a{n}")),
    **{f"{one} *": (f"{one} a{{n}} = 0;", "&a{n}") for one in ("int", "Py_ssize_t")},
    "char **": ("char * a{n} = 0;", "&a{n}"),
    "double": ("double a{n} = PyFloat_AsDouble(ITEM({n}));", "a{n}"),
    "Py_complex": ("Py_complex a{n} = PyComplex_AsCComplex(ITEM({n}));", "a{n}"),
    "PyObject **": ("PyObject *a{n} = NULL;", "&a{n}"),
    "PyObject *const *": ("PyObject *const *a{n} = ((PyTupleObject *)ITEM({n}))->ob_item;", "a{n}"),
    "PyThreadState *": ("PyThreadState *a{n} = PyThreadState_Get();", "a{n}"),
    **dict.fromkeys(("Py_buffer *", "const Py_buffer *"), (
        "Py_buffer a{n} = {{0}}; "
        "if (OBJECT({n}) && PyObject_GetBuffer(OBJECT({n}), &a{n}, PyBUF_FULL_RO) < 0) return NULL;", "&a{n}",
    )),
}  # fmt: skip
"""Type of a parameter -> its declaration, and how it is given."""


def _prepared(n: int, ctype: str, effect: str) -> tuple[str, str]:
    """(declaration, argument) of one parameter; a reference more where one is stolen or given back."""
    declared, given = (text.format(type=ctype, n=n) for text in FORMS[ctype])
    if ctype in OBJECTS and effect in "Ss-":
        declared += f" Py_XINCREF((PyObject *)a{n});"
    if ctype == "PyObject **" and effect == "*":
        declared += f" a{n} = Py_XNewRef(OBJECT({n}));"
    return declared, given


FAILED = {
    "NEVER": "0",
    "NULL_SET": "result == NULL",
    "NULL_QUIET": "result == NULL",
    "NULL_ASK": "result == NULL && PyErr_Occurred()",
    "MINUS_SET": "result == -1",
    "MINUS_ASK": "result == ({type})-1 && PyErr_Occurred()",
    "ZERO_SET": "result == 0",
    "UCS4_ASK": "result == (Py_UCS4)-1 && PyErr_Occurred()",
    "COMPLEX_ASK": "result.real == -1 && PyErr_Occurred()",
}


def _result(row: dict[str, str]) -> str:
    """C that makes `shown`, a new reference, and `refs` of the result."""
    if row["type"] == "void" or row["owns"] == "NOTHING":
        return ""
    if row["type"] == "PyObject *":
        more = "Py_XINCREF(shown);" if row["owns"] == "BORROWED" else ""
        return f"shown = result; refs = result ? Py_REFCNT(result) : 0; {more}"
    if row["type"] in INTEGERS:
        unsigned = row["type"] in ("size_t", "unsigned long", "unsigned long long")
        return f"shown = PyLong_From{'Unsigned' if unsigned else ''}LongLong(result);"
    if row["type"] == "double":
        return "shown = PyFloat_FromDouble(result);"
    return ""


def text_of(row: dict[str, str]) -> str:
    """The C function that calls one row. Raises KeyError where a parameter has no form."""
    effects = row["effects"]
    made = [_prepared(n, ctype, effects[n]) for n, (ctype, _) in enumerate(parameters(row))]
    call = f"{row['name']}({', '.join(argument for _, argument in made)})"
    outputs = [n for n, letter in enumerate(effects) if letter in "=*o"]
    kept = "".join(f"Py_XINCREF(a{n});" for n in outputs if effects[n] == "o")
    out = "".join(f"PyList_Append(out, a{n} ? a{n} : Py_None); Py_XDECREF(a{n});" for n in outputs)
    is_void = row["type"] == "void"
    failed = FAILED[row["fails"]].format(type=row["type"])
    return f"""
static PyObject *call_{row["name"]}(PyObject *self, PyObject *both) {{
    PyObject *args = PyTuple_GET_ITEM(both, 0), *shown = NULL;
    Py_ssize_t refs = 0;
    (void)args;
    watch(PyTuple_GET_ITEM(both, 1));
    {" ".join(declaration for declaration, _ in made)}
    {"" if is_void else row["type"] + " result = "}{call};
    {kept}
    int failed = {failed};
    {"" if is_void else "(void)result;"}
    PyObject *error = error_taken(), *list = changes(), *out = PyList_New(0);
    {_result(row)}
    {out}
    return told(list, failed, shown, refs, error, out);
}}"""


def build(
    names: list[str], name: str = "capi_calls", more: str = "", begin: str = "", flags: tuple[str, ...] = ()
) -> ModuleType:
    """The extension `name` with the functions of these rows; `more` is C above them, `begin` of its init."""
    functions = "".join(text_of(ALL_ROWS[name]) for name in names)
    table = "".join(f'    {{"{name}", call_{name}, METH_VARARGS, NULL}},\n' for name in names)
    end = f"""
static PyMethodDef methods[] = {{
{table}    {{NULL, NULL, 0, NULL}},
}};
static struct PyModuleDef definition = {{
    PyModuleDef_HEAD_INIT, .m_name = "{name}", .m_methods = methods}};
PyMODINIT_FUNC PyInit_{name}(void) {{ {begin} return PyModule_Create(&definition); }}
"""
    more += "".join(
        f"{ROWS[n]['type']} ({n})({ROWS[n]['params'].strip('()')});\n" for n in names if n in PRIVATE
    )
    unwarned = ("-Wno-deprecated-declarations", "-Wno-unused-but-set-variable", "-Wno-address")
    return specimens.build(name, HEAD + more + functions + end, flags=("-Werror", *unwarned, *flags))


PRIVATE = {"_Py_IncRef", "_Py_DecRef", "_PyLong_AsByteArray", "_PyLong_FromByteArray", "_PyBytes_Resize"}
PRIVATE |= {"_PyObject_MakeTpCall", "_PyArg_CheckPositional", "PyWeakref_GetObject"}
"""In no public header of some version."""
