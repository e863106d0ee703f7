"""The two rooms of the libraries hold what pyproject.toml asks: newest releases, and oldest claimed."""

# SPDX-License-Identifier: MIT
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.libraries
GROUPS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["dependency-groups"]


def numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release.partition("+")[0]))


def wanted(group: str) -> dict[str, tuple[int, ...]]:
    """Distribution -> the release the group names."""
    asked = [
        re.fullmatch(r"([\w-]+)(?:\[.*\])?[=>]=(.*)", line) for line in GROUPS[group] if type(line) is str
    ]
    return {found[1]: numbers(found[2]) for found in asked if found is not None}


def test_both_groups_name_the_same_libraries() -> None:
    assert set(wanted("libraries")) == set(wanted("libraries-oldest"))


@pytest.mark.parametrize("library", wanted("libraries"))
def test_the_room_has_one_of_the_two_releases(library: str) -> None:
    here = numbers(version(library))
    oldest, newest = wanted("libraries-oldest")[library], wanted("libraries")[library]
    assert here == oldest or here >= newest
