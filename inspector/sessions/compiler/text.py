"""The C text around a cell: headers, and for a body the function around it."""

# SPDX-License-Identifier: MIT
from typing import Final

from inspector.sessions.compiler.recipe import Recipe

CELL: Final = "cell"
"""The file name of the user's lines: in compiler messages, debuggers and stacks."""

_HEAD = """#define PY_SSIZE_T_CLEAN
#include <Python.h>
"""
_NUMPY = """#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL inspector_cell_array_api
{no_import}#include <numpy/arrayobject.h>
"""
_BODY = """
PyObject *{name}({parameters});
PyObject *{name}({parameters})
{{
    {declarations}
    PyObject *inspector_ret = NULL;
    if (0)
        goto inspector_fail;
    {{
#define FAIL goto inspector_fail
#line 1 "{cell}"
{code}
#undef FAIL
#line 1 "inspector-after-the-body"
    }}
    {result}
inspector_fail:
    if (inspector_ret == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "{name} failed without an exception: set one before FAIL");
    {{
#line 1 "cleanup"
{cleanup}
#line 100 "inspector-after-the-body"
    }}
    {release}
    return inspector_ret;
}}
"""
_INIT = """
int inspector_init(void);
int inspector_init(void)
{{
#define FAIL return -1
#line 1 "init"
{init}
#undef FAIL
    return PyErr_Occurred() ? -1 : 0;
}}
"""


def head(recipe: Recipe, imports_numpy: bool) -> str:
    """The headers; `imports_numpy` only in the one file that fills NumPy's function table."""
    if not recipe.needs_numpy:
        return _HEAD
    return _HEAD + _NUMPY.format(no_import="" if imports_numpy else "#define NO_IMPORT_ARRAY\n")


def written(recipe: Recipe) -> str:
    """The C file of a recipe. The cell's lines keep their numbers, under the file name `cell`."""
    parts = [head(recipe, imports_numpy=recipe.is_extension)]  # its PyInit_ calls import_array() itself
    if recipe.support:
        parts.append(f'#line 1 "support"\n{recipe.support}\n')
    parts.append(_body(recipe) if recipe.is_body else f'#line 1 "{CELL}"\n{recipe.code}\n')
    parts.append(_INIT.format(init=recipe.init))
    return "".join(parts)


def _body(recipe: Recipe) -> str:
    return _BODY.format(
        name=recipe.name,
        parameters=", ".join(f"PyArrayObject *{name}" for name in recipe.inputs) or "void",
        declarations=" ".join(f"PyArrayObject *{name} = NULL;" for name in recipe.outputs),
        cell=CELL,
        code=recipe.code,
        result=_result(recipe),
        cleanup=recipe.cleanup,
        release=" ".join(f"Py_XDECREF({name});" for name in recipe.outputs),
    )


def _result(recipe: Recipe) -> str:
    """C that returns the outputs as one result; an output left NULL is an error, not None."""
    if not recipe.outputs:
        return "inspector_ret = Py_NewRef(Py_None);"
    rows = [
        f'if ({name} == NULL) {{ PyErr_SetString(PyExc_SystemError, "{recipe.name} did not set its output '
        f'{name}"); goto inspector_fail; }}'
        for name in recipe.outputs
    ]
    if len(recipe.outputs) == 1:
        rows.append(f"inspector_ret = Py_NewRef((PyObject *){recipe.outputs[0]});")
    else:
        rows.append(f"inspector_ret = PyTuple_Pack({len(recipe.outputs)}, {', '.join(recipe.outputs)});")
    return "\n    ".join(rows)
