"""The client that tests of the adapter share."""

# SPDX-License-Identifier: MIT
from collections.abc import Iterator

import pytest
from dap_client import Editor, conforms


@pytest.fixture
def editor() -> Iterator[Editor]:
    with Editor() as one:
        yield one
    for message in one.heard:
        conforms(message)
