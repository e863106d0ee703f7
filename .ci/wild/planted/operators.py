"""The faults that authors of extensions make, planted into C text: one build holds all, a number chooses."""

# SPDX-License-Identifier: MIT
import re
from dataclasses import dataclass

BORROWED = "None, True or False returned without a reference"
CLEARED = "an exception left set"
DEALLOC_FIELD = "a dealloc forgets a field"
DEALLOC_TYPE = "a dealloc forgets its type"
ERROR_PATH = "no release on the error path"
EXTRA = "a reference too many is taken"
FREED = "memory is not freed"
MISSING = "no reference is taken of what is returned or stored"
RAISED = "an error without an exception"
SETTER = "a setter forgets the old value"
SUCCESS = "no release on the way to success"
TWICE = "released twice"
VIEW = "a buffer is not released"
VISIT = "a tp_traverse forgets a field"

RELEASES = ("Py_DECREF", "Py_XDECREF", "Py_CLEAR")
TAKES = ("Py_INCREF", "Py_XINCREF")
NEW = ("Py_NewRef", "Py_XNewRef")
SETS = ("Py_SETREF", "Py_XSETREF")
RETURNS = ("Py_RETURN_NONE", "Py_RETURN_TRUE", "Py_RETURN_FALSE")
FREES = ("PyMem_Free", "PyMem_FREE", "PyMem_RawFree", "PyObject_Free", "free", "PyThread_free_lock")
RAISES = ("PyErr_SetString", "PyErr_Format", "PyErr_SetObject", "PyErr_SetNone")
CLASSES = {
    **dict.fromkeys(TAKES, (MISSING, EXTRA)), **dict.fromkeys(NEW, (MISSING, EXTRA)),
    **dict.fromkeys(SETS, (SETTER,)), **dict.fromkeys(RETURNS, (BORROWED,)), **dict.fromkeys(FREES, (FREED,)),
    **dict.fromkeys(RAISES, (RAISED,)), "PyBuffer_Release": (VIEW,), "Py_VISIT": (VISIT,),
    "PyErr_Clear": (CLEARED,), **dict.fromkeys(RELEASES, (SUCCESS, TWICE)),
}  # fmt: skip
"""Name of a call -> the faults of its place, for a release before `_kind` looks where it stands."""

_CALL = re.compile(rf"\b({'|'.join(sorted(CLASSES, key=len, reverse=True))})\b\s*(?=[(;])")
_FUNCTION = re.compile(r"^(?:\w[\w \t*]*[ \t*])?(\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)
_PLAIN = re.compile(r"(?!.*\w\s*\()[\w\s>.\-\[\]*&()]+\Z", re.DOTALL)
"""An argument that may be read twice: no call in it."""
_ERROR_ENDS = re.compile(r"[^{}]*?(?:return\s+\(?(?:NULL|-\s*1)\b|goto\s+\w*(?:err|fail|bail))", re.I)
_TYPE = re.compile(r"\(?(?:PyObject ?\*\))?\s*(?:tp|type)")
_ERROR_LABEL = re.compile(r"^\s*\w*(?:err|fail|bail)\w*\s*:(?!:)", re.IGNORECASE | re.MULTILINE)
_ENDS_OBJECTS = re.compile(r"dealloc|_clear|finalize|_free|_destroy|__del", re.IGNORECASE)
_SETS_FIELDS = re.compile(r"set|init|update|assign", re.IGNORECASE)
_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fault:
    """One change at one place."""

    number: int
    kind: str
    file: str
    line: int
    function: str
    text: str


def planted(source, file, first):
    """The text with each place open to its faults, and these, numbered from `first`."""
    blank = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source)
    functions = [(one.start(), one.group(1)) for one in _FUNCTION.finditer(blank)]
    edits, faults = [], []
    for start, stop, name, arguments in _places(blank, source):
        function = next((name for at, name in reversed(functions) if at < start), "")
        line, text = source.count("\n", 0, start) + 1, " ".join(source[start:stop].split())
        numbers = {}
        for kind in _kinds(name, arguments, function, blank, start, stop):
            numbers[kind] = first + len(faults)
            faults.append(Fault(numbers[kind], kind, file, line, function, text))
        if numbers:
            edits.append((start, stop, _edit(name, arguments, source[start:stop], list(numbers.items()))))
    for start, stop, text in reversed(edits):
        source = source[:start] + text + source[stop:]
    return source, faults


