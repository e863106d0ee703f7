"""Faults planted in pybind11, nanobind, Cython and the stable ABI, each with an honest twin: the table.

The sources lie in `leaks_of/`, one module a binding; `of_both.h` stands in two of them. A fault is the
function `NAME_fault`, its twin `NAME_honest`; its line ends with a comment "fault": where a hooked call made,
lent or took the reference, and the line of the function where only macros did it.
"""

# SPDX-License-Identifier: MIT
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

SOURCES: Final = Path(__file__).with_name("leaks_of")
FILES: Final = {
    "pybind11": "pybind11.cpp",
    "nanobind": "nanobind.cpp",
    "cython": "cython.pyx",
    "stable_abi": "stable_abi.c",
}


class Planted(NamedTuple):
    """What is expected of one fault."""

    kind: str
    shown: str
    """How the object's name begins."""
    argument: str
    """One of ARGUMENTS."""
    certain: bool = True
    runs: bool = False
    """Told by several runs alone."""
    moves: str = "more"
    """What a count without the tool sees of 200 calls: more references or bytes, fewer, or an error."""
    line: bool = True
    """Whether the line of the source is told. No hooked call was made otherwise: the function is named."""
    missed: str = ""
    """Why nothing is told today."""
    method: str = ""
    """The function that is named, where it is not the fault's own."""


class Thing:
    """An argument with a length, a part and weak references."""

    def __init__(self) -> None:
        self.part = ["part", object()]

    def __len__(self) -> int:
        return 1


ARGUMENTS: Final[dict[str, Callable[[], tuple[Any, ...]]]] = {
    "things": lambda: ([Thing(), Thing(), [1, 2]],),
    "table": lambda: ({"key": [Thing()]},),
    "thing": lambda: (Thing(),),
    "text": lambda: ("a text, no int",),
    "commas": lambda: ("a,b,c",),
    "bytes": lambda: (bytearray(b"abcdef" * 9),),
    "size": lambda: (500,),
    "numbers": lambda: (range(1000, 1009),),
    "caller": lambda: (lambda n: n + 1,),
    "lister": lambda: (lambda n: [n],),
    "nothing": tuple,
}


