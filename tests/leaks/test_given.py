"""Arguments that a method keeps without a reference, or that slots without a hook leak; and honest twins."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import given
import pytest
import specimens

pytestmark = [pytest.mark.core, pytest.mark.quick]
Told = list[list[Any]]


@pytest.fixture(scope="module")
def judged() -> dict[str, tuple[Told, Told]]:
    specimens.library("given", given.SOURCE)  # compiled outside the child's deadline
    ran = subprocess.run(
        [sys.executable, "-P", str(Path(given.__file__))],
        capture_output=True,
        text=True,
        timeout=300,
        cwd="/",
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, tuple[Told, Told]] = json.loads(ran.stdout)
    return found


def test_what_init_keeps_without_a_reference_is_told_on_the_first_call(judged: Any) -> None:
    ((kind, certain, shown, method),) = judged["kept without a reference: fault"][0]
    assert (kind, certain, method) == ("over-released", True, "given.Box.tp_init")
    assert shown.startswith("Thing")


def test_what_was_given_and_dies_too_early_is_told_by_several_runs(judged: Any) -> None:
    for name in ("kept without a reference", "in place without a reference"):
        told = judged[f"{name}: fault"][1]
        assert [one[:2] for one in told] == [["over-released", True]], name


def test_what_a_slot_without_a_hook_leaks_is_told_by_several_runs(judged: Any) -> None:
    for name, type_name in (
        ("leaked where it is looked for", "Thing"),
        ("leaked where it is refused", "Small"),
    ):
        told = judged[f"{name}: fault"][1]
        assert [one[:2] for one in told] == [["leaked", True]] and told[0][2].startswith(type_name), name


@pytest.mark.parametrize("name", given.USES)
def test_honest_twins_are_not_accused(judged: Any, name: str) -> None:
    assert judged[f"{name}: honest"] == [[], []]
