"""The live views through a real kernel: what a cell sends, what questions get, what strangers' words do."""

# SPDX-License-Identifier: MIT
import json
import time
import uuid
from typing import Any

import pytest
from github import sanitised
from jupyter_client.blocking.client import BlockingKernelClient
from kernels import run

SECONDS = 60
WIDGET = "application/vnd.jupyter.widget-view+json"
EVIL = "\\u202e<img src=x onerror=alert(1)>\\u200b"
SETUP = f"""\
import numpy as np
big = np.zeros(100_000)
head = big[:10]
held = {{"inner": [1], "<b>": 2}}
numbers = [float(i) for i in range(1000)]
globals()["{EVIL}"] = big[5:]
globals()["n" * 1_000_000] = big[7:]
"""


@pytest.fixture(scope="module", autouse=True)
def prepared(kernel: BlockingKernelClient) -> None:
    assert run(kernel, SETUP)[0]["status"] == "ok"


def opened(kernel: BlockingKernelClient, code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(bundle, first state) of the one view that a cell opens."""
    reply, sent = run(kernel, code)
    assert reply["status"] == "ok", reply
    bundles = [one["content"]["data"] for one in sent if one["msg_type"] == "display_data"]
    page, view = bundles
    assert WIDGET in view and WIDGET not in page, "JupyterLab would draw the one and lose the other"
    contents = [one["content"] for one in sent if one["msg_type"] == "comm_open"]
    states = {one["comm_id"]: one["data"]["state"] for one in contents}
    return view | page, states[view[WIDGET]["model_id"]]


def told(kernel: BlockingKernelClient, comm: str, data: object) -> list[dict[str, Any]]:
    """What the kernel sends on a comm when a front end says `data` there; until it is idle again."""
    message = kernel.session.msg("comm_msg", {"comm_id": comm, "data": data})
    kernel.shell_channel.send(message)
    answers: list[dict[str, Any]] = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        one = kernel.get_iopub_msg(timeout=SECONDS)
        if one["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if one["msg_type"] == "status" and one["content"]["execution_state"] == "idle":
            return answers
        if one["msg_type"] == "comm_msg":
            answers.append(one["content"]["data"])
    raise AssertionError("the kernel never became idle")


CELLS = {
    "map": "%inspect --map",
    "graph": "%inspect held --graph",
    "strides": "%inspect head --strides",
    "layers": "%inspect head --layers",
    "changes": "%%inspect --live\nborn = bytearray(10_000)",
    "awaited": "%%inspect --live\nimport asyncio\nawait asyncio.sleep(0)\nborn_too = [1]",
    "trace": "%%inspect_trace --live -m numpy\nnp.asarray(numbers);",
    "breaks": "%%inspect_break --live PyFloat_FromString\n[float('1.5') for _ in range(200)];",
}


@pytest.mark.quick
@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_a_view_comes_with_its_page_and_its_text_and_is_small(kernel, cell: str) -> None:
    bundle, state = opened(kernel, cell)
    assert {"text/plain", "text/html"} <= set(bundle)
    assert 'class="inspector"' in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert len(json.dumps(bundle)) + len(json.dumps(state)) < 200_000


MANY = """\
globals().update((f"a_long_name_of_{i}", bytearray(200_000)) for i in range(300))
lines = "\\n".join(f"np.asarray([{i}.0])" for i in range(120))
keyed = {f"a_long_key_of_{i}": [i] for i in range(20_000)}
"""
LARGE = {
    "names": "%inspect",
    "map": "%inspect --map",
    "graph": "%inspect keyed --graph",
    "changes": "%%inspect --live\nglobals().update((f'a_new_name_of_{i}', [i]) for i in range(600))",
    "what a cell changed": "%%inspect\nglobals().update((f'one_more_of_{i}', [i]) for i in range(600))",
    "trace": "%%inspect_trace --live -m numpy\nexec(lines)",
    "the card of a trace": "%%inspect_trace -m numpy\nexec(lines)",
}


def test_however_much_there_is_a_page_grows_by_little_and_what_is_not_there_is_counted(kernel) -> None:
    assert run(kernel, MANY)[0]["status"] == "ok"
    for name, cell in LARGE.items():
        reply, sent = run(kernel, cell)
        assert reply["status"] == "ok", reply
        contents = [one["content"] for one in sent if one["msg_type"] in ("display_data", "comm_open")]
        words = json.dumps(contents)
        assert 5_000 < len(words) < 200_000, name
        assert any(said in words for said in ("--all)", "left_out", "dropped")), name
    run(kernel, "%reset_selective -f ^(a_|one_more_|keyed|lines)")


def test_without_a_kernel_the_page_stands_for_the_view(kernel) -> None:
    import nbformat
    from nbconvert import HTMLExporter

    _, sent = run(kernel, "%inspect --map")
    shown = [one["content"]["data"] for one in sent if one["msg_type"] == "display_data"]
    bundle, outputs = shown[0], [nbformat.v4.new_output("display_data", data=data) for data in shown]
    cell = nbformat.v4.new_code_cell("%inspect --map", outputs=outputs, execution_count=1)
    page, _ = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert 'class="inspector"' in page and "to scale" in page
    assert "jupyter.widget-view" not in page, "nothing is asked of the network for it"
    assert "to scale" in sanitised(bundle["text/html"]) and "<table" in sanitised(bundle["text/html"])


def test_evil_names_reach_the_page_escaped_and_cut(kernel) -> None:
    bundle, state = opened(kernel, "%inspect --map --all")
    names = [bar["name"] for bar in state["scene"]["bars"]]
    assert all(name.isprintable() and len(name) <= 40 for name in names)
    assert any("\\u202e<img" in name for name in names)
    assert "<img" not in bundle["text/html"] and "&lt;img" in bundle["text/html"]
    assert max(len(name) for name in names) == 40


@pytest.mark.quick
@pytest.mark.parametrize(
    "data",
    [
        {"method": "update", "state": {"scene": {"bars": "owned"}}, "buffer_paths": []},
        {"method": "update", "state": {"_esm": "export default {}", "__class__": 1}, "buffer_paths": []},
        {"method": "custom", "content": "nothing"},
        {"method": "custom", "content": {"ask": "__init__", "number": "1"}},
        {"method": "custom", "content": {"ask": ["a"], "number": {"b": [1e308]}}},
        {"method": "custom", "content": {"ask": "close", "number": "1" * 1_000_000}},
        {"method": "custom", "content": {}},
    ],
    ids=["a scene", "code", "a word", "a method", "wrong types", "a long number", "nothing"],
)
def test_a_strangers_message_changes_nothing_and_is_not_answered(kernel, data: dict[str, Any]) -> None:
    bundle, state = opened(kernel, "%inspect --map")
    comm = bundle[WIDGET]["model_id"]
    assert [one for one in told(kernel, comm, data) if one.get("method") != "echo_update"] == []
    said = told(kernel, comm, {"method": "request_state"})
    assert said[0]["state"]["scene"] == state["scene"]
    assert said[0]["state"]["_esm"] == state["_esm"]


def test_a_message_for_a_view_that_is_gone_does_no_harm(kernel) -> None:
    message = kernel.session.msg("comm_msg", {"comm_id": uuid.uuid4().hex, "data": {"method": "custom"}})
    kernel.shell_channel.send(message)
    assert run(kernel, "1")[0]["status"] == "ok"


def answered(kernel: BlockingKernelClient, comm: str, **asked: object) -> dict[str, Any]:
    """The content of the one answer to a question."""
    (said,) = told(kernel, comm, {"method": "custom", "content": {"number": "7", **asked}})
    assert said["method"] == "custom" and said["content"]["number"] == "7"
    return said["content"]


def test_a_graph_answers_for_nodes_that_it_sent_and_no_others(kernel) -> None:
    bundle, state = opened(kernel, "%inspect held --graph")
    comm = bundle[WIDGET]["model_id"]
    inner = next(edge for edge in state["scene"]["down"]["edges"] if edge["key"] == "['inner']")
    step = answered(kernel, comm, ask="neighbours", at=inner["at"], up=False)["step"]
    assert [edge["key"] for edge in step["edges"]] == ["[0]"]
    for at in ("0x10", 16, None, ["0x10"], "0x" + "f" * 100_000):
        assert "no such node" in answered(kernel, comm, ask="neighbours", at=at)["refused"]


def test_a_graph_says_when_an_object_has_gone(kernel) -> None:
    setup = "class Passing(list): pass\ngoing = {'passing': Passing([1])}"
    assert run(kernel, setup)[0]["status"] == "ok"
    bundle, state = opened(kernel, "%inspect going --graph")
    (edge,) = (edge for edge in state["scene"]["down"]["edges"] if edge["key"] == "['passing']")
    run(kernel, "going.clear()")
    step = answered(kernel, bundle[WIDGET]["model_id"], ask="neighbours", at=edge["at"])["step"]
    assert step["edges"] == [] and "any more" in step["says"]


def test_a_stopped_child_is_stepped_by_its_buttons_words_and_no_others(kernel) -> None:
    bundle, state = opened(kernel, "%%inspect_debug --live --at PyFloat_FromString\nfloat('1.5')")
    comm = bundle[WIDGET]["model_id"]
    assert state["scene"]["function"] == "PyFloat_FromString" and state["scene"]["frames"]
    assert len(json.dumps(bundle)) + len(json.dumps(state)) < 200_000
    for word in ("print 1", "shell id", None, ["next"], "next\nquit"):
        assert "unknown debugger command" in answered(kernel, comm, ask="step", word=word)["refused"]
    scenes = []
    for word in ("up", "quit"):
        asked = {"method": "custom", "content": {"number": "7", "ask": "step", "word": word}}
        [moved] = [one for one in told(kernel, comm, asked) if one["method"] == "update"]
        scenes.append(moved["state"]["scene"])
    assert scenes[0]["function"] != "PyFloat_FromString" and not scenes[0]["ended"]
    scene = scenes[1]
    assert "was ended" in scene["ended"] and scene["frames"], "what was seen last stays"
    assert run(kernel, "1")[0]["status"] == "ok"


def test_a_timeline_answers_windows_and_bad_ones_with_the_whole(kernel) -> None:
    bundle, state = opened(kernel, CELLS["trace"])
    comm, first = bundle[WIDGET]["model_id"], state["scene"]["timeline"]
    half = answered(kernel, comm, ask="window", begin=0, end=first["whole"] // 2)["timeline"]
    assert (half["begin"], half["end"]) == (0, first["whole"] // 2)
    assert 0 < half["events"] <= first["events"]
    for begin, end in ((5, 1), (-1, 10), ("a", None), (True, [1]), (1 << 80, 1 << 90)):
        assert answered(kernel, comm, ask="window", begin=begin, end=end)["timeline"] == first


def test_the_line_of_a_trace_is_in_the_cell_with_its_prompt(kernel) -> None:
    reply, sent = run(kernel, CELLS["trace"])
    states = [one["content"]["data"]["state"] for one in sent if one["msg_type"] == "comm_open"]
    sites = next(state["scene"]["sites"] for state in states if "scene" in state)
    assert {(site["cell"], site["line"]) for site in sites} == {(reply["execution_count"], 1)}


def test_a_view_keeps_no_object_alive(kernel) -> None:
    cell = "import sys\nkept = np.arange(50_000.)\nbefore = sys.getrefcount(kept)"
    assert run(kernel, cell)[0]["status"] == "ok"
    opened(kernel, "%inspect --map")
    reply, _ = run(kernel, "assert sys.getrefcount(kept) == before, (sys.getrefcount(kept), before)")
    assert reply["status"] == "ok", reply


def test_where_there_is_no_kernel_the_text_is_shown(request) -> None:
    in_shell = request.getfixturevalue("run")  # this file's own `run` is another
    _, bundles = in_shell("data = bytearray(5_000)\n%inspect --map")
    assert "to scale" in bundles[-1]["text/plain"]
    assert WIDGET not in bundles[-1]
