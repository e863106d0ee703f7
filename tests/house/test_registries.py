"""What is found by folder is documented, and every link leads somewhere."""

# SPDX-License-Identifier: MIT
import re

import pytest
import sources

pytestmark = pytest.mark.quick
PAGES = sorted(
    [sources.ROOT / "README.md", sources.ROOT / "CONTRIBUTING.md", *sources.ROOT.glob("docs/**/*.md")]
)
TEXT = "\n".join(page.read_text() for page in PAGES)
COMMANDS = sorted(
    path.stem.removesuffix("_command") for path in sources.PYTHON if path.stem.endswith("_command")
)
MAGICS = sorted(path.stem.removesuffix("_magic") for path in sources.PYTHON if path.stem.endswith("_magic"))
LINK = re.compile(r"\bdocs/[\w/-]+\.md(?:#[a-z-]+)?")


def test_every_magic_is_documented() -> None:
    assert [magic for magic in MAGICS if not re.search(rf"`%%?{magic}\b", TEXT)] == []


def test_there_are_commands_and_magics() -> None:
    assert {"show", "heap", "diff", "report", "doctor"} <= set(COMMANDS)
    assert "inspect" in MAGICS


def anchors(page: sources.Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_of_a_view_leads_to_a_section() -> None:
    links = {link for path in sources.PYTHON for link in LINK.findall(path.read_text())}
    lost = []
    for link in sorted(links):
        page, _, anchor = link.partition("#")
        if not (sources.ROOT / page).exists() or (anchor and anchor not in anchors(sources.ROOT / page)):
            lost.append(link)
    assert lost == []


def test_every_link_between_pages_leads_somewhere() -> None:
    lost = []
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)", page.read_text()):
            found = page.parent / target if target else page
            if not found.exists() or (anchor and found.suffix == ".md" and anchor[1:] not in anchors(found)):
                lost.append(f"{sources.name(page)}: {target}{anchor}")
    assert lost == []