def _places(blank, source):
    """Start, stop, name and arguments of each call that is a statement, or an expression that is new."""
    for found in _CALL.finditer(blank):
        start, name = found.start(), found.group(1)
        line = blank[blank.rfind("\n", 0, start) + 1 : start]
        if re.match(r"\s*#", line) or "\\\n" in blank[start - 200 : start + 200]:
            continue
        stop = found.end() if blank[found.end()] == ";" else _closed(blank, found.end() + 1)
        alone = blank[stop : stop + 20].lstrip()[:1] == ";" and re.search(
            r"(?:[;{}:)]|\belse)\s*(?:#[^\n]*\s*)*\Z", blank[max(0, start - 300) : start]
        )
        if name in NEW or alone:
            yield start, stop, name, source[found.end() + 1 : stop - 1].strip()


def _closed(text, at):
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def _kinds(name, arguments, function, blank, start, stop):
    """The faults of a place."""
    kinds = CLASSES[name]
    if name in (*TAKES, *NEW, *RELEASES, *SETS, *FREES, "Py_VISIT", "PyBuffer_Release"):
        first = arguments.partition(",")[0] if name in SETS else arguments
        if not _PLAIN.match(first):
            return ()
    ends = bool(_ENDS_OBJECTS.search(function))
    if name in FREES:
        return (DEALLOC_FIELD,) if ends else kinds
    if name in RAISES:
        return kinds if _ERROR_ENDS.match(blank, stop) else ()
    if name not in RELEASES:
        return kinds
    if ends:
        return (DEALLOC_TYPE if _TYPE.fullmatch(arguments) else DEALLOC_FIELD,)
    return (_missed(arguments, function, blank, start, stop), TWICE)


def _missed(arguments, function, blank, start, stop):
    """The fault of a release that is missing, by where it stands."""
    label = [one.end() for one in _ERROR_LABEL.finditer(blank, max(0, start - 400), start)]
    after_label = bool(label) and "\n}" not in blank[label[-1] : start]
    if after_label or _ERROR_ENDS.match(blank, stop):
        return ERROR_PATH
    if _SETS_FIELDS.search(function) and re.search(r"old|prev|tmp|->", arguments):
        return SETTER
    return SUCCESS


def _edit(name, arguments, text, numbers):
    """The statement, or the expression, that asks which fault is on."""
    (kind, number), *more = numbers
    here = f"planted_here({number}, ({arguments}) != 0)"
    twice = f"planted_here({more[0][1]}, held_ != 0)" if more else ""
    if name in NEW:
        given = f"(PyObject *)({arguments})"
        extra = f"planted_here({more[0][1]}, ({arguments}) != 0)"
        return f"({here} ? {given} : {extra} ? Py_NewRef(Py_NewRef({given})) : {text})"
    if name in TAKES:
        held = f"PyObject *held_ = (PyObject *)({arguments})"
        return f"do {{ {held}; if (!{here}) {text}; if ({twice}) Py_INCREF(held_); }} while (0)"
    if name in RETURNS:
        value = {"NONE": "None", "TRUE": "True", "FALSE": "False"}[name.rpartition("_")[2]]
        return f"do {{ if (planted_here({number}, 1)) return Py_{value}; {text}; }} while (0)"
    if name in SETS:
        held = arguments.partition(",")[0]
        return f"do {{ if (planted_here({number}, ({held}) != 0)) Py_INCREF({held}); {text}; }} while (0)"
    if name == "Py_CLEAR":  # without it the field is gone all the same, as where it is set anew
        here = f"planted_here({number}, ({arguments}) != 0)"
        extra = f" if ({twice}) Py_DECREF(held_);" if more else ""
        held = f"PyObject *held_ = (PyObject *)({arguments}); (void)held_"
        return f"do {{ {held}; if ({here}) {arguments} = 0; else {text};{extra} }} while (0)"
    if name in RELEASES and more:
        held = f"PyObject *held_ = (PyObject *)({arguments})"
        return f"do {{ {held}; if (!{here}) {text}; if ({twice}) Py_DECREF(held_); }} while (0)"
    live = {CLEARED: "PyErr_Occurred() != 0", RAISED: "1", VIEW: f"({arguments})->obj != 0"}.get(kind)
    return f"do {{ if (!planted_here({number}, {live or f'({arguments}) != 0'})) {{ {text}; }} }} while (0)"
