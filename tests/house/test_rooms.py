"""The shape of the house: few doors at the top, no folder of a hundred files, folders instead of prefixes."""

# SPDX-License-Identifier: MIT
from collections import Counter
from pathlib import Path

import sources

ROOMS_MAX = 12
FILES_MAX = 25
DOOR = {"__init__.py", "__main__.py", "_native.pyi", "api.py", "errors.py", "py.typed", "pytest_plugin.py"}
DOOR_OF = {"inspector": {*DOOR, "report.py"}, "native": {"CMakeLists.txt"}}
REGISTRIES = {"inspector/adapters", "inspector/facts", "inspector/views", "inspector/faces/cli"}
"""Folders in which every file is one of a kind: an adapter, a fact, a view, a command."""
PREFIX_MAX = 6
"""So many files with the same first word want a folder; registries and magics are exempt."""


def beside(folder: Path) -> list[Path]:
    """What git knows of a folder's own files."""
    tracked = {*sources.PYTHON, *sources.C}
    return sorted(path for path in folder.iterdir() if path in tracked)


def folders() -> list[Path]:
    """All folders with sources of the product."""
    return sorted({path.parent for path in (*sources.PYTHON, *sources.C)})


def test_the_top_of_each_house_is_a_door_and_a_dozen_rooms() -> None:
    for house, door in DOOR_OF.items():
        entries = [one for one in (sources.ROOT / house).iterdir() if one.name != "__pycache__"]
        assert {one.name for one in entries if one.is_file()} == door
        assert len([one for one in entries if one.is_dir()]) <= ROOMS_MAX


def test_no_folder_is_crowded() -> None:
    crowded = {sources.name(folder): len(beside(folder)) for folder in folders()}
    assert {
        name: count for name, count in crowded.items() if count > FILES_MAX and name not in REGISTRIES
    } == {}


def test_files_with_one_prefix_have_a_folder() -> None:
    found = {}
    for folder in folders():
        if sources.name(folder) not in {*REGISTRIES, "magics"}:
            words = Counter(path.stem.split("_")[0] for path in beside(folder) if "_" in path.stem)
            found.update(
                {f"{sources.name(folder)}/{word}_*": n for word, n in words.items() if n > PREFIX_MAX}
            )
    assert found == {}
