"""A prototype in one line, and the registers its arguments arrive in."""

# SPDX-License-Identifier: MIT
import pytest
from refused import refused

from inspector.debugger.memory.location_table import line_of
from inspector.debugger.presets import names, of_cpython, preset_named
from inspector.debugger.presets.prototypes import parsed

pytestmark = [pytest.mark.core, pytest.mark.quick]


def placed(line: str) -> list[tuple[str, str, int]]:
    return [(one.name, one.register, one.bytes) for one in parsed(line).parameters]


def test_integers_and_floats_are_counted_apart() -> None:
    line = "double mixed(PyObject *object, double factor, int n, float f, const char *word)"
    found = [("object", "rdi", 8), ("factor", "xmm0", 8), ("n", "rsi", 4), ("f", "xmm1", 4)]
    assert placed(line) == [*found, ("word", "rdx", 8)]


def test_what_is_not_in_a_register_is_not_guessed_at() -> None:
    seven = ", ".join(f"long a{i}" for i in range(7))
    assert placed(f"int f({seven})")[-1] == ("a6", "", 8)
    assert placed("int f(struct pair p, int n)") == [("p", "", 0), ("n", "", 4)]
    assert placed("int f(const char *format, ...)") == [("format", "rdi", 8)]
    assert placed("void f(void)") == placed("void f()") == []


def test_parameters_without_names_and_cpp_names() -> None:
    assert placed("long PyLong_AsLong(PyObject *)") == [("argument 1", "rdi", 8)]
    assert parsed("int a::b::call(at::Tensor const& x)").name == "a::b::call"


@pytest.mark.parametrize("line", ["", "int", "int f(", "(x)"])
def test_what_is_none_is_refused(line: str) -> None:
    with refused("bad-prototype"):
        parsed(line)


@pytest.mark.parametrize("name", names())
def test_every_preset_says_what_it_is_for_and_where_it_was_checked(name: str) -> None:
    preset = preset_named(name)
    assert preset.says and preset.checked and preset.places
    assert set(preset.prototypes) <= {parsed(line).name for line in preset.prototypes.values()}


def test_the_c_api_has_prototypes() -> None:
    known = of_cpython()
    assert known["PyFloat_FromDouble"].startswith("PyObject *PyFloat_FromDouble(double"), "of capi.def"
    assert known["PyDict_MergeFromSeq2"].startswith("int PyDict_MergeFromSeq2(PyObject *"), "of the headers"
    assert len(known) > 900


def test_lines_come_from_the_location_table_as_python_says_them() -> None:
    def traced(a: int) -> int:
        b = a + 1

        def inner() -> int:
            return b

        return inner() + sum(
            i * 2
            for i in range(a)
            if i
        )  # fmt: skip

    code = traced.__code__
    for start, stop, line in code.co_lines():
        if line is not None:
            assert {line_of(code.co_linetable, code.co_firstlineno, at) for at in range(start, stop, 2)} == {
                line
            }
