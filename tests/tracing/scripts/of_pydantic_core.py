"""Values checked and parsed, JSON written and read."""

# SPDX-License-Identifier: MIT
import told
from pydantic_core import SchemaValidator, core_schema, from_json, to_json

numbers = SchemaValidator(core_schema.list_schema(core_schema.int_schema()))
checked = numbers.validate_python(["35", 42, 7.0])
parsed = from_json(b'{"a": [1, 2.5, "x"]}')
written = to_json("x" * 10_000)
text = from_json(written)

told.bytes_of(None, {'to_json("x" * 10_000)': written, "from_json(written)": text})
told.conversions(
    'numbers.validate_python(["35", 42, 7.0])', f"PyLong_FromLong ×2 → {checked[0]}", "PyList_New → 3"
)
told.conversions(
    """from_json(b'{"a": [1, 2.5, "x"]}')""",
    f"PyLong_FromLong → {parsed['a'][0]}",
    f"PyFloat_FromDouble → {parsed['a'][1]}",
)