OVER, STOLEN, LOST = "over-released", "borrowed reference stolen", "bytes leaked outside objects"
UNSEEN: Final = "macros alone lend an item of the argument and put it into the result: no call names it"
OF_BOTH: Final = {
    "steal": Planted(OVER, "list", "things", moves="fewer"),
    "release": Planted("leaked", "list", "things"),
    "borrow": Planted("leaked", "list", "things"),
    "incref": Planted("leaked", "list", "table"),
    "throw": Planted("leaked", "str", "text", certain=False),
    "capsule": Planted(LOST, "4000 B", "size", runs=True),
    "capsleak": Planted("capsule leaked", "PyCapsule", "size"),
    "cache": Planted("leaked", "list", "things"),
    "member": Planted("leaked", "list", "things"),
    "buffer": Planted("buffer not released", "bytearray", "bytes"),
    "weak": Planted("leaked", "ReferenceType", "thing", runs=True),
    "policy": Planted(LOST, "200 B", "nothing"),
    "fetch": Planted("leaked", "AttributeError", "thing"),
    "tuple": Planted(OVER, "Thing", "things", moves="fewer"),
    "attr": Planted("leaked", "list", "thing"),
    "setitem": Planted("leaked", "str", "table"),
}
FAULTS: Final[dict[str, dict[str, Planted]]] = {
    "pybind11": {
        **OF_BOTH,
        "decref": Planted(OVER, "list", "table", moves="fewer"),
        "callback": Planted("leaked", "function", "caller"),
        "bufinfo": Planted(LOST, "", "bytes"),
        "iter": Planted("leaked", "int", "numbers"),
        "errset": Planted("result with an exception set", "", "size", moves="error"),
        "gil": Planted("C-API call without the GIL", "", "nothing"),
        "arg": Planted("leaked", "tuple", "things"),
        "call": Planted("leaked", "list", "lister"),
    },
    "nanobind": {
        **OF_BOTH,
        "attr": Planted("leaked", "list", "thing", line=False),
        "decref": Planted(OVER, "Thing", "things", moves="fewer"),
        "raw": Planted("leaked", "list", "things", runs=True),
    },
    "cython": {
        "incref": Planted("leaked", "list", "things"),
        "decref": Planted(OVER, "list", "things", moves="fewer"),
        "setitem": Planted(STOLEN, "Thing", "things", moves="fewer", missed=UNSEEN),
        "tupitem": Planted("leaked", "str", "things", certain=False),
        "error": Planted("leaked", "list", "text"),
        "buffer": Planted("buffer not released", "bytearray", "bytes"),
        "capsule": Planted(LOST, "4000 B", "size", runs=True),
        "cinit": Planted(LOST, "4000 B", "size", method="Lossy"),
        "pointing": Planted("leaked", "list", "things", method="Pointing.tp_dealloc", line=False),
        "getattr": Planted("leaked", "list", "thing"),
        "list": Planted("leaked", "list", "things"),
        "borrowed": Planted(OVER, "list", "table", moves="fewer"),
        "strfor": Planted("leaked", "str", "numbers", certain=False),
        "callback": Planted("leaked", "function", "caller"),
    },
    "stable_abi": {
        "heap": Planted(
            "leaked", "class leaks_of_stable_abi.Bad", "thing", certain=False, runs=True, line=False
        ),
        "seterr": Planted("leaked", "str", "thing"),
        "listset": Planted(STOLEN, "str", "thing", moves="fewer"),
        "getitem": Planted(OVER, "list", "table", moves="fewer"),
        "format": Planted("leaked", "list", "commas"),
        "incref": Planted("leaked", "list", "things"),
        "newref": Planted("leaked", "list", "things"),
        "returnarg": Planted(OVER, "list", "things", moves="fewer"),
        "kw": Planted("leaked", "dict", "things"),
        "norm": Planted("NULL without an exception", "", "thing", moves="error"),
        "weak": Planted("leaked", "ReferenceType", "thing"),
        "import": Planted("leaked", "module", "thing"),
    },
}
ONLY_HONEST: Final[dict[str, dict[str, str]]] = {
    "pybind11": {"keepset": "things"},
    "nanobind": {"callback": "caller"},
    "cython": {"view": "bytes", "alive": "things", "keep": "things", "memo": "things", "gen": "numbers"},
    "stable_abi": {},
}
"""Functions that look suspicious and have no faulty twin: caches, generators, views."""


def arguments(binding: str, name: str) -> tuple[Any, ...]:
    """What a function takes, made anew."""
    planted = FAULTS[binding].get(name)
    return ARGUMENTS[planted.argument if planted else ONLY_HONEST[binding][name]]()


def honest(binding: str) -> list[str]:
    """Names of the honest functions: the twins and those that have none."""
    defined = source(binding)
    every = (*FAULTS[binding], *ONLY_HONEST[binding])
    return [one for one in every if f"{one}_honest" in defined or f"BOTH({one})" in defined]


def source(binding: str) -> str:
    """The text of the module, with what two of them have in common."""
    text = (SOURCES / FILES[binding]).read_text()
    return text.replace("    OF_BOTH\n", (SOURCES / "of_both.h").read_text())


def line_of(binding: str, name: str) -> int:
    """Number of the line where the fault stands."""
    lines = list(enumerate(source(binding).splitlines(), 1))
    elsewhere = [number for number, line in lines if line.endswith(f"fault of {name}_fault")]
    begins = next(
        number for number, line in lines if re.search(rf'(def |F\(|"){name}_fault\b|BOTH\({name}\)', line)
    )
    return next(iter(elsewhere), 0) or next(
        number for number, line in lines if number >= begins and re.search(r"(//|#) fault$", line)
    )


def module(binding: str) -> ModuleType:
    """The module, compiled once for each release and content, as a user compiles one: with -g, optimized."""
    import bindings

    return bindings.leaks_of(binding)
