"""Through a real kernel, as a notebook speaks to it: completion, and what a cell sends."""

# SPDX-License-Identifier: MIT
import time

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from kernels import run, shown

SECONDS = 60
SETUP = "import numpy as np; naive = np.zeros((3, 4)); nature = [naive]; _inside = 1"


@pytest.fixture(scope="module", autouse=True)
def prepared(kernel: BlockingKernelClient) -> None:
    assert run(kernel, SETUP)[0]["status"] == "ok"


def completed(kernel: BlockingKernelClient, code: str) -> list[str]:
    return kernel.complete(code, len(code), reply=True, timeout=SECONDS)["content"]["matches"]


def test_names_of_the_user_complete(kernel) -> None:
    for before in ("%inspect ", "r = %inspect ", "%inspect --all ", "%inspect nature "):
        assert completed(kernel, before + "na") == ["naive", "nature"], before
    assert completed(kernel, "%inspect ") == ["naive", "nature", "np"]


@pytest.mark.quick
@pytest.mark.parametrize("before", ["%inspect ", "%inspect naive ", "%%inspect "])
def test_options_complete_after_a_dash(kernel, before: str) -> None:
    assert completed(kernel, before + "--o") == ["--on", "--owners"]
    assert "--delattr" not in completed(kernel, before + "--")
    assert {"--all", "--explain", "--chain"} <= set(completed(kernel, before + "--"))


def test_attributes_and_other_lines_are_ipythons_to_complete(kernel) -> None:
    assert any(match.endswith("shape") for match in completed(kernel, "%inspect naive.sha"))
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
    before = shown(kernel, f"print({names})")
    end = time.monotonic() + SECONDS
    while (said := shown(kernel, LOADED)) != ["[True, True, True]\n"] and time.monotonic() < end:
        time.sleep(0.3)
    assert said == ["[True, True, True]\n"]
    run(kernel, "del sys, files")
    assert shown(kernel, f"print({names})") == before
