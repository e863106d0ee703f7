"""Merge the native and the Python frames of one thread.

Each entry from C into the interpreter is one native frame of its evaluation loop, and CPython marks the same
entries in its chain of frames. So the n-th evaluation frame, counted from the innermost, stands for the n-th
segment of Python frames. This needs no addresses, and works in a stripped interpreter, which exports the
loop's name.
"""

# SPDX-License-Identifier: MIT
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspector.facts.stack import Frame
from inspector.facts.unknown import Unknown

_LOOPS: Final = ("_PyEval_EvalFrameDefault", "_TAIL_CALL_")
_NAMES: Final = """
    _PyEval_EvalFrame _PyEval_Vector _PyFunction_Vectorcall _PyObject_VectorcallTstate
    PyObject_Vectorcall _PyVectorcall_Call _PyObject_Call PyObject_Call do_call_core PyEval_EvalCode
    _PyObject_FastCallDictTstate _PyObject_MakeTpCall cfunction_vectorcall_O
    cfunction_vectorcall_NOARGS cfunction_vectorcall_FASTCALL cfunction_vectorcall_FASTCALL_KEYWORDS
    cfunction_call method_vectorcall method_vectorcall_O method_vectorcall_NOARGS
    method_vectorcall_FASTCALL method_vectorcall_FASTCALL_KEYWORDS _PyObject_Call_Prepend
    PyObject_CallObject PyObject_CallOneArg PyObject_CallNoArgs PyObject_CallFunctionObjArgs
    object_vacall gen_send_ex gen_send_ex2 gen_iternext gen_send PyIter_Send
    _PyObject_CallMethodIdObjArgs slot_tp_call run_eval_code_obj run_mod pyrun_file
    _PyRun_SimpleFileObject _PyRun_AnyFileObject pymain_run_python pymain_run_file
    pymain_run_file_obj pymain_run_command Py_RunMain pymain_main Py_BytesMain
    __libc_start_call_main __libc_start_main_impl __libc_start_main _start start_thread clone3
    __clone3 clone thread_run pythread_wrapper method_vectorcall_VARARGS
    method_vectorcall_VARARGS_KEYWORDS builtin_exec builtin_eval _PyCFunction_FastCallDict
    vectorcall_method vectorcall_unbound PyObject_VectorcallMethod bytecodeFunction Rf_eval bcEval
    R_execClosure R_execMethod forcePromise Rf_applyClosure do_begin do_eval calls_enter
    _Py_VectorCall_StackRefSteal _Py_VectorCallInstrumentation_StackRefSteal
    _Py_CallBuiltinClass_StackRef _Py_BuiltinCallFast_StackRef
    _Py_BuiltinCallFastWithKeywords_StackRef _PyCallMethodDescriptorFast_StackRef
    _PyCallMethodDescriptorFastWithKeywords_StackRef
"""
_PLUMBING: Final = frozenset(_NAMES.split())
_OWN: Final = "_native.cpython-"
"""This package's extension: a hook passes each call on."""
_INTERPRETERS: Final = ("libR.so", "libpython", "python", "libc.so")
OF_CPP: Final = ("std::", "__gnu_cxx::", "Rcpp::", "pybind11::")
_PLUMBING_BEGINS: Final = (*OF_CPP, "__Pyx_CyFunction_", "_PyEval_EvalFrameDefault")
_BINDINGS: Final = ("/pybind11/", "/nanobind/")
"""Folders of headers whose lambdas have no name of theirs."""


def is_plumbing(function: str, library: str | Unknown) -> bool:
    """Whether a native frame only passes a call on; unnamed ones of an interpreter and of libc too."""
    if not isinstance(library, Unknown) and library.startswith(_OWN):
        return True
    if function.startswith("0x") and not isinstance(library, Unknown):
        return library.startswith(_INTERPRETERS)
    function = function.partition(" (")[0].partition("@")[0]  # "f (inlined)", "f@@GLIBC_2.34"
    return function in _PLUMBING or function.startswith(_PLUMBING_BEGINS)


def is_loop(frame: Frame) -> bool:
    """Whether a native frame is Python's evaluation loop."""
    return frame.kind == "native" and frame.function.startswith(_LOOPS)


def marked(frame: Frame) -> Frame:
    """The native frame with `plumbing` set."""
    in_header = not isinstance(frame.line, Unknown) and any(one in frame.line for one in _BINDINGS)
    plumbing = in_header or is_plumbing(frame.function, frame.library)
    return replace(frame, plumbing=True) if plumbing else frame


def merged(native: Iterable[Frame], segments: Sequence[Sequence[Frame]]) -> tuple[Frame, ...]:
    """The merged frames, innermost first.

    `native`: marked, with R's frames where they belong. `segments`: Python frames by entry, innermost first.
    The remaining segments of a cut stack follow at the end.
    """
    left, found = list(segments), list[Frame]()
    for frame in native:
        if is_loop(frame):
            found.extend(left.pop(0) if left else ())
        else:
            found.append(frame)
    for segment in left:
        found.extend(segment)
    return tuple(found)
