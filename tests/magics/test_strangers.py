"""Names, docstrings and keys that are markup, bidi overrides or a million long: all is text, and cut."""

# SPDX-License-Identifier: MIT
import pytest
from github import sanitised

pytestmark = pytest.mark.quick

EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e\u200b\x1b[31m"
SETUP = """\
def f(): ...
f.__doc__ = f.__name__ = f.__qualname__ = evil
T = type(evil, (), {"__doc__": evil, "__slots__": ()})
t, held, text = T(), {evil: [evil]}, evil
long = type("n" * 1_000_000, (), {})
one, keyed = long(), {"k" * 1_000_000: 1}
nan = {float("nan"): float("nan")}
"""
LOOKS = ["f", "T", "t", "held", "text", "long", "one", "keyed", "nan", ""]
LONGEST = 60_000
"""Bytes of a card's HTML that holds some long names, each cut."""
TURNING = {"\u202e", "\u200b", "\x1b"}


def test_what_a_stranger_named_is_text_and_cut(shell, run) -> None:
    shell.user_ns["evil"] = EVIL
    assert shell.run_cell(SETUP).success
    for look in LOOKS:
        result, (bundle,) = run(f"%inspect {look}")
        page = bundle["text/html"]
        assert result.success, look
        for form in (page, sanitised(page), bundle["text/plain"]):
            assert not TURNING & set(form) and len(form.encode()) < LONGEST, look
        for form in (page, sanitised(page)):
            assert "<img" not in form and "<script" not in form, look
