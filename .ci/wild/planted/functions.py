"""Names of C functions: of return addresses, and of what stands behind a method's name in Python."""

# SPDX-License-Identifier: MIT
import bisect
import ctypes
import inspect
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

WORD = ctypes.sizeof(ctypes.c_void_p)
ENDS = {"tp_dealloc": 48, "tp_traverse": 184, "tp_clear": 192}
METHOD, WRAPPED = 40, 48
"""Where a type has these, a descriptor its PyMethodDef or PyGetSetDef, a wrapper its function."""
TYPE_WORDS = 52
SLOTS = {
    "mp_ass_subscript": "__setitem__", "mp_subscript": "__getitem__", "nb_float": "__float__",
    "nb_index": "__index__", "nb_int": "__int__", "sq_concat": "__add__", "sq_contains": "__contains__",
    "sq_item": "__getitem__", "sq_repeat": "__mul__", "tp_call": "__call__", "tp_descr_get": "__get__",
    "tp_getattro": "__getattribute__", "tp_hash": "__hash__", "tp_init": "__init__", "tp_iter": "__iter__",
    "tp_iternext": "__next__", "tp_repr": "__repr__", "tp_richcompare": "__eq__",
    "tp_setattro": "__setattr__", "tp_str": "__str__", "sq_inplace_concat": "__iadd__",
    "sq_inplace_repeat": "__imul__", "nb_inplace_add": "__iadd__", "nb_inplace_subtract": "__isub__",
    "nb_inplace_multiply": "__imul__", "nb_inplace_matrix_multiply": "__imatmul__",
    "nb_inplace_true_divide": "__itruediv__", "nb_inplace_floor_divide": "__ifloordiv__",
    "nb_inplace_remainder": "__imod__", "nb_inplace_power": "__ipow__", "nb_inplace_lshift": "__ilshift__",
    "nb_inplace_rshift": "__irshift__", "nb_inplace_and": "__iand__", "nb_inplace_xor": "__ixor__",
    "nb_inplace_or": "__ior__",
}  # fmt: skip
"""The names by which verdicts know slots."""


class Symbols:
    """The functions of the extensions that are loaded."""

    def __init__(self, modules):
        self.modules = modules
        self.starts = sorted(row for one in modules for row in _functions(one.__file__))

    def named(self, addresses):
        """The names of the functions in which these addresses lie."""
        return {self._name(at) for at in addresses} - {"", "planted_here"}

    def _name(self, address):
        at = bisect.bisect_right(self.starts, (address, "~", 0)) - 1
        start, name, size = self.starts[at] if at >= 0 else (0, "", 0)
        return name if start <= address <= start + size else ""

    def of_method(self, method):
        """The C functions of a method, or of a type's slots, by its name in Python."""
        *path, last = method.removesuffix("()").split(".")
        if last in ENDS:
            found = self._found(path)
            return self.named({_word(id(found) + ENDS[last])} if found is not None else ())
        found = self._found([*path, SLOTS.get(last, last)]) if method else None
        return self.named(_pointers(found)) if found is not None else set()

    def _found(self, parts):
        """The object of this dotted name, looked for in its module, then in the extensions."""
        for cut in range(len(parts) - 1, 0, -1):
            module = sys.modules.get(".".join(parts[:cut]))
            if module is not None and (found := _within(module, parts[cut:])) is not None:
                return found
        is_slot = parts[-1].startswith("__")  # every module has one of its own
        tails = [parts[at:] for at in range(len(parts) - (is_slot and len(parts) > 1))]
        some = [_within(one, tail) for tail in tails for one in (*self.modules, _classes())]
        return next((one for one in some if one is not None), None)


def _classes():
    """All classes by name, for those of a program, and those that no module shows."""
    waiting, seen = [object], {}
    while waiting:
        for one in type.__subclasses__(waiting.pop()):
            if one.__name__ not in seen:
                seen[one.__name__] = one
                waiting.append(one)
    return SimpleNamespace(**seen)


def _within(holder, parts):
    for part in parts:
        if holder is None:  # it has slots too
            return None
        holder = inspect.getattr_static(holder, part, None)
    return holder


def _functions(file):
    """Address, name and size of each function of a library that is loaded."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    base = min(int(line.partition("-")[0], 16) for line in maps if line.endswith(file))
    lines = subprocess.check_output(["nm", "-S", "--defined-only", file], text=True).splitlines()
    for at, size, kind, name in (line.split() for line in lines if len(line.split()) == 4):
        if kind in "tTwW":
            yield base + int(at, 16), name.partition(".")[0], int(size, 16)


def _word(at):
    return ctypes.c_void_p.from_address(at).value or 0


def _pointers(found):
    """Words that may be the address of the function behind it."""
    kind = type(found).__name__
    if isinstance(found, type):
        return {_word(id(found) + at * WORD) for at in range(TYPE_WORDS)}
    if kind == "wrapper_descriptor":
        return {_word(id(found) + WRAPPED)}
    if kind in ("method_descriptor", "classmethod_descriptor", "getset_descriptor"):
        row = _word(id(found) + METHOD)
        return {_word(row + WORD), _word(row + 2 * WORD)}
    if kind == "builtin_function_or_method":
        return {_word(_word(id(found) + 2 * WORD) + WORD)}
    return set()
