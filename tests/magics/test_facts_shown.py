"""A fact that a cell gives is shown as its view, in text and HTML; without the extension as one line."""

# SPDX-License-Identifier: MIT
import pytest

pytestmark = [pytest.mark.core, pytest.mark.quick]


@pytest.mark.parametrize(
    ("call", "begins"),
    [
        ("owners(x)", "refs"),
        ("owners(x, scan=True)", "refs"),
        ("chain(x)", "chain"),
        ("retained(x)", "retained"),
        ("shares(x, y)", "shares"),
        ("heap()", "heap"),
        ("inspect(x).object", ""),
        ("snapshot() - inspector.snapshot()", "heap"),
    ],
)
def test_a_fact_is_drawn(shell, call: str, begins: str) -> None:
    shell.run_cell("import inspector\nx = bytearray(80)\ny = memoryview(x)")
    fact = eval(f"inspector.{call}", shell.user_ns)
    bundle, _ = shell.display_formatter.format(fact)
    assert bundle["text/plain"].split()[0].startswith(begins)
    assert 'class="inspector"' in bundle["text/html"]
    assert len(repr(fact)) < 400 or type(fact).__name__ == "Object"
