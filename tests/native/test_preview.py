"""The glance at a value: exact types only, bounded, printable, secrets masked."""

# SPDX-License-Identifier: MIT
import ctypes

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inspector._native import Subject, preview
from inspector.facts.secret import MASKED, SECRET_WORDS, is_secret

pytestmark = [pytest.mark.core, pytest.mark.quick]


def glance(value):
    return preview(Subject(value), SECRET_WORDS)


numbers = st.booleans() | st.integers(-(2**64), 2**64) | st.floats()
plain = st.recursive(
    st.none() | numbers | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner, inner),
    max_leaves=3,
)


@given(plain)
def test_short_values_read_as_their_repr(value):
    want = repr(value)
    if len(want) <= 60 and '"' not in want and "…" not in glance(value):
        assert glance(value) == want


@given(st.text() | st.binary() | st.lists(st.text(alphabet=st.characters(), max_size=90)))
def test_never_long_never_unprintable(value):
    text = glance(value)
    assert len(text) <= 60
    assert text.isprintable()


def test_cut_text_still_closes():
    assert glance("x" * 1000) == "'" + "x" * 57 + "…'"
    assert glance(list(range(10_000))).endswith("…]")
    assert glance({i: i for i in range(1000)}).endswith("…}")


def test_depth_is_bounded_so_cycles_end():
    loop = []
    loop.append(loop)
    assert glance(loop) == "[[[…]]]"
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert glance(deep) == "[[[…]]]"


def test_a_huge_int_is_told_by_its_length():
    assert glance(10**200_000) == "<int of 664386 bits>"


def test_null_slots_of_a_half_built_tuple():
    new = ctypes.pythonapi.PyTuple_New
    new.restype = ctypes.py_object
    assert glance(new(2)) == "(<NULL>, <NULL>)"


def test_what_cannot_be_read_ends_the_text_and_not_the_process():
    new = ctypes.pythonapi.PyTuple_New
    new.restype = ctypes.py_object
    broken = new(2)
    items = (ctypes.c_size_t * 2).from_address(id(broken) + tuple.__basicsize__)
    items[:] = id(None), 16
    assert glance(broken) == "(None, <unreadable>"
    items[:] = 0, 0


def test_terminal_codes_and_surrogates_become_visible():
    assert glance("\udc80\x1b]0;owned\x07\u202e\n") == r"'\udc80\x1b]0;owned\x07\u202e\n'"


def test_objects_of_other_types_are_only_named():
    class Loud(list):
        def __repr__(self):
            raise AssertionError("ran")

    assert glance(Loud()) is None
    assert glance([Loud(), int, len]) == "[<Loud>, <class int>, <builtin len>]"
    assert glance(Loud).startswith(f"class {__name__}.test_objects")


def test_secret_values_are_masked_unless_asked():
    account = {"user": "ann", "password": "hunter2", "deep": {"apiKey": "sk-1"}}
    assert glance(account) == "{'user': 'ann', 'password': <masked>, 'deep': {'apiKe…}"
    assert glance(("token", "t0p")) == f"('token', {MASKED})"
    assert preview(Subject(("token", "t0p")), ()) == "('token', 't0p')"


pieces = st.sampled_from([*SECRET_WORDS, "monkey", "Key", "API", "user", "_", "9", "-", "ü"])


@given(st.lists(pieces, max_size=3).map("".join) | st.text(max_size=20))
def test_c_and_python_agree_on_secret_names(name):
    name = name[:20]  # so that the mark fits into the preview
    assume(name.isprintable())
    assert (MASKED in glance((name, 1))) is is_secret(name)


SECRET = [
    "otp", "pin", "PIN", "userPin", "pin_code", "cookie", "csrf", "XSRF", "auth", "bearer",
    "credentials", "ssn", "userSSN", "cvv", "CVV2", "session_id", "sessionID", "user_session_id",
    "SESSION_ID", "APIKey", "APIkey", "api_keys", "apiKeys", "private_key", "JWTToken", "db_pass",
    "creditCard", "card_number", "totp"
]  # fmt: skip
PLAIN = [
    "pinned", "spin", "author", "authored", "keyboard", "monkey", "pinky", "tokenizer", "session", "ids",
    "keys", "passing", "pass_rate", "opinion", "secretary", "keynote", "session_idle",
    "my_session_identity", "card", "number", "bearing"
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_a_secret_word_masks_its_value(name):
    assert is_secret(name) and glance({name: "hunter2"}) == f"{{{name!r}: {MASKED}}}"


@pytest.mark.parametrize("name", PLAIN)
def test_a_secret_word_within_another_does_not(name):
    assert not is_secret(name) and MASKED not in glance({name: "hunter2"})


def test_a_set_after_removals():
    numbers = set(range(50))
    for i in range(48):
        numbers.discard(i)
    assert glance(numbers) == "{48, 49}"
    assert glance(frozenset()) == "frozenset set()"
