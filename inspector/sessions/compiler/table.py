"""The method table of a cell's functions: C that parses Python's arguments and returns the result."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.sessions.compiler.prototypes import ARRAY, OBJECT, TEXT, VOID, Parameter, Prototype
from inspector.sessions.compiler.recipe import Recipe
from inspector.sessions.compiler.text import head

_SIGNED: Final = ("signed char", "short int", "int", "long int", "long long int")
_UNSIGNED: Final = tuple(
    f"{size}unsigned {rest}" for size in ("short ", "long long ", "long ") for rest in ("int",)
)
_NATURAL: Final = ("unsigned char", "unsigned int", "char", *_UNSIGNED)
_FLOATING: Final = ("float", "double")

_CALL = """
static PyObject *table_{name}(PyObject *self, PyObject *const *values, Py_ssize_t count)
{{
    (void)self; (void)values;
    if (count != {count})
        return PyErr_Format(PyExc_TypeError, "{name} takes {count} arguments, got %zd", count);
{conversions}
{call}
}}
"""
_RANGE = """    {wide} wide{n} = {read}(values[{n}]);
    if (wide{n} == ({wide})-1 && PyErr_Occurred())
        return NULL;
    {type} value{n} = ({type})wide{n};
    if (({wide})value{n} != wide{n})
        return PyErr_Format(PyExc_OverflowError, "{function}: {name} does not fit a C {type}");
"""
_MODULE = """
static PyMethodDef methods[] = {{
{rows}
    {{NULL, NULL, 0, NULL}},
}};
int inspector_init(void);
static int module_exec(PyObject *module)
{{
    (void)module;
    {numpy}
    return inspector_init();
}}
static PyModuleDef_Slot slots[] = {{{{Py_mod_exec, (void *)module_exec}}, {{0, NULL}}}};
static struct PyModuleDef definition = {{
    PyModuleDef_HEAD_INIT, "{module}", NULL, 0, methods, slots, NULL, NULL, NULL,
}};
PyMODINIT_FUNC PyInit_{module}(void)
{{
    return PyModuleDef_Init(&definition);
}}
"""


def callable_by_table(function: Prototype) -> bool:
    """Whether the table can call it: it uses Python objects, and every type has a conversion."""
    kinds = (*_SIGNED, *_NATURAL, *_FLOATING, "_Bool", OBJECT, TEXT)
    inside = all(one.type in (*kinds, ARRAY) for one in function.parameters)
    return function.speaks_python and inside and function.result in (*kinds, ARRAY, VOID)


def table(recipe: Recipe, functions: tuple[Prototype, ...], module: str) -> str:
    """The C file that makes `functions` the methods of the extension module `module`."""
    called = [function for function in functions if callable_by_table(function)]
    rows = [
        f'    {{"{one.name}", (PyCFunction)(void (*)(void))table_{one.name}, METH_FASTCALL, "{one}"}},'
        for one in called
    ]
    numpy = "if (_import_array() < 0) return -1;" if recipe.needs_numpy else ""
    return (
        head(recipe, imports_numpy=True)
        + "".join(f"{one};{_call(one)}" for one in called)
        + _MODULE.format(rows="\n".join(rows), module=module, numpy=numpy)
    )


def _call(function: Prototype) -> str:
    conversions = "".join(_conversion(function, n, one) for n, one in enumerate(function.parameters))
    values = ", ".join(f"value{n}" for n in range(len(function.parameters)))
    return _CALL.format(
        name=function.name,
        count=len(function.parameters),
        conversions=conversions,
        call=_result(function, f"{function.name}({values})"),
    )


def _conversion(function: Prototype, n: int, parameter: Parameter) -> str:
    """Lines that define `value<n>` from `values[n]`, borrowed, or return NULL with an exception set."""
    kind, named = parameter.type, {"n": n, "function": function.name, "name": parameter.name}
    if kind in _SIGNED:
        return _RANGE.format(wide="long long", read="PyLong_AsLongLong", type=kind, **named)
    if kind in _NATURAL:
        return _RANGE.format(wide="unsigned long long", read="PyLong_AsUnsignedLongLong", type=kind, **named)
    if kind == ARRAY:
        wanted = f'"{function.name}: {parameter.name} must be an ndarray, not %.100s"'
        return (
            f"    if (!PyArray_Check(values[{n}]))\n        return PyErr_Format(PyExc_TypeError, {wanted}, "
            f"Py_TYPE(values[{n}])->tp_name);\n    PyArrayObject *value{n} = (PyArrayObject *)values[{n}];\n"
        )
    read, failed = {
        OBJECT: (f"values[{n}]", ""),
        TEXT: (f"PyUnicode_AsUTF8(values[{n}])", f"value{n} == NULL"),
        "_Bool": (f"PyObject_IsTrue(values[{n}])", "PyErr_Occurred()"),
    }.get(kind, (f"({kind})PyFloat_AsDouble(values[{n}])", f"value{n} == -1.0 && PyErr_Occurred()"))
    check = f"    if ({failed})\n        return NULL;\n" if failed else ""
    return f"    {kind} value{n} = {read};\n{check}"


def _result(function: Prototype, call: str) -> str:
    """Lines that return the result of `call` as a new reference; with an exception set, NULL."""
    kind = function.result
    if kind in (OBJECT, ARRAY):
        return f"    return (PyObject *){call};"
    if kind == VOID:
        return f"    {call};\n    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);"
    make = {TEXT: "PyUnicode_FromString", "_Bool": "PyBool_FromLong"}.get(kind)
    if make is None and kind in _FLOATING:
        make = "PyFloat_FromDouble"
    elif make is None:
        make = "PyLong_FromLongLong" if kind in _SIGNED else "PyLong_FromUnsignedLongLong"
    return f"    {kind} result = {call};\n    return PyErr_Occurred() ? NULL : {make}(result);"
