"""Stacks of memory as a file of https://www.speedscope.app, by its file-format-schema.json."""

# SPDX-License-Identifier: MIT
import json
from collections.abc import Sequence
from typing import Any, Final

from inspector.views.memory_stacks import Frame, Stacks

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"


def to_speedscope(name: str, groups: Sequence[Stacks]) -> str:
    """One sampled profile, in bytes, for each group of stacks; frames are shared."""
    frames = dict[Frame, int]()
    profiles = [_profile(group, frames) for group in groups]
    shared = {"frames": [_frame(frame) for frame in frames]}
    whole = {"$schema": SCHEMA, "name": name, "exporter": "native-inspector"}
    return json.dumps(whole | {"shared": shared, "profiles": profiles})


def _profile(group: Stacks, frames: dict[Frame, int]) -> dict[str, Any]:
    samples = [[frames.setdefault(frame, len(frames)) for frame in stack] for stack, _ in group.rows]
    return {
        "type": "sampled",
        "name": group.name,
        "unit": "bytes",
        "startValue": 0,
        "endValue": group.total,
        "samples": samples,
        "weights": [size for _, size in group.rows],
    }


def _frame(frame: Frame) -> dict[str, Any]:
    where = {"file": frame.file} if frame.file else {}
    return {"name": frame.name} | where | ({"line": frame.line} if frame.line else {})
