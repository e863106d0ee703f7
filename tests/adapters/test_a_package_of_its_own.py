"""An adapter in twenty lines, in a package of its own that pip installs: the card of its library is whole."""

# SPDX-License-Identifier: MIT
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import specimens
from apart import printed

pytestmark = pytest.mark.core
PACKAGE = Path(specimens.__file__).parent / "rings"
ADAPTER = PACKAGE / "rings_inspector.py"
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "adapters.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Folders of the library, compiled, and of the adapter's package, installed by pip."""
    target, copy = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("package") / "rings"
    shutil.copytree(PACKAGE, copy)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-build-isolation"]
    pip += ["--disable-pip-version-check", "--root-user-action=ignore", "--target", str(target), str(copy)]
    subprocess.run(pip, check=True, capture_output=True, text=True)
    library = specimens.library("rings", (PACKAGE / "rings.c").read_text())
    return [str(library.parent), str(target), str(Path(specimens.__file__).parent)]


def run(installed: list[str], program: str) -> Any:
    """What a fresh process prints, as JSON."""
    start = f"import sys; sys.path[:0] = {installed!r}; import json, rings, inspector, fingerprints\n"
    return json.loads(printed("-c", start + program))


STATES = """
def state(x):
    inspector.materialization(rings.Ring(0))  # the adapter is awake
    before = fingerprints.fingerprint(x)
    fact = inspector.materialization(x)
    assert fingerprints.fingerprint(x) == before
    buffer = [layer for layer in fact.layers if layer.level == "buffer"]
    spans = [(s.start, s.stop) for layer in buffer for s in layer.spans]
    sizes = [fact.logical_bytes, fact.retained_bytes] if spans else [0, 0]
    return [fact.state, fact.waits_for, *sizes, [layer.title for layer in buffer], spans,
            [one.slug for one in fact.findings]]

ring = rings.Ring(100_000)
lazy = state(ring)
ring.fill()
part = ring.part(10, 5)
print(json.dumps([lazy, state(ring), state(part), ring.address]))
"""


def test_states_layers_and_buffers(installed: list[str]) -> None:
    lazy, filled, part, address = run(installed, STATES)
    assert lazy == ["lazy", "fill()", 0, 0, [], [], []]
    whole = [[address, address + 800_000]]
    assert filled == ["owned", "", 800_000, 800_000, ["owned"], whole, []]
    inside = [[address + 80, address + 120]]
    assert part == ["view", "", 40, 800_000, ["view"], inside, ["large-base"]]


CARD = """
ring = rings.Ring(6).fill()
part = ring.part(1, 4)
report = inspector.inspect(part, name="part")
shared = inspector.shares(part, memoryview(ring))
whole = report.drawn(everything=True).to_text()
print(json.dumps([report.to_text() + whole, report.buffer.holders[0].type_name, report.buffer.logical_bytes,
                  shared.overlap_bytes, list(report.layout.preview), ring.exports]))
"""


def test_the_card_names_owner_buffer_and_elements(installed: list[str]) -> None:
    text, holder, logical, shared, preview, exports = run(installed, CARD)
    assert text.startswith(" part     Ring float64 (4,)")
    assert (holder, logical, shared, exports) == ("Ring", 32, 32, 0)
    assert preview == ["1.0", "2.0", "3.0", "4.0"]
    assert "A view of ring: elements 1 to 4." in text and "Writing to part changes ring." in text
    assert "held by: Ring" in text


WRONG = """
import warnings
import rings_inspector
from inspector.adapters.registry import problems
kind = type(rings_inspector.ADAPTER)
{change}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    text = inspector.inspect(rings.Ring(4).fill(), name="x").to_text()
print(json.dumps([problems()[0].reason, [str(one.message) for one in said if "adapter" in str(one.message)],
                  "x        Ring" in text]))
"""
WRONGS = {
    "kind.versions = ('2', '3')": "version 1.4 of rings is outside 2 <= version < 3",
    "kind.exact = ('Wheel',)": "rings has no type Wheel",
    "tell = kind.elements; kind.elements = lambda self, x: tell(self, x.part(1, 2))": "not the one it lends",
    "kind.elements = lambda self, x: ()": "has no bytes",
    "kind.elements = lambda self, x: (rings_inspector.block(x, 8, (4,), 'd'),)": "cannot be read",
    "kept = []; kind.owner = lambda self, x: kept.append(x)": "keep a reference",
    "kind.elements = lambda self, x: (rings_inspector.block(x, 8, (4,), 'z'),)": "not the format of a number",
}
"""A mistake in the adapter -> what its self test, made of `sample` alone, says."""


@pytest.mark.parametrize("change", WRONGS)
def test_a_mistake_is_found_by_the_sample(installed: list[str], change: str) -> None:
    reason, said, drawn = run(installed, WRONG.format(change=change))
    assert WRONGS[change] in reason
    assert len(said) == 1 and "[adapter-broken]" in said[0]
    assert drawn


def test_it_is_twenty_lines_and_those_of_the_docs() -> None:
    text = ADAPTER.read_text().replace("# SPDX-License-Identifier: MIT\n", "")
    assert len([line for line in text.splitlines() if line.strip()]) <= 20
    assert f"```python\n{text}```" in DOCS.read_text()
    assert '[project.entry-points."inspector.adapters"]' in DOCS.read_text()
