"""`no_copy`: a block, a function, a marked test that copies fails and says which call and line."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import pytest

import inspector
from inspector import _native
from inspector.errors import InspectorError

pytestmark = pytest.mark.core
pytest_plugins = ("pytester",)


@pytest.mark.quick
def test_a_copy_is_named_with_its_line() -> None:
    m = np.zeros((4, 4))
    with pytest.raises(InspectorError) as caught, inspector.no_copy("numpy"):
        np.ascontiguousarray(m.T)
    assert caught.value.slug == "copied"
    assert "np.ascontiguousarray(m.T) copied 128 bytes" in str(caught.value)
    assert f"{__file__}:" in str(caught.value)
    assert _native.calls_armed() == 0


def test_what_shares_or_computes_is_let_pass() -> None:
    a = np.arange(10.0)
    with inspector.no_copy("numpy"):
        np.add(np.asarray(a), 1)
    with inspector.no_copy("numpy", least_bytes=1000):
        a.copy()


def test_the_blocks_own_error_comes_first() -> None:
    with pytest.raises(ZeroDivisionError), inspector.no_copy("numpy"):
        np.zeros(3).copy()
        1 / 0


@pytest.mark.quick
def test_a_marked_test_fails_with_the_call(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import numpy as np, pytest

        @pytest.mark.no_copy("numpy")
        def test_bad():
            np.arange(5.0).copy()

        @pytest.mark.no_copy("numpy", least_bytes=1000)
        def test_good():
            np.arange(5.0).copy()
        """
    )
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(["*np.arange(5.0).copy() copied 40 bytes*"])
