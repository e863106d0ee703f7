"""Through a real kernel, as a notebook speaks to it: completion, and what a cell sends."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

SECONDS = 60


SETUP = """\
%load_ext inspector
import numpy as np; naive = np.zeros((3, 4)); nature = [naive]; _inside = 1
"""


@pytest.fixture(scope="module", autouse=True)
def prepared(kernel: BlockingKernelClient) -> None:
    assert run(kernel, SETUP)[0]["status"] == "ok"


def run(kernel: BlockingKernelClient, code: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(reply, output messages) of a cell."""
    sent: list[dict[str, Any]] = []
    reply = kernel.execute_interactive(code, output_hook=sent.append, timeout=SECONDS)
    return reply["content"], sent


def completed(kernel: BlockingKernelClient, code: str) -> list[str]:
    return kernel.complete(code, len(code), reply=True, timeout=SECONDS)["content"]["matches"]


@pytest.mark.parametrize("before", ["%inspect ", "r = %inspect ", "%inspect --all ", "%inspect nature "])
def test_names_of_the_user_complete(kernel, before: str) -> None:
    assert completed(kernel, before + "na") == ["naive", "nature"]


def test_nothing_typed_offers_the_users_names_only(kernel) -> None:
    assert completed(kernel, "%inspect ") == ["naive", "nature", "np"]


@pytest.mark.quick
@pytest.mark.parametrize("before", ["%inspect ", "%inspect naive ", "%%inspect "])
def test_options_complete_after_a_dash(kernel, before: str) -> None:
    assert completed(kernel, before + "--o") == ["--on", "--owners"]
    assert "--delattr" not in completed(kernel, before + "--")
    assert {"--all", "--explain", "--chain"} <= set(completed(kernel, before + "--"))


def test_attributes_are_ipythons_to_complete(kernel) -> None:
    assert any(match.endswith("shape") for match in completed(kernel, "%inspect naive.sha"))


def test_other_lines_are_left_alone(kernel) -> None:
    assert "naive" in completed(kernel, "print(na")
    assert any("inspect" in match for match in completed(kernel, "%insp"))


@pytest.mark.quick
def test_a_look_is_sent_as_text_and_page(kernel) -> None:
    reply, sent = run(kernel, "%inspect naive")
    bundles = [message["content"]["data"] for message in sent if message["msg_type"] == "display_data"]
    assert reply["status"] == "ok"
    assert [{"text/plain", "text/html"} <= set(bundle) for bundle in bundles] == [True]
    assert not [message for message in sent if message["msg_type"] in ("execute_result", "error")]


def test_a_wrong_name_is_one_quiet_block(kernel) -> None:
    reply, sent = run(kernel, "%inspect nowhere\nafter = 1")
    shown = [message["content"]["data"] for message in sent if message["msg_type"] == "display_data"]
    assert reply["status"] == "ok"
    assert "docs/messages.md#unknown-name" in shown[0]["text/plain"]
    assert len(shown) == 1


LOADED = """\
import sys
files = ("inspector.api", "inspector.adapters.numpy_arrays", "inspector.magics.widgets.base")
print([name in sys.modules for name in files])
"""


def test_what_a_first_card_needs_is_imported_while_the_kernel_waits(kernel) -> None:
    """Nothing is shown and no name is made; a cell is not kept waiting for it."""
    names = "sorted(n for n in globals() if not n.startswith('_'))"
    before = run(kernel, f"print({names})")[1]
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        said = [one["content"]["text"] for one in run(kernel, LOADED)[1] if one["msg_type"] == "stream"]
        if said == ["[True, True, True]\n"]:
            break
        time.sleep(0.3)
    assert said == ["[True, True, True]\n"]
    run(kernel, "del sys, files")
    after = run(kernel, f"print({names})")[1]
    text = [
        [one["content"]["text"] for one in some if one["msg_type"] == "stream"] for some in (before, after)
    ]
    assert text[0] == text[1]
