"""What the product refuses: which error, by its slug."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from inspector.errors import InspectorError


@contextmanager
def refused(slug: str, match: str = "") -> Iterator[pytest.ExceptionInfo[InspectorError]]:
    """The block raises an InspectorError with this slug; `match` is found in what it says."""
    with pytest.raises(InspectorError, match=match or None) as caught:
        yield caught
    assert caught.value.slug == slug
